"""The site: built with warnings as errors, every link and picture there, nothing asked of a network; and as a browser
shows it, light and dark, on a desk and on a phone."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from browser import BROWSER, Page
from pages import DOCS, ROOT, RUN_BY_NAME, examples, run_page, texts

from polhode.problems import PROBLEMS

sphinx_build = pytest.importorskip("sphinx.cmd.build")


def build(folder: Path, which: str) -> Path:
    command = ["-W", "--keep-going", "-E", "-q", "-c", "docs/_site", "-D", f"examples={which}"]
    made = [*command, "-d", str(folder / "trees"), "docs", str(folder / "site")]
    said = io.StringIO()
    with chdir(ROOT), redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what packages say of each other
        assert sphinx_build.main(made) == 0, said.getvalue()
    return folder / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without what examples show: they have tests of their own, and the whole is built by `test_the_whole_site`."""
    return build(tmp_path_factory.mktemp("site"), "none")


class Links(HTMLParser):
    """Of a page: what it loads, where its links lead, and the places that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.unlabelled: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {str(given[key]) for key in ("id", "name") if given.get(key)}
        if tag in ("img", "script", "iframe", "source", "video") and given.get("src"):
            self.loads.append(str(given["src"]))
        if tag == "object" and given.get("data"):
            self.loads.append(str(given["data"]))
        if tag == "img" and given.get("alt") is None:  # "" is beside the words that say it
            self.unlabelled.append(str(given.get("src")))
        if tag == "link" and given.get("rel") != "canonical" and given.get("href"):
            self.loads.append(str(given["href"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))


@cache
def links_of(path: Path) -> Links:
    return Links(path.read_text(encoding="utf-8"))


def check_links(site: Path) -> int:
    pages = [p for p in sorted(site.rglob("*.html")) if "_examples" not in p.parts and "_static" not in p.parts]
    for page in pages:
        here = links_of(page)
        assert not here.unlabelled, f"{page.name}: pictures without words: {here.unlabelled}"
        for target in here.loads:
            parts = urlsplit(target)
            assert not parts.scheme or parts.scheme == "data", f"{page.name} loads {target}"
            assert parts.scheme or (page.parent / unquote(parts.path)).exists(), f"{page.name}: no {target}"
        for target in here.links:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            to = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert to.exists(), f"{page.name}: a link to {target}, which is not there"
            if parts.fragment and to.suffix == ".html" and "_examples" not in to.parts:
                assert unquote(parts.fragment) in links_of(to).places, f"{page.name}: no such place, {target}"
    return len(pages)


@pytest.mark.slow
def test_the_site_is_whole(site: Path) -> None:
    """Links lead somewhere, pictures are there and say what they show, and nothing is asked of a network."""
    assert check_links(site) >= 70
    for style in site.rglob("*.css"):
        asked = re.findall(r"url\(\s*['\"]?(https?:[^)]*)|@import\s+['\"](https?:[^'\"]*)", style.read_text("utf-8"))
        assert not asked, style


@pytest.mark.slow
def test_formulas_are_pictures_that_say_what_they_are(site: Path) -> None:
    text = (site / "theory" / "notation.html").read_text(encoding="utf-8")
    assert text.count('<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label=') > 20
    assert re.search(r'<span class="eqno">\(2\)', text)


@pytest.mark.slow
def test_the_format_of_files_is_that_of_the_schema(site: Path) -> None:
    from polhode.inputs.schema import InputFile, RunTable

    text = (site / "howto" / "file-format.html").read_text(encoding="utf-8")
    for key in (*InputFile.model_fields, *RunTable.model_fields, "allow_unphysical", "semi_axes"):
        assert f'<span class="pre">{key}</span>' in text


def test_every_problem_is_in_the_gallery() -> None:
    index = (DOCS / "gallery" / "index.md").read_text(encoding="utf-8")
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "gallery").glob("*.md")}
    shown = " ".join(re.findall(r"```\{gallery\}\n(.*?)```", index, re.DOTALL)).split()
    assert sorted(shown) == sorted(set(pages) - {"index"})
    together = "\n".join(pages.values())
    missing = [name for name in PROBLEMS if f'"{name}"' not in together and name[:-1] != "nontwisting-"]
    assert missing == []


def test_pages_are_for_print() -> None:
    """No page of the gallery takes more than some dozens of lines."""
    for name, text in texts().items():
        if name.startswith("gallery/"):
            longest = max(code.count("\n") for _, code in examples.blocks(text))
            assert longest <= 45, name


OTHERS = [
    name for name in texts() if name not in (*RUN_BY_NAME, "contributing", "sweeps") and not name.startswith("papers/")
]


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_a_page_runs(name: str, tmp_path: Path) -> None:
    run_page(name, tmp_path)


@pytest.mark.long
def test_the_whole_site(tmp_path: Path) -> None:
    """With everything that examples show, papers too: some ten minutes where nothing is kept from before."""
    whole = build(tmp_path, "all")
    assert check_links(whole) >= 70
    if BROWSER is not None:
        check_pages(whole, tmp_path)


# As a browser shows it.

SIZES = {"desk": (1280, 900), "phone": (390, 844)}
STILL = """(() => ({
  pictures: [...document.images].filter((i) => i.loading !== "lazy" && !i.naturalWidth).map((i) => i.src),
  wide: document.scrollingElement.scrollWidth,
  scrolls: [...document.querySelectorAll('.highlight-python pre')].filter((p) => p.scrollWidth > p.clientWidth).length,
  theme: document.documentElement.dataset.theme,
  colour: getComputedStyle(document.body).backgroundColor,
}))()"""


TURNED = "document.querySelector('.theme-change-button[data-mode=%s]').click()"


class Watched(Page):
    """A page whose console, and whatever could not be loaded, count as errors."""

    def _next(self) -> dict[str, Any]:
        message = super()._next()
        params, method = message.get("params", {}), message.get("method")
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        if method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(str(params["args"]))
        return message


ALL = tuple(product(("dark", "light"), SIZES))


def check_pages(site: Path, profile: Path, views: Iterable[tuple[str, str]] = ALL) -> None:
    """Every page is opened once, as the first view asks for; then the window and the theme change as they would by a
    turned phone and the button at the top."""
    pages = [p for p in sorted(site.rglob("*.html")) if not {"_examples", "_static"} & set(p.parts)]
    (first, size), *others = views
    with Watched(pages[0].as_uri(), profile / "browser", seconds=600.0) as page:
        page.send("Log.enable")

        def seen_as(theme: str, size: str, where: str) -> None:
            seen = page.evaluate(STILL)
            assert page.errors == [], f"{where}: {page.errors}"
            assert seen["pictures"] == [], f"{where}: pictures that did not load: {seen['pictures']}"
            # not of `innerWidth`: a phone shows a page that is too wide from further away
            assert seen["wide"] <= SIZES[size][0], f"{where}: {seen['wide']} px wide"
            assert size != "phone" or not seen["scrolls"], f"{where}: {seen['scrolls']} examples to be scrolled"
            assert seen["theme"] == theme, where
            lightness = sum(map(int, re.findall(r"\d+", seen["colour"])[:3])) / 3
            assert (lightness > 128) == (theme == "light"), where

        def sized(size: str) -> None:
            width, height = SIZES[size]
            how = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
            page.send("Emulation.setDeviceMetricsOverride", **how)

        chosen = f"localStorage.setItem('mode', '{first}'); localStorage.setItem('theme', '{first}')"
        page.send("Page.addScriptToEvaluateOnNewDocument", source=chosen)
        for path in pages:
            sized(size)
            page.evaluate("window.left = true")
            page.send("Page.navigate", url=path.as_uri())
            page.wait_for("!window.left && document.readyState === 'complete'")
            seen_as(first, size, f"{path.relative_to(site)} ({size}, {first})")
            for theme, other in others:
                sized(other)
                page.evaluate(TURNED % theme)
                seen_as(theme, other, f"{path.relative_to(site)} ({other}, {theme})")
        assert not [address for address in page.requests if not address.startswith(("file:", "data:", "about:"))]


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chrome or Chromium")
def test_every_page_opens_in_a_browser(site: Path, tmp_path: Path) -> None:
    """No error in its console, no picture missing, as light or dark as asked for, no wider than a phone."""
    check_pages(site, tmp_path, [("dark", "phone"), ("light", "desk")])
