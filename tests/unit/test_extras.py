"""Every error about a missing package names an extra that pip can install."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
ERROR = "MissingDependencyError"
# what makes the error again in another process, with the extra that it had
COPIES = {("errors.py", "_rebuild_missing")}


def made(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Calls that make the error, each with the function that it stands in."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(ERROR):
                    yield function.name, node


def extras() -> dict[str, str]:
    """The extra that each place in the source names."""
    found = {}
    for path in sorted((ROOT / "semmetrics").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function, call in made(tree):
            if (path.name, function) in COPIES:
                continue
            (given,) = (word.value for word in call.keywords if word.arg == "extra")
            assert isinstance(given, ast.Constant), f"{path}, {function}: the extra is no constant"
            found[f"{path.relative_to(ROOT)}, {function}"] = given.value
    return found


@pytest.fixture(scope="module")
def offered():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["optional-dependencies"]


def test_the_extras_that_errors_name_exist(offered):
    named = extras()
    assert {"sbert", "word2vec", "wordnet"} <= set(named.values())  # it finds them
    assert {place: extra for place, extra in named.items() if extra not in offered} == {}


def test_all_has_every_extra_that_an_error_names(offered):
    (whole,) = offered["all"]
    held = whole.removeprefix("semmetrics[").removesuffix("]").split(",")
    assert set(held) <= set(offered)
    assert set(extras().values()) <= {*held, "all"}
