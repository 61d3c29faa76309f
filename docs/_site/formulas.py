"""Formulas as pictures drawn when the site is built: no script, no font and no network in a page that shows them.

A picture has the colour of the text around it and scales with it; its formula stands in the label that screen readers
read.
"""

import re
from functools import cache
from html import escape

import ziamath
from docutils import nodes

ziamath.config.svg2 = False  # outlines in place, no symbols whose names could meet others in the page
ziamath.config.math.color = "currentColor"
SIZE = 20.0  # of a letter, in the units of the picture: 1 em


@cache
def picture(latex: str) -> tuple[str, float]:
    """SVG with its size in em, and how far it reaches below the line (em)."""
    made = ziamath.Latex(latex, size=SIZE)
    svg = made.svg()
    head, body = svg.split(">", 1)
    _, top, width, height = (float(x) for x in re.search(r'viewBox="([^"]*)"', head)[1].split())
    below = (top + height) / SIZE
    label = escape(" ".join(latex.split()), quote=True)
    box = re.search(r'viewBox="[^"]*"', head)[0]
    style = f"width:{width / SIZE:.3f}em;height:{height / SIZE:.3f}em;vertical-align:{-below:.3f}em"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" {box} style="{style}">{body}',
        below,
    )


def inline(self, node: nodes.math) -> None:
    self.body.append(f'<span class="formula">{picture(node.astext())[0]}</span>')
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    latex = node.astext()
    if "\\\\" in latex and "\\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(f'<div class="math-picture">{picture(latex)[0]}</div>')
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict:
    app.add_html_math_renderer("pictures", (inline, None), (block, None))
    return {"parallel_read_safe": True}
