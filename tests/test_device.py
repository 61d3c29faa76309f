"""A device that was asked for and is not there; a batch that it does not hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import polhode as ph
from polhode import device
from polhode.model import InputError
from polhode.simulation import on_gpu

TOP = ph.problem("heavy-top")
KERNEL = SimpleNamespace(devices=[None], split=lambda axis: None)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_an_error(polhode: Any) -> None:
    with pytest.raises(InputError, match="'gpu' was asked for, and JAX sees none here, only: cpu"):
        ph.simulate(TOP, step=0.01, steps=2, device="gpu")
    for command in (("run", "heavy-top"), ("bench", "batch")):
        code, out, err = polhode(*command, "--device", "gpu")
        assert (code, out) == (2, "")
        assert "'gpu' was asked for" in err


def test_the_cpu_is_a_device() -> None:
    run = ph.simulate(TOP, step=0.01, steps=2, device="cpu")
    np.testing.assert_array_equal(run.momentum, ph.simulate(TOP, step=0.01, steps=2).momentum)
    with pytest.raises(InputError, match="device is one of cpu, gpu; got 'tpu'"):
        ph.simulate(TOP, step=0.01, steps=2, device="tpu")


def test_a_batch_that_the_device_does_not_hold_names_the_size_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    system, state = ph.Rotation(ph.RigidBody((1.0, 2.0, 2.5))).begun(ph.State.of(omega=np.ones((1000, 3))))
    each = 8 * 2 * (7 + 5 + 4)
    monkeypatch.setattr(on_gpu, "free_memory", lambda: 600 * each + 1)
    with pytest.raises(InputError, match="1,000 members needs .* at most 600 fit: run it in parts"):
        on_gpu.OnGpu(KERNEL, system, system.own_numbers(), state)
    monkeypatch.setattr(on_gpu, "free_memory", lambda: 1000 * each)
    on_gpu.OnGpu(KERNEL, system, system.own_numbers(), state)


def test_a_batch_whose_samples_do_not_fit_is_refused_before_it_runs() -> None:
    with pytest.raises(InputError, match="needs .* GiB.*save fewer"):
        ph.simulate(ph.RigidBody((1.0, 2.0, 2.5)), None, ph.State.of(omega=np.ones((1000, 3))), step=0.1, steps=10**7)


def test_one_motion_runs_on_the_cpu_and_a_batch_where_jax_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it was said; on a CPU there is nothing to choose."""
    body, one, many = (
        ph.RigidBody((1.0, 2.0, 2.5)),
        ph.State.of(omega=(1.0, 0.0, 0.0)),
        ph.State.of(omega=np.ones((3, 3))),
    )
    run = ph.simulate(TOP, step=0.01, steps=2)
    assert device.quickest(body, None, one) is None
    monkeypatch.setattr(device, "platform", lambda: "gpu")
    of_members = ph.Potential(lambda R, w: w * R[2, 2], w=np.ones(4))
    cases: list[tuple[Any, Any, Any, str | None]] = [
        (body, None, one, "cpu"), (body, None, many, None), (TOP, None, None, "cpu"), (run, None, None, "cpu"),
        (ph.Rotation(body), None, one, "cpu"), (ph.Problem(ph.Rotation(body), many), None, None, None),
        (ph.Rotation(body, of_members), None, one, None), (ph.problem("bicycle"), None, None, "cpu"),
        (body, of_members, one, None), (body, None, None, "cpu"), ("nothing", None, None, "cpu"),
    ]  # fmt: skip
    for what, load, start, where in cases:
        assert device.quickest(what, load, start) == where
    with jax.default_device(jax.devices("cpu")[0]):
        assert device.quickest(body, None, one) is None
