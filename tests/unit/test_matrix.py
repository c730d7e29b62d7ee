"""Matrices from NumPy files: dense .npy and .npz files, and sparse matrices of SciPy."""

import io
import zipfile

import numpy as np
import pytest
from public_formats import measure_values
from reading import saved
from refusals import refused
from scipy import sparse

import semmetrics
from semmetrics import ReadOptions
from semmetrics.data.inputs import as_data
from semmetrics.kinds.classes import as_classes
from semmetrics.kinds.labels import FORM


def npy(array):
    """Return the bytes of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays):
    """Return the bytes of an .npz file."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def sparse_npz(matrix):
    """Return the bytes of an .npz file that SciPy wrote."""
    stream = io.BytesIO()
    sparse.save_npz(stream, matrix)
    return stream.getvalue()


@pytest.fixture
def load(tmp_path):
    """Return a function that reads a matrix from the bytes of a file."""

    def read(data, name="y.npz", **options):
        path = saved(tmp_path, name, data)
        return as_data(path, FORM, options=ReadOptions(**options))

    return read


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (npy(np.zeros((2, 2, 2))), "wrong-shape"),
        (npy(np.eye(3)).replace(b"(3, 3)", b"(9" + b"9" * 30 + b",)"), "damaged"),
        (npy(np.array([[True]]))[:-1] + b"\7", "damaged"),
        (b"\x80\x04N.", "not-numpy"),
    ],
    ids=["three dimensions", "huge", "not a boolean", "pickle"],
)
def test_damaged_npy_files_are_an_error(load, data, code):
    with refused(code):
        load(data, "y.npy")


@pytest.mark.parametrize(
    ("arrays", "code", "place"),
    [
        ({}, "no-main-array", ""),
        ({"ids": ["a", "a"]}, "duplicate-id", "array 'ids', row 1 (from 0)"),
        ({"classes": ["a", "a"]}, "duplicate-at", "array 'classes', class 1 (from 0)"),
        ({"classes": [1, 2]}, "wrong-type", "array 'classes', class 0 (from 0)"),
        ({"classes": ["a", "\ud800"]}, "damaged", "array 'classes'"),
    ],
)
def test_wrong_ids_and_classes_of_npz_files_are_an_error(load, arrays, code, place):
    matrix = {"y": np.eye(2)} if arrays else {"classes": np.array(["a"])}

    with refused(code, place=place):
        load(npz(**matrix, **arrays))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_matrices_are_read(load, form):
    dense = np.array([[0, 0.5, 0], [0, 0, 0], [0.25, 0, 1]])
    matrix = sparse.csr_array(dense).asformat(form)

    scores = load(sparse_npz(matrix), classes=["a", "b", "c"])

    assert scores.values.format == "csr"
    np.testing.assert_array_equal(scores.values.toarray(), dense)
    assert scores.understood.startswith("sparse matrix, 3 items x 3 classes")
    assert scores.vocabulary == ["a", "b", "c"]


IDENTITY = {
    "data": [1.0, 1.0],
    "indices": [0, 1],
    "indptr": [0, 1, 2],
    "shape": [2, 2],
    "format": b"csr",
}


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"indices": [0, 9]}, "damaged", ""),
        ({"indices": [0, 0], "indptr": [0, 2, 2]}, "damaged", ""),
        ({"indices": [0.0, 1.0]}, "damaged", ""),
        ({"indptr": [0, 1]}, "damaged", ""),
        ({"shape": [10**18, 2]}, "damaged", ""),
        ({"format": b"bsr"}, "not-sparse", ""),
        ({"data": [1.0, np.nan]}, "not-finite", "row 1, column 1 (from 0)"),
    ],
)
def test_damaged_sparse_matrices_are_an_error(load, change, code, place):
    with refused(code, place=place):
        load(npz(**(IDENTITY | change)))


def test_a_sparse_matrix_without_one_of_its_arrays_is_an_error(load):
    arrays = {name: array for name, array in IDENTITY.items() if name != "indices"}

    with refused("not-sparse"):
        load(npz(**arrays))


def test_an_unusual_compression_is_an_error(load):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("y.npy", npy(np.eye(2)))

    with refused("damaged", place="entry 'y.npy'"):
        load(stream.getvalue())


def test_a_damaged_entry_is_an_error(load):
    data = bytearray(npz(y=np.random.default_rng(0).random((9, 9))))
    data[200] ^= 255

    with refused("damaged", place="entry 'y.npy'"):
        load(bytes(data))


def test_an_entry_that_unpacks_to_more_than_the_limit_is_an_error(load):
    with refused("too-large"):
        load(npz(y=np.zeros((1000, 1000))), max_bytes=50_000)


def test_the_class_list_must_equal_the_classes_of_the_file(load):
    data = npz(y=np.eye(2), classes=np.array(["a", "b"]))

    assert load(data, classes=["a", "b"]).vocabulary == ["a", "b"]
    with refused("other-classes", place="array 'classes'"):
        load(data, classes=["b", "a"])


@pytest.mark.parametrize(
    "vector", [np.array([0.0, 2.0, 1.0]), np.array([[0], [2], [1]])]
)
def test_a_vector_has_the_class_of_each_item(tmp_path, vector):
    path = saved(tmp_path, "classes.npy", npy(vector))
    scores = np.eye(3)[[0, 2, 0]]

    values = measure_values(scores, path, task="classes", measures="Accuracy")

    assert as_classes(path).to_list() == [["0"], ["2"], ["1"]]
    assert values["Accuracy"] == pytest.approx(2 / 3)


# Sparse scores of the kinds

NAMES = ["a", "b", "c", "d"]
QUERIES = {"queries": list("0123"), "gallery": NAMES}
MRR = {"task": "retrieval", "measures": "MRR"}


def sparse_integers(lowest):
    """Return a sparse matrix whose integers grow by column."""
    return sparse.csr_array(np.full((4, 4), lowest, np.int64) + np.arange(4))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"task": "labels", "measures": "mAP", "classes": NAMES}, "out-of-range"),
        ({"task": "classes", "measures": "Accuracy", "classes": NAMES}, "inexact"),
        (MRR | QUERIES, "inexact"),
    ],
)
def test_integers_above_the_exact_floats_are_an_error(options, code):
    truth = {"0": ["a"], "1": ["b"], "2": ["d"], "3": ["a"]}
    if options["task"] != "retrieval":
        truth = list(truth.values())

    with refused(code, value=2**53):
        semmetrics.score(sparse_integers(2**53), truth, **options)


def test_the_largest_exact_integers_are_scores():
    truth = {"0": ["a"], "1": ["b"], "2": ["d"], "3": ["a"]}

    values = measure_values(sparse_integers(2**53 - 4), truth, **MRR, **QUERIES)

    assert values == measure_values(sparse_integers(1), truth, **MRR, **QUERIES)


def test_a_matrix_without_scores_of_unseen_classes_is_an_error_for_stacking():
    matrix = sparse.csr_array([[0.5, 0.2, 0, 0.2], [0, 0.3, 0.9, 0], [0, 0, 0, 0]])
    options = {"seen": ["a", "b"], "unseen": ["c", "d"], "classes": NAMES}

    with refused("no-class-score"):
        semmetrics.score(
            matrix, ["a", "c", "d"], measures="AUSUC", task="classes", **options
        )
