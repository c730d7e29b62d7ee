"""How terms are looked up, what stands for unknown ones, and what is counted."""

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.coverage import measure_coverage
from semmetrics.embed.lookup import STOP_WORDS, embed_terms
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.normalization import kubany2020 as clean

WORDS = [
    "unknown",
    "parkingmeter",
    "Parking_Meter",
    "cat",
    "can",
    "Sofa",
    "on_road",
    "pizzoven",
    "traffic",
    "light",
    "zero",
    "Traffic_Light",
]


@pytest.fixture
def model():
    vectors = np.eye(len(WORDS), dtype=np.float32)
    vectors[WORDS.index("zero")] = 0
    return MatrixEmbedder(vectors, WORDS, name="toy", lookup="words")


def found(terms, model, lookup):
    return embed_terms(terms, model, lookup=lookup, oov="zero").words


# ---- the paper's rule ---------------------------------------------------------------------------


def plain_kubany2020(term, vocabulary):
    """The paper's rule in plain Python, for terms without blanks."""
    for char in "-%#@!?.,/\\\"'[]()":
        term = term.replace(char, "")
    if term in STOP_WORDS and term not in ("can", "all"):
        term = ""
    if term in "a b c d e f g h i j k l m n o p q r s t u v w x y z empty":
        return None
    for form in (term, term.replace("a_", ""), term.replace("the_", "")):
        for tried in (form, form.replace("_", ""), form.title()):
            if tried in vocabulary:
                return None if tried == "unknown" else tried
    return None


@pytest.mark.parametrize(
    ("term", "word"),
    [
        # without underscores comes before title case
        (
            "parking_meter",
            "parkingmeter",
        ),
        ("cat", "cat"),
        ("sofa", "Sofa"),
        ("on_the_road", "on_road"),
        ("pizza_oven", "pizzoven"),  # every a_ goes, also inside
        ("a_cat", "cat"),
        ("the_cat", "cat"),
        ("traffic_light", "Traffic_Light"),
        ("can", "can"),  # a stop word that is kept
        ("cannot", "can"),  # taken apart; "not" is dropped
        ("doing", None),
        ("x", None),
        ("empty", None),
        ("", None),
        ("cow", None),
        ("unknown", None),
        ("Cat", None),  # case counts
    ],
)
def test_the_rule_of_the_paper(model, term, word):
    assert found([term], model, "kubany2020") == [word]
    if term != "cannot":
        assert plain_kubany2020(term, WORDS) == word


def listing(words):
    return MatrixEmbedder(np.eye(len(words)), words, lookup="words")


def test_the_paper_tries_nine_forms_in_its_order():
    forms = [
        "a_the_x_ray",
        "athexray",
        "A_The_X_Ray",
        "the_x_ray",
        "thexray",
        "The_X_Ray",
        "a_x_ray",
        "axray",
        "A_X_Ray",
    ]
    for place, form in enumerate(forms):
        assert found(["a_the_x_ray"], listing(forms[place:][::-1]), "kubany2020") == [
            form
        ]
    assert found(["a_the_x_ray"], listing(["x_ray"]), "kubany2020") == [None]


@pytest.mark.parametrize(
    ("term", "word"),
    [
        ("t-shirt (red)", "tshirt red"),
        ("king of the hill", "king hill"),
        ("all can", "all can"),
        ("mp", None),  # a substring of "empty"
    ],
)
def test_characters_and_function_words_go(term, word):
    model = listing(["tshirt red", "king hill", "all can", "mp"])
    assert found([term], model, "kubany2020") == [word]
    assert len(STOP_WORDS) == 179


# ---- the other rules ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "word"),
    [
        ("Traffic Light", "Traffic_Light"),
        ("Cat", "cat"),
        ("light traffic", None),
        ("sofa", None),
    ],
)
def test_exact_takes_whole_labels_only(model, term, word):
    assert found([term], model, "exact") == [word]


# ---- what stands for unknown terms --------------------------------------------------------------


@pytest.mark.parametrize("options", [{"lookup": "stem"}, {"oov": "guess"}])
def test_rules_that_do_not_exist_are_refused(model, options):
    with refused("bad-choice"):
        embed_terms(["cat"], model, **options)


# ---- the table of unknown labels ----------------------------------------------------------------


def test_the_table_of_unknown_labels(model):
    labels = as_labels(
        {
            "a": ["cat", "cow", "cow"],
            "b": ["gnu, parking meter"],
            "c": [],
            "d": ["gnu, cow"],
        },
        source="api.json",
    ).normalized(clean)
    (row,) = measure_coverage({"api": labels}, model, lookup="kubany2020")
    assert (row.images, row.labels, row.terms, row.unknown) == (3, 5, 7, 3)
    assert row.names == ("cow", "gnu, cow")
    assert row.share == 0.6
    assert row.synonyms == 1.4
    assert row.to_dict()["share"] == 0.6


def test_the_table_of_the_first_labels(model):
    labels = as_labels(
        {"a": [("cow", 0.1), ("cat", 0.9)], "b": [("gnu", 0.5), ("cat", 0.5)]}
    )
    (row,) = measure_coverage({"api": labels}, model, top_k=1)
    assert (row.images, row.labels, row.unknown, row.names) == (2, 2, 1, ("gnu",))
    with refused("bad-option"):
        measure_coverage({"api": labels}, model, top_k=0)


def test_scores_of_all_classes_need_a_cutoff(model):
    scores = as_labels(np.array([[0.2, 0.7], [0.6, 0.1]]), classes=["cat", "cow"])
    with refused("needs-option"):
        measure_coverage({"net": scores}, model)
    (row,) = measure_coverage({"net": scores}, model, top_k=1)
    assert (row.labels, row.unknown) == (2, 1)


def test_the_table_of_nothing(model):
    (row,) = measure_coverage({"api": as_labels({"a": []})}, model)
    assert (row.images, row.labels, row.unknown) == (0, 0, 0)
    assert np.isnan(row.share)
    assert row.to_dict()["share"] is None
