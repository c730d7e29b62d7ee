"""What README.md and the documentation show is what happens.

- ``bash`` blocks are run, except the set-up commands (marked ``<!-- setup: ... -->``), which make
  environments of their own and are run where a machine is set up.
- ``console`` blocks hold commands after ``$ `` and what they print.
- A block below ``<!-- output: COMMAND -->`` is what the command prints.
- Python examples are doctests. What stands below ``<!-- needs: PACKAGE -->`` is left out where that
  package is missing.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from semmetrics.metrics.registry import all_definitions, forget

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
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


@dataclass(frozen=True)
class Shown:
    """A command and what the page says that it prints; None where the page does not say."""

    command: str
    output: str | None = None


def shown(page: Path) -> list[Shown]:
    """Find the commands of a page in their order."""
    found = []
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        mark, text = block["mark"], block["text"]
        if mark == "setup":
            continue
        if mark == "output":
            found.append(Shown(block["argument"], text))
        elif block["language"] == "bash":
            found.append(Shown(text))
        elif block["language"] == "console":
            found += [
                Shown(*part.split("\n", 1)) for part in re.split(r"^\$ ", text, flags=re.M)[1:]
            ]
    return found


COMMANDS = [
    pytest.param(item, id=f"{page.relative_to(ROOT)}:{number}")
    for page in PAGES
    for number, item in enumerate(shown(page), 1)
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the examples, where the commands may write."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment in which ``semmetrics`` and ``python`` are those under test."""
    folder = tmp_path_factory.mktemp("bin")
    program = "import sys; sys.argv[0] = 'semmetrics'; from semmetrics.cli import main; main()"
    for name, arguments in (("semmetrics", f' -c "{program}"'), ("python", ""), ("python3", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        script.chmod(0o755)
    paths = {
        "PATH": os.pathsep.join([str(folder), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "COLUMNS": "100",
    }
    return os.environ | paths


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.parametrize("item", COMMANDS)
def test_commands_do_what_the_page_says(item, place, environment):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", item.command],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{item.command}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    if item.output is not None:
        assert trimmed(done.stdout) == trimmed(item.output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    text = BLOCK.sub(_without_what_is_missing, page.read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def _without_what_is_missing(block):
    missing = block["mark"] == "needs" and find_spec(block["argument"]) is None
    return "\n" * block[0].count("\n") if missing else block[0]


def test_the_readme_has_both_commands_for_a_fresh_machine():
    blocks = BLOCK.finditer((ROOT / "README.md").read_text(encoding="utf-8"))
    marks = [block["argument"] for block in blocks if block["mark"] == "setup"]
    assert marks == ["main", "tests"]
