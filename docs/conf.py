"""Settings of the documentation site: `make site`, or `sphinx-build docs build/site`.

Tutorials and the gallery are executed, once for each content (a cache lies in build/); with
`-D nb_execution_mode=off` they are shown without their outputs.
"""

import atexit
import gc
import re
import sys
import tomllib
from pathlib import Path

import jupytext
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parent / "scripts"))
from docstrings import as_restructured_text

from resolvent.judging.answers import travelling
from resolvent.judging.task_page import write_task_pages

# All pages are kept to the end: the garbage collector need not look through them again and again, nor then.
gc.set_threshold(100_000)
atexit.register(gc.freeze)

ROOT = Path(__file__).resolve().parents[1]
TASKS = travelling()
NOTEBOOKS = sorted(path.stem for path in (ROOT / "docs/tutorials").glob("*.md"))

# Words that readers search for, beside those of the text, by page and heading.
SEARCH_WORDS = {
    "cluster": {"On a cluster": ("slurm", "cluster")},
    "datasets": {
        "Your own data": (
            "custom dataset",
            "own data",
            "own dataset",
            "data format",
            "csv",
            "netcdf",
            "hdf5",
            "matlab",
            "missing values",
            "nan",
            "time series",
            "units",
            "dates",
            "windows of a time series",
            "pdebench",
        ),
        "Share a dataset": (
            "hugging face",
            "huggingface",
            "the well",
            "croissant",
            "export a dataset",
            "upload",
        ),
        "In an object store": ("s3", "cloud"),
    },
    "extending": {"An optimiser": ("optimizer", "optimiser"), "A metric for every run": ("new metric",)},
    "gpus": {
        "One training on several GPUs": ("multiple gpus", "several gpus", "multi-gpu", "ddp"),
        "Mixed precision": ("bfloat16", "amp", "half precision"),
        "Out of memory": ("out of memory", "oom"),
    },
    "how-to-choose": {
        "How to choose": ("which model", "learning rate", "batch size", "normalisation", "normalization"),
        "Tuning and sweeps": ("hyperparameters", "grid search", "sweep"),
    },
    "jobs": {"Resuming after a kill": ("resume", "restart", "crash", "checkpoint resume")},
    "limitations": {"Models and training": ("noise", "noisy data")},
    "questions": {
        "Are unstructured meshes and irregular domains supported?": (
            "unstructured",
            "irregular",
            "mesh",
            "meshes",
            "irregular domain",
            "geometry",
            "point cloud",
        ),
        "Does it run on Windows?": ("windows", "wsl"),
        "Does it run in Colab or a notebook?": ("colab", "google colab", "jupyter", "notebook"),
        "Can I log to Weights & Biases (wandb)?": (
            "wandb",
            "weights and biases",
            "tensorboard",
            "mlflow",
            "logging",
        ),
        "Is there early stopping?": ("early stopping", "patience"),
        "Which licence do data and code have?": ("licence", "license"),
        "How do I cite it?": ("cite", "citation", "bibtex"),
    },
    "statistics": {
        "Time of a prediction and break-even": ("break-even",),
        "Seeds that spread": ("number of seeds",),
    },
    "tutorials/own-equation": {
        "Your own equation": ("new equation", "own equation", "custom equation", "new pde")
    },
    "tutorials/own-grids": {
        "Rectangles, uneven points and boxes": ("uneven", "rectangular", "3d", "non-uniform grid")
    },
    "tutorials/own-model": {"Your own model": ("new model", "own model", "custom model", "own architecture")},
    "use": {
        "Export a model": ("torch export", "onnx", "safetensors", "deployment"),
        "Out of distribution": ("out of distribution", "ood", "generalization"),
        "Coverage": ("uncertainty", "conformal", "calibration"),
    },
    "models": {"`deeponet1d` and `deeponet2d`": ("deeponet", "branch and trunk")},
}

# docutils puts the index of an accented letter below it, not beside it.
ACCENT = re.compile(
    r"<munderover>\s*(<mi>\w</mi>)\s*(<m[in]>\w+</m[in]>)\s*"
    r"(<mo stretchy=\"false\">[ˆ˙]</mo>)\s*</munderover>"
)

project = "Resolvent"
author = "The Resolvent developers"
project_copyright = f"{author}, MIT licence"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
copybutton_exclude = ".linenos, .gp, .go"

nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build/executed")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_ipywidgets_js = {}  # nothing is loaded from a network
nb_merge_streams = True

default_role = "literal"  # docstrings have names in single backticks
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
maximum_signature_line_length = 90
python_use_unqualified_type_names = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, whose pages are on a network

html_theme = "pydata_sphinx_theme"
html_title = "Resolvent"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(ROOT / "docs/scripts/scorer.js")
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = ["_templates"]
html_show_sourcelink = False
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "Resolvent"},
    "navbar_center": [],  # the sidebar has all pages
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        **{f"tutorials/{name}": ["page-toc", "notebook"] for name in NOTEBOOKS},
    },
}
html_sidebars = {"**": ["pages"]}


def as_mathml(self, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    inline = isinstance(node, nodes.math)
    formula = tex2mathml(node.astext(), as_block=not inline)
    formula = ACCENT.sub(r"<msub><mover>\1\3</mover>\2</msub>", formula)
    self.body.append(formula if inline else f'<div class="math-block">{formula}</div>')
    raise nodes.SkipNode


def prepare_docstring(app, what, name, obj, options, lines: list[str]) -> None:
    """Read a docstring as it was meant."""
    lines[:] = as_restructured_text(lines)


def with_changes(app, name: str, source: list[str]) -> None:
    """Let the page of changes be CHANGELOG.md, whose links are relative to the root.

    The search leaves it out, since it has nearly all words.
    """
    if name == "changelog":
        text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
        source[0] = f"---\nnosearch: true\n---\n\n{text}"


def with_search_words(app, name: str, source: list[str]) -> None:
    """Put the words that readers search for before their headings, as entries of the index."""
    for heading, words in SEARCH_WORDS.get(name, {}).items():
        line = re.search(rf"^#+ {re.escape(heading)}$", source[0], re.MULTILINE)
        if line is None:
            raise ValueError(f"docs/conf.py: {name} has no heading '{heading}'")
        entries = ", ".join(f"! {word}" for word in words)
        index = f"\n\n```{{index}} {entries}\n```"
        source[0] = source[0][: line.end()] + index + source[0][line.end() :]


def without_signature_of_settings(app, what, name, obj, options, signature, returns):
    """Leave out the signatures of settings classes: the configuration reference has their keys."""
    if what == "class" and hasattr(obj, "model_fields"):
        return "", None
    return None


def with_task_pages(app, name: str, source: list[str]) -> None:
    """Link to the pages that evaluate predictions, which `write_beside` writes."""
    if name == "evaluate":
        links = ", ".join(f'<a href="tasks/{task}.html">{task}</a>' for task in TASKS)
        section = "## Accepted formats"
        linked = f"```{{raw}} html\n<p>Pages of this site: {links}.</p>\n```\n\n{section}"
        source[0] = source[0].replace(section, linked)


def write_beside(app, exception) -> None:
    """Write tutorials as notebooks, without outputs, pages of tasks, and llms.txt (llmstxt.org)."""
    if exception is not None or app.builder.name != "html":
        return
    text = f"# {project}\n\n> Data for operator learning, comparisons of neural operators\n\n## Pages\n\n"
    for name, title in sorted(app.env.titles.items()):
        paragraphs = app.env.get_doctree(name).findall(nodes.paragraph)
        words = next(one.astext() for one in paragraphs if isinstance(one.parent, nodes.section))
        text += f"- [{title.astext()}]({name}.html): {' '.join(words.split())}\n"
    Path(app.outdir, "llms.txt").write_text(text, encoding="utf-8")
    for name in NOTEBOOKS:
        notebook = jupytext.read(ROOT / f"docs/tutorials/{name}.md")
        jupytext.write(notebook, Path(app.outdir, f"tutorials/{name}.ipynb"), fmt="ipynb")
    write_task_pages(Path(app.outdir, "tasks"), TASKS)


def setup(app) -> None:
    """Register what is above."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(as_mathml, None), block_renderers=(as_mathml, None)
    )
    app.connect("source-read", with_changes)
    app.connect("source-read", with_search_words)
    app.connect("source-read", with_task_pages)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", without_signature_of_settings)
    app.connect("build-finished", write_beside)
