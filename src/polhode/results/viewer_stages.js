// What is drawn: for each run a stage, with its bodies, joints, springs, trails and surfaces.
"use strict";

const byId = (id) => document.getElementById(id);
const DOCUMENT = JSON.parse(byId("scene").textContent), SCENES = DOCUMENT.scenes || [DOCUMENT];
const UP = SCENES[0].up, EAST = UP[0] ? [0, 1, 0] : [1, 0, 0], NORTH = cross(UP, EAST);
const VIEW_ANGLE = 0.6, STEEL = [0.42, 0.45, 0.5];

const STRIP = new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), SQUARE = new Float32Array([-1, -1, -1, 1, 1, -1, 1, 1]);
const SIDES = 96, RING = new Float32Array(4 * (SIDES + 1)).map((_, i) => [Math.floor(i / 4) / SIDES, -1, Math.floor(i / 4) / SIDES, 1][i % 4]);
const square = vertexArray([[SQUARE, 2, 2, 0, 0]]), ring = vertexArray([[RING, 2, 2, 0, 0]]);

// Triangles on the device, and how far they reach from the origin of their body.
function solid(shapes, colour) {
  const mesh = new Float32Array(meshOf(shapes, colour));
  return {
    reach: reach(mesh), vertices: mesh.length / 9,
    array: vertexArray([0, 3, 6].map((offset) => [mesh, 3, 9, offset, 0])),
  };
}

function stageOf(scene) {
  const numbers = (text) => decode(text, Float32Array);
  const moving = (thing, colour) => ({
    ...solid(thing.shapes, colour), until: thing.until,
    positions: numbers(thing.positions), quaternions: numbers(thing.quaternions),
    stretch: thing.stretch && numbers(thing.stretch),
  });
  const stage = {
    title: scene.title, times: decode(scene.times, Float64Array), origin: scene.origin, ground: scene.ground,
    bodies: scene.bodies.map((body) => moving(body, colourOf(body.colour))),
    joints: scene.joints.map((mark) => ({ ...solid(mark.shapes, STEEL), on: mark.on, until: mark.until })),
    links: scene.links.map((link) => moving(link, STEEL)),
    trails: scene.paths.map((path) => {
      const points = numbers(path.points);
      return { colour: colourOf(path.colour), array: vertexArray([[STRIP, 2, 2, 0, 0], [points, 3, 3, 0, 1], [points, 3, 3, 3, 1]]) };
    }),
    planes: scene.ground.filter(({ kind }) => kind === "Plane"), tubes: scene.ground.filter(({ kind }) => kind === "Tube"),
  };
  return { ...stage, home: homeOf(stage) };
}

// All bodies at all times in view; where they travel far, the first is followed instead.
function homeOf({ bodies, links, tubes }) {
  const low = [Infinity, Infinity, Infinity], high = low.map((x) => -x), first = [low.slice(), high.slice()];
  const grow = ([a, b], x, r) => { for (let k = 0; k < 3; k++) { a[k] = Math.min(a[k], x[k] - r); b[k] = Math.max(b[k], x[k] + r); } };
  for (const body of bodies)
    for (let i = 0; i < body.positions.length; i += 3) {
      const x = body.positions.subarray(i, i + 3);
      grow([low, high], x, body.reach);
      if (i === 0) grow(first, x, body.reach);
    }
  const half = ([a, b]) => Math.max(...sub(b, a)) / 2, way = half([low, high]), start = half(first);
  for (const { point, axis, radius, half: reach } of tubes)
    for (const end of [-reach, reach])
      for (const side of frame(axis).slice(0, 2))
        for (const r of [-radius, radius]) grow([low, high], add(add(point, scale(end, axis)), scale(r, side)), 0);
  for (const link of links)
    for (let i = 0; i < link.stretch.length; i++) {
      const model = modelMatrix(pose(link, [i, 0]));
      for (const end of [0, link.reach]) grow([low, high], add(model.slice(12, 15), scale(end, model.slice(8, 11))), 0);
    }
  const all = half([low, high]);
  const away = way > 5 * start, middle = (a, b) => scale(0.5, add(a, b));
  const target = away ? sub(middle(...first), Array.from(bodies[0].positions.subarray(0, 3))) : middle(low, high);
  return { target, distance: (away ? 1.6 * start : 1.25 * all) / Math.sin(VIEW_ANGLE / 2), follow: away ? 0 : -1, size: all };
}

// Everything solid that is there at a time, each with its matrix.
function solidsAt(stage, time) {
  const at = bracket(stage.times, time), there = ({ until }) => until == null || time < until;
  const bodies = stage.bodies.map((body) => [body, modelMatrix(pose(body, at))]);
  const space = modelMatrix({ x: scale(-1, stage.origin), q: [1, 0, 0, 0] });
  const joints = stage.joints.filter(there).map((mark) => [mark, mark.on == null ? space : bodies[mark.on][1]]);
  return [...bodies, ...joints, ...stage.links.filter(there).map((link) => [link, modelMatrix(pose(link, at))])];
}

const stages = SCENES.map(stageOf), bodies = stages[0].bodies;
const START = Math.min(...stages.map(({ times }) => times[0]));
const END = Math.max(...stages.map(({ times }) => times[times.length - 1]));

// Where in the canvas each stage is: [left, top, width, height], parts of the whole.
function panes() {
  const n = stages.length, wide = Math.sqrt((n * canvas.clientWidth) / canvas.clientHeight);
  const columns = Math.max(1, Math.min(n, Math.round(wide))), rows = Math.ceil(n / columns);
  return stages.map((_, k) => [(k % columns) / columns, Math.floor(k / columns) / rows, 1 / columns, 1 / rows]);
}
