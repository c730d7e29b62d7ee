"""How Sphinx builds these pages; `development.md` has the command."""

import os
import re
import shutil
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx_gallery.scrapers import figure_rst

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]
os.environ["PYTHONPATH"] = str(ROOT)  # of the notebooks' kernels

import generate

import semmetrics
from semmetrics import plots
from semmetrics.options import OPTIONS, READING

project, author = "semmetrics", "The semmetrics developers"
release = version = semmetrics.__version__
project_copyright = author

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["generated/gallery/*.ipynb", "generated/measures.md", "_templates"]
templates_path = ["_templates"]
default_role = "py:obj"
suppress_warnings = ["config.cache", "mystnb.unknown_mime_type"]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

autosummary_generate = True
autosummary_filename_map = {  # apart from functions of the same letters, also where case is nothing
    "semmetrics.Measure": "semmetrics.class-Measure",
    "semmetrics.Score": "semmetrics.class-Score",
    "semmetrics.adapters.evaluate.SemMetric": "semmetrics.adapters.evaluate.class-SemMetric",
}
autodoc_typehints = "none"  # the docstrings say more
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch", "torchmetrics"]
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "image_scrapers": ("conf.scrape",),
    "gallery_dirs": "generated/gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("semmetrics",),
    "download_all_examples": False,
    "plot_gallery": True,
    "remove_config_comments": True,
    "show_signature": False,
    "within_subsection_order": "conf.gallery_order",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"semmetrics {release}"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_css_files = ["semmetrics.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "header_links_before_dropdown": 6,
    "logo": {"text": html_title},
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "notebooks": []}
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


def gallery_order(name):
    """Put kinds of data before studies, and what is not named here last."""
    first = [
        "labels",
        "meanings",
        "scores",
        "captions",
        "retrieval",
        "classes",
        "compare",
    ]
    stem = name.removeprefix("plot_").removesuffix(".py")
    return (first.index(stem) if stem in first else len(first)), name


def shorten(app, what, name, obj, options, signature, returns):
    """Write the options that functions share as ``**options``: they have a page of their own."""
    shared = re.search(rf", ({'|'.join([*OPTIONS, *READING])})=", signature or "")
    return shared and (f"{signature[: shared.start()]}, **options)", returns)


def scrape(block, block_vars, gallery_conf):
    """Save the displays that a block of an example has drawn."""
    paths, found = [], block_vars["example_globals"].values()
    for one in [one for one in found if isinstance(one, plots.Display) and one.figure_]:
        paths.append(next(block_vars["image_path_iterator"]))
        one.figure_.savefig(paths[-1], dpi=150)
        one.figure_ = None  # saved once
    return figure_rst(paths, gallery_conf["src_dir"])


def _show_math(display):
    def visit(self, node):
        self.body.append(
            self.starttag(node, "div" if display else "span", "", CLASS="formula")
        )
        self.body.append(tex2mathml(node.astext(), as_block=display))
        self.body.append("</div>\n" if display else "</span>")
        raise nodes.SkipNode

    return visit, None


def _write_pages(app):
    """Write what is made of the code, and copy the notebooks to where Sphinx reads them."""
    made = HERE / "generated"
    made.mkdir(exist_ok=True)
    generate.write(made / "measures.md", generate.measures())
    shutil.copytree(
        ROOT / "examples" / "notebooks", made / "notebooks", dirs_exist_ok=True
    )


def setup(app):
    """Typeset formulas as MathML, which browsers show without a script."""
    app.add_html_math_renderer(
        "mathml", _show_math(display=False), _show_math(display=True)
    )
    app.connect("autodoc-process-signature", shorten)
    app.connect("builder-inited", _write_pages, priority=100)
