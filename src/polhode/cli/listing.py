"""`polhode methods` and `polhode problems`: tables made from what methods and problems declare."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from typing import Any

from polhode.cli.output import print_json
from polhode.cli.tables import say, show_table
from polhode.methods import Method, all_methods, method_of
from polhode.problems import PROBLEMS, BuiltIn, problem_of


def show_methods(name: str | None, as_json: bool = False) -> None:
    if as_json:
        print_json([_about_method(m) for m in (all_methods().values() if name is None else [method_of(name)])])
        return
    if name is not None:
        _show_method(method_of(name))
        return
    rows = []
    for method in all_methods("rotation").values():
        t = method.traits
        rows.append(
            (
                method.name,
                f"{t.order:g}",
                t.energy,
                t.spatial_momentum,
                "free only" if t.loads == "none" else t.top_energy,
                "" if t.loads == "none" else t.vertical_momentum,
                "yes" if t.symplectic else "Poisson" if t.poisson else "no",
                method.summary,
            )
        )
    headings = ("method", "order", "energy", "momentum", "top's energy", "top's π₃", "symplectic", "what it is")
    show_table(headings, rows, texts=("what it is",), left=headings)
    say(
        "exact: to round-off; bounded: oscillates without trend; drifts: moves away. Energy and spatial momentum are "
        "those of a free body, the next two of the heavy symmetric top. Names combine: strang-, nystrom4- and rkn6- "
        "take any free method, triple4-, suzuki4-, kahan-li6- and kahan-li8- any symmetric one of order 2. "
        "`polhode methods NAME` tells more of one, `polhode audit NAME` measures it."
    )
    print()
    show_table(
        ("method for systems of bodies", "order", "energy", "momentum", "joints", "slip", "what it is"),
        [
            (
                m.name,
                f"{m.order:g}",
                m.traits.energy,
                m.traits.spatial_momentum,
                m.traits.joints,
                m.traits.slip,
                m.summary,
            )
            for m in all_methods("system").values()
        ],
        texts=("what it is",),
        left=("order", "energy", "momentum", "joints", "slip"),
    )
    say("triple4-, suzuki4-, kahan-li6- and kahan-li8- compose any symmetric one; halving- halves steps that fail.")


def _about_method(method: Method) -> dict[str, Any]:
    """Of one that is exact, the order is null."""
    return {
        "name": method.name,
        "kind": method.kind,
        "order": method.order,
        "what": method.summary,
        "paper": getattr(method, "paper", None),
        "traits": asdict(method.traits),
    }


def _about_problem(problem: BuiltIn) -> dict[str, Any]:
    return {
        **{name: getattr(problem, name) for name in ("name", "title", "paper", "method", "step", "until")},
        "parameters": [asdict(parameter) for parameter in problem.parameters],
    }


def _show_method(method: Method) -> None:
    print(f"{method.name} ({type(method).__name__})\n")
    print(inspect.getdoc(type(method)))
    print(f"\nPaper: {getattr(method, 'paper', 'none is named')}\n")
    traits: dict[str, Any] = method.traits.__dict__
    rows = [
        (
            trait.replace("_", " "),
            {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value),
        )
        for trait, value in traits.items()
    ]
    show_table(("trait", "claimed"), rows, left=("claimed",))
    say("Each of these is tested: polhode.claims(method) runs the checks.")


def show_problems(name: str | None, as_json: bool = False) -> None:
    if as_json:
        print_json([_about_problem(p) for p in (PROBLEMS.values() if name is None else [problem_of(name)])])
        return
    if name is None:
        show_table(
            ("problem", "what it is", "paper", "parameters"),
            [(p.name, p.title, p.paper, ", ".join(q.name for q in p.parameters)) for p in PROBLEMS.values()],
            texts=("what it is", "paper", "parameters"),
        )
        say("`polhode problems NAME` lists the parameters; `polhode run NAME --set PARAMETER=VALUE` runs it.")
        return
    problem = problem_of(name)
    module = inspect.getmodule(problem.make)
    print(f"{problem.name}: {problem.title} (paper: {problem.paper})\n\n{inspect.getdoc(module)}\n")
    rows = []
    for p in problem.parameters:
        default = ", ".join(f"{v:g}" for v in p.default) if isinstance(p.default, tuple) else f"{p.default:g}"
        rows.append((p.name, default, p.unit, p.meaning))
    show_table(("parameter", "default", "unit", "meaning"), rows, texts=("meaning",), left=("default", "unit"))
    say(f"Runs by default with {problem.method}, step {problem.step:g} s, until {problem.until:g} s.")
