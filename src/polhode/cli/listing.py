"""`polhode methods` and `polhode problems`: tables made from what methods and problems declare."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from polhode.mechanics import InputError
from polhode.methods import Method, all_methods, method_of
from polhode.multibody import multibody_method_of, multibody_methods
from polhode.problems import PROBLEMS, problem_of


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 120)


def _table(*headings: str) -> Table:
    table = Table()
    for i, heading in enumerate(headings):
        table.add_column(heading, no_wrap=i == 0)
    return table


def show_methods(name: str | None) -> None:
    if name is not None:
        _show_one(name)
        return
    table = _table("method", "order", "energy", "momentum", "top: energy", "top: π₃", "symplectic", "what it is")
    for method in all_methods().values():
        t = method.traits
        table.add_row(
            method.name,
            f"{t.order:g}",
            t.energy,
            t.spatial_momentum,
            "free only" if t.loads == "none" else t.top_energy,
            "" if t.loads == "none" else t.vertical_momentum,
            "yes" if t.symplectic else "Poisson" if t.poisson else "no",
            method.summary,
        )
    _console().print(table)
    print("exact: to round-off; bounded: oscillates without trend; drifts: moves away. Energy and spatial momentum are")
    print("those of a free body, the next two of the heavy symmetric top. Names combine: strang-, nystrom4- and rkn6-")
    print("take any free method, triple4-, suzuki4-, kahan-li6- and kahan-li8- any symmetric one of order 2.")
    print("`polhode methods NAME` tells more of one, `polhode audit NAME` measures it.\n")
    systems = _table("method for systems of bodies", "order", "what it is")
    for moving in multibody_methods().values():
        systems.add_row(moving.name, f"{moving.order:g}", moving.summary)
    _console().print(systems)
    print("triple4-, suzuki4-, kahan-li6- and kahan-li8- compose any symmetric one; halving- halves steps that fail.")


def _show_one(name: str) -> None:
    try:
        moving = multibody_method_of(name)
    except InputError:
        _show_method(method_of(name))
        return
    print(f"{moving.name} ({type(moving).__name__}), order {moving.order:g}, for systems of bodies\n")
    print(inspect.getdoc(type(moving)))
    print(f"\nPaper: {moving.paper}")


def _show_method(method: Method) -> None:
    print(f"{method.name} ({type(method).__name__})\n")
    print(inspect.getdoc(type(method)))
    print(f"\nPaper: {method.paper}\n")
    table = _table("trait", "claimed")
    traits: dict[str, Any] = method.traits.__dict__
    for trait, value in traits.items():
        table.add_row(
            trait.replace("_", " "),
            {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value),
        )
    _console().print(table)
    print("Each of these is tested: polhode.claims(method) runs the checks.")


def show_problems(name: str | None) -> None:
    if name is None:
        table = _table("problem", "what it is", "paper", "parameters")
        for problem in PROBLEMS.values():
            table.add_row(problem.name, problem.title, problem.paper, ", ".join(p.name for p in problem.parameters))
        _console().print(table)
        print("`polhode problems NAME` lists the parameters; `polhode run NAME --set PARAMETER=VALUE` runs it.")
        return
    problem = problem_of(name)
    module = inspect.getmodule(problem.make)
    print(f"{problem.name}: {problem.title} (paper: {problem.paper})\n\n{inspect.getdoc(module)}\n")
    table = _table("parameter", "default", "unit", "meaning")
    for p in problem.parameters:
        default = ", ".join(f"{v:g}" for v in p.default) if isinstance(p.default, tuple) else f"{p.default:g}"
        table.add_row(p.name, default, p.unit, p.meaning)
    _console().print(table)
    print(f"Runs by default with {problem.method}, step {problem.step:g} s, until {problem.until:g} s.")
