"""Vilmart (2013): Tables 1 and 2, and the algorithms with their errata."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np

from polhode.methods import method_of
from polhode.papers.base import Check
from polhode.papers.vilmart_table import (
    PrintedAlgorithm4,
    PrintedNystrom,
    PrintedThreeRotation,
    our_table,
    printed_table,
)
from polhode.rotation import Rotation
from polhode.verify import audit
from polhode.verify.order import converge
from polhode.verify.trials import TRIALS

TABLE_2 = {  # method: (row of the paper, order, Qy, C, H, Poisson, symplectic) as printed
    "exact": ("Jacobi's analytic solution (Alg. 1)", "exact", True, True, True, True, True),
    "symmetric-rotation": ("Symmetric+Rotation splitting (Alg. 2)", "2", True, True, False, True, True),
    "dmv": ("RATTLE/DMV algorithm (Alg. 3)", "2", True, True, True, True, True),
    "midpoint": ("Implicit midpoint rule (Rem. 4)", "2", True, True, True, False, False),
    "dmv10": ("Preprocessed DMV algorithm (Alg. 4)", "10", True, True, True, True, False),
}
_COLUMNS = ("Qy", "C", "H", "Poisson", "symplectic")


def table_1() -> Check:
    """The printed coefficients against polhode's, in exact arithmetic."""
    I, H, C = (Fraction(3, 8), Fraction(5, 8), Fraction(7, 9)), Fraction(2, 7), Fraction(5, 3)
    printed, ours = printed_table(I, H, C), our_table(I, H, C)
    equal = [name for name in printed if printed[name] == ours[name]]
    return Check(
        "Table 1",
        "the coefficients s3 ... t7",
        ", ".join(printed),
        f"{len(equal)} of {len(printed)} equal, as fractions, to those that polhode runs",
        len(equal) == len(printed),
    )


def table_2() -> list[Check]:
    checks = []
    for name, (row, order, *ticks) in TABLE_2.items():
        certificate = audit(name)
        measured = [certificate.yes(column) for column in _COLUMNS]
        found = "exact" if np.isinf(certificate.order) else str(round(certificate.order))
        show = lambda order, marks: f"{order}; " + " ".join("✓" if m else "no" for m in marks)  # noqa: E731
        checks.append(
            Check(
                "Table 2",
                f"{row}: order; {', '.join(_COLUMNS)}",
                show(order, ticks),
                show(found, measured),
                found == order and measured == ticks,
                note=f"order {certificate.order:.2f}; one-step defects Poisson {certificate.defects['Poisson']:.0e}, "
                f"symplectic {certificate.defects['symplectic']:.0e}",
            )
        )
    return checks


def one_step_difference(a: str, b: str, loaded: bool) -> float:
    case = TRIALS[1] if loaded else TRIALS[0]
    system = Rotation(case.body, case.load)
    start = jax.tree.map(jnp.asarray, case.start.on(case.body))
    ends = [jax.jit(method_of(name).step)(system, start, 0.0, 0.1).state for name in (a, b)]
    turned = ends[0].attitude.conjugate * ends[1].attitude
    return float(turned.vector.norm() + (ends[0].momentum - ends[1].momentum).norm())


def algorithm_checks() -> list[Check]:
    free, top = TRIALS[0], TRIALS[1]
    pairs = {
        False: one_step_difference("rattle", "strang-dmv", False),
        True: one_step_difference("rattle", "strang-dmv", True),
    }
    printed_split = converge(PrintedThreeRotation(), free)
    printed_4 = converge(PrintedAlgorithm4(high_order=8), free)
    nystrom = converge(method_of("nystrom4-exact"), top).order
    printed_nystrom = converge(PrintedNystrom(), TRIALS[1]).order
    return [
        Check(
            "(11), (12)",
            "RATTLE and DMV are the same map (with a potential: Strang's splitting with DMV)",
            "equivalent",
            f"one step differs by {pairs[False]:.0e} free, {pairs[True]:.0e} on the heavy top",
            max(pairs.values()) < 1e-14,
        ),
        Check(
            "three rotations",
            "the splitting as printed, last factor R1 of half a step",
            "order 2",
            f"does not converge: error {printed_split.errors[-1]:.1e} at the shortest step",
            abs(printed_split.order - 2) < 0.2,
            expected=False,
            note=f"with R3 the order is {converge(method_of('three-rotation'), free).order:.2f}",
        ),
        Check(
            "Alg. 4",
            "h² before every term, as printed, for order 8",
            "order 8",
            f"order {printed_4.order:.2f}",
            abs(printed_4.order - 8) < 0.5,
            expected=False,
            note=f"with h², h⁴, h⁶ the order is {converge(method_of('dmv8'), free).order:.2f}",
        ),
        Check("Nyström", "the splitting with V has order 4", "4", f"{nystrom:.2f}", abs(nystrom - 4) < 0.1),
        Check(
            "Example 1",
            "the V flow as printed for the heavy top gives order 4",
            "4",
            f"{printed_nystrom:.2f}",
            abs(printed_nystrom - 4) < 0.3,
            expected=False,
            note="V = τ · J⁻¹τ has the flow (-2 Q32 Q33/I1, 2 Q31 Q33/I2, 2 Q31 Q32 (1/I1 - 1/I2))",
        ),
    ]
