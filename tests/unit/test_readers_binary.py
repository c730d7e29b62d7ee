"""Parquet and NumPy files."""

import gzip
import io
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import codes, read, refused_in
from scipy import sparse

from semmetrics import ReadOptions, as_labels
from semmetrics.data.inputs import as_data
from semmetrics.data.matrix import Matrix
from semmetrics.data.numpy_files import parse_npy
from semmetrics.errors import InputError
from semmetrics.kinds.labels.reading import FORM
from semmetrics.messages import pluralize


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
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header


@pytest.fixture
def saved(tmp_path):
    def writer(data, name):
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        return path

    return writer


@pytest.fixture
def load(saved):
    """A matrix, which is one of labels, too."""

    def reader(data, name, **options):
        path = saved(data, name)
        read(path, ReadOptions(**options))
        return as_data(path, FORM, options=ReadOptions(**options))

    return reader


@pytest.fixture
def table(saved):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def reader(columns, name="gt.parquet", cut=None, **options):
        stream = io.BytesIO()
        parquet.write_table(arrow.table(columns), stream)
        return read(saved(stream.getvalue()[:cut], name), ReadOptions(**options))

    return reader


@pytest.mark.parametrize("name", ["gt.parquet", "gt.pq", "gt.parquet.gz"])
def test_parquet_one_row_a_label(table, name):
    raw = table(
        {"id": [1, 2, 1], "label": ["x", "y", "z"], "prob": [0.5, 1, 0], "u": [0] * 3}, name
    )
    assert raw.ids == ["1", "2"]
    assert raw.items == [[("x", 0.5), ("z", 0.0)], [("y", 1.0)]]
    assert raw.where(1).endswith(f"{name}, row 1 (from 0), id '2'")
    assert raw.understood.startswith("Parquet, one row a label")
    assert codes(raw) == [("scattered-rows", 1), ("unused-columns", 1, "u")]


def test_parquet_dictionary_columns_and_empty_sets(table):
    arrow = pytest.importorskip("pyarrow")
    coded = arrow.array(["x", "y", None]).dictionary_encode()
    raw = table({"id": arrow.array(["a", "a", "b"]).dictionary_encode(), "label": coded})
    assert raw.items == [["x", "y"], []]


def test_parquet_lists(table):
    raw = table({"image_id": ["a", "b"], "labels": [["x", "y"], []]})
    assert raw.items == [["x", "y"], []]
    assert raw.where(1).endswith("row 1 (from 0), id 'b'")
    raw = table({"id": ["a"], "labels": [["x", "y"]], "scores": [[0.5, 1.0]]})
    assert raw.items == [[("x", 0.5), ("y", 1.0)]]
    structs = [{"label": "x", "score": 0.5}]
    assert table({"id": ["a"], "labels": [structs]}).items == [[("x", 0.5)]]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"id": [1.0], "label": ["x"]}, ("wrong-column-type", "gt.parquet, column 'id'")),
        ({"id": ["a"], "label": [1]}, ("wrong-column-type", "gt.parquet, column 'label'")),
        (
            {"id": ["a"], "label": ["x"], "score": ["1"]},
            ("wrong-column-type", "gt.parquet, column 'score'"),
        ),
        (
            {"id": ["a"], "label": [["x"]], "score": [1.0]},
            ("wrong-column-type", "gt.parquet, column 'score'"),
        ),
        ({"id": ["a", None], "label": ["x", "y"]}, ("wrong-id", "gt.parquet, row 1 (from 0)")),
        ({"id": ["a", ""], "label": ["x", "y"]}, ("empty-id", "gt.parquet, row 1 (from 0)")),
        (
            {"id": ["a", "a"], "label": ["x", None]},
            ("empty-cell", "gt.parquet, row 1 (from 0), id 'a'"),
        ),
        (
            {"id": ["a"], "label": ["x"], "score": [float("nan")]},
            ("not-finite", "gt.parquet, row 0 (from 0), id 'a'"),
        ),
        (
            {"id": ["a", "b"], "label": ["x"] * 2, "score": [1.0, None]},
            ("not-finite", "gt.parquet, row 1 (from 0), id 'b'"),
        ),
        (
            {"id": ["a", "a"], "labels": [["x"], []]},
            ("duplicate-at", "gt.parquet, row 1 (from 0), id 'a'"),
        ),
        (
            {"id": ["a", "b"], "labels": [["x"], None]},
            ("null", "gt.parquet, row 1 (from 0), id 'b'"),
        ),
        (
            {"id": ["a"], "labels": [["x"]], "scores": [[]]},
            ("wrong-count", "gt.parquet, row 0 (from 0), id 'a'"),
        ),
        ({"id": ["a"], "img": ["b"], "label": ["x"]}, ("ambiguous-column", "gt.parquet")),
        ({"x": ["a"]}, ("missing-column", "gt.parquet")),
        ({"id": ["a"][:0], "label": ["x"][:0]}, ("wrong-column-type", "gt.parquet, column 'id'")),
    ],
)
def test_bad_parquet(table, columns, match):
    with refused_in(*match):
        table(columns)


def test_damaged_and_large_parquet(table):
    with refused_in("damaged", "gt.parquet"):
        table({"id": ["a"], "label": ["x"]}, cut=-9)
    with refused_in("too-large", "gt.parquet"):
        table({"id": ["a"] * 10**5, "label": ["x"] * 10**5}, max_bytes=9000)


ARRAYS = [
    np.eye(3),
    np.eye(3, 4, dtype=">f4"),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array([[True, False]]),
    np.eye(2, dtype=np.uint8),
    np.eye(2, dtype=np.float16),
    np.zeros((2, 0)),
]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("name", ["y.npy", "y.npy.gz", "y.npz"])
def test_matrices_are_those_that_numpy_reads(load, array, name):
    raw = load(npz(values=array) if name == "y.npz" else npy(array), name)
    assert isinstance(raw, Matrix)
    np.testing.assert_array_equal(raw.values, array)
    assert raw.values.dtype == array.dtype.newbyteorder("=")
    assert raw.vocabulary == [*map(str, range(array.shape[1]))]
    items, classes = pluralize(len(array), "item"), pluralize(array.shape[1], "class")
    assert raw.understood.startswith(f"NumPy matrix, {items} x {classes}")


def test_text_and_odd_shapes_are_those_that_numpy_reads():
    for array in (
        np.array(["a", "bé"]),
        np.array(b"csr"),
        np.float64(3),
        np.zeros((2, 3, 4), "i2"),
    ):
        result = parse_npy(npy(array), "x.npy")
        np.testing.assert_array_equal(result, array)
        assert result.shape == np.shape(array)


@pytest.mark.parametrize("key", ["values", "scores", "labels", "y", "anything"])
def test_npz_with_classes_and_ids(load, key):
    data = npz(**{key: np.eye(2), "classes": np.array(["cat", "dog"]), "ids": np.array([7, 8])})
    raw = load(data, "y.npz")
    assert raw.vocabulary == ["cat", "dog"]
    assert raw.ids == ["7", "8"]
    assert raw.notes == []


def test_npz_other_arrays_are_noted(load):
    assert load(npz(y=np.eye(2), loss=np.ones(3)), "y.npz").notes == ["arrays not used: 'loss'"]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse(load, form, kind):
    dense = np.array([[0, 0.5, 0], [0, 0, 0], [0.25, 0, 1]])
    raw = load(save_sparse(kind(dense).asformat(form)), "y.npz", classes=["a", "b", "c"])
    assert raw.values.format == "csr"
    np.testing.assert_array_equal(raw.values.toarray(), dense)
    assert raw.understood.startswith("sparse matrix, 3 items x 3 classes")
    assert raw.vocabulary == ["a", "b", "c"]


NAN = np.array([[0.0, 1.0], [0.5, np.nan]])


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (npy(np.zeros(3)), r"y\.npy: its shape is \(3,\), not that of rows and columns"),
        (npy(np.zeros((2, 2, 2))), "not that of rows and columns"),
        (npy(NAN), r"y\.npy, row 1, column 1 \(from 0\): nan is no finite number"),
        (npy(np.array([[np.inf]])), "inf is no finite number"),
        (npy(np.array([[0, 1, 2]])), r"row 0, column 2 \(from 0\): 2 is an integer, but neither"),
        (npy(np.array([["a"]])), "it holds <U1; save numbers"),
        (npy(np.array([[1j]])), "the type '<c16' is not read"),
        (npy(np.zeros(2, "f4,i4")), "an array of records is not read"),
        (npy(np.array([[None]], object)), r"Python objects \(a pickle\)"),
        (npy(np.eye(3))[:-1], r"\(3, 3\) of float64 needs 72 bytes, 71 are there; it is cut off"),
        (npy(np.eye(3)) + b"0", "needs 72 bytes, 73 are there"),
        (npy(np.eye(3))[:40], "header is damaged or cut off"),
        (npy(np.eye(3)).replace(b"(3, 3)", b"(9" + b"9" * 30 + b",)"), "needs"),
        (with_shape("0, " * 99), "its shape is wrong"),
        (npy(np.array([[True]]))[:-1] + b"\7", "a boolean is neither 0 nor 1"),
        (b"\x80\x04N.", "it is a pickle, and pickles are never loaded; write it with numpy.save"),
        (b"hello", "it is no NumPy file"),
        (npy(np.zeros((0, 2))), "there are no items"),
    ],
)
def test_bad_npy(load, data, match):
    with pytest.raises(InputError, match=match):
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
    return npz(**{key: one for key, one in {**given, **change}.items() if one is not None})


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (npz(a=np.eye(2), b=np.eye(2)), r"y\.npz: 2 arrays could be the values: 'a', 'b'; save"),
        (npz(y=np.eye(2), labels=np.eye(2)), "2 arrays could be the values"),
        (npz(classes=np.array(["a"])), "0 arrays could be the values"),
        (npz(y=np.eye(2), ids=np.array(["a", "a"])), "'ids', row 1 .*the id 'a' is also in row 0"),
        (npz(y=np.eye(2), ids=np.array(["a", ""])), r"row 1 \(from 0\): the id is empty"),
        (npz(y=np.eye(2), ids=np.array(["a"])), "1 id for 2 rows; save one id a row"),
        (npz(y=np.eye(2), ids=np.array([0.5, 1])), "it is float64 of shape"),
        (npz(y=np.eye(2), classes=np.array(["a"])), "1 class for 2 columns"),
        (npz(y=np.eye(2), classes=np.array(["a", "a"])), "'a' also appears at class 0"),
        (npz(y=np.eye(2), classes=np.array([1, 2])), "1 is an int, not the name"),
        (npz(y=np.eye(2), classes=np.array(["a", "\ud800"])), "its text is damaged"),
        (npz(y=np.array([[None]], object)), "array 'y': an array of Python objects"),
        (npz(y=np.eye(2))[:-30], "no NumPy file|damaged"),
        (twice(), "a cell stands twice"),
        (parts(indices=np.array([0, 9])), "the sparse matrix is damaged"),
        (parts(indptr=np.array([0, 1])), "the sparse matrix is damaged"),
        (parts(indices=np.array([0.0, 1])), "parts of a wrong type or shape"),
        (parts(shape=np.array([2])), "parts of a wrong type or shape"),
        (parts(shape=np.array([10**18, 2])), "the sparse matrix is damaged: shape"),
        (parts(shape=np.array([-1, 2])), "the sparse matrix is damaged: shape"),
        (parts(format=np.array(b"bsr")), "format 'bsr' lacks parts or is not read; write it"),
        (parts(indices=None), "lacks parts"),
        (parts(data=np.array([1.0, np.nan])), r"y\.npz, row 1, column 1 \(from 0\): nan is no fin"),
        (parts(data=np.array([1, 3])), "3 is an integer, but neither 0 nor 1"),
    ],
)
def test_bad_npz(load, data, match):
    with pytest.raises(InputError, match=match):
        load(data, "y.npz")


def test_bad_archives(load):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("y.npy", npy(np.eye(2)))
    with pytest.raises(InputError, match=r"y\.npz: it is damaged.*numpy\.savez"):
        load(stream.getvalue(), "y.npz")
    damaged = bytearray(npz(y=np.random.default_rng(0).random((9, 9))))
    damaged[200] ^= 255
    with pytest.raises(InputError, match=r"y\.npz: it is damaged"):
        load(bytes(damaged), "y.npz")
    with pytest.raises(InputError, match=r"more than 50000 bytes"):
        load(npz(y=np.zeros((1000, 1000))), "y.npz", max_bytes=50_000)


def test_classes_by_option(load):
    assert load(npy(np.eye(2)), "y.npy", classes=["a", "b"]).vocabulary == ["a", "b"]
    with pytest.raises(InputError, match=r"y\.npy: 3 classes for 2 columns; give one class a co"):
        load(npy(np.eye(2)), "y.npy", classes=["a", "b", "c"])
    data = npz(y=np.eye(2), classes=np.array(["a", "b"]))
    assert load(data, "y.npz", classes=["a", "b"]).vocabulary == ["a", "b"]
    with pytest.raises(InputError, match="the classes differ from those given; leave out one"):
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
    with refused_in("damaged"):
        as_labels(path)


def test_offsets_beyond_the_text(tmp_path):
    offsets = pa.py_buffer(np.array([0, 2**30, 2], np.int32).tobytes())
    broken = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"ab"))
    table = pa.table({"id": broken, "label": ["a", "b"]})
    path = str(tmp_path / "broken.arrow")
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with refused_in("damaged", "broken.arrow"):
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
        [sys.executable, "-c", FLIPPED, str(path)], capture_output=True, text=True, check=True
    )
    assert 100 < int(done.stdout) < 560
