"""Embeddings of one's own: functions and matrices."""

import io

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.embedder import CallableEmbedder
from semmetrics.embed.open import open_embedding
from semmetrics.embed.word_files import read_matrix
from semmetrics.embed.words import MatrixEmbedder

TEXTS = ["cat", "traffic light"]
ROWS = np.array([[1, 2, 3], [4, 5, 6]], np.float64)


# ---- functions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda texts: None, "wrong-shape"),
        (lambda texts: ["x"] * len(texts), "wrong-type"),
        (lambda texts: [1.0] * len(texts), "wrong-shape"),
        (lambda texts: [[1.0]], "wrong-shape"),
        (lambda texts: [[1.0], [np.nan], [1.0]], "vector-not-finite"),
        (lambda texts: [[]] * len(texts), "wrong-shape"),
    ],
)
def test_what_a_function_returns_is_checked(function, says):
    with refused(says):
        CallableEmbedder(function).embed(["cat", "dog", "cow"])


def test_the_dimension_may_not_change():
    model = CallableEmbedder(lambda texts: np.ones((len(texts), len(texts))), name="f")
    assert model.embed(["cat", "dog", "cow"]).vectors.shape == (3, 3)
    with refused("wrong-shape"):
        model.embed(["cat", "dog"])


# ---- matrices -----------------------------------------------------------------------------------


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.fixture
def matrix(tmp_path):
    def write(kind):
        path = tmp_path / f"labels.{kind}"
        if kind == "npy":
            np.save(path, ROWS)
            path.with_suffix(".txt").write_text("\n".join(TEXTS) + "\n")
        elif kind == "npz":
            path.write_bytes(npz(vectors=ROWS, words=np.array(TEXTS)))
        else:
            arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
            columns = (
                {"text": TEXTS, "vector": ROWS.tolist()}
                if kind == "parquet"
                else {"text": TEXTS, "x": ROWS[:, 0], "y": ROWS[:, 1], "z": ROWS[:, 2]}
            )
            path = path.with_suffix(".parquet")
            pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), path)
        return path

    return write


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "wide parquet"])
def test_matrices_are_read(matrix, kind):
    path = matrix(kind)
    for spec in (str(path), f"matrix:{path}", path):
        model = open_embedding(spec)
        np.testing.assert_array_equal(model.embed(["traffic light", "cow"]).vectors[0], ROWS[1])
        assert model.find(["cow"]).tolist() == [-1]
        assert model.lookup == "exact"
    assert open_embedding(path).identity == MatrixEmbedder(ROWS, TEXTS, name="labels").identity


def test_texts_can_be_given(tmp_path):
    np.save(tmp_path / "v.npy", ROWS)
    (tmp_path / "names.json").write_text('["a", "b"]')
    assert read_matrix(tmp_path / "v.npy", tmp_path / "names.json").find(["b"]).tolist() == [1]
    assert read_matrix(tmp_path / "v.npy", ["b", "a"]).find(["b"]).tolist() == [0]


@pytest.mark.parametrize(
    ("rows", "texts", "says"),
    [
        (ROWS, ["cat"], "wrong-shape"),
        (ROWS, ["cat", "cat"], "duplicate"),
        (ROWS[0], TEXTS, "wrong-shape"),
        (np.zeros((0, 3)), [], "wrong-shape"),
        ([["x"], ["y"]], TEXTS, "wrong-type"),
        ([[1.0], [np.inf]], TEXTS, "vector-not-finite"),
    ],
)
def test_matrices_are_checked(rows, texts, says):
    with refused(says):
        MatrixEmbedder(rows, texts)


def test_parquet_is_checked(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")

    def check(columns, code, place=""):
        path = tmp_path / "x.parquet"
        parquet.write_table(arrow.table(columns), path)
        with refused(code, f"{path}{place}"):
            read_matrix(path)

    check({"a": TEXTS, "b": TEXTS, "v": ROWS.tolist()}, "wrong-columns")
    check({"a": TEXTS}, "wrong-columns")
    check({"a": TEXTS, "v": [[1.0], [1.0, 2.0]]}, "wrong-type", ", row 1 (from 0)")
    check({"a": TEXTS, "v": [[1.0], None]}, "wrong-type", ", row 1 (from 0)")
    check({"a": ["cat", None], "v": [[1.0], [2.0]]}, "null")
