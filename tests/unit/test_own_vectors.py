"""Embeddings of one's own: functions, matrices and mappings from word to vector."""

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


def score(
    embedding, measures="SemF1(threshold=0.7)", pred="kitten", gt="cat", **options
):
    """Return the score of one item with one predicted and one true label."""
    (result,) = semmetrics.score(
        [[pred]], [[gt]], measures=measures, embedding=embedding, **options
    )
    return result


# ---- functions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda texts: None, "wrong-shape"),
        (lambda texts: ["x"] * len(texts), "wrong-type"),
        (lambda texts: [1.0] * len(texts), "wrong-shape"),
        (lambda texts: [[1.0]], "wrong-shape"),
        (lambda texts: [[1.0], [np.nan], [1.0]], "vector-not-finite"),
        (lambda texts: [[]] * len(texts), "wrong-shape"),
    ],
)
def test_a_wrong_result_of_a_function_is_an_error(function, code):
    with refused(code):
        CallableEmbedder(function).embed(["cat", "dog", "cow"])


def test_the_dimension_must_not_change():
    model = CallableEmbedder(lambda texts: np.eye(len(texts)))
    first = model.embed(["cat", "dog", "cow"])

    assert first.vectors.shape == (3, 3)
    with refused("wrong-shape"):
        model.embed(["cat", "dog"])


VECTORS_OF_DATA = {
    "red cat": [1.0, 0.0],
    "dog": [0.0, 2.0],
    "red_cat": [1.0, 0.0],
    "red_cat dog": [3.0, 4.0],
    "dog red cat": [3.0, 4.0],
}


@pytest.fixture
def look_up():
    """A function that knows the texts of the data only."""

    def look_up(texts):
        look_up.texts += texts
        return [VECTORS_OF_DATA[text] for text in texts]

    look_up.texts = []
    return look_up


@pytest.mark.parametrize(
    ("preds", "gts"),
    [
        ([["red_cat"], []], [["dog"], ["red_cat", "dog"]]),
        ([[], []], [[], ["dog"]]),
        ([["dog"], []], [[], []]),
        ([[]], [[]]),
    ],
)
def test_a_function_is_called_with_labels_of_the_data_only(look_up, preds, gts):
    measures = "SemF1 WMD MeanSim BagSim"

    table = semmetrics.score(preds, gts, measures=measures, embedding=look_up)

    assert len(table.scores) == 4
    assert "|emb:look_up@unversioned|" in table["SemF1"].signature


@pytest.mark.parametrize("measure", ["BagSim", "BagSim(references=mean)"])
@pytest.mark.parametrize(
    ("caption", "references", "value"),
    [("dog", ["dog", ""], 1), (" ", ["dog", "red cat"], 0), (" ", [""], 0)],
)
def test_a_function_is_called_with_captions_of_the_data_only(
    look_up, measure, caption, references, value
):
    (score,) = semmetrics.score(
        [caption], [references], measures=measure, embedding=look_up, task="captions"
    )

    assert score.value == pytest.approx(value)


def test_cached_vectors_need_no_call(look_up, tmp_path):
    look_up.version = "1"
    options = {"pred": "dog", "gt": "red_cat", "cache": tmp_path / "c.sqlite"}
    first = score(look_up, "WMD", **options)
    look_up.texts.clear()

    second = score(look_up, "WMD", **options)

    assert not look_up.texts
    assert first.value == second.value == pytest.approx(5**0.5)


# ---- matrices ------------------------------------------------------------------------


def write_parquet(path, columns):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path)


def write_matrix(folder, form):
    """Write the matrix in a form, and return its path."""
    suffix = form.removeprefix("wide ")
    path = folder / f"labels.{suffix}"
    if form == "npy":
        np.save(path, ROWS)
        path.with_suffix(".txt").write_text("cat\ntraffic light\n")
    elif form == "npz":
        np.savez(path, vectors=ROWS, words=TEXTS)
    elif form == "parquet":
        write_parquet(path, {"text": TEXTS, "vector": ROWS.tolist()})
    else:
        x, y, z = ROWS.T
        write_parquet(path, {"text": TEXTS, "x": x, "y": y, "z": z})
    return path


@pytest.mark.parametrize("form", ["npy", "npz", "parquet", "wide parquet"])
def test_a_matrix_is_read_from_a_file(tmp_path, form):
    path = write_matrix(tmp_path, form)
    expected = MatrixEmbedder(ROWS, TEXTS, name="labels")

    for spec in (str(path), f"matrix:{path}", path):
        model = open_embedding(spec)
        embedded = model.embed(["traffic light", "cow"])
        assert embedded.vectors.tolist() == [[4, 5, 6], [0, 0, 0]]
        assert model.lookup == "exact"
        assert model.identity == expected.identity


@pytest.mark.parametrize(
    ("rows", "texts", "code"),
    [
        (ROWS, ["cat"], "wrong-shape"),
        (ROWS, ["cat", "cat"], "duplicate"),
        (ROWS[0], TEXTS, "wrong-shape"),
        (np.zeros((0, 3)), [], "wrong-shape"),
        ([["x"], ["y"]], TEXTS, "wrong-type"),
        ([[1.0], [np.inf]], TEXTS, "vector-not-finite"),
    ],
)
def test_a_wrong_matrix_is_an_error(rows, texts, code):
    with refused(code):
        MatrixEmbedder(rows, texts)


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"a": TEXTS, "b": TEXTS, "v": ROWS.tolist()}, "wrong-columns"),
        ({"a": TEXTS}, "wrong-columns"),
        ({"a": TEXTS, "v": [[1.0], [1.0, 2.0]]}, "wrong-type"),
        ({"a": TEXTS, "v": [[1.0], None]}, "wrong-type"),
        ({"a": TEXTS, "v": [[1.0], [None]]}, "vector-not-finite"),
        ({"a": ["cat", None], "v": [[1.0], [2.0]]}, "null"),
    ],
)
def test_a_wrong_parquet_file_is_an_error(tmp_path, columns, code):
    path = tmp_path / "x.parquet"
    write_parquet(path, columns)

    with refused(code, str(path)):
        read_matrix(path)


# ---- mappings ------------------------------------------------------------------------

VECTORS = {"cat": [1, 0], "kitten": [1, 1], "dog": [0, 1]}


def test_the_identity_depends_on_words_and_vectors_and_not_on_their_order():
    reordered = {"dog": [0.0, 1.0], "kitten": np.ones(2), "cat": [1, 0]}
    changed = VECTORS | {"cat": [1, 0.5]}
    extended = VECTORS | {"cow": [1, 0]}

    identity = open_embedding(VECTORS).identity

    assert open_embedding(reordered).identity == identity
    assert open_embedding(changed).identity != identity
    assert open_embedding(extended).identity != identity


def test_labels_are_looked_up_by_the_rule_of_words():
    options = {"measures": "SemF1(threshold=0.85)", "pred": "dog kitten", "gt": "dog"}

    by_words = score(VECTORS, **options)
    exact = score(VECTORS, lookup="exact", oov="skip", **options)

    assert by_words.value == 1
    assert exact.value == 0
    assert "|lookup:exact|oov:skip|" in exact.signature


@pytest.mark.parametrize(
    ("vector", "code"),
    [
        ([1], "out-of-range"),
        ("static", "mixed-mapping"),
        (["a", "b"], "out-of-range"),
        ([[1, 0]], "out-of-range"),
    ],
)
def test_vectors_of_different_forms_are_an_error(vector, code):
    with refused(code, "embedding"):
        score({"cat": [1, 0], "dog": vector})


@pytest.mark.parametrize(
    ("embedding", "code", "where", "values"),
    [
        ({"cat": [1], "dog": [np.inf]}, "vector-not-finite", None, {"names": ["dog"]}),
        ({"cat": []}, "out-of-range", "embedding", {"role": "the vector of 'cat'"}),
        ({"cat": 5}, "wrong-type", "embedding 'cat'", {"value": 5}),
        ({"mine": {}}, "nothing-given", "embedding 'mine'", {}),
        ({"mine": {"cat": "x"}}, "out-of-range", "embedding 'mine'", {}),
        ({1: [1, 0], "1": [1, 0]}, "duplicate", "embedding", {"value": "1"}),
    ],
)
def test_a_wrong_mapping_is_an_error_at_its_key(embedding, code, where, values):
    with refused(code, where, **values):
        score(embedding)


# ---- tensors -------------------------------------------------------------------------


def test_lazily_negated_tensors_are_read():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    vectors = torch.tensor([[0.9, 0.1], [0.2, 0.8]])
    lazy = torch.complex(torch.zeros(2, 2), -vectors).conj().imag
    assert lazy.is_neg()

    array = to_numpy(lazy)
    (f1,) = semmetrics.score(
        lazy, torch.eye(2), threshold=0.5, measures="F1", classes=["a", "b"]
    )
    similarity = score({"a": lazy[0], "b": lazy[1]}, "MeanSim", "a", "b")

    expected = score({"a": [0.9, 0.1], "b": [0.2, 0.8]}, "MeanSim", "a", "b")
    np.testing.assert_array_equal(array, vectors.numpy())
    assert f1.value == 1.0
    assert similarity.value == pytest.approx(expected.value, abs=1e-7)


@pytest.mark.parametrize("value", [1.0, None, "x", [[1, 2], [3, 4]], []])
def test_no_length_is_wanted_if_the_first_value_is_not_a_vector(value):
    with refused("out-of-range", wanted="a list of numbers"):
        open_embedding({"cat": value, "dog": [1, 0]})


def test_the_length_of_the_first_vector_is_wanted_of_the_others():
    with refused("out-of-range", wanted="a list of 2 numbers"):
        open_embedding({"dog": [1, 0], "cat": 1.0})
