"""What README.md and the documentation show is what happens.

- ``bash`` blocks are run, except the set-up commands (marked ``<!-- setup: ... -->``), which make
  environments of their own and are run where a machine is set up.
- ``console`` blocks hold commands after ``$ `` and what they print.
- A block below ``<!-- output: COMMAND -->`` is what the command prints.
- Python examples are doctests. What stands below ``<!-- needs: PACKAGE -->`` is left out where that
  package is missing, and the rest then counts as skipped.
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
_MADE = ROOT / "docs" / "generated"  # by a build of the pages
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if _MADE not in p.parents),
]
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>\w+): (?P<argument>.*?) -->\n)?"
    r"^```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture(autouse=True)
def _measures_of_a_page_end_with_it():
    before = set(all_definitions())
    yield
    for definition in set(all_definitions()) - before:
        forget(definition)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    whole = page.read_text(encoding="utf-8")
    text = BLOCK.sub(_without_what_is_missing, whole)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0
    if text != whole:
        pytest.skip("some examples need packages that are not installed")


def _is_missing(block):
    return block["mark"] == "needs" and find_spec(block["argument"]) is None


def _without_what_is_missing(block):
    return "\n" * block[0].count("\n") if _is_missing(block) else block[0]


def shown(page):
    """Yield the commands of a page, each with what the page says that it prints, if it says so."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        mark, text = block["mark"], block["text"]
        if mark == "output":
            yield block["argument"], text
        elif block["language"] == "bash" and mark != "setup" and not _is_missing(block):
            yield text, None
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                # a command may have several lines
                yield re.split(r"(?<!\\)\n", part, maxsplit=1)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_says(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program = "import sys; sys.argv[0] = 'semmetrics'; from semmetrics.cli import main; main()"
    (tmp_path / "bin").mkdir()
    for name, arguments in (
        ("semmetrics", f' -c "{program}"'),
        ("python", ""),
        ("python3", ""),
    ):
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        script.chmod(0o755)
    paths = {
        "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
    }
    for command, output in shown(page):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=os.environ | paths,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if output is not None:
            lines = [
                [line.rstrip() for line in text.strip("\n").splitlines()]
                for text in (done.stdout, output)
            ]
            assert lines[0] == lines[1], command


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # they are of the kernel
@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").rglob("*.ipynb")), ids=lambda p: p.stem
)
def test_notebooks_run(path, monkeypatch):
    nbformat, nbclient = (
        pytest.importorskip("nbformat"),
        pytest.importorskip("nbclient"),
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(path, 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs"
    nbclient.NotebookClient(notebook, timeout=120).execute()
    assert sum(map(_pictures, notebook.cells)) == sum(
        ".plot()" in c.source for c in notebook.cells
    )


def _pictures(cell):
    """Return how many pictures a cell shows."""
    return sum(
        "image/png" in output.get("data", {}) for output in cell.get("outputs", ())
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # they are of the kernel
def test_a_notebook_shows_each_figure_once(monkeypatch):
    nbformat, nbclient = (
        pytest.importorskip("nbformat"),
        pytest.importorskip("nbclient"),
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    assert {cell.source: _pictures(cell) for cell in notebook.cells} == pictures
