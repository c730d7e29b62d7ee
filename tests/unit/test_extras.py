"""Every error about a missing package names an extra that pip can install."""

from __future__ import annotations

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


def extras() -> dict[str, str]:
    """The extra that each place in the source names."""
    found = {}
    for path in sorted((ROOT / "semmetrics").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for word in call.keywords if isinstance(call, ast.Call) else ():
                if word.arg == "extra" and isinstance(word.value, ast.Constant):
                    found[f"{path.relative_to(ROOT)}, {call.lineno}"] = word.value.value
    return found


@pytest.fixture(scope="module")
def offered():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["optional-dependencies"]


def test_the_extras_that_errors_name_exist(offered):
    named = extras()
    assert {"sbert", "word2vec", "wordnet"} <= set(named.values())  # it finds them
    assert {
        place: extra for place, extra in named.items() if extra not in offered
    } == {}
    (whole,) = offered["all"]
    held = whole.removeprefix("semmetrics[").removesuffix("]").split(",")
    assert set(held) <= set(offered)
    assert set(named.values()) <= {*held, "all"}


@pytest.mark.parametrize(
    ("cause", "said"),
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
def test_a_package_that_is_there_and_broken_is_not_called_missing(cause, said):
    error = MissingDependencyError("nltk", "METEOR-nltk", extra="wordnet", error=cause)
    assert f"METEOR-nltk needs the package {said}" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("pyarrow", "the package pyarrow cannot be imported"),
        ("h5py", "reading a.h5 needs the package h5py, which cannot be imported"),
    ],
)
def test_versions_that_do_not_fit_are_no_fault_of_the_program(tmp_path, package, line):
    """As pyarrow says beside an older numpy."""
    (tmp_path / package).mkdir()
    why = f"{package} requires NumPy 2.0 or newer, found 1.26.4"
    (tmp_path / package / "__init__.py").write_text(f"raise ImportError({why!r})")
    (tmp_path / "a.csv").write_text("id,label\n" + "a,b\n" * 600_000)
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    given = {"pyarrow": ["a.csv"], "h5py": ["--task", "retrieval", "a.h5"]}[package]
    done = subprocess.run(
        [sys.executable, "-m", "semmetrics", "validate", *given],
        cwd=tmp_path,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    remedy = f"Run `pip install --upgrade {package} numpy` to get compatible versions."
    assert f"semmetrics: error: {line}: {why}. {remedy}\n" in done.stderr
    assert done.returncode == 2
