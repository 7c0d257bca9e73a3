"""How Sphinx builds the site: `python3 dev.py docs`.

The sources are the project's folder itself, so that a link of a page leads to the same file on the
site and in a checkout; `include_patterns` says what of it is a page.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent / "extensions")]

from tvcs_core.files.record import tvcs_version  # noqa: E402 - found by the line above

project = "tvcs"
author = "The tvcs developers"
copyright = f"2026, {author}"
release = tvcs_version()

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "commands",
    "public_names",
]
root_doc = "docs/index"
# The names of others that our signatures use, kept here: a build asks no other host.
intersphinx_mapping = {
    name: (address, str(ROOT / "docs" / "inventories" / f"{name}.inv"))
    for name, address in (
        ("python", "https://docs.python.org/3"),
        ("numpy", "https://numpy.org/doc/stable"),
        ("scipy", "https://docs.scipy.org/doc/scipy"),
        ("pandas", "https://pandas.pydata.org/docs"),
    )
}
sphinx_gallery_conf = {
    "examples_dirs": "docs/gallery",
    "gallery_dirs": "docs/gallery-pages",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
}
include_patterns = ["docs/**", "notebooks/*.ipynb", "*.md", "data/*/*.md"]
exclude_patterns = [
    ".*",
    "out",
    "README.md",
    "docs/templates",
    "docs/static",
    "docs/gallery/GALLERY_HEADER.rst",
    "docs/gallery-pages/*.ipynb",
    "docs/reference/examples",
    "docs/extensions",
    *("tests", "benchmarks", "build", "dist", "tvcs_core", "grn_tvcs", "crowd_tvcs"),
]
templates_path = ["templates"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 6
myst_links_external_new_tab = False

nb_execution_mode = "off"  # notebooks are kept with what they print, and a test compares it
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
default_role = "code"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

# A type of ours that a public signature names is in the reference; these are of others, or
# another word for them.
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(numpy|np|pd|sparse)\..+"),
    ("py:class", "AbstractContextManager|Any|Callable|Collection|Iterable|Mapping|Path|Sequence"),
    ("py:class", "ArrayLike|NDArray|Array|Bools|Flags|Floats|Integers|Mask|Places"),
    ("py:class", "Caps|CrowdQuality|CapsByLabel|Qualities|Edges|array"),
    ("py:class", "WorkerPairs|Settings|WorkerRow|TaskRow|RoundRow|Field|Prefixes"),
    ("py:class", "DependenceParams|Progressed|Changes"),
    ("py:class", r"Mapping\[str"),  # cut from a type of several lines
    ("py:class", "T|R"),  # whatever a function takes and finds
]

HOME = tomllib.loads((ROOT / "packaging" / "home.toml").read_text(encoding="utf-8"))
html_baseurl = HOME["documentation"]
html_theme = "furo"
html_title = f"tvcs {release}"
html_static_path = ["static"]
html_css_files = ["tvcs.css"]
html_search_scorer = str(ROOT / "docs" / "static" / "scorer.js")
html_copy_source = False
html_additional_pages = {"index": "to_the_first_page.html"}
copybutton_prompt_text = "$ "
