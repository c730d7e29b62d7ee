"""Errors about missing or broken packages name an extra or a command that pip can install."""

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from semmetrics.errors import MissingDependencyError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def extras_of_errors():
    """Return the values of all keywords ``extra=`` in the source."""
    extras = set()
    for path in (ROOT / "semmetrics").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.keyword) or node.arg != "extra":
                continue
            if isinstance(node.value, ast.Constant):
                extras.add(node.value.value)
    return extras


def test_errors_name_extras_that_exist_and_are_part_of_all():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    (requirement,) = extras["all"]
    in_all = requirement.removeprefix("semmetrics[").removesuffix("]").split(",")

    named = extras_of_errors()

    assert {"sbert", "word2vec", "wordnet"} <= named
    assert set(in_all) <= set(extras)
    assert named <= {*in_all, "all"}


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (
            ModuleNotFoundError("No module named 'nltk'", name="nltk"),
            "nltk. Run `pip install nltk` or ",
        ),
        (
            ModuleNotFoundError("No module named 'joblib'", name="joblib"),
            "nltk, which cannot be imported: No module named 'joblib'. Run "
            "`pip install --upgrade nltk numpy` to get compatible versions.",
        ),
        (
            ImportError("numpy.core.multiarray failed to import"),
            "nltk, which cannot be imported: numpy.core.multiarray failed to import. Run `pip",
        ),
    ],
)
def test_broken_packages_are_not_called_missing(cause, text):
    error = MissingDependencyError("nltk", "METEOR-nltk", extra="wordnet", error=cause)

    assert f"METEOR-nltk needs the package {text}" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("package", "arguments", "problem"),
    [
        ("pyarrow", ["a.csv"], "the package pyarrow cannot be imported"),
        (
            "h5py",
            ["--task", "retrieval", "a.h5"],
            "reading a.h5 needs the package h5py, which cannot be imported",
        ),
    ],
)
def test_the_command_line_explains_packages_that_do_not_fit(
    tmp_path, package, arguments, problem
):
    cause = f"{package} requires NumPy 2.0 or newer, found 1.26.4"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(f"raise ImportError({cause!r})")
    (tmp_path / "a.csv").write_text("id,label\n" + "a,b\n" * 600_000)
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")

    result = subprocess.run(
        [sys.executable, "-m", "semmetrics", "validate", *arguments],
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )

    assert result.returncode == 2
    remedy = f"Run `pip install --upgrade {package} numpy`"
    assert f"semmetrics: error: {problem}: {cause}. {remedy} " in result.stderr
