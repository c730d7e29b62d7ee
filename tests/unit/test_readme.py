"""README.md and the documentation show what really happens.

- ``bash`` blocks are run, except set-up commands (marked ``<!-- setup: ... -->``), which create
  environments.
- ``console`` blocks contain commands after ``$ `` and their output.
- A block below ``<!-- output: COMMAND -->`` is the output of the command.
- Python examples are doctests. Blocks below ``<!-- needs: PACKAGE -->`` are left out if the package
  is missing, and the page then counts as skipped.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from semmetrics.metrics.registry import all_definitions, forget

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "generated"  # by a build of the documentation
PAGES = [ROOT / "README.md"]
for path in sorted((ROOT / "docs").rglob("*.md")):
    if GENERATED not in path.parents:
        PAGES.append(path)
NOTEBOOKS = sorted((ROOT / "examples").rglob("*.ipynb"))
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>\w+): (?P<argument>.*?) -->\n)?"
    r"^```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = (
    "import sys; sys.argv[0] = 'semmetrics'; from semmetrics.cli import main; main()"
)


def name_page(path):
    return str(path.relative_to(ROOT))


# ---- Python examples ----------------------------------------------------------------------------


@pytest.fixture
def own_measures():
    """Unregister the measures that a page registers."""
    before = set(all_definitions())
    yield
    for definition in set(all_definitions()) - before:
        forget(definition)


@pytest.mark.usefixtures("own_measures")
@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_python_examples_have_the_shown_results(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    text = page.read_text(encoding="utf-8")

    runnable = BLOCK.sub(blank_if_package_is_missing, text)
    examples = doctest.DocTestParser().get_doctest(
        runnable, {}, page.name, str(page), 0
    )

    assert doctest.DocTestRunner(optionflags=flags).run(examples).failed == 0
    if runnable != text:
        pytest.skip("some examples need packages that are not installed")


def needs_missing_package(block):
    return block["mark"] == "needs" and find_spec(block["argument"]) is None


def blank_if_package_is_missing(block):
    if needs_missing_package(block):
        return "\n" * block[0].count("\n")
    return block[0]


# ---- commands -----------------------------------------------------------------------------------


def commands_of(page):
    """Yield the commands of a page with their output, or None if the page shows no output."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["mark"] == "output":
            yield block["argument"], block["text"]
        elif block["mark"] == "setup" or needs_missing_package(block):
            continue
        elif block["language"] == "bash":
            yield block["text"], None
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                # A backslash continues a command on the next line.
                yield re.split(r"(?<!\\)\n", part, maxsplit=1)


@pytest.fixture
def shell(tmp_path):
    """Run a command in a folder with the examples. ``semmetrics`` and ``python`` run this code."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, arguments in (
        ("semmetrics", f'-c "{COMMAND}"'),
        ("python", ""),
        ("python3", ""),
    ):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        script.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
    }

    def run(command):
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


def lines_of(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_print_the_shown_output(page, shell):
    for command, output in commands_of(page):
        result = shell(command)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        if output is not None:
            assert lines_of(result.stdout) == lines_of(output), command


# ---- notebooks ----------------------------------------------------------------------------------


@pytest.fixture
def run_notebook(monkeypatch):
    """Run a notebook, and return the number of pictures of each cell by its source."""
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(notebook):
        nbclient.NotebookClient(notebook, timeout=120).execute()
        return {cell.source: count_pictures(cell) for cell in notebook.cells}

    return run


def count_pictures(cell):
    outputs = cell.get("outputs", ())
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_of_the_examples_run_and_show_their_figures(path, run_notebook):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs"

    pictures = run_notebook(notebook)

    n_plotting_cells = sum(".plot()" in source for source in pictures)
    assert sum(pictures.values()) == n_plotting_cells


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel
def test_a_notebook_shows_each_figure_once(run_notebook):
    nbformat = pytest.importorskip("nbformat")
    pictures = {
        "import semmetrics\nfrom semmetrics.plots import *\n"
        "table = semmetrics.score([['cat'], ['cow']], [['cat'], ['dog']], measures='F1')": 0,
        "ValuesDisplay.from_scores(table)": 1,
        "ValuesDisplay.from_scores(table).plot()": 1,
        "ValuesDisplay.from_scores(table).plot();": 1,
        "display = ItemsDisplay.from_scores(table).plot()": 1,
        "display": 1,
        "display.plot()": 1,
        "svg_text(ItemsDisplay.from_scores(table))[:4]": 0,
    }
    cells = [nbformat.v4.new_code_cell(source) for source in pictures]

    assert run_notebook(nbformat.v4.new_notebook(cells=cells)) == pictures
