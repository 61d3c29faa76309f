// WebGL 2: the programs (solids, lines, ground, wall) and the buffers they read.
"use strict";

const canvas = document.getElementById("view");
const gl = canvas.getContext("webgl2", { antialias: true, stencil: true });
if (!gl) throw new Error("this browser offers no WebGL 2; switch hardware acceleration on, or try another browser");

function program(vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, `#version 300 es\nprecision highp float;\n${source}`);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return made;
}

// By the length of the value: 1, 2, 3 or 4 numbers, or a matrix.
function set(made, values) {
  gl.useProgram(made);
  for (const [name, value] of Object.entries(values)) {
    const place = gl.getUniformLocation(made, name);
    if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
    else gl[`uniform${value.length}fv`](place, value);
  }
}

// Attributes in order of location: [data, numbers each, stride, offset, 1 if it advances by instance].
function vertexArray(attributes) {
  const array = gl.createVertexArray(), buffers = new Map();
  gl.bindVertexArray(array);
  attributes.forEach(([data, size, stride, offset, divisor], place) => {
    const known = buffers.has(data);
    if (!known) buffers.set(data, gl.createBuffer());
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.get(data));
    if (!known) gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, 4 * stride, 4 * offset);
    gl.vertexAttribDivisor(place, divisor);
  });
  return array;
}

const solids = program(
  `layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in vec3 colour;
  uniform mat4 model, camera; out vec3 place, facing, paint;
  void main() {
    vec4 x = model * vec4(position, 1.0);
    place = x.xyz; facing = mat3(model) * normal; paint = colour; gl_Position = camera * x;
  }`,
  `in vec3 place, facing, paint; uniform vec3 eye, light, up; uniform vec4 shadow; out vec4 result;
  void main() {
    if (shadow.a > 0.0) { result = shadow; return; }
    vec3 n = normalize(facing), v = normalize(eye - place);
    float sky = 0.5 + 0.5 * dot(n, up), sun = max(dot(n, light), 0.0);
    float shine = pow(max(dot(n, normalize(light + v)), 0.0), 40.0);
    result = vec4(paint * (0.28 + 0.27 * sky + 0.55 * sun) + 0.18 * shine, 1.0);
  }`);

// Each piece of a trail is a rectangle of constant width on the screen, from `tail` to `head`.
const lines = program(
  `layout(location = 0) in vec2 corner; layout(location = 1) in vec3 tail; layout(location = 2) in vec3 head;
  uniform mat4 camera; uniform vec2 size; uniform vec2 now; uniform float width;
  void main() {
    float part = gl_InstanceID == int(now.x) ? now.y : 1.0;
    vec4 a = camera * vec4(tail, 1.0), b = camera * vec4(mix(tail, head, part), 1.0);
    float near = 1e-3 * max(abs(a.w), abs(b.w));
    if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    if (a.w < near) a = mix(b, a, (b.w - near) / (b.w - a.w));
    if (b.w < near) b = mix(a, b, (a.w - near) / (a.w - b.w));
    vec2 along = (b.xy / b.w - a.xy / a.w) * size;
    along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
    vec4 x = corner.x < 0.5 ? a : b;
    vec2 step = 0.5 * width * (vec2(-along.y, along.x) * corner.y + along * (corner.x * 2.0 - 1.0) * 0.5);
    x.xy += 2.0 * step / size * x.w;
    x.z -= 4e-4 * x.w;  // a path on the ground stays above it
    gl_Position = x;
  }`,
  "uniform vec3 colour; out vec4 result; void main() { result = vec4(colour, 1.0); }");

const LATTICE = `
  float lattice(vec2 g) {
    vec2 w = fwidth(g), d = abs(fract(g - 0.5) - 0.5) / w;
    return (1.0 - min(min(d.x, d.y), 1.0)) * clamp(1.5 - 3.0 * max(w.x, w.y), 0.0, 1.0);
  }
  float ruled(vec2 g) { return max(0.45 * lattice(g), lattice(g / 5.0)); }`;

const ground = program(
  `layout(location = 0) in vec2 corner; uniform mat4 camera; uniform vec3 centre, e1, e2; uniform float extent;
  out vec2 uv;
  void main() { uv = corner * extent; gl_Position = camera * vec4(centre + uv.x * e1 + uv.y * e2, 1.0); }`,
  `in vec2 uv; uniform vec2 middle; uniform float cell, extent, strength, shade; uniform vec3 line, fill; out vec4 result;
  ${LATTICE}
  void main() {
    float fade = 1.0 - smoothstep(0.25, 1.0, length(uv) / extent);
    float on = ruled((uv + middle) / cell), alpha = fade * mix(strength, 1.0, on * 0.8);
    if (alpha < 0.01) discard;
    result = vec4(mix(fill, line, on) * (1.0 - shade), alpha);
  }`);

// The side of a cylinder about `e3`: corner.x once around, corner.y from end to end; its ends fade.
const wall = program(
  `layout(location = 0) in vec2 corner; uniform mat4 camera; uniform vec3 centre, e1, e2, e3; uniform float radius, reach;
  uniform vec3 light; uniform float side; out vec2 place; out float lit;
  void main() {
    float angle = 6.283185307179586 * corner.x;
    place = corner;
    vec3 outward = cos(angle) * e1 + sin(angle) * e2;
    lit = clamp(dot(side * outward, light), 0.0, 1.0);
    gl_Position = camera * vec4(centre + radius * outward + reach * corner.y * e3, 1.0);
  }`,
  `in vec2 place; in float lit; uniform vec2 cells; uniform float strength, shade; uniform vec3 line, fill; out vec4 result;
  ${LATTICE}
  void main() {
    float on = ruled(place * cells), fade = 1.0 - smoothstep(0.8, 1.0, abs(place.y));
    float alpha = fade * (strength + (1.0 - strength) * 0.5 * on);
    if (alpha < 0.01) discard;
    result = vec4(mix(fill, line, on) * (1.0 - shade * (1.0 - lit)), alpha);
  }`);
