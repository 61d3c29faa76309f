"""Examples: what stands in a page between ```python and ``` runs as it stands there, and what it shows follows it.

The blocks of a page run in order, in one namespace and in an empty folder. Shown is what a notebook would show: what
they print, and the value of a last expression, a figure as a picture and an animation as itself. ```console runs the
commands after `$ `. ```py and ```text are only shown. The tests run pages by the same `run`.

Which pages run is the setting `examples`: `all`, or `none`, which shows the code alone. What a page showed is kept in
build/examples until its code or polhode changes. Pages run before the site is read, as many at a time as there are
cores, each in a process that runs one after the other.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
KEPT = DOCS.parent / "build" / "examples"
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<language>python|console)\n(?P<code>.*?)^\1\2 *$", re.M | re.S)


@dataclass
class Output:
    """What one block showed: text, and files (pictures, animations) by name."""

    text: str = ""
    files: list[str] = field(default_factory=list)
    label: str = ""
    bodies: bool = False  # whether it is a picture of bodies, which has a background of its own


def blocks(text: str) -> list[tuple[str, str]]:
    """(language, code) of those that run."""
    found = []
    for match in FENCE.finditer(text):
        lines = match["code"].splitlines()
        found.append((match["language"], "\n".join(line[len(match["indent"]) :] for line in lines) + "\n"))
    return found


def run(text: str, name: str, folder: Path) -> tuple[dict[str, Any], list[Output]]:
    """All blocks of a page; what they define, and what each showed. Files are left in `folder`."""
    module = types.ModuleType("__example__")
    names, outputs = module.__dict__, []
    sys.modules["__example__"] = module  # dataclasses look for it there
    with working_in(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, (language, code) in enumerate(blocks(text)):
            if language == "console":
                before = set(Path().glob("*/index.html"))
                text = commands(code).replace(f"{Path.cwd()}/", "")
                outputs.append(Output(text, [str(p) for p in sorted(set(Path().glob("*/index.html")) - before)]))
            else:
                outputs.append(python(code, names, f"{Path(name).stem}-{number + 1}", name))
    return names, outputs


def python(code: str, names: dict[str, Any], stem: str, name: str) -> Output:
    """Run a block; a last expression is shown."""
    body = ast.parse(code, name).body
    last = body.pop().value if body and isinstance(body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last), name, "eval"), names)
    text = printed.getvalue()
    if hasattr(value, "savefig"):
        endings = [".svg", ".pdf"]
        for ending in endings:
            value.savefig(stem + ending)
        if Path(stem + ".svg").stat().st_size > 1_500_000:  # a picture of many thousand pieces
            Path(stem + ".svg").unlink()
            value.savefig(stem + ".png", dpi=200)
            endings[0] = ".png"
        return Output(text, [stem + ending for ending in endings], label(value), bool(value.get_label()))
    if isinstance(value, Path) and value.suffix in (".html", ".svg", ".png", ".gif", ".mp4"):
        return Output(text, [value.name], value.stem)
    return Output(text + ("" if value is None else f"{value!r}\n"))


def label(figure: Any) -> str:
    """What a figure shows, in words: its title, and of every panel its title and axes."""
    if figure.get_label():  # of what has no axes
        return str(figure.get_label())
    words = [figure.get_suptitle()] if figure.get_suptitle() else []
    for ax in figure.axes:
        title = ax.get_title(loc="left") or ax.get_title()
        axes = " against ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
        words.append(": ".join(filter(None, (title, axes))))
    return "; ".join(filter(None, words)).replace("\n", " ") or "figure"


def commands(code: str) -> str:
    """What `$ polhode ...` printed, each below its command."""
    from polhode.cli.main import main

    shown = []
    for line in code.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if not line.startswith("$ ") or not words or words[0] != "polhode":
            raise ValueError(f"```console holds lines that begin with `$ polhode `; got {line!r}")
        out, before = io.StringIO(), sys.argv
        handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
        sys.argv = words
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"{line} ended with {end.code}: {out.getvalue()}") from None
        finally:
            sys.argv = before
            for signum, handler in handlers.items():  # a command that is over ignores them
                signal.signal(signum, handler)
        shown.append("\n".join(row.rstrip() for row in out.getvalue().splitlines()))
    return "\n\n".join(shown) + "\n"


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


# What Sphinx does with it.


def remembered(text: str, name: str, made: str) -> list[Output] | None:
    """What the page showed before, or shows now; `made` is all that polhode is made of."""
    key = hashlib.sha256((made + repr(blocks(text))).encode()).hexdigest()
    folder = KEPT / name.replace("/", "-")
    said = folder / "outputs.json"
    if said.exists() and (kept := json.loads(said.read_text(encoding="utf-8")))["key"] == key:
        return [Output(**each) for each in kept["outputs"]]
    said.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as room:
        _, outputs = run(text, name, Path(room))
        for file in (file for output in outputs for file in output.files):
            folder.mkdir(parents=True, exist_ok=True)
            if "/" in file:  # a report: a folder of pages
                shutil.copytree((Path(room) / file).parent, (folder / file).parent, dirs_exist_ok=True)
            else:
                shutil.copy(Path(room) / file, folder / file)
    folder.mkdir(parents=True, exist_ok=True)
    said.write_text(json.dumps({"key": key, "outputs": [asdict(o) for o in outputs]}), encoding="utf-8")
    return outputs


def prepared(name: str, made: str) -> str | None:
    """Run a page, so that what it shows is kept; why it failed, if it did."""
    try:
        remembered((DOCS / f"{name}.md").read_text(encoding="utf-8"), name, made)
    except Exception:
        return f"an example of {name} failed:\n{traceback.format_exc()}"
    return None


def prepare(names: list[str], made: str) -> list[str]:
    """Run pages beside each other, those that take longest first; why some failed."""
    names = sorted(names, key=lambda name: not name.startswith("papers/"))
    begun = multiprocessing.get_context("spawn")  # a process that runs JAX is not to be forked
    with ProcessPoolExecutor(os.cpu_count(), begun) as processes:
        failed = list(processes.map(prepared, names, [made] * len(names)))
    return [why for why in failed if why]


def source_of_polhode() -> str:
    import polhode

    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(Path(polhode.__file__).parent.rglob("*.*")):
        if path.suffix in (".py", ".js", ".html"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def setup(app: Any) -> dict[str, bool]:
    from docutils import nodes
    from sphinx.errors import ExtensionError
    from sphinx.transforms import SphinxTransform

    class Shown(SphinxTransform):
        default_priority = 400

        def apply(self, **_: Any) -> None:
            if self.config.examples == "none":
                return
            name = self.env.docname
            found = [
                b for b in self.document.findall(nodes.literal_block) if b.get("language") in ("python", "console")
            ]
            if not found or name in self.config.examples_run_elsewhere:
                return
            text = Path(self.env.doc2path(name)).read_text(encoding="utf-8")
            codes = [code.rstrip() for _, code in blocks(text)]
            if codes != [b.astext().rstrip() for b in found]:
                raise ExtensionError(f"{name}: the examples that Sphinx sees are not those that `blocks` finds")
            outputs = remembered(text, name, made())
            here = "../" * name.count("/") + "_examples/" + name.replace("/", "-") + "/"
            for block, output in zip(found, outputs or (), strict=True):
                if shown := list(nodes_of(output, here)):
                    box = nodes.container("", *shown, classes=["example-output", str(block.get("language"))])
                    block.parent.insert(block.parent.index(block) + 1, box)

    state: list[str] = []

    def made() -> str:
        if not state:
            os.environ["COLUMNS"] = "100"
            os.environ.setdefault("MPLBACKEND", "Agg")
            state.append(source_of_polhode())
        return state[0]

    def nodes_of(output: Output, here: str) -> Iterator[nodes.Node]:
        if output.text.strip() and not any("/" in file for file in output.files):  # a report says it all
            yield nodes.literal_block(output.text.rstrip(), output.text.rstrip(), language="none")
        if output.files:
            yield nodes.raw("", html_of(output, here, here.rstrip("/").rpartition("/")[2]), format="html")

    def run_pages(app: Any) -> None:
        if app.config.examples == "none":
            return
        texts = {p.relative_to(DOCS).with_suffix("").as_posix(): p.read_text("utf-8") for p in DOCS.rglob("*.md")}
        names = [name for name, text in texts.items() if blocks(text)]
        failed = prepare([name for name in names if name not in app.config.examples_run_elsewhere], made())
        if failed:
            raise ExtensionError("\n".join(failed))

    def kept(app: Any, error: Exception | None) -> None:
        if error is None and KEPT.exists() and app.config.examples != "none":
            shutil.copytree(KEPT, Path(app.outdir) / "_examples", dirs_exist_ok=True)

    app.add_config_value("examples", "all", "env")
    app.add_config_value("examples_run_elsewhere", [], "env")
    app.add_transform(Shown)
    app.connect("builder-inited", run_pages)
    app.connect("build-finished", kept)
    return {"parallel_read_safe": False}


def report(index: Path, here: str) -> str:
    """Of a report of one paper its page, as a part of this one; of several, a link."""
    pages = sorted(set(index.parent.glob("*.html")) - {index})
    folder = f"{here}{index.parent.name}/"
    if len(pages) != 1:
        return f'<p class="report"><a href="{folder}index.html">The report that this wrote, with its figures</a></p>'
    body = pages[0].read_text(encoding="utf-8").partition("</h1>")[2].partition("</body>")[0]
    own = re.sub(r'(href|src|data)="(?![a-z]+:|#)', rf'\1="{folder}', body)
    return f'<div class="report">{own}</div>'


def html_of(output: Output, here: str, name: str) -> str:
    """A picture with links to its files, an animation in a frame, or a report."""
    from html import escape

    first, label = here + output.files[0], escape(output.label, quote=True)
    if "/" in output.files[0]:
        return report(KEPT / name / output.files[0], here)
    if first.endswith(".html"):
        return (
            f'<figure class="animation"><iframe src="{first}" title="{label}, an animation" loading="lazy"></iframe>'
            f'<figcaption><a href="{first}">open on a page of its own</a></figcaption></figure>'
        )
    links = " ".join(f'<a href="{here}{file}">{Path(file).suffix[1:]}</a>' for file in output.files)
    return (
        f'<figure class="{"bodies" if output.bodies else "picture"}"><img src="{first}" alt="{label}" loading="lazy">'
        f"<figcaption>{links}</figcaption></figure>"
    )
