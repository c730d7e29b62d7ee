"""Every example runs as it stands, without writing and without a warning."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
TABLE2 = ROOT / "examples" / "kubany2020_table2"


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout
    assert not list(tmp_path.iterdir())


def test_the_table_has_fifteen_systems_and_25_labels():
    assert len(EXAMPLES) >= 3
    systems = sorted((TABLE2 / "predictions").glob("*.json"))
    lists = [json.loads(path.read_text(encoding="utf-8"))["1.jpg"] for path in systems]
    truth = json.loads((TABLE2 / "ground_truth.json").read_text(encoding="utf-8"))
    assert len(systems) == 15
    assert sorted({len(labels) for labels in lists}) == [4, 5]
    assert len(truth["1.jpg"]) == len(set(truth["1.jpg"])) == 25
