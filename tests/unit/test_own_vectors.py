"""Embeddings of one's own: functions and matrices."""

import io

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.core.backend import to_numpy
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
            pytest.importorskip("pyarrow.parquet").write_table(
                arrow.table(columns), path
            )
        return path

    return write


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "wide parquet"])
def test_matrices_are_read(matrix, kind):
    path = matrix(kind)
    for spec in (str(path), f"matrix:{path}", path):
        model = open_embedding(spec)
        np.testing.assert_array_equal(
            model.embed(["traffic light", "cow"]).vectors[0], ROWS[1]
        )
        assert model.find(["cow"]).tolist() == [-1]
        assert model.lookup == "exact"
    assert (
        open_embedding(path).identity
        == MatrixEmbedder(ROWS, TEXTS, name="labels").identity
    )


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

    def check(columns, code):
        path = tmp_path / "x.parquet"
        parquet.write_table(arrow.table(columns), path)
        with refused(code, str(path)):
            read_matrix(path)

    check({"a": TEXTS, "b": TEXTS, "v": ROWS.tolist()}, "wrong-columns")
    check({"a": TEXTS}, "wrong-columns")
    check({"a": TEXTS, "v": [[1.0], [1.0, 2.0]]}, "wrong-type")
    check({"a": TEXTS, "v": [[1.0], None]}, "wrong-type")
    check({"a": TEXTS, "v": [[1.0], [None]]}, "vector-not-finite")
    check({"a": ["cat", None], "v": [[1.0], [2.0]]}, "null")


def test_a_function_is_asked_for_texts_of_the_data_alone(tmp_path):
    """A dictionary that has these dies of any other."""
    vectors = {"red cat": [1.0, 0.0], "dog": [0.0, 2.0]}  # labels and captions,
    joined = {
        "red_cat": [1.0, 0.0],
        "red_cat dog": [3.0, 4.0],
        "dog red cat": [3.0, 4.0],
    }
    asked = []

    def look_up(texts):
        asked.extend(texts)
        return [(vectors | joined)[text] for text in texts]

    def run(preds, gts, measures="SemF1 WMD MeanSim BagSim", **options):
        return semmetrics.score(
            preds, gts, measures=measures, embedding=look_up, **options
        )

    table = run({"1": ["red_cat"], "2": []}, {"1": ["dog"], "2": ["red_cat", "dog"]})
    assert [score.value for score in table.scores[1:3]] == [pytest.approx(5**0.5), 0]
    assert "|emb:look_up@unversioned|" in table.scores[0].signature
    for empty in ([[], []], [[], ["dog"]]), ([["dog"], []], [[], []]), ([[]], [[]]):
        assert len(run(*empty).scores) == 4
    for caption, refs in (("dog", ["dog", ""]), (" ", ["dog", "red cat"]), (" ", [""])):
        for measure in ("BagSim", "BagSim(references=mean)"):
            (score,) = run({"1": caption}, {"1": refs}, measure, task="captions")
            assert score.value == pytest.approx(float(caption == "dog"))
    assert set(asked) == vectors.keys() | joined.keys()
    look_up.version = "1"  # kept vectors need no call, not even for their dimension
    for _ in range(2):
        before = len(asked)
        found = run([["dog"]], [["red_cat"]], "WMD", cache=tmp_path / "kept.sqlite")
        assert found["WMD"].value == pytest.approx(5**0.5)
    assert len(asked) == before


def test_lazily_negated_tensors_are_read():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    vectors = torch.tensor([[0.9, 0.1], [0.2, 0.8]])
    lazy = torch.complex(torch.zeros(2, 2), -vectors).conj().imag
    assert lazy.is_neg()
    found = to_numpy(lazy)
    np.testing.assert_array_equal(found, vectors.numpy())
    sides = lazy, torch.tensor([[1, 0], [0, 1]])
    table = semmetrics.score(*sides, threshold=0.5, measures="F1", classes=["a", "b"])
    assert table["F1"].value == 1.0
    words = {"a": lazy[0], "b": lazy[1]}
    given = {"1": ["a"]}, {"1": ["b"]}
    score = semmetrics.score(*given, measures="MeanSim", embedding=words)
    plain = {"a": vectors[0].numpy(), "b": vectors[1].numpy()}
    assert (
        score[0].value
        == semmetrics.score(*given, measures="MeanSim", embedding=plain)[0].value
    )
