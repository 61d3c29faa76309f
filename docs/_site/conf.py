"""How the site is built: `make docs`, or `sphinx-build -W -c docs/_site docs build/docs`."""

import sys
from pathlib import Path

import polhode

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "polhode"
author = "polhode contributors"
version = release = polhode.__version__
copyright = "BSD-3-Clause"  # noqa: A001 (Sphinx's name)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "examples",
    "formulas",
    "gallery",
    "reference",
    "tables",
]
exclude_patterns = ["_site", "figures"]
examples_run_elsewhere = ["contributing", "sweeps"]  # by tests/test_contributing.py; in processes of their own
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
math_eqref_format = "({number})"
html_math_renderer = "pictures"

default_role = "code"
add_module_names = False
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "

html_theme = "pydata_sphinx_theme"
html_title = "polhode"
html_static_path = ["static"]
html_css_files = ["polhode.css"]
html_favicon = "static/polhode.svg"
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "install": [], "tour": [], "gallery/index": []}
html_theme_options = {
    "logo": {"text": "polhode", "image_light": "static/polhode.svg", "image_dark": "static/polhode.svg"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
