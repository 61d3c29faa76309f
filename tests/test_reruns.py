"""Saved runs that are run again: with the same method and options, or not at all."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.inputs import job_of
from polhode.inputs.saved import SavedMethod
from polhode.methods import IMIDM, MuntheKaas, Scheme, Split, Stage, Tableau, all_methods, method_of
from polhode.model import InputError
from polhode.model.composition import SUZUKI4, Composition
from polhode.model.described import NotRecordableError, described, made, recorded
from polhode.results import rerun
from polhode.results.rerun import recipe_of
from polhode.results.store import load, save
from polhode.simulation import Plan
from polhode.solve import FixedPoint, Newton, PlainNewton

COARSE = FixedPoint(tolerance=1e-4, stalled=1e-4)  # other bits after a few steps


@pytest.fixture(scope="module")
def case() -> Any:
    return job_of("heavy-top", {"spin": 30.0}).override(until=0.05)


@dataclass(frozen=True)
class Own(IMIDM):
    name = "own"
    weight: float = 1.0
    shape: Any = None


class Secret(IMIDM):
    name = "secret"

    def __init__(self, depth: int = 0) -> None:
        super().__init__()
        object.__setattr__(self, "depth", depth)


@pytest.mark.parametrize(
    "method",
    [
        IMIDM(solver=COARSE),
        IMIDM(solver=Newton(limit=7)),
        IMIDM(solver=PlainNewton()),
        MuntheKaas(solver=FixedPoint(limit=9), tableau=Tableau("mine", 1, ((0.5,),), (1.0,))),
        Split(Scheme("two", 2, (Stage(0.5, 1.0), Stage(0.5))), IMIDM(solver=COARSE)),
        Composition(SUZUKI4, IMIDM(solver=COARSE)),
        Own(weight=1e-300, shape=(1, 1.0, True, None, "x")),
        mb.ThreeField(stabilisation="kappa", solver=mb.DenseNewton()),
        mb.Halving(mb.ThreeField(conserving=False), limit=3),
        mb.Composed(SUZUKI4, mb.Halving(mb.ThreeField(), limit=2)),
        *all_methods("rotation").values(),
        *all_methods("system").values(),
    ],
    ids=lambda m: m.name,
)
def test_a_method_as_data_and_back_is_the_same(method: Any) -> None:
    find = method_of
    data = json.loads(json.dumps(recorded(method, find)))
    named = isinstance(data, str)
    again = find(data) if named else made(data, trust=True)
    assert again == method
    assert described(again) == described(method)
    assert named == (method in {**all_methods("rotation"), **all_methods("system")}.values())
    if not isinstance(method, Own):  # nothing of polhode's own needs trust
        assert SavedMethod("f", data, None, trust=False).made(find) == method


@pytest.mark.parametrize("ending", [".zarr", ".nc", ".csv"])
def test_a_rerun_has_the_options_of_the_run_and_so_its_bits(case: Any, ending: str, tmp_path: Path) -> None:
    run, plain = case.run(IMIDM(solver=COARSE), 1e-3), case.run(IMIDM(), 1e-3)
    again = job_of(str(run.save(tmp_path / f"run{ending}")))
    ((method, step),) = again.chosen()
    assert method == IMIDM(solver=COARSE)
    momentum = again.run(method, step).dataset.momentum.values
    assert momentum.tobytes() == run.dataset.momentum.values.tobytes()
    assert momentum.tobytes() != plain.dataset.momentum.values.tobytes()
    assert again.override(methods=["akw"]).chosen()[0][0] == method_of("akw")


def test_a_rerun_of_a_system_has_the_options_of_the_run(tmp_path: Path) -> None:
    case = job_of("pendulum").override(until=0.02)
    run: Any = case.run("three-field", 0.01)
    ((same, step),) = job_of(str(run.save(tmp_path / "run.csv"))).chosen()
    assert same == mb.ThreeField()
    assert case.run(same, step).dataset.omega.values.tobytes() == run.dataset.omega.values.tobytes()
    method = mb.Halving(mb.ThreeField(stabilisation="kappa"), limit=3)  # recorded, without compiling it
    other = replace(
        run, method=method, recipe_of=recipe_of(case.problem.content or {}, method, Plan.of(0.01, 0.02, None, 1), None)
    )
    assert job_of(str(other.save(tmp_path / "run.nc"))).chosen() == [(method, 0.01)]
    assert json.loads(load(tmp_path / "run.nc").attrs["recipe"])["run"]["method"]["options"]["limit"] == 3


def test_observables_that_are_called_like_something_else(tmp_path: Path) -> None:
    named = ("t", "trace", "energy", "row", "angle")
    watched: Any = {name: (lambda view, i=i: view.t + i, "1") for i, name in enumerate(named)}
    body = mb.Body("a", 1.0, (1.0, 1.0, 1.0), velocity=(1, 0, 0))
    run = ph.simulate(mb.System([body], observables=watched), step=0.01, steps=2)
    back = load(run.save(tmp_path / "other.zarr"))
    assert back.attrs["observables"] == list(named) == list(run.observables)
    assert back.energy.values == pytest.approx(0.5)
    for i, name in enumerate(named):
        assert (back[name if name == "angle" else f"observable_{name}"].values == run.t + i).all()
    lines = ph.Plots(back).observables().axes[0].lines
    assert [line.get_ydata()[0] for line in lines] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (Own(shape=lambda x: x), "the method's shape is <function"),
        (Own(shape=[1]), r"the method's shape is \[1\]"),
        (Secret(3), "keeps 'depth', which is not one of its options"),
    ],
)
def test_what_a_file_cannot_hold_is_said_and_not_run(case: Any, method: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(NotRecordableError, match=why):
        recorded(method, method_of)
    dataset = case.run(IMIDM(), 1e-3).dataset.assign_attrs(
        rerun.about_rerunning(
            recipe_of(case.problem.content, method, Plan.of(1e-3, 0.05, None, 1), None), "another reason"
        )
    )
    with pytest.raises(InputError, match=f"cannot be run again from the file: .*{why}"):
        job_of(str(save(dataset, tmp_path / "run.csv")))


def test_a_class_inside_a_function_cannot_be_recorded() -> None:
    @dataclass(frozen=True)
    class Inner(IMIDM):
        name = "inner"

    with pytest.raises(NotRecordableError, match="<locals>.Inner, which cannot be imported"):
        recorded(Inner(), method_of)


MODULE = """
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from polhode.methods import IMIDM
from polhode.simulation import Plan
from polhode.solve import FixedPoint
Path("imported").touch()
@dataclass(frozen=True)
class Mine(IMIDM):
    name = "mine"
    rule: Any = None
coarse = Mine(solver=FixedPoint(tolerance=1e-4, stalled=1e-4))
ruled = Mine(rule=len)
"""


@pytest.mark.parametrize("name", ["coarse", "ruled"])
def test_an_instance_in_a_module_is_run_again_only_with_trust(
    polhode: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module = f"users_{name}"
    Path(f"{module}.py").write_text(MODULE)
    short = ["--until", "0.02", "--step", "0.001"]
    code, _, err = polhode("run", "heavy-top", "--method", f"{module}:{name}", *short, "--out", "run.csv")
    assert (code, err) == (0, "")
    Path("imported").unlink()
    monkeypatch.delitem(__import__("sys").modules, module)
    code, out, err = polhode("run", "run.csv", "--json")
    assert (code, out) == (2, "")
    assert f"runs the code in the module {module!r}; if you trust the file and that code, say so with --trust" in err
    assert not Path("imported").exists()
    code, _, err = polhode("run", "run.csv", "--method", "akw", "--json")  # the file's method is not needed
    assert (code, err) == (0, "")
    assert not Path("imported").exists()
    code, _, err = polhode("run", "run.csv", "--trust", "--out", "again.csv")
    assert (code, err) == (0, "")
    one, two = load("run.csv"), load("again.csv")
    assert one.momentum.values.tobytes() == two.momentum.values.tobytes()
    assert one.attrs["recipe"] == two.attrs["recipe"]
    assert one.attrs["method_options"] == two.attrs["method_options"] != "{}"


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({"recipe": None}, "cannot be run again from the file"),
        ({"recipe": "{"}, "the recipe is spoilt"),
        ({"recipe": "[" * 100_000}, "the recipe is spoilt"),
        ({"recipe": "[1]"}, r"the recipe is spoilt.* it is \[1\]"),
        ({"recipe": 3}, "the recipe is spoilt"),
        ({"recipe": '{"problem": "nope"}'}, "unknown problem 'nope'"),
        ({"recipe": '{"problem": "heavy-top", "run": 3}'}, "run = 3"),
        ({"recipe": '{"problem": "heavy-top", "run": {"method": 3}}'}, "its method is 3"),
        ({"recipe": '{"problem": "heavy-top", "run": {"method": "nope"}}'}, "unknown method 'nope'"),
        ({"recipe": '{"problem": "heavy-top", "run": {"method": {"class": "os:system"}}}'}, "the recipe is spoilt"),
        ({"method": {"class": "os:system", "options": {}}}, "--trust"),
        ({"method": {"class": 3, "options": {}}}, "cannot import method 3"),
        ({"method": {"class": ".os:system", "options": {}}}, "cannot import method '.os:system'"),
        ({"method": {"class": "polhode.results.store:os.DirEntry", "options": {}}}, "is to be imported"),
        ({"method": {"class": "polhode.methods:Nope", "options": {}}}, "cannot import method 'polhode.methods:Nope'"),
        ({"method": {"class": "polhode.methods:IMIDM", "options": {"speed": 3}}}, "no longer has the options"),
        ({"method": {"class": "polhode.solve:FixedPoint", "options": {}}}, "a method is a name"),
    ],
)
def test_a_missing_or_spoilt_recipe_is_a_sentence(case: Any, attributes: Any, says: str, tmp_path: Path) -> None:
    dataset = case.run(IMIDM(), 1e-3).dataset.copy()
    if "method" in attributes:
        attributes = {"recipe": json.dumps({"problem": "heavy-top", "run": attributes})}
    dataset.attrs |= attributes
    if dataset.attrs["recipe"] is None:
        del dataset.attrs["recipe"]
    path = str(save(dataset, tmp_path / "run.csv"))
    with pytest.raises(InputError, match=says):
        job_of(path).chosen()


def test_files_of_before_with_options_are_not_run_without_them(case: Any, tmp_path: Path) -> None:
    """Their recipe holds the name of the method alone."""
    run = case.run(IMIDM(solver=COARSE), 1e-3)
    recipe = {**run.recipe, "run": {**run.recipe["run"], "method": "imidm"}}
    old = run.dataset.assign_attrs(format="polhode trajectory 1", recipe=json.dumps(recipe))
    with pytest.warns(UserWarning, match="no checksums"):
        again = job_of(str(save_as_before(old, tmp_path / "run.csv")))
    with pytest.raises(InputError, match="with the options .*FixedPoint.*which its recipe does not hold"):
        again.chosen()
    plain = case.run(IMIDM(), 1e-3).dataset.assign_attrs(format="polhode trajectory 1")
    del plain.attrs["environment"]
    with pytest.warns(UserWarning, match="no checksums|JAX and CPU") as notices:
        again = job_of(str(save_as_before(plain, tmp_path / "plain.csv")))
    assert again.chosen()[0][0] == IMIDM()
    assert "does not say with which JAX and CPU" in str(notices[-1].message)


def save_as_before(dataset: Any, path: Path) -> Path:
    from polhode.results.format_csv import write

    write(dataset, path)
    return path


def test_a_rerun_elsewhere_is_run_and_said(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    polhode("run", "free-body", "--until", "1", "--out", "run.csv")
    about = json.loads(load("run.csv").attrs["environment"])
    assert about == rerun.environment()
    assert set(about) >= {"polhode", "jax", "jaxlib", "numpy", "python", "system", "device", "cpu", "cpu features"}
    assert polhode("run", "run.csv")[2] == ""
    elsewhere = {**about, "jax": "99.0", "cpu": "abacus"}
    monkeypatch.setattr(rerun, "environment", lambda: elsewhere)
    code, out, err = polhode("run", "run.csv", "--json")
    assert code == 0
    assert json.loads(out)[0]["ok"]
    assert f"the last bits of its numbers may differ: jax was {about['jax']} and is 99.0; cpu was" in err


@pytest.mark.parametrize("path", [".x:Y", ":Y", "x:", "x..y:Z", "a b:C", "x:1"])
def test_what_no_module_is_called_is_a_sentence(path: str) -> None:
    with pytest.raises(InputError, match="cannot import .*write module:Class"):
        ph.methods.method_of(path)


def test_other_steps_take_as_long(polhode: Any) -> None:
    assert polhode("run", "heavy-top", "--step", "0.01", "--until", "0.5", "--out", "top.nc")[0] == 0
    for how in (("--step", "0.005"), ("--step", "0.02")):
        code, _, err = polhode("run", "top.nc", *how, "--out", "again.nc", "--force")
        assert code == 0, err
        assert ph.load("again.nc").t.values[-1] == pytest.approx(0.5)
