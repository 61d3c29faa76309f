// Camera, frames and controls. Space coordinates in m, times in s.
"use strict";

const LIGHT = unit(add(UP, add(scale(0.35, EAST), scale(-0.5, NORTH))));  // towards the lamp

// ---- camera, one for all stages
const HOME = home();
let camera = { ...HOME }, time = START, playing = false, dirty = true;

function home() {
  const [, , w, h] = panes()[0], narrow = Math.min(1, (w * canvas.clientWidth) / (h * canvas.clientHeight));
  const far = Math.max(...stages.map(({ home: { distance } }) => distance));
  const size = Math.max(...stages.map((stage) => stage.home.size)), { target, follow } = stages[0].home;
  return { target, distance: far / narrow, yaw: -0.9, pitch: 0.35, follow, size };
}

// Where the camera looks: its target, carried along by the body it follows; in other stages what is the same to them.
function focus(stage = stages[0]) {
  if (camera.follow < 0) return add(camera.target, sub(stage.home.target, stages[0].home.target));
  const body = stage.bodies[Math.min(camera.follow, stage.bodies.length - 1)];
  return add(camera.target, pose(body, bracket(stage.times, time)).x);
}

function directions() {
  const flat = add(scale(Math.cos(camera.yaw), EAST), scale(Math.sin(camera.yaw), NORTH));
  const back = add(scale(Math.cos(camera.pitch), flat), scale(Math.sin(camera.pitch), UP));
  const right = unit(cross(UP, back));
  return { back, right, top: cross(back, right) };
}

// ---- a frame
const styles = () => getComputedStyle(document.documentElement);
const themeColour = (name) => colourOf(styles().getPropertyValue(name).trim());

function draw() {
  const ratio = window.devicePixelRatio || 1, paper = themeColour("--back");
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  gl.enable(gl.SCISSOR_TEST);
  panes().forEach(([left, top, w, h], k) => {
    const [x0, x1] = [left, left + w].map((u) => Math.round(u * canvas.width));
    const [y0, y1] = [top + h, top].map((v) => Math.round((1 - v) * canvas.height));
    for (const box of ["viewport", "scissor"]) gl[box](x0, y0, x1 - x0, y1 - y0);
    drawStage(stages[k], [x1 - x0, y1 - y0], ratio, paper);
    const pane = byId("panes").children[k];
    if (pane) Object.assign(pane.style, { left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * w}%`, height: `${100 * h}%` });
  });
  drawGizmo();
  byId("slider").value = time;
  byId("clock").textContent = `${clockText(time)} / ${clockText(END)} s`;
}

function drawStage(stage, size, ratio, paper) {
  const at = bracket(stage.times, time), { planes, tubes, trails } = stage;
  const look = focus(stage), { back } = directions(), eye = add(look, scale(camera.distance, back));
  const far = 60 * camera.distance + 4 * HOME.size;
  const projection = perspective(VIEW_ANGLE, size[0] / size[1], 0.01 * camera.distance, far);
  const view = multiply(projection, lookAt(eye, look, UP));
  gl.clearColor(...paper, 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  const models = solidsAt(stage, time);
  const cell = roundDown(camera.distance / 8);
  byId("grid").textContent = stage.ground.length ? `grid ${Number(cell.toPrecision(3))} m` : "";
  // From the bodies' side a surface is solid and hides; from its back it is a veil over what lies behind it.
  const faces = ({ point, normal }) => dot(sub(eye, point), normal) > 0;
  for (const plane of planes.filter(faces)) drawPlane(plane, view, look, paper, cell, models);
  for (const tube of tubes) drawTube(tube, view, paper, cell, true);
  set(solids, { camera: view, eye, light: LIGHT, up: UP, shadow: [0, 0, 0, 0] });
  for (const [body, model] of models) drawBody(body, model);
  set(lines, { camera: view, size, now: at, width: [3 * ratio] });
  for (const trail of trails) {
    if (stage.times.length < 2) break;
    set(lines, { colour: trail.colour });
    gl.bindVertexArray(trail.array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, at[0] + 1);
  }
  for (const tube of tubes) drawTube(tube, view, paper, cell, false);
  for (const plane of planes) if (!faces(plane)) drawPlane(plane, view, look, paper, cell, null);
}

function drawBody(body, model) {
  set(solids, { model });
  gl.bindVertexArray(body.array);
  gl.drawArrays(gl.TRIANGLES, 0, body.vertices);
}

// How much darker than level ground a surface is that faces away from the lamp; the shader of walls does the same.
const SHADE = 0.16;
const shade = (normal) => SHADE * (1 - Math.min(1, Math.max(0, dot(normal, LIGHT) / dot(UP, LIGHT))));

function latticeColours(paper) {
  const dark = document.documentElement.classList.contains("dark");
  return { line: dark ? [0.45, 0.51, 0.6] : [0.6, 0.65, 0.71], fill: mix(paper, dark ? WHITE : [0.1, 0.25, 0.4], 0.07) };
}

// A lattice that moves with the camera but stands still in space, and the shadows of the models on it; without them, a
// veil.
function drawPlane({ point, normal }, view, look, paper, cell, models) {
  const level = length(cross(UP, normal)) < 1e-3, e1 = level ? EAST : unit(cross(UP, normal));
  const e2 = level ? NORTH : cross(normal, e1);
  const arm = sub(look, point);
  const u = dot(arm, e1), v = dot(arm, e2), wrap = (x) => x - 5 * cell * Math.floor(x / (5 * cell));
  const centre = add(point, add(scale(u, e1), scale(v, e2)));
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
  gl.depthMask(models !== null);  // seen from below, the ground hides nothing
  set(ground, {
    camera: view, centre, e1, e2, extent: [6 * camera.distance], cell: [cell], middle: [wrap(u), wrap(v)],
    strength: [models ? 0.96 : 0.25], shade: [shade(normal)], ...latticeColours(paper),
  });
  gl.bindVertexArray(square);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  if (models && dot(normal, LIGHT) > 0.3) {
    const flatten = shadowMatrix(add(point, scale(1e-3 * camera.distance, normal)), normal, LIGHT);
    const dark = document.documentElement.classList.contains("dark");
    gl.depthMask(false);
    gl.enable(gl.STENCIL_TEST);  // darkens a place once, however many triangles fall on it
    gl.clear(gl.STENCIL_BUFFER_BIT);
    gl.stencilFunc(gl.EQUAL, 0, 1);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    set(solids, { camera: view, shadow: [0, 0, 0, dark ? 0.45 : 0.2] });
    for (const [body, model] of models) drawBody(body, multiply(flatten, model));
    gl.disable(gl.STENCIL_TEST);
  }
  gl.depthMask(true);
  gl.disable(gl.BLEND);
}

// The wall of a cylinder: the faces on the bodies' side before them, the others over them.
function drawTube({ point, axis, radius, half, inside }, view, paper, cell, solid) {
  const [e1, e2, e3] = frame(axis), around = Math.max(5, 5 * Math.round((2 * Math.PI * radius) / cell / 5));
  gl.enable(gl.CULL_FACE);
  gl.cullFace(inside === solid ? gl.BACK : gl.FRONT);  // the strip's front looks inward
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
  gl.depthMask(solid);
  set(wall, {
    camera: view, centre: point, e1, e2, e3, radius: [radius], reach: [half], cells: [around, half / cell],
    strength: [solid ? 0.96 : 0.12], light: scale(1 / dot(UP, LIGHT), LIGHT), shade: [SHADE], side: [inside ? -1 : 1],
    ...latticeColours(paper),
  });
  gl.bindVertexArray(ring);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2 * (SIDES + 1));
  gl.depthMask(true);
  gl.disable(gl.BLEND);
  gl.disable(gl.CULL_FACE);
}

function drawGizmo() {
  const pen = byId("gizmo").getContext("2d"), { right, top, back } = directions();
  pen.clearRect(0, 0, 168, 168);
  pen.font = "600 24px system-ui, sans-serif";
  pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineWidth = 5; pen.lineCap = "round";
  const axes = [["x", [1, 0, 0], "#e0393e"], ["y", [0, 1, 0], "#2ca02c"], ["z", [0, 0, 1], "#3f7bff"]];
  axes.sort((a, b) => dot(a[1], back) - dot(b[1], back));
  for (const [name, e, colour] of axes) {
    const x = dot(e, right), y = -dot(e, top);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.beginPath(); pen.moveTo(84, 84); pen.lineTo(84 + 50 * x, 84 + 50 * y); pen.stroke();
    pen.fillText(name, 84 + 68 * x, 84 + 68 * y);
  }
}

// Enough decimals to tell a thousandth of the whole apart.
const DECIMALS = END > START ? Math.min(15, Math.max(0, 3 - Math.floor(Math.log10(END - START)))) : 3;
const clockText = (t) => t.toFixed(DECIMALS);

// ---- controls
function request() { dirty = true; }
function play(on) {
  if (on && time >= END) time = START;
  playing = on && END > START;
  byId("play").textContent = playing ? "Pause" : "Play";
  request();
}
function moveTo(t) { time = Math.min(END, Math.max(START, t)); request(); }
function reset() { camera = { ...HOME, target: HOME.target.slice() }; byId("follow").value = camera.follow; request(); }
function follow(k) {  // a body followed stands in the middle; let go, the view stays where it is
  camera.target = k < 0 ? focus() : [0, 0, 0];
  camera.follow = k;
  request();
}
function orbit(dx, dy) {
  camera.yaw -= 0.007 * dx;
  camera.pitch = Math.min(1.55, Math.max(-1.55, camera.pitch + 0.007 * dy));
  request();
}
function pan(dx, dy) {
  const { right, top } = directions(), s = (2 * camera.distance * Math.tan(VIEW_ANGLE / 2)) / (panes()[0][3] * canvas.clientHeight);
  camera.target = add(camera.target, add(scale(-s * dx, right), scale(s * dy, top)));
  request();
}
function zoom(factor) {
  camera.distance = Math.min(100 * HOME.distance, Math.max(1e-3 * HOME.distance, camera.distance * factor));
  request();
}
function theme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  byId("theme").textContent = dark ? "Light" : "Dark";
  request();
}

const fingers = new Map();
canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, e); });
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => fingers.delete(e.pointerId));
canvas.addEventListener("pointermove", (e) => {
  const old = fingers.get(e.pointerId);
  if (!old) return;
  const dx = e.clientX - old.clientX, dy = e.clientY - old.clientY;
  if (fingers.size === 2) {
    const other = [...fingers.values()].find((f) => f.pointerId !== e.pointerId);
    const apart = (f) => Math.hypot(f.clientX - other.clientX, f.clientY - other.clientY) || 1;
    zoom(apart(old) / apart(e));
    pan(dx / 2, dy / 2);
  } else if (e.shiftKey || e.buttons & 6) pan(dx, dy);
  else orbit(dx, dy);
  fingers.set(e.pointerId, e);
});
canvas.addEventListener("contextmenu", (e) => e.preventDefault());
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  zoom(Math.exp(0.0015 * e.deltaY * (e.deltaMode ? 30 : 1)));  // deltaMode 1 counts lines
}, { passive: false });
byId("play").onclick = () => play(!playing);
byId("slider").oninput = (e) => { play(false); moveTo(Number(e.target.value)); };
byId("reset").onclick = reset;
byId("follow").onchange = (e) => follow(Number(e.target.value));
byId("theme").onclick = () => theme(!document.documentElement.classList.contains("dark"));
window.addEventListener("resize", request);
window.addEventListener("keydown", (e) => {
  const tag = e.target.tagName, step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (e.key === " " && tag !== "BUTTON" && tag !== "SELECT") { e.preventDefault(); play(!playing); }
  if (e.key === "r" && tag !== "SELECT") reset();
  if (step && tag !== "SELECT") {
    e.preventDefault();
    play(false);
    const { times } = stages[0], [i, s] = bracket(times, time), next = Math.round(i + s) + step;
    moveTo(times[Math.min(times.length - 1, Math.max(0, next))]);
  }
});

const LISTED = 12;  // names of each kind in the legend
function fill() {
  document.querySelector("h1").textContent = DOCUMENT.title;
  for (const text of new Set(SCENES.flatMap(({ notices }) => notices))) notice(text);
  if (SCENES.length > 1)
    for (const { title } of SCENES) {
      const pane = document.createElement("div"), label = document.createElement("span");
      label.textContent = title;
      pane.append(label);
      byId("panes").append(pane);
    }
  for (const [items, kind] of [[SCENES[0].bodies, ""], [SCENES[0].paths, "line"]]) {
    for (const { name, colour } of items.slice(0, LISTED)) {
      const entry = document.createElement("span"), mark = document.createElement("i");
      mark.className = kind;
      mark.style.background = colour;
      entry.append(mark, name);
      entry.title = name;
      byId("legend").append(entry);
    }
    if (items.length > LISTED) byId("legend").append(`and ${items.length - LISTED} more `);
  }
  SCENES[0].bodies.forEach(({ name }, k) => byId("follow").append(new Option(name, k)));
  // Real time if that lasts 2 s to 60 s, else so that the whole lasts about 20 s; and a hundred times either way.
  const whole = END - START, usual = whole === 0 || (whole >= 2 && whole <= 60) ? 1 : roundDown(whole / 20);
  for (let speed = roundDown(usual / 100), k = 0; k < 13; k++, speed = roundDown(speed * 2.51))
    byId("speed").append(new Option(`${Number(speed.toPrecision(3))}×`, speed));
  byId("speed").value = [...byId("speed").options].reduce((a, b) =>
    Math.abs(Math.log(b.value / usual)) < Math.abs(Math.log(a.value / usual)) ? b : a).value;
  Object.assign(byId("slider"), { min: START, max: END });
  for (const id of ["slider", "play", "speed"]) byId(id).disabled = END === START;
}

let before = 0;
function tick(stamp) {
  if (playing) {
    const passed = Math.min(0.5, (stamp - before) / 1000) * Number(byId("speed").value);  // a hidden tab does not skip
    moveTo(time + passed);
    if (time >= END) play(false);
  }
  before = stamp;
  if (dirty) { dirty = false; draw(); }
  requestAnimationFrame(tick);
}

fill();
reset();
theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
requestAnimationFrame(tick);
