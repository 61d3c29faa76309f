// Shapes as triangles: a list of numbers, nine a vertex: position, outward normal, colour (all of the body frame).
"use strict";

const WHITE = [1, 1, 1], RED = [0.84, 0.15, 0.16], GREEN = [0.17, 0.63, 0.17], BLUE = [0.2, 0.4, 0.95];
const colourOf = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);
const tint = (colour, s) => mix(colour, WHITE, s);

function quad(out, corners, normals, colour) {
  for (const k of [0, 1, 2, 0, 2, 3]) out.push(...corners[k], ...normals[k], ...colour);
}

// A surface of revolution. `profile` is a list of strips [[r, z, normal r, normal z], [...the other edge]];
// `paint(sector, strip)` is the colour of a patch.
function revolve(out, profile, axis, centre, sectors, paint) {
  const [e1, e2, e3] = frame(axis);
  const around = (k) => [Math.cos((2 * Math.PI * k) / sectors), Math.sin((2 * Math.PI * k) / sectors)];
  const place = ([c, s], r, z) => add(add(scale(r * c, e1), scale(r * s, e2)), scale(z, e3));
  profile.forEach(([p, q], strip) => {
    for (let k = 0; k < sectors; k++) {
      const ring = [[around(k), p], [around(k + 1), p], [around(k + 1), q], [around(k), q]];
      const corners = ring.map(([angle, [r, z]]) => add(centre, place(angle, r, z)));
      const normals = ring.map(([angle, [, , nr, nz]]) => place(angle, nr, nz));
      quad(out, corners, normals, paint(k, strip));
    }
  });
}

// Half a circle (sphere) or a whole one (tyre) about (r, 0).
function arc(r, radius, from, to, strips) {
  const at = (k) => {
    const angle = from + ((to - from) * k) / strips, c = Math.cos(angle), s = Math.sin(angle);
    return [Math.max(0, r + radius * c), radius * s, c, s];
  };
  return Array.from({ length: strips }, (_, k) => [at(k), at(k + 1)]);
}

const drum = (r, h) => [
  [[0, -h / 2, 0, -1], [r, -h / 2, 0, -1]], [[r, -h / 2, 1, 0], [r, 0, 1, 0]],
  [[r, 0, 1, 0], [r, h / 2, 1, 0]], [[r, h / 2, 0, 1], [0, h / 2, 0, 1]],
];

function rod(out, a, b, radius, colour) {
  revolve(out, drum(radius, length(sub(b, a))), sub(b, a), scale(0.5, add(a, b)), 16, () => colour);
}

const chequer = (colour, size) => (k, strip) =>
  (Math.floor(k / size) + Math.floor(strip / size)) % 2 ? tint(colour, 0.65) : colour;

function ellipsoid(out, semi, centre, colour) {
  const ball = [];
  revolve(ball, arc(0, 1, -Math.PI / 2, Math.PI / 2, 24), [0, 0, 1], [0, 0, 0], 48, chequer(colour, 6));
  for (let i = 0; i < ball.length; i += 9) {
    const x = ball.slice(i, i + 3);  // on the unit sphere the position is the normal
    out.push(...x.map((c, k) => centre[k] + semi[k] * c), ...unit(x.map((c, k) => c / semi[k])));
    out.push(...ball.slice(i + 6, i + 9));
  }
}

// A wire about z, from 0 to l, its ends on the axis.
function coil(out, r, l, turns, colour) {
  const along = 16 * turns, wire = 0.22 * r, round = 8, lead = along / (2 * turns);
  const rings = Array.from({ length: along + 1 }, (_, k) => {
    const angle = (2 * Math.PI * turns * k) / along, c = Math.cos(angle), s = Math.sin(angle);
    const arm = (r - wire) * Math.min(1, k / lead, (along - k) / lead), x = [arm * c, arm * s, (l * k) / along];
    const way = unit([-2 * Math.PI * turns * arm * s, 2 * Math.PI * turns * arm * c, l]);
    const side = [c, s, 0], other = cross(way, side);
    return Array.from({ length: round + 1 }, (_, j) => {
      const turn = (2 * Math.PI * j) / round, n = unit(add(scale(Math.cos(turn), side), scale(Math.sin(turn), other)));
      return [add(x, scale(wire, n)), n];
    });
  });
  for (let k = 0; k < along; k++)
    for (let j = 0; j < round; j++) {
      const corners = [rings[k][j], rings[k][j + 1], rings[k + 1][j + 1], rings[k + 1][j]];
      quad(out, corners.map(([x]) => x), corners.map(([, n]) => n), colour);
    }
}

const BUILDERS = {
  Sphere: (out, { radius, centre }, colour) => ellipsoid(out, [radius, radius, radius], centre, colour),
  Ellipsoid: (out, { semi_axes, centre }, colour) => ellipsoid(out, semi_axes, centre, colour),
  Disk(out, { radius, axis, thickness, centre, spokes }, colour) {
    const t = Math.max(thickness, 0.02 * radius);
    const sectors = (n) => (k) => (Math.floor(k / n) % 2 ? tint(colour, 0.65) : colour);
    if (!spokes) return revolve(out, drum(radius, t), axis, centre, 72, sectors(9));
    const tube = Math.min(Math.max(t / 2, 0.02 * radius), 0.3 * radius), [e1, e2, e3] = frame(axis);
    revolve(out, arc(radius - tube, tube, 0, 2 * Math.PI, 16), axis, centre, 72, sectors(9));
    rod(out, add(centre, scale(-1.5 * tube, e3)), add(centre, scale(1.5 * tube, e3)), 0.06 * radius, colour);
    for (let k = 0; k < spokes; k++) {  // one of them stands out, so that a turn can be counted
      const angle = (2 * Math.PI * k) / spokes;
      const arm = add(scale(Math.cos(angle), e1), scale(Math.sin(angle), e2));
      const end = add(centre, scale(radius - tube, arm));
      rod(out, centre, end, (k ? 0.008 : 0.024) * radius, k ? [0.6, 0.6, 0.62] : tint(colour, 0.3));
    }
  },
  Box(out, { size, centre }, colour) {
    for (let k = 0; k < 3; k++)
      for (const side of [-0.5, 0.5]) {
        const i = (k + 1) % 3, j = (k + 2) % 3, normal = [0, 0, 0];
        normal[k] = 2 * side;
        const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([u, v]) => {
          const x = [0, 0, 0];
          x[k] = side * size[k]; x[i] = 0.5 * u * size[i]; x[j] = 0.5 * v * size[j];
          return add(centre, x);
        });
        quad(out, corners, [normal, normal, normal, normal], tint(colour, 0.3 * k));
      }
  },
  Rod: (out, { a, b, radius }, colour) => rod(out, a, b, radius, colour),
  Cylinder(out, { radius, height, axis, centre }, colour) {
    const paint = (k, strip) => ((Math.floor(k / 8) + (strip > 1)) % 2 ? tint(colour, 0.65) : colour);
    revolve(out, drum(radius, height), axis, centre, 64, paint);
  },
  Coil: (out, { radius, length: l, turns }, colour) => coil(out, radius, l, turns, colour),
  Axes(out, { length: l }) {
    [RED, GREEN, BLUE].forEach((colour, k) => {
      const e = [0, 0, 0];
      e[k] = 1;
      rod(out, [0, 0, 0], scale(0.85 * l, e), 0.015 * l, colour);
      const tip = [[[0, 0, 0, -1], [0.05 * l, 0, 0, -1]], [[0.05 * l, 0, 0.95, 0.32], [0, 0.15 * l, 0.95, 0.32]]];
      revolve(out, tip, e, scale(0.85 * l, e), 16, () => colour);
    });
  },
};

function meshOf(shapes, colour) {
  const out = [];
  for (const shape of shapes) BUILDERS[shape.kind](out, shape, colour);
  return out;
}

// The largest distance of a vertex from the body's origin.
function reach(mesh) {
  let far = 0;
  for (let i = 0; i < mesh.length; i += 9) far = Math.max(far, Math.hypot(mesh[i], mesh[i + 1], mesh[i + 2]));
  return far;
}
