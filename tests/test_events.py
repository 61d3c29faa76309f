"""Events are found where they happen, in their order; what they do is done; what cannot be is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.simulation import Status

TENSOR = np.array([[5.0, 0.3, 0.2], [0.3, 4.0, 0.1], [0.2, 0.1, 3.0]])
BODY = ph.RigidBody(TENSOR)
START = ph.State.of(attitude=ph.exp((0.3, 0.1, 0.0)), omega=(1.0, 2.0, 0.5))
STEP = 0.05
G = 9.81


def spin(t: Any, R: Any, omega: Any) -> Any:
    return omega[2]


def tip(t: Any, R: Any) -> Any:
    return R[2, 2] - 0.5


def exact(t: float) -> tuple[np.ndarray, np.ndarray]:
    state = ph.exact(BODY, START, t)
    return np.asarray(state.attitude.matrix().array), np.linalg.solve(TENSOR, np.asarray(state.momentum.array))


def free(**how: Any) -> ph.Run:
    return ph.simulate(BODY, None, START, **{"method": "exact", "step": STEP, "until": 20.0, **how})


# --- found where they happen -----------------------------------------------------------------


def test_of_a_free_body_against_the_exact_motion() -> None:
    """Located to 1e-12 of a step; measured 1e-14 to 5e-14 in the numbers themselves."""
    run = free(events=[ph.Event(spin, stop=False), ph.Event(tip, -1, stop=False)])
    assert run.trajectory.status is Status.OK
    assert {e.name for e in run.events} == {"spin", "tip"}
    times = [e.t for e in run.events]
    assert times == sorted(times)
    for event in run.events:
        R, omega = exact(event.t)
        assert abs(omega[2] if event.name == "spin" else R[2, 2] - 0.5) < 1e-12
        assert np.abs(np.asarray(event.state.attitude.matrix().array) - R).max() < 1e-12
    fine = free(step=STEP / 10)
    assert sum(e.name == "spin" for e in run.events) == (np.diff(np.sign(fine.omega[:, 2])) != 0).sum() > 3
    assert sum(e.name == "tip" for e in run.events) == (np.diff(np.sign(fine.attitude[:, 2, 2] - 0.5)) < 0).sum() > 3


def test_watching_changes_nothing() -> None:
    watched, alone = free(events=ph.Event(tip, stop=False), every=7), free(every=7)
    assert watched.t.tobytes() == alone.t.tobytes()
    assert watched.attitude.tobytes() == alone.attitude.tobytes()


def test_stopped_at_the_third_and_gone_on() -> None:
    run = free(events=ph.Event(tip, -1, stop=3))
    assert run.ok
    assert run.trajectory.status is Status.STOPPED
    assert [e.name for e in run.events] == ["tip"] * 3
    assert run.t[-1] == run.events[-1].t
    further = ph.simulate(run, until=20.0)
    assert further.t[:-1].tolist() == pytest.approx(np.unique([*run.t[:-1], *further.t[:-1]]).tolist())
    R, _ = exact(20.0)
    assert np.abs(further.attitude[-1] - R).max() < 1e-12
    assert len(further.events) == 3


def test_going_on_counts_on() -> None:
    """Events of one name are told apart by their order."""
    events = [ph.Event(lambda t: jnp.sin(5 * t), stop=3), ph.Event(lambda t: jnp.sin(4 * t), stop=5)]
    whole = free(events=events, until=5.0)
    assert [(e.t, e.which) for e in whole.events if not e.which] == [(e.t, 0) for e in whole.events[::2]]
    assert whole.t[-1] == pytest.approx(3 * np.pi / 5)
    for at in (0.5, 1.0, 1.5):
        further = ph.simulate(free(events=events, until=at), until=5.0, events=events)
        assert further.t.tolist() == whole.t.tolist()
        assert [e.t for e in further.events] == pytest.approx([e.t for e in whole.events], abs=1e-12)
    further = ph.simulate(whole, until=5.0, events=events[0])
    assert further.t[-1] == pytest.approx(6 * np.pi / 5)  # after that, the third from there


def test_order_of_the_state_at_an_event_is_that_of_the_method() -> None:
    load = ph.Potential(lambda R: 2.0 * R[2, 2] + 0.3 * R[0, 1])
    fine = ph.simulate(BODY, load, START, step=1e-3, until=2.0, method="mk-rk4", events=ph.Event(tip))
    errors = []
    for h in (0.04, 0.02):
        run = ph.simulate(BODY, load, START, step=h, until=2.0, method="imidm", events=ph.Event(tip))
        errors.append(abs(run.events[0].t - fine.events[0].t))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_several_in_one_step_in_their_order() -> None:
    marks = [ph.Event(lambda t, mark=mark: t - mark, stop=False, name=f"{mark}") for mark in (0.63, 0.601, 0.64)]
    run = free(events=marks, until=1.0)
    assert [e.name for e in run.events] == ["0.601", "0.63", "0.64"]
    assert [e.t for e in run.events] == pytest.approx([0.601, 0.63, 0.64], abs=1e-13)


def test_times_and_events_together() -> None:
    run = free(events=ph.Event(lambda t: t - 0.617), times=[0.1, 0.61, 0.615, 0.63, 1.0])
    assert run.t.tolist() == pytest.approx([0.1, 0.61, 0.615])


# --- actions ---------------------------------------------------------------------------------


def test_an_impulse_once_more_than_a_step_takes() -> None:
    """Twice in one step: each doubles the momentum of a ball, which turns with a constant rate between."""
    ball = ph.RigidBody((1.0, 1.0, 1.0))
    start = ph.State.of(omega=(0.0, 0.0, 1.0))
    kicks = [
        ph.Event(lambda t, at=at: t - at, name=str(at), action=lambda t, x: replace(x, momentum=2.0 * x.momentum))
        for at in (0.33, 0.36)
    ]
    run = ph.simulate(ball, None, start, step=0.1, until=1.0, method="exact", events=kicks)
    angle = 0.33 + 2 * 0.03 + 4 * 0.64
    assert run.ok
    assert [e.t for e in run.events] == pytest.approx([0.33, 0.36], abs=1e-13)
    assert np.asarray(run.last_state.momentum.array) == pytest.approx([0, 0, 4])
    assert np.cos(angle) == pytest.approx(run.attitude[-1, 0, 0], abs=1e-12)
    assert run.conserved == ()
    sampled = ph.simulate(
        ball, None, start, step=0.1, until=1.0, method="exact", events=kicks, times=[0.32, 0.34, 0.37, 0.9]
    )
    turned = [0.32, 0.33 + 2 * 0.01, 0.33 + 2 * 0.03 + 4 * 0.01, 0.33 + 2 * 0.03 + 4 * 0.54]
    assert np.arctan2(sampled.attitude[:, 1, 0], sampled.attitude[:, 0, 0]) == pytest.approx(turned, abs=1e-12)


@pytest.mark.parametrize("method", ["imidm", "em"])
def test_a_method_that_remembers_begins_anew_after_an_impulse(method: str) -> None:
    """`em` keeps rates of its own in its states."""
    kick = ph.Event(lambda t: t - 0.52, action=lambda t, x: replace(x, momentum=-1.0 * x.momentum))
    run = ph.simulate(BODY, None, START, step=0.001, until=1.04, method=method, events=kick)
    assert run.attitude[-1] == pytest.approx(run.attitude[0], abs=1e-4)  # back where it came from


def bob(speed: float = 0.0) -> mb.System:
    body = mb.Body("bob", 1.0, (0.1, 0.2, 0.1), position=(1.0, 0.0, 0.0), velocity=(0.0, 0.0, -speed),
                   omega=(0.0, speed, 0.0))  # fmt: skip
    hinge = mb.Revolute("ground", "bob", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), name="hinge")
    return mb.System([body], forces=[mb.Gravity((0.0, 0.0, -G))], constraints=[hinge])


def low(view: mb.View) -> Any:
    return view.position("bob")[0]


def test_a_joint_is_released() -> None:
    system = bob()
    run = ph.simulate(system, step=0.01, until=1.0, events=ph.Event(low, action=lambda t, x: system.released("hinge")))
    (event,) = run.events
    after = run.t[-1] - event.t
    r, v = event.state.positions[0], event.state.velocities[0]
    assert run.ok
    assert run.positions[-1, 0] == pytest.approx(r + v * after - [0, 0, G * after**2 / 2], abs=1e-12)
    assert np.ptp(run.energy) < 1e-10
    first = run.changes[0][0]
    assert run.t[first - 1] < event.t < run.t[first]
    assert (run.multipliers[first:] == 0.0).all()
    assert np.abs(run.multipliers[1:first, 2]).min() > 0.1
    assert run.gap.max() < 1e-12  # of the joints there are
    assert run.dataset.event_time.values.tolist() == [event.t]
    assert list(run.dataset.event.values) == ["low"]
    further = ph.simulate(run, until=1.2)
    after = further.t[-1] - event.t
    assert further.positions[-1, 0] == pytest.approx(r + v * after - [0, 0, G * after**2 / 2], abs=1e-12)


def test_a_pendulum_against_a_wall() -> None:
    """It comes back with the same speed, again and again."""

    def back(t: float, x: Any) -> Any:
        return replace(x, velocities=-x.velocities, omegas=-x.omegas)

    run = ph.simulate(bob(), step=0.01, until=3.5, events=ph.Event(low, -1, name="wall", action=back))
    quarter = run.events[0].t
    assert [e.t for e in run.events] == pytest.approx([quarter * k for k in (1, 3, 5)][: len(run.events)], abs=2e-4)
    assert len(run.events) == 3
    assert run.positions[:, 0, 0].min() > -1e-9
    assert np.ptp(run.energy) < 1e-10


def test_what_rolls_lifts_off() -> None:
    """A sphere on top of a cylinder leaves it at cos θ = 10/17, by energy and the force it needs."""
    r, c, first = 0.1, 1.0, 0.05
    at = (c + r) * np.array([np.sin(first), 0.0, np.cos(first)])
    ball = mb.Body("ball", 1.0, (0.4 * r * r,) * 3, position=at)
    system = mb.System(
        [ball], forces=[mb.Gravity((0.0, 0.0, -G))],
        constraints=[mb.SphereOnCylinder("ball", radius=r, cylinder=c, axis=(0.0, 1.0, 0.0), inside=False)],
    )  # fmt: skip
    times = []
    for h in (0.02, 0.01, 0.005):
        run = ph.simulate(system, step=h, until=5.0, events=ph.events.lifts_off("ball"))
        assert run.trajectory.status is Status.STOPPED
        assert run.positions[-1, 0, 2] / (c + r) == pytest.approx(10 / 17 * np.cos(first), abs=1e-11)  # 2e-14
        times.append(run.events[0].t)
    assert np.log2((times[1] - times[0]) / (times[2] - times[1])) == pytest.approx(2.0, abs=0.1)
    assert run.events[0].name == "ball lifts off"


# --- what cannot be is said ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (lambda: ph.Event(3.0), "an Event needs a function"),
        (lambda: ph.Event(tip, 2), "direction of an Event is"),
        (lambda: ph.Event(tip, stop=-1), "stop of an Event is"),
        (lambda: ph.Event(tip, action=3), "action of an Event is"),
        (lambda: ph.Event(lambda t, R: R), "an Event must return one number; it returned shape"),
        (lambda: ph.Event(lambda t, R: jnp.nan * R[0, 0], name="bad"), "event 'bad' is nan at the start"),
        (lambda: ph.Event(lambda t, R: "text"), "it returned no number"),
        (lambda: "tip", "list of ph.Event"),
        (lambda: 3, "list of ph.Event"),
        (lambda: ph.Event(lambda t: t - 0.12, action=lambda t, x: 3), "'<lambda>' must return a state like"),
        (lambda: ph.Event(lambda t: t - 0.12, name="e", action=lambda t, x: replace(x, momentum=x.momentum / 0.0)),
         "returned numbers that are not finite"),
        (lambda: ph.events.lifts_off("ball"), "of a system"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*(zero|invalid).*:RuntimeWarning")
def test_bad_events(event: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        free(events=event(), until=1.0)


def test_bad_events_of_systems() -> None:
    system = bob()
    other = mb.System([mb.Body("other", 1.0, (0.1, 0.1, 0.1))])
    for event, words in (
        (ph.events.lifts_off("bob"), "contact"),
        (ph.Event(low, action=lambda t, x: other), "is of the bodies bob, and the new system of other"),
        (ph.Event(low, action=lambda t, x: system.released("hing")), "hinge"),
        (ph.Event(lambda view: view.position("bob")), r"one number; it returned shape \(3,\)"),
    ):
        with pytest.raises(InputError, match=words):
            ph.simulate(system, step=0.01, until=1.0, events=event)


def test_what_is_not_finite_on_the_way_ends_the_run() -> None:
    with pytest.raises(ph.StepError, match=r"event 'log' is nan at t = 0.5") as failed:
        free(events=ph.Event(lambda t: jnp.log(0.501 - t), name="log", stop=False), until=1.0)
    assert failed.value.run.t[-1] == pytest.approx(0.5)


def test_what_never_ends_is_said() -> None:
    """A ball between two marks that are very near to each other, and turn it back."""

    def back(t: float, x: Any) -> Any:
        return replace(x, momentum=-1.0 * x.momentum)

    marks = [ph.Event(lambda t, R, at=at: R[1, 0] - at, name=str(at), action=back) for at in (0.3, 0.299999)]
    start = ph.State.of(attitude=ph.exp((0, 0, np.arcsin(0.2999995))), omega=(0, 0, 1.0))
    with pytest.raises(ph.StepError, match=r"over and over, \d+ times within a step"):
        ph.simulate(ph.RigidBody((1.0, 1.0, 1.0)), None, start, events=marks, step=0.1, until=1.0, method="exact")


@pytest.mark.parametrize("restitution", [pytest.param(0.8, marks=pytest.mark.long), 0.3, 0.01])
def test_bounces_that_come_together_are_said(restitution: float) -> None:
    """A ball that loses some of its speed at each bounce comes to rest after endlessly many, when the series ends."""
    ball = mb.Body("ball", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, 1.0))
    system = mb.System([ball], forces=[mb.Gravity((0.0, 0.0, -G))])

    def bounce(t: float, x: Any) -> Any:
        return replace(x, velocities=x.velocities * np.array([1.0, 1.0, -restitution]))

    floor = ph.Event(lambda view: view.position("ball")[2], -1, name="floor", action=bounce)
    with pytest.raises(ph.StepError, match="event 'floor' at t = .* it happens over and over") as stopped:
        ph.simulate(system, step=0.05, until=6.0, events=floor)
    run, first = stopped.value.run, np.sqrt(2.0 / G)
    assert run.events[0].t == pytest.approx(first, abs=1e-9)
    assert run.events[-1].t == pytest.approx(first * (1 + restitution) / (1 - restitution), rel=1e-4)
    assert run.positions[:, 0, 2].min() > -1e-9


def test_of_a_batch_is_refused() -> None:
    start = ph.State.of(omega=np.eye(3))
    with pytest.raises(InputError, match=r"events are of one motion; this is a batch of shape \(3,\)"):
        ph.simulate(BODY, None, start, step=0.1, steps=3, events=ph.Event(tip))


# --- files -----------------------------------------------------------------------------------

FILE = """
[body]
inertia = [5, 4, 3]
[start]
omega = [1, 2, 0.5]
[[event]]
when = "W3"
direction = -1
stop = 2
[[event]]
when = "R33 - 0.5"
stop = false
name = "tip"
[run]
method = "exact"
step = 0.05
until = 20
"""


@pytest.mark.parametrize("ending", ["zarr", "nc", "csv"])
def test_from_a_file_and_back(ending: str, tmp_path: Path, polhode: Any) -> None:
    Path("body.toml").write_text(FILE)
    code, out, err = polhode("run", "body.toml", "--out", f"run.{ending}")
    assert code == 0, err
    assert "exact: W3 at t = " in out
    dataset = ph.load(f"run.{ending}")
    assert list(dataset.event.values).count("W3") == 2
    assert dataset.event_time.values[-1] == dataset.t.values[-1]
    code, out, err = polhode("run", f"run.{ending}", "--out", f"again.{ending}")
    assert code == 0, err
    again = ph.load(f"again.{ending}")
    assert again.event_time.values.tobytes() == dataset.event_time.values.tobytes()
    assert again.attitude.values.tobytes() == dataset.attitude.values.tobytes()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('when = "R44"', "R44"),
        ('when = "__import__"', "__import__"),
        ('when = "W3"\nstop = "yes"', "event"),
        ('when = "W3"\ndirection = 3', "direction of an Event"),
        ('whenn = "W3"', "whenn"),
        ("", "event.when is missing"),
    ],
)
def test_bad_events_in_files(line: str, words: str, polhode: Any) -> None:
    Path("body.toml").write_text(
        f"[body]\ninertia=[1,2,2.5]\n[start]\nomega=[1,1,1]\n[[event]]\n{line}\n[run]\nstep=0.1\nuntil=1\n"
    )
    code, _, err = polhode("run", "body.toml")
    assert code == 2
    assert words in err


def test_formulas_of_observables(polhode: Any) -> None:
    Path("ride.toml").write_text('problem = "pendulum"\n[[event]]\nwhen = "angle - 0.5"\n[run]\nuntil = 2\n')
    code, out, err = polhode("run", "ride.toml")
    assert code == 0, err
    assert "angle - 0.5 at t = " in out
    Path("ride.toml").write_text('problem = "pendulum"\n[[event]]\nwhen = "R33"\n')
    code, _, err = polhode("run", "ride.toml")
    assert code == 2
    assert "R33" in err


def test_runs_with_events_travel(tmp_path: Path) -> None:
    import pickle

    system = bob()
    run = ph.simulate(system, step=0.01, until=0.8, events=ph.Event(low, action=lambda t, x: system.released("hinge")))
    sent = pickle.loads(pickle.dumps(run))
    assert [e.t for e in sent.events] == [e.t for e in run.events]
    assert sent.energy.tolist() == run.energy.tolist()
    assert jax.tree.leaves(sent.state)[0].tolist() == jax.tree.leaves(run.state)[0].tolist()


# --- beside the examples ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (lambda: ph.Event(lambda t: t > 0.5), "it returned True or False"),
        (lambda: ph.Event(lambda t: (t - 0.5) * 1j), "it returned a complex number"),
        (lambda: ph.Event(lambda t, R, omega, more: t), "the function of a Event takes"),
        (lambda: ph.Event(tip, direction=np.array([1, 0])), "direction of an Event is"),
        (lambda: ph.Event(lambda t: t - 0.5, action=lambda t, x: None), "must return a state like"),
        (lambda: ph.Event(lambda t: t - 0.5, name="e", action=lambda t: None), "the action of event 'e' failed"),
    ],
)
def test_functions_and_actions_that_cannot_be(event: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        free(events=event(), until=1.0)


def test_an_event_at_a_step() -> None:
    """A number that is zero at a step happens there, once, whether the run ends there or goes on."""
    step = {"step": 0.125, "until": 2.0}
    events = [ph.Event(lambda t, at=at: t - at, stop=False, name=f"{at!r}") for at in (0.5 + 1e-11, 0.5, 2.0)]
    run = free(events=events, **step)
    assert [e.name for e in run.events] == ["0.5", repr(0.5 + 1e-11), "2.0"]
    assert [e.t for e in run.events] == pytest.approx([0.5, 0.5 + 1e-11, 2.0], abs=1e-13)
    further = ph.simulate(run, until=3.0, events=events)
    assert len(further.events) == 3
    stopped = free(events=ph.Event(lambda t: t - 0.5, stop=np.int64(1)), **step)
    assert stopped.t.tolist() == [0.0, 0.125, 0.25, 0.375, 0.5]
    sampled = free(events=ph.Event(lambda t: t - 0.5), times=[0.2, 0.5, 0.6], **step)
    assert sampled.t.tolist() == pytest.approx([0.2, 0.5])


def test_an_event_before_the_first_time_asked_for() -> None:
    run = free(step=0.125, until=2.0, times=[1.5, 1.9], events=ph.Event(lambda t: t - 0.53))
    assert run.t.tolist() == pytest.approx([0.53])
    with pytest.raises(InputError, match=r"stands at t = 0.53 already; .* its next step, t = 0.625"):
        ph.simulate(run, times=[0.52, 0.7])
    with pytest.raises(InputError, match="every must be"):
        ph.simulate(run, until=2.0, every=0)
    with pytest.raises(InputError, match="goes on with its own steps"):
        ph.simulate(run, until=2.0, step=np.array([0.1, 0.2]))


def test_an_action_may_not_break_a_joint() -> None:
    system = bob()
    away = ph.Event(low, action=lambda t, x: replace(x, positions=x.positions + 0.3))
    with pytest.raises(InputError, match="moved bodies to where the constraints do not hold"):
        ph.simulate(system, step=0.01, until=1.0, events=away)
    kicked = ph.Event(
        low, action=lambda t, x: (system.released("hinge"), replace(x, velocities=x.velocities + np.array([0, 3.0, 0])))
    )
    run = ph.simulate(system, step=0.01, until=1.0, events=kicked)
    assert run.positions[-1, 0, 1] == pytest.approx(3.0 * (1.0 - run.events[0].t))


def test_what_is_shown_is_shown_to_a_function() -> None:
    with pytest.raises(InputError, match="on_sample is a function"):
        free(on_sample=5)


# --- samples around a change -----------------------------------------------------------------


def turned_on(at: float, body: Any = BODY) -> ph.Event:
    """A torque, from some time on: another system."""
    return ph.Event(lambda t: t - at, action=lambda t, x: ph.Rotation(body, ph.Torque((1.0, 0.0, 0.0))))


def driven(**how: Any) -> ph.Run:
    return ph.simulate(BODY, None, START, method="rig_neg", **how)


def test_samples_asked_for_are_there_where_the_system_changes() -> None:
    times = [0.1, 0.155, 0.2, 0.305, 0.4, 0.5]
    run = driven(step=0.01, times=times, events=turned_on(0.312))
    assert run.t.tolist() == pytest.approx(times)
    kept = ph.Event(lambda t: t - 0.312, action=lambda t, x: x)
    assert run.t.tolist() == driven(step=0.01, times=times, events=kept).t.tolist()
    often = driven(step=0.01, until=0.5, every_seconds=0.0173, events=turned_on(0.3128))
    assert often.t.tolist() == pytest.approx((0.0173 * np.arange(29)).tolist())
    begun = driven(step=0.01, until=0.1)  # saved at every step, and gone on at times
    further = ph.simulate(begun, times=times[1:], events=turned_on(0.312))
    assert further.t.tolist() == pytest.approx([*begun.t, *times[1:]])


@pytest.mark.parametrize(
    ("how", "t"),
    [
        ({"times": [0.4, 0.5]}, [0.4, 0.5]),
        ({"times": [0.25, 0.5]}, [0.25, 0.5]),
        ({"times": [0.1, 0.25]}, [0.1, 0.25]),
        ({"until": 0.25}, [0.0, 0.125, 0.25]),
        ({"until": 0.25, "every": 3}, [0.0, 0.25]),
        ({"until": 0.5, "every": 3}, [0.0, 0.375, 0.5]),
    ],
    ids=str,
)
def test_no_sample_is_there_twice_or_unasked_where_the_system_changes(how: Any, t: list[float]) -> None:
    events = turned_on(0.25)
    run = driven(**{"step": 0.125, "events": events, **how})
    assert run.t.tolist() == pytest.approx(t)
    further = ph.simulate(run, until=1.0, every=how.get("every"), events=events)
    assert (np.diff(further.t) > 0).all()
    whole = driven(step=0.125, until=1.0, every=how.get("every"), events=events)
    assert further.attitude[-1].tobytes() == whole.attitude[-1].tobytes()
    if "times" not in how:
        assert further.t.tolist() == whole.t.tolist()
        assert further.energy.tobytes() == whole.energy.tobytes()


def test_a_change_of_a_system_at_the_end_and_between_samples() -> None:
    system = bob()
    released = ph.Event(low, action=lambda t, x: system.released("hinge"))
    whole = ph.simulate(system, step=0.01, until=1.0, every=10, events=released)
    at = whole.events[0].t
    times = [0.05, round(at, 2) - 0.0131, at - 0.001, at + 0.001, 1.0]
    run = ph.simulate(system, step=0.01, times=times, events=released)
    assert run.t.tolist() == pytest.approx(times)
    half = ph.simulate(system, step=0.01, until=0.01 * np.ceil(at / 0.01), every=10, events=released)
    further = ph.simulate(half, until=1.0, events=released)
    assert further.t.tolist() == whole.t.tolist()
    assert further.positions.tobytes() == whole.positions.tobytes()
    assert further.multipliers.tobytes() == whole.multipliers.tobytes()


@pytest.mark.parametrize("ending", ["zarr", "nc", "csv"])
def test_a_file_says_whose_inertia_it_holds(ending: str, tmp_path: Path) -> None:
    run = driven(step=0.125, until=0.5, events=turned_on(0.26, ph.RigidBody((1.0, 2.0, 2.5))))
    saved = ph.load(run.save(tmp_path / f"run.{ending}"))
    assert "that of the start; events made another of it, from sample 3 on" in saved.attrs["system_meaning"]
    assert "system_meaning" not in driven(step=0.125, until=0.5).dataset.attrs
