"""``import semmetrics`` loads no heavy package, and no modules import each other in a cycle."""

import ast
import json
import os
import subprocess
import sys
from graphlib import TopologicalSorter
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
    "nltk",
    "pycocoevalcap",
}


def modules_after(statement):
    """Return the names of all modules that a new process has loaded after a statement."""
    code = f"import json, sys\n{statement}\nprint(json.dumps(list(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(result.stdout))


def modules_after_command(*arguments):
    return modules_after(
        "import contextlib, io; from semmetrics.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):"
        f" main({list(arguments)})\n"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "import semmetrics",
        "import semmetrics.metrics.cider",
        "from semmetrics.text import open_tokenizer; open_tokenizer('ptb')",
        "from semmetrics.embed.static import StaticEmbedder; StaticEmbedder().embed(['a cat'])",
    ],
)
def test_no_heavy_package_is_loaded(statement):
    assert modules_after(statement) & HEAVY == set()


def test_small_files_are_read_without_pyarrow(tmp_path):
    path = tmp_path / "gt.jsonl"
    path.write_text('{"id": 1, "labels": ["cat"]}\n')

    modules = modules_after(f"import semmetrics; semmetrics.as_labels({str(path)!r})")

    assert "pyarrow" not in modules


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--version"], "semmetrics.cli.commands"),
        (["--help"], "semmetrics.scoring.score"),
        (["list"], "semmetrics.studies.agreement"),
        (["score", "--help"], "numpy"),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments, unneeded):
    modules = modules_after_command(*arguments)

    assert "semmetrics.cli.app" in modules
    assert unneeded not in modules


def test_scoring_files_loads_no_figures_tools_or_objects(tmp_path):
    path = tmp_path / "gt.json"
    path.write_text('{"a": ["cat"]}')

    modules = modules_after_command("score", "-m", "F1", str(path), str(path))

    assert "semmetrics.scoring.table" in modules
    assert "semmetrics.reports.figures" not in modules
    assert "semmetrics.cli.tools" not in modules
    assert "semmetrics.data.objects" not in modules


def import_graph(package):
    """Map each module to the modules that it imports, also lazily or for types only."""
    files = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        files[".".join(parts).removesuffix(".__init__")] = path
    graph = {}
    for module, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph[module] = imported_modules(tree, files) - {module}
    return graph


def imported_modules(tree, known):
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= submodules & set(known) or {node.module}
    return modules & set(known)


def test_no_modules_import_each_other_in_a_cycle():
    graph = import_graph(ROOT / "semmetrics")

    assert "semmetrics.errors" in graph["semmetrics.options.checks"]
    TopologicalSorter(graph).prepare()
