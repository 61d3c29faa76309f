"""MuJoCo (Todorov, Erez, Tassa, IROS 2012, doi:10.1109/IROS.2012.6386109) on mechanisms of hinges, slides and springs.

As its users build them: a tree of joints from the ground, each loop closed by `connect` constraints (at one point of a
plane mechanism, at two points of the axis elsewhere), springs with dampers as tendons. MuJoCo's constraints are soft:
they are as hard here as its manual allows at a step of h, a time constant of 2h and an impedance next to 1.
"""

from __future__ import annotations

import time
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from polhode.model.checks import InputError, positive, unknown
from polhode.peers.installed import load
from polhode.peers.mechanism import Between, Joint, Mechanism
from polhode.peers.runs import Bodies, Cost

INTEGRATORS = ("RK4", "implicit")  # of order 4 and explicit; of order 1, with dampers at the end of the step
IMPEDANCE = "0.9999 0.9999 0.001 0.5 2"  # 0.9999 is the largest MuJoCo takes
_POINT = 1e-9  # of m L²: inertia of a mass at the end of a bar, which may not be 0


def motion(
    mechanism: Mechanism, *, step: float, until: float, every: int = 1, integrator: str = "RK4"
) -> tuple[Bodies, Cost]:
    """In steps of `step` s to `until` s, a sample at each `every`-th; `integrator` is one of `INTEGRATORS`."""
    positive("step", step)
    if integrator not in INTEGRATORS:
        raise unknown("integrator of MuJoCo", integrator, INTEGRATORS)
    steps = round(until / step)
    if steps < 1 or steps % every or abs(steps * step - until) > 1e-9 * until:
        raise InputError(f"until = {until} s must be a multiple of every = {every} steps of {step} s")
    mj = load("mujoco")
    mj.set_mju_user_warning(lambda text: None)  # its own writes a file where one works; `data.warning` counts them
    tree = _tree(mechanism)
    model = mj.MjModel.from_xml_string(_text(mechanism, tree, step, integrator))
    data = mj.MjData(model)
    for body, joint in tree.items():
        if isinstance(joint, Joint):
            data.joint(mechanism.parts[body].name).qvel[0] = _rate(mechanism, joint)
    points = [body for body, edge in tree.items() if isinstance(edge, Between)]
    numbers = [model.body(part.name).id for part in mechanism.parts]
    for body, torque in mechanism.torques:
        data.xfrc_applied[numbers[body], 3:] = torque
    states = [(data.qpos.copy(), data.qvel.copy())]
    began = time.perf_counter()
    for _ in range(steps // every):
        mj.mj_step(model, data, nstep=every)
        states.append((data.qpos.copy(), data.qvel.copy()))
    cost = Cost(steps, time.perf_counter() - began)
    if data.warning.number.any() or not np.isfinite(data.qpos).all():
        raise InputError(f"MuJoCo went astray on the way to {until} s with step = {step} s; take a smaller step")
    bodies = _bodies(mj, model, data, numbers, states, step * every)
    bodies.omega[:, points] = 0.0  # a mass on a bar is a point; here it turns with the bar
    return bodies, cost


def _bodies(mj: Any, model: Any, data: Any, numbers: list[int], states: list[Any], interval: float) -> Bodies:
    rows: list[tuple[np.ndarray, ...]] = []
    for qpos, qvel in states:
        data.qpos[:], data.qvel[:] = qpos, qvel
        mj.mj_forward(model, data)
        speeds = np.zeros((len(numbers), 6))
        for speed, number in zip(speeds, numbers, strict=True):
            mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, number, speed, 0)
        rows.append((data.xpos[numbers], speeds[:, 3:], data.xmat[numbers].reshape(-1, 3, 3), speeds[:, :3]))
    return Bodies(interval * np.arange(len(rows)), *(np.array(column) for column in zip(*rows, strict=True)))


def _tree(mechanism: Mechanism) -> dict[int, Joint | Between]:
    """By what each part hangs on one that is reached before it, from the ground on."""
    found: dict[int, Joint | Between] = {}
    bars = [line for line in mechanism.lines if line.stiff]
    if any(bar.a is not None or bar.at_b.any() for bar in bars):
        raise InputError("for MuJoCo a bar leads from the ground to a centre of mass; join other parts by hinges")
    edges: list[Joint | Between] = [*mechanism.joints, *bars]
    while len(found) < len(mechanism.parts):
        for edge in edges:
            new = edge.b if edge.a is None or edge.a in found else edge.a if edge.b in found else None
            if new is not None and new not in found:
                found[new] = edge
                break
        else:
            raise InputError("every part must be joined to the ground, by way of others")
    return found


def _rate(mechanism: Mechanism, joint: Joint) -> float:
    """Of b against a at the start; a joint is given to MuJoCo with b as the part that moves."""
    parts = mechanism.parts
    b, a = parts[joint.b], None if joint.a is None else parts[joint.a]
    turning = b.omega - (0 if a is None else a.omega)
    if not joint.slides:
        return float(joint.axis @ turning)
    moving = b.velocity + np.cross(b.omega, joint.at - b.position)
    if a is not None:
        moving = moving - a.velocity - np.cross(a.omega, joint.at - a.position)
    return float(joint.axis @ moving)


def _text(mechanism: Mechanism, tree: dict[int, Joint | Between], step: float, integrator: str) -> str:
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian", boundmass="0", boundinertia="0")
    option = ElementTree.SubElement(
        root, "option", timestep=repr(step), integrator=integrator, gravity=_words(mechanism.gravity), tolerance="1e-14"
    )
    ElementTree.SubElement(option, "flag", contact="disable", autoreset="disable")
    elements: dict[int | None, Any] = {None: ElementTree.SubElement(root, "worldbody")}
    frames: dict[int | None, tuple[np.ndarray, np.ndarray]] = {None: (np.zeros(3), np.eye(3))}
    for body, edge in tree.items():
        part, parent = mechanism.parts[body], edge.a if edge.b == body else edge.b
        r, R = frames[parent]
        frames[body] = part.position, part.attitude
        element = elements[body] = ElementTree.SubElement(
            elements[parent], "body", name=part.name, pos=_words(R.T @ (part.position - r)),
            quat=_words(Rotation.from_matrix(R.T @ part.attitude).as_quat(scalar_first=True)),
        )  # fmt: skip
        inertia = part.inertia
        if isinstance(edge, Joint):
            kind = "slide" if edge.slides else "hinge"
            axis = part.attitude.T @ edge.axis * (1 if edge.b == body else -1)
            at = part.attitude.T @ (edge.at - part.position)
            ElementTree.SubElement(element, "joint", name=part.name, type=kind, pos=_words(at), axis=_words(axis))
        else:
            at = part.attitude.T @ (edge.at_a - part.position)
            inertia = _POINT * part.mass * (at @ at) * np.eye(3)
            ElementTree.SubElement(element, "joint", name=part.name, type="ball", pos=_words(at))
        full = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        ElementTree.SubElement(element, "inertial", pos="0 0 0", mass=repr(part.mass), fullinertia=_words(full))
    equality = ElementTree.SubElement(root, "equality")
    for joint in mechanism.joints:
        if joint not in tree.values():
            for at in (joint.at,) if mechanism.planar else (joint.at, joint.at + joint.axis):
                _connect(equality, mechanism, joint, at, step)
    tendons = ElementTree.SubElement(root, "tendon")
    for i, line in enumerate(line for line in mechanism.lines if not line.stiff):
        spring = ElementTree.SubElement(
            tendons, "spatial", stiffness=repr(line.stiffness), damping=repr(line.damping),
            springlength=repr(line.length),
        )  # fmt: skip
        for end, (joined, s) in enumerate(((line.a, line.at_a), (line.b, line.at_b))):
            name = f"end {end} of line {i}"
            ElementTree.SubElement(elements[joined], "site", name=name, pos=_words(s))
            ElementTree.SubElement(spring, "site", site=name)
    return ElementTree.tostring(root, encoding="unicode")


def _connect(equality: Any, mechanism: Mechanism, joint: Joint, at: np.ndarray, step: float) -> None:
    b = mechanism.parts[joint.b]
    said = {"body1": b.name, "anchor": _words(b.attitude.T @ (at - b.position))}
    if joint.a is not None:
        said["body2"] = mechanism.parts[joint.a].name
    ElementTree.SubElement(equality, "connect", {**said, "solref": f"{2 * step!r} 1", "solimp": IMPEDANCE})


def _words(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)
