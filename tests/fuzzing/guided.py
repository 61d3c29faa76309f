"""`python -m fuzzing.guided NAME COUNT`: bytes that reach new lines of polhode, by atheris, which is not required."""

from __future__ import annotations

import sys

import atheris

_WATCHED = ["polhode.inputs", "polhode.rotation.parser", "polhode.rotation.formulas", "polhode.results",
            "polhode.model", "polhode.cli", "polhode._programs.files", "tomllib"]  # fmt: skip

with atheris.instrument_imports(include=_WATCHED):
    import fuzzing.__main__ as cases
    from fuzzing.guard import checked


def main(name: str, count: str) -> None:
    cases.in_a_folder()
    case = cases.CASES[name]
    checked(case, b"")
    limits = [f"-runs={count}", "-len_control=0", "-max_len=512", "-timeout=60", "-rss_limit_mb=8000"]

    def one(data: bytes) -> None:
        checked(case, data)

    atheris.Setup([sys.argv[0], *limits], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
