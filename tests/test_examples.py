"""Examples of the docs: what runs, what is shown, and that a page that fails is seen to fail."""

from pathlib import Path

import pytest
from pages import examples

PAGE = """# A page

```python
import matplotlib.figure
print("said")
x = 2
```

```python
figure = matplotlib.figure.Figure()
ax = figure.add_subplot()
ax.plot([0, 1], [0, x])
ax.set(title="A line", xlabel="t (s)", ylabel="x (m)")
figure
```

1. In a list:

   ```python
   x + 1
   ```

```py
this is not Python
```
"""


def test_a_page_runs_in_one_namespace_and_shows_what_it_made(tmp_path: Path) -> None:
    assert [language for language, _ in examples.blocks(PAGE)] == ["python"] * 3
    names, (said, drawn, value) = examples.run(PAGE, "page", tmp_path)
    assert names["x"] == 2
    assert (said.text, said.files) == ("said\n", [])
    assert drawn.files == ["page-2.svg", "page-2.pdf"]
    assert drawn.label == "A line: x (m) against t (s)"
    assert (tmp_path / "page-2.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert value.text == "3\n"
    html = examples.html_of(drawn, "../_examples/page/", "page")
    assert 'src="../_examples/page/page-2.svg"' in html
    assert 'alt="A line: x (m) against t (s)"' in html


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", ZeroDivisionError),
        ("import warnings\nwarnings.warn('no')", UserWarning),
        ("def f(:", SyntaxError),
    ],
)
def test_a_page_that_fails_fails(code: str, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        examples.run(f"```python\n{code}\n```\n", "page", tmp_path)


def test_commands_run_and_show_what_they_print(tmp_path: Path) -> None:
    _, (output,) = examples.run("```console\n$ polhode --version\n```\n", "page", tmp_path)
    assert "polhode" in output.text or "0." in output.text
    with pytest.raises(RuntimeError, match="ended with 2"):
        examples.run("```console\n$ polhode run no-such-thing\n```\n", "page", tmp_path)
    with pytest.raises(ValueError, match="begin with"):
        examples.run("```console\n$ rm file\n```\n", "page", tmp_path)


def test_animations_are_framed_and_reports_linked(tmp_path: Path) -> None:
    code = "from pathlib import Path\np = Path('turning.html')\np.write_text('<p>moves</p>')\np"
    _, (output,) = examples.run(f"```python\n{code}\n```\n", "page", tmp_path)
    assert output.files == ["turning.html"]
    assert "<iframe" in examples.html_of(output, "", "page")
    assert "<iframe" not in examples.html_of(examples.Output("", ["report/index.html"]), "", "page")
