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
    model = CallableEmbedder(lambda texts: np.ones((len(texts), len(texts))))
    assert model.embed(["cat", "dog", "cow"]).vectors.shape == (3, 3)

    with refused("wrong-shape"):
        model.embed(["cat", "dog"])


@pytest.fixture
def look_up():
    """A function that knows the texts of the data only."""
    vectors = {
        "red cat": [1.0, 0.0],
        "dog": [0.0, 2.0],
        "red_cat": [1.0, 0.0],
        "red_cat dog": [3.0, 4.0],
        "dog red cat": [3.0, 4.0],
    }

    def look_up(texts):
        look_up.texts += texts
        return [vectors[text] for text in texts]

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
    options = {"measures": "WMD", "embedding": look_up, "cache": tmp_path / "c.sqlite"}
    (first,) = semmetrics.score([["dog"]], [["red_cat"]], **options)
    n_texts = len(look_up.texts)

    (second,) = semmetrics.score([["dog"]], [["red_cat"]], **options)

    assert len(look_up.texts) == n_texts
    assert first.value == second.value == pytest.approx(5**0.5)


# ---- matrices ------------------------------------------------------------------------


def write_parquet(path, columns):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path)


def write_matrix(folder, form):
    """Write the matrix in a form, and return its path."""
    path = folder / f"labels.{form.split()[-1]}"
    if form == "npy":
        np.save(path, ROWS)
        path.with_suffix(".txt").write_text("\n".join(TEXTS) + "\n")
    elif form == "npz":
        np.savez(path, vectors=ROWS, words=np.array(TEXTS))
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
        np.testing.assert_array_equal(embedded.vectors, [ROWS[1], np.zeros(3)])
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


def score(
    embedding, measures="SemF1(threshold=0.7)", pred="kitten", gt="cat", **options
):
    (result,) = semmetrics.score(
        [[pred]], [[gt]], measures=measures, embedding=embedding, **options
    )
    return result


def test_the_identity_depends_on_words_and_vectors_and_not_on_their_order():
    identity = open_embedding(VECTORS).identity
    reordered = {word: np.float64(VECTORS[word]) for word in reversed(VECTORS)}

    assert open_embedding(reordered).identity == identity
    assert open_embedding({**VECTORS, "cat": [1, 0.5]}).identity != identity
    assert open_embedding({**VECTORS, "cow": [1, 0]}).identity != identity


def test_labels_are_looked_up_by_the_rule_of_words():
    options = {"measures": "SemF1(threshold=0.85)", "pred": "dog kitten", "gt": "dog"}

    by_words = score(VECTORS, **options)
    exact = score(VECTORS, lookup="exact", oov="skip", **options)

    assert by_words.value == 1
    assert exact.value == 0
    assert "|lookup:exact|oov:skip|" in exact.signature


@pytest.mark.parametrize(
    ("embedding", "code", "where", "values"),
    [
        ({"cat": [1, 0], "dog": [1]}, "out-of-range", "embedding", {}),
        ({"cat": [1, 0], "dog": "static"}, "mixed-mapping", "embedding", {}),
        ({"cat": [1, 0], "dog": ["a", "b"]}, "out-of-range", "embedding", {}),
        ({"cat": [1, 0], "dog": [[1, 0]]}, "out-of-range", "embedding", {}),
        (
            {"cat": [1, 0], "dog": [1, float("inf")]},
            "vector-not-finite",
            None,
            {"names": ["dog"]},
        ),
        (
            {"cat": []},
            "out-of-range",
            "embedding",
            {"role": "the vector of 'cat'"},
        ),
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

    np.testing.assert_array_equal(to_numpy(lazy), vectors.numpy())
    table = semmetrics.score(
        lazy, torch.eye(2), threshold=0.5, measures="F1", classes=["a", "b"]
    )
    assert table["F1"].value == 1.0
    tensors = score({"a": lazy[0], "b": lazy[1]}, "MeanSim", "a", "b")
    arrays = score({"a": [0.9, 0.1], "b": [0.2, 0.8]}, "MeanSim", "a", "b")
    assert tensors.value == pytest.approx(arrays.value, abs=1e-7)


@pytest.mark.parametrize("value", [1.0, None, "x", [[1, 2], [3, 4]], []])
def test_no_length_is_wanted_if_the_first_value_is_not_a_vector(value):
    with refused("out-of-range", wanted="a list of numbers"):
        open_embedding({"cat": value, "dog": [1, 0]})


def test_the_length_of_the_first_vector_is_wanted_of_the_others():
    with refused("out-of-range", wanted="a list of 2 numbers"):
        open_embedding({"dog": [1, 0], "cat": 1.0})
