"""What README.md and the documentation show is what happens.

- ``bash`` blocks are run, except the set-up commands (marked ``<!-- setup: ... -->``), which make
  environments of their own and are run where a machine is set up.
- ``console`` blocks hold commands after ``$ `` and what they print.
- A block below ``<!-- output: COMMAND -->`` is what the command prints.
- Python examples are doctests. What stands below ``<!-- needs: PACKAGE -->`` is left out where that
  package is missing.
"""

import doctest
import re
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    text = BLOCK.sub(_without_what_is_missing, page.read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def _without_what_is_missing(block):
    missing = block["mark"] == "needs" and find_spec(block["argument"]) is None
    return "\n" * block[0].count("\n") if missing else block[0]
