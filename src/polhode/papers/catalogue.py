"""Every table, figure and example that has a number in the five papers; of those without data, why."""

from __future__ import annotations

from polhode.papers.items import numbered, sections

_SKETCH = "it is a sketch of the system, without data"

KRYSL = (
    *numbered("fig", {
        1: "Free body: convergence in momentum and attitude",
        2: "Slow Lagrangian top: convergence in momentum and attitude",
        3: "Fast Lagrangian top: convergence in momentum and attitude",
        4: "Coulombic potential with a soft wall: Hamiltonian of the other methods over 40 000 steps",
        5: "Coulombic potential with a soft wall: Hamiltonian of the paper's methods over 40 000 steps",
    }),
    *sections({
        "5.1": ("Torque-free motion", ("fig1",)),
        "5.2": ("Slow Lagrangian top", ("fig2",)),
        "5.3": ("Fast Lagrangian top", ("fig3",)),
        "5.4": ("Body in a Coulombic potential with a soft wall", ("fig4", "fig5")),
    }),
)  # fmt: skip

SOLFEC_TOP = numbered("fig", {
    1: "The heavy symmetrical top with one point fixed",
    2: "Hamiltonian of RIG_POS for three steps",
    3: "Hamiltonian of RIG_NEG for three steps",
    4: "Hamiltonian of RIG_IMP for three steps",
}, {1: (_SKETCH, "heavy-top")})  # fmt: skip

VILMART = (
    *numbered("table", {
        1: "Scalar functions of the preprocessed DMV algorithm",
        2: "Geometric properties of free rigid body integrators",
    }),
    *numbered("fig", {
        1: "A book, and the paths of its axes in space",
        2: "Jacobi's solution by elliptic functions, of 1850",
    }, {2: ("it is a facsimile of a printed page; polhode runs the solution itself, as the method exact", "")}),
    *numbered("example", {1: "Heavy top: the flow of V in the Nyström splitting"}),
)  # fmt: skip

_CASES = {1: "nonzero initial conditions", 2: "a vanishing load", 3: "both"}

NONTWISTING = (
    *numbered("table", {
        **{2 * case - 1 + k: f"Case {case}, {of}: {what}" for case, of in _CASES.items()
           for k, what in enumerate(("second quotient of precision", "stationary values of the invariants"))},
        **{6 + case: f"Case {case}: EM and DLA compared, stationary values" for case in _CASES},
    }),
    *numbered("fig", {
        **{3 * case - 2 + k: f"Case {case}, {of}: {what}" for case, of in _CASES.items() for k, what in enumerate((
            "momenta in space and in the body", "kinetic energy and second quotient of precision", "path of d3"))},
        **{9 + k: f"Case 1: component {k} of d3, EM and DLA compared" for k in (1, 2, 3)},
    }),
    *sections({
        "6.1": ("Case 1: response to nonzero initial conditions", ("table1", "table2", "fig1", "fig2", "fig3")),
        "6.2": ("Case 2: response to a vanishing load", ("table3", "table4", "fig4", "fig5", "fig6")),
        "6.3": ("Case 3: response to both", ("table5", "table6", "fig7", "fig8", "fig9")),
        "6.4": ("Comparison with the discrete Lagrange-d'Alembert algorithm",
                ("table7", "table8", "table9", "fig10", "fig11", "fig12")),
    }),
)  # fmt: skip

THREE_FIELD = (
    *numbered("fig", {
        1: "A sphere that rolls inside a fixed vertical cylinder",
        2: "Sphere: height, energy, errors",
        3: "A disk that rolls on a horizontal plane",
        4: "Disk, tilted by 1° and spun: histories",
        5: "Disk, tilted by 1° and spun: paths of the contact point",
        6: "Disk: cyclic motion",
        7: "Disk: straight rolling",
        8: "Disk: straight rolling, perturbed",
        9: "The uncontrolled bicycle",
        10: "Bicycle, below its stable speeds",
        11: "Bicycle, at a stable speed",
        12: "Bicycle, above its stable speeds",
    }, {1: (_SKETCH, "rolling-sphere"), 3: (_SKETCH, "rolling-disk"), 9: (_SKETCH, "bicycle")}),
    *sections({
        "5.1": ("Sphere rolling inside a cylinder", ("fig2",)),
        "5.2": ("The falling rolling disk on a horizontal plane", ("fig4", "fig5", "fig6", "fig7", "fig8")),
        "5.3": ("The uncontrolled bicycle", ("fig10", "fig11", "fig12")),
    }),
)  # fmt: skip
