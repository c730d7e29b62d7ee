"""Each example runs as it is, without writing a file and without a warning."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
TABLE_2 = ROOT / "examples" / "kubany2020_table2"


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_examples_run_without_a_warning_or_a_file(script, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout
    assert list(tmp_path.iterdir()) == []


def read_labels(path):
    return json.loads(path.read_text(encoding="utf-8"))["1.jpg"]


def test_the_table_of_kubany2020_has_15_systems_and_25_labels():
    sizes = [len(read_labels(path)) for path in TABLE_2.glob("predictions/*.json")]

    assert len(sizes) == 15
    assert set(sizes) == {4, 5}
    assert len(set(read_labels(TABLE_2 / "ground_truth.json"))) == 25
