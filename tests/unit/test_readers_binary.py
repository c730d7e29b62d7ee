"""Parquet and NumPy files."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import read, saved
from refusals import refused
from scipy import sparse

from semmetrics import ReadOptions, as_labels
from semmetrics.data.inputs import as_data
from semmetrics.kinds.labels import FORM


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def save_sparse(matrix):
    stream = io.BytesIO()
    sparse.save_npz(stream, matrix)
    return stream.getvalue()


def with_shape(shape):
    header = (
        f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    )
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header


@pytest.fixture
def load(tmp_path):
    """A matrix, which is one of labels, too."""

    def reader(data, name, **options):
        path = saved(tmp_path, name, data)
        read(path, ReadOptions(**options))
        return as_data(path, FORM, options=ReadOptions(**options))

    return reader


@pytest.fixture
def table(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def reader(columns, name="gt.parquet", cut=None, **options):
        stream = io.BytesIO()
        parquet.write_table(arrow.table(columns), stream)
        return read(
            saved(tmp_path, name, stream.getvalue()[:cut]), ReadOptions(**options)
        )

    return reader


@pytest.mark.parametrize("name", ["gt.parquet", "gt.pq", "gt.parquet.gz"])
def test_parquet_one_row_a_label(table, name):
    raw = table(
        {"id": [1, 2, 1], "label": ["x", "y", "z"], "prob": [0.5, 1, 0], "u": [0] * 3},
        name,
    )
    assert raw.ids == ["1", "2"]
    assert raw.items == [[("x", 0.5), ("z", 0.0)], [("y", 1.0)]]
    assert raw.where(1).endswith(f"{name}, row 1 (from 0), id '2'")
    assert raw.understood.startswith("Parquet, one row a label")
    assert [note.code for note in raw.notes] == ["scattered-rows", "unused-columns"]


def test_parquet_dictionary_columns_and_empty_sets(table):
    arrow = pytest.importorskip("pyarrow")
    coded = arrow.array(["x", "y", None]).dictionary_encode()
    raw = table(
        {"id": arrow.array(["a", "a", "b"]).dictionary_encode(), "label": coded}
    )
    assert raw.items == [["x", "y"], []]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"id": ["a"], "label": ["x"], "score": ["1"]}, "wrong-column-type"),
        ({"id": ["a"], "label": [["x"]], "score": [1.0]}, "wrong-column-type"),
        ({"id": ["a", ""], "label": ["x", "y"]}, "empty-id"),
        ({"id": ["a", "a"], "label": ["x", None]}, "empty-cell"),
        ({"id": ["a", "b"], "label": ["x"] * 2, "score": [1.0, None]}, "not-a-number"),
        ({"id": ["a", "b"], "labels": [["x"], None]}, "wrong-type"),
        ({"id": ["a"], "labels": [["x"]], "scores": [[]]}, "wrong-count"),
        ({"id": ["a"], "img": ["b"], "label": ["x"]}, "ambiguous-column"),
        ({"id": ["a"][:0], "label": ["x"][:0]}, "wrong-column-type"),
    ],
)
def test_bad_parquet(table, columns, match):
    with refused(match):
        table(columns)


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        (npy(np.zeros((2, 2, 2))), "wrong-shape", ""),
        (npy(np.eye(3)).replace(b"(3, 3)", b"(9" + b"9" * 30 + b",)"), "damaged", ""),
        (with_shape("0, " * 99), "damaged", ""),
        (npy(np.array([[True]]))[:-1] + b"\7", "damaged", ""),
        (b"\x80\x04N.", "not-numpy", ""),
    ],
)
def test_bad_npy(load, data, code, where):
    with refused(code, place=where):
        load(data, "y.npy")


def twice():
    matrix = sparse.coo_array((np.ones(2), ([0, 0], [1, 1])), (2, 2))
    return save_sparse(matrix)


def parts(**change):
    matrix = sparse.csr_array(np.eye(2))
    given = {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "shape": np.array(matrix.shape),
        "format": np.array(b"csr"),
    }
    return npz(
        **{key: one for key, one in {**given, **change}.items() if one is not None}
    )


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        (npz(classes=np.array(["a"])), "no-main-array", ""),
        (
            npz(y=np.eye(2), ids=np.array(["a", "a"])),
            "duplicate-id",
            "array 'ids', row 1 (from 0)",
        ),
        (
            npz(y=np.eye(2), ids=np.array(["a", ""])),
            "empty-id",
            "array 'ids', row 1 (from 0)",
        ),
        (npz(y=np.eye(2), ids=np.array(["a"])), "wrong-count", "array 'ids'"),
        (
            npz(y=np.eye(2), classes=np.array(["a", "a"])),
            None,
            "array 'classes', class 1 (from 0)",
        ),
        (
            npz(y=np.eye(2), classes=np.array([1, 2])),
            None,
            "array 'classes', class 0 (from 0)",
        ),
        (
            npz(y=np.eye(2), classes=np.array(["a", "\ud800"])),
            "damaged",
            "array 'classes'",
        ),
        (twice(), "damaged", ""),
        (parts(indices=np.array([0, 9])), "damaged", ""),
        (parts(indptr=np.array([0, 1])), "damaged", ""),
        (parts(indices=np.array([0.0, 1])), "damaged", ""),
        (parts(shape=np.array([2])), "damaged", ""),
        (parts(shape=np.array([10**18, 2])), "damaged", ""),
        (parts(shape=np.array([-1, 2])), "damaged", ""),
        (parts(format=np.array(b"bsr")), "not-sparse", ""),
        (parts(indices=None), "not-sparse", ""),
        (parts(data=np.array([1.0, np.nan])), None, "row 1, column 1 (from 0)"),
        (parts(data=np.array([1, 3])), None, "row 1, column 1 (from 0)"),
    ],
)
def test_bad_npz(load, data, code, where):
    with refused(code, place=where):
        load(data, "y.npz")


def test_bad_archives(load):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("y.npy", npy(np.eye(2)))
    with refused("damaged", place="entry 'y.npy'"):
        load(stream.getvalue(), "y.npz")
    damaged = bytearray(npz(y=np.random.default_rng(0).random((9, 9))))
    damaged[200] ^= 255
    with refused("damaged", place="entry 'y.npy'"):
        load(bytes(damaged), "y.npz")
    with refused("too-large"):
        load(npz(y=np.zeros((1000, 1000))), "y.npz", max_bytes=50_000)


def test_classes_by_option(load):
    assert load(npy(np.eye(2)), "y.npy", classes=["a", "b"]).vocabulary == ["a", "b"]
    with refused("wrong-count"):
        load(npy(np.eye(2)), "y.npy", classes=["a", "b", "c"])
    data = npz(y=np.eye(2), classes=np.array(["a", "b"]))
    assert load(data, "y.npz", classes=["a", "b"]).vocabulary == ["a", "b"]
    with refused("other-classes", place="array 'classes'"):
        load(data, "y.npz", classes=["b", "a"])


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("column", ["id", "label"])
def test_text_that_is_no_text(tmp_path, suffix, column):
    bad = pa.array([b"\xff\xfe", b"b"]).view(pa.string())
    table = pa.table({"id": ["1", "2"], "label": ["a", "b"], column: bad})
    path = str(tmp_path / f"bad.{suffix}")
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    with refused("damaged"):
        as_labels(path)


FLIPPED = """
import sys
from semmetrics import InputError, as_labels

path, data = sys.argv[1], open(sys.argv[1], "rb").read()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
refused = 0
for bit in range(8 * footer, 8 * (footer + 70)):
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    open(path, "wb").write(damaged)
    try:
        as_labels(path)
    except InputError:
        refused += 1
print(refused)
"""


def test_no_damage_of_a_schema_ends_the_process(tmp_path):
    # pyarrow calls abort() where some damaged metadata are looked at before they are read.
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "labels": [["x", "y"], []]}), path)
    done = subprocess.run(
        [sys.executable, "-c", FLIPPED, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 100 < int(done.stdout) < 560


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse(load, form, kind):
    dense = np.array([[0, 0.5, 0], [0, 0, 0], [0.25, 0, 1]])
    raw = load(
        save_sparse(kind(dense).asformat(form)), "y.npz", classes=["a", "b", "c"]
    )
    assert raw.values.format == "csr"
    np.testing.assert_array_equal(raw.values.toarray(), dense)
    assert raw.understood.startswith("sparse matrix, 3 items x 3 classes")
    assert raw.vocabulary == ["a", "b", "c"]
