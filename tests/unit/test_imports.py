"""No files import each other in a circle, lazy and type-only imports included."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import semmetrics

ROOT = Path(semmetrics.__file__).parent


def imported(path, names):
    """Yield the modules of the package that a file names in any import."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in below if name in names]
            yield from found or ([node.module] if node.module in names else [])


def graph_of(root):
    """Map each module of a package to those that it imports."""
    files = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        files[".".join(parts).removesuffix(".__init__")] = path
    return {name: set(imported(path, files)) - {name} for name, path in files.items()}


def test_no_files_import_each_other_in_a_circle():
    graph = graph_of(ROOT)
    assert "semmetrics.errors" in graph["semmetrics.options.checks"]
    TopologicalSorter(graph).prepare()
