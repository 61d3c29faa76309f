// Vectors, quaternions (w, x, y, z), matrices (4 x 4, columns first, as WebGL takes them), and samples in time.
"use strict";

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scale(1 / length(a), a);
const mix = (a, b, s) => a.map((x, i) => x + s * (b[i] - x));

// Right-handed axes e1, e2, e3 with e3 along the given direction.
function frame(direction) {
  const e3 = unit(direction);
  const e1 = unit(cross(Math.abs(e3[0]) > 0.9 ? [0, 1, 0] : [1, 0, 0], e3));
  return [e1, cross(e3, e1), e3];
}

// From p (s = 0) to q (s = 1) by the shorter way; q and -q are the same attitude.
function slerp(p, q, s) {
  let c = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  const sign = c < 0 ? -1 : 1;
  c = Math.min(1, Math.abs(c));
  const angle = Math.acos(c);
  const small = angle < 1e-4;  // sin(s angle) / sin(angle) is s there, to 1e-9
  const a = small ? 1 - s : Math.sin((1 - s) * angle) / Math.sin(angle);
  const b = sign * (small ? s : Math.sin(s * angle) / Math.sin(angle));
  const r = [0, 1, 2, 3].map((i) => a * p[i] + b * q[i]);
  const n = Math.hypot(...r);
  return r.map((x) => x / n);
}

// [i, s]: t lies between times[i] and times[i + 1], the part s of the way; the ends are held.
function bracket(times, t) {
  const last = times.length - 1;
  if (last === 0 || t <= times[0]) return [0, 0];
  if (t >= times[last]) return [last - 1, 1];
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

// Position and attitude of a body at [i, s]; of a spring, by how much it is stretched, too.
function pose(body, [i, s]) {
  const row = (rows, width, k) => Array.from(rows.subarray(width * k, width * (k + 1)));
  const x = row(body.positions, 3, i), q = row(body.quaternions, 4, i), l = body.stretch ? body.stretch[i] : 1;
  if (s === 0) return { x, q, l };
  return {
    x: mix(x, row(body.positions, 3, i + 1), s), q: slerp(q, row(body.quaternions, 4, i + 1), s),
    l: body.stretch ? l + s * (body.stretch[i + 1] - l) : 1,
  };
}

// With l, stretched along the third axis.
function modelMatrix({ x, q: [w, a, b, c], l = 1 }) {
  return [
    1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b), 0,
    2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a), 0,
    l * 2 * (a * c + w * b), l * 2 * (b * c - w * a), l * (1 - 2 * (a * a + b * b)), 0,
    x[0], x[1], x[2], 1,
  ];
}

function multiply(A, B) {
  const C = new Array(16).fill(0);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++) for (let k = 0; k < 4; k++) C[4 * j + i] += A[4 * k + i] * B[4 * j + k];
  return C;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2), d = 1 / (near - far);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) * d, -1, 0, 0, 2 * far * near * d, 0];
}

function lookAt(eye, target, up) {
  const back = unit(sub(eye, target)), right = unit(cross(up, back)), top = cross(back, right);
  return [
    right[0], top[0], back[0], 0, right[1], top[1], back[1], 0, right[2], top[2], back[2], 0,
    -dot(right, eye), -dot(top, eye), -dot(back, eye), 1,
  ];
}

// Along `light` onto the plane through `point` with the given normal.
function shadowMatrix(point, normal, light) {
  const d = dot(normal, light), h = dot(normal, point), M = new Array(16).fill(0);
  for (let j = 0; j < 3; j++)
    for (let i = 0; i < 3; i++) M[4 * j + i] = (i === j ? 1 : 0) - (light[i] * normal[j]) / d;
  for (let i = 0; i < 3; i++) M[12 + i] = (light[i] * h) / d;
  M[15] = 1;
  return M;
}

// The largest of 1, 2, 5 times a power of ten that is not above x.
function roundDown(x) {
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  return [5, 2, 1].find((m) => m * power <= x * (1 + 1e-9)) * power;
}

function decode(text, Type) {
  return new Type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}
