"""``import semmetrics`` stays light: each heavy dependency is imported where it is used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "scipy",
    "torch",
    "gensim",
    "ot",
    "pandas",
    "click",
    "pyarrow",
    "sklearn",
    "transformers",
}
HEAVY |= {"nltk", "pycocoevalcap"}


def modules_after(statement: str) -> set[str]:
    """Return the names of all modules that a new process has loaded."""
    code = f"import json, sys\n{statement}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "statement",
    [
        "import semmetrics",
        "import semmetrics.metrics.cider",
        "from semmetrics.text import open_tokenizer; open_tokenizer('ptb')",
        "from semmetrics.embed.static import StaticEmbedder; StaticEmbedder().embed(['a cat'])",
    ],
)
def test_nothing_heavy_is_loaded(statement):
    assert modules_after(statement) & HEAVY == set()


def test_small_files_are_read_without_pyarrow(tmp_path):
    path = tmp_path / "gt.jsonl"
    path.write_text('{"id": 1, "labels": ["cat"]}\n')
    assert "pyarrow" not in modules_after(
        f"import semmetrics; semmetrics.as_labels({str(path)!r})"
    )


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (["--version"], "semmetrics.cli.commands"),
        (["--help"], "semmetrics.scoring.score"),
        (["list"], "semmetrics.studies.agreement"),
        (["score", "--help"], "numpy"),
    ],
)
def test_a_command_loads_only_what_it_needs(words, unneeded):
    modules = modules_after(
        "import contextlib, io; from semmetrics.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):"
        f" main({words})\n"
    )
    assert "semmetrics.cli.app" in modules
    assert unneeded not in modules


@pytest.mark.parametrize(
    "unneeded",
    ["semmetrics.reports.figures", "semmetrics.cli.tools", "semmetrics.data.objects"],
)
def test_scores_of_files_load_only_what_they_need(tmp_path, unneeded):
    path = tmp_path / "gt.json"
    path.write_text('{"a": ["cat"]}')
    words = ["score", "-m", "F1", str(path), str(path)]
    modules = modules_after(
        "import contextlib, io; from semmetrics.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):"
        f" main({words})\n"
    )
    assert "semmetrics.scoring.table" in modules
    assert unneeded not in modules
