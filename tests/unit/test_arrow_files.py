"""Parquet and Arrow files."""

import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import read, saved
from refusals import refused

from semmetrics import as_labels


@pytest.fixture
def load(tmp_path):
    """Return a function that reads labels from columns of a Parquet file."""

    def read_columns(columns, name="gt.parquet"):
        stream = io.BytesIO()
        pq.write_table(pa.table(columns), stream)
        return read(saved(tmp_path, name, stream.getvalue()))

    return read_columns


@pytest.mark.parametrize("name", ["gt.parquet", "gt.pq", "gt.parquet.gz"])
def test_a_row_has_a_label_and_its_score(load, name):
    scores = {"prob": [0.5, 1, 0], "u": [0] * 3}
    columns = {"id": [1, 2, 1], "label": ["x", "y", "z"], **scores}

    lists = load(columns, name)

    assert lists.ids == ["1", "2"]
    assert lists.items == [[("x", 0.5), ("z", 0.0)], [("y", 1.0)]]
    assert lists.where(1).endswith(f"{name}, row 1 (from 0), id '2'")
    assert lists.understood.startswith("Parquet, one row per label")
    assert [note.code for note in lists.notes] == ["scattered-rows", "unused-columns"]


def test_dictionary_columns_and_empty_cells_are_read(load):
    ids = pa.array(["a", "a", "b"]).dictionary_encode()
    labels = pa.array(["x", "y", None]).dictionary_encode()

    assert load({"id": ids, "label": labels}).items == [["x", "y"], []]


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"id": ["a"], "label": ["x"], "score": ["1"]}, "wrong-column-type"),
        ({"id": ["a", "b"], "label": ["x"] * 2, "score": [1.0, None]}, "not-a-number"),
        ({"id": ["a", "a"], "label": ["x", None]}, "empty-cell"),
        ({"id": ["a", "b"], "labels": [["x"], None]}, "wrong-type"),
        ({"id": ["a"], "labels": [["x"]], "scores": [[]]}, "wrong-count"),
        ({"id": pa.array([]), "label": pa.array([])}, "wrong-column-type"),
    ],
)
def test_wrong_columns_are_an_error(load, columns, code):
    with refused(code):
        load(columns)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("column", ["id", "label"])
def test_strings_that_are_not_utf8_are_an_error(tmp_path, suffix, column):
    invalid = pa.array([b"\xff\xfe", b"b"]).view(pa.string())
    table = pa.table({"id": ["1", "2"], "label": ["a", "b"], column: invalid})
    path = str(tmp_path / f"invalid.{suffix}")
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)

    with refused("damaged"):
        as_labels(path)


DAMAGE_EVERY_BIT = """
import sys
from semmetrics import InputError, as_labels

path, data = sys.argv[1], open(sys.argv[1], "rb").read()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
n_errors = 0
for bit in range(8 * footer, 8 * (footer + 70)):
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    open(path, "wb").write(damaged)
    try:
        as_labels(path)
    except InputError:
        n_errors += 1
print(n_errors)
"""


def test_a_damaged_schema_does_not_end_the_process(tmp_path):
    # pyarrow calls abort() if some damaged metadata are looked at before they are read.
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "labels": [["x", "y"], []]}), path)

    process = subprocess.run(
        [sys.executable, "-c", DAMAGE_EVERY_BIT, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert 100 < int(process.stdout) < 560
