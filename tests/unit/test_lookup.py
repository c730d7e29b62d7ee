"""How terms are looked up in word vectors, and which labels are unknown."""

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.coverage import measure_coverage
from semmetrics.embed.lookup import STOP_WORDS, embed_terms
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.normalization import kubany2020

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
    "Traffic_Light",
]


def words_as_model(words=WORDS):
    return MatrixEmbedder(np.eye(len(words)), words, lookup="words")


def look_up(term, lookup, model=None):
    (word,) = embed_terms([term], model or words_as_model(), lookup=lookup).words
    return word


def paper_rule(term):
    """Look up a term by the paper's rule in plain Python, for terms without spaces."""
    for char in "-%#@!?.,/\\\"'[]()":
        term = term.replace(char, "")
    if term in STOP_WORDS and term not in ("can", "all"):
        term = ""
    if term in "a b c d e f g h i j k l m n o p q r s t u v w x y z empty":
        return None
    for form in (term, term.replace("a_", ""), term.replace("the_", "")):
        for candidate in (form, form.replace("_", ""), form.title()):
            if candidate in WORDS:
                return None if candidate == "unknown" else candidate
    return None


@pytest.mark.parametrize(
    ("term", "word"),
    [
        ("parking_meter", "parkingmeter"),  # without underscores, before title case
        ("cat", "cat"),
        ("sofa", "Sofa"),
        ("on_the_road", "on_road"),
        ("pizza_oven", "pizzoven"),  # each "a_" is removed
        ("a_cat", "cat"),
        ("the_cat", "cat"),
        ("traffic_light", "Traffic_Light"),
        ("can", "can"),  # a stop word that is an exception
        ("doing", None),
        ("x", None),
        ("empty", None),
        ("", None),
        ("cow", None),
        ("unknown", None),
        ("Cat", None),
    ],
)
def test_kubany2020_is_the_rule_of_the_paper(term, word):
    assert look_up(term, "kubany2020") == paper_rule(term) == word


def test_kubany2020_tries_nine_forms_in_order():
    forms = ["a_the_x_ray", "athexray", "A_The_X_Ray", "the_x_ray", "thexray"]
    forms += ["The_X_Ray", "a_x_ray", "axray", "A_X_Ray"]

    for place, form in enumerate(forms):
        model = words_as_model(forms[place:][::-1])
        assert look_up("a_the_x_ray", "kubany2020", model) == form
    assert look_up("a_the_x_ray", "kubany2020", words_as_model(["x_ray"])) is None


@pytest.mark.parametrize(
    ("term", "word"),
    [
        ("t-shirt (red)", "tshirt red"),
        ("king of the hill", "king hill"),
        ("all can", "all can"),
        ("cannot", "can"),  # split into "can" and "not", which is removed
        ("mp", None),  # a substring of "empty"
    ],
)
def test_kubany2020_removes_characters_and_stop_words(term, word):
    model = words_as_model(["tshirt red", "king hill", "all can", "can", "mp"])

    assert look_up(term, "kubany2020", model) == word


@pytest.mark.parametrize(
    ("term", "word"),
    [
        ("Traffic Light", "Traffic_Light"),
        ("Cat", "cat"),
        ("light traffic", None),
        ("sofa", None),
    ],
)
def test_exact_finds_whole_labels_only(term, word):
    assert look_up(term, "exact") == word


@pytest.mark.parametrize("options", [{"lookup": "stem"}, {"oov": "guess"}])
def test_an_unknown_rule_is_an_error(options):
    with refused("bad-choice"):
        embed_terms(["cat"], words_as_model(), **options)


# ---- coverage ------------------------------------------------------------------------


def coverage(labels, **options):
    (row,) = measure_coverage({"api": labels}, words_as_model(), **options)
    return row


def test_unknown_labels_and_terms_are_counted():
    labels = as_labels(
        {
            "a": ["cat", "cow", "cow"],
            "b": ["gnu, parking meter"],
            "c": [],
            "d": ["gnu, cow"],
        },
        source="api.json",
    )

    row = coverage(labels.normalized(kubany2020), lookup="kubany2020")

    assert (row.images, row.labels, row.terms, row.unknown) == (3, 5, 7, 3)
    assert row.names == ("cow", "gnu, cow")
    assert row.share == row.to_dict()["share"] == 0.6
    assert row.synonyms == 1.4


def test_only_the_first_labels_are_counted():
    labels = as_labels(
        {"a": [("cow", 0.1), ("cat", 0.9)], "b": [("gnu", 0.5), ("cat", 0.5)]}
    )

    row = coverage(labels, top_k=1)

    assert (row.images, row.labels, row.unknown, row.names) == (2, 2, 1, ("gnu",))
    with refused("bad-option"):
        coverage(labels, top_k=0)


def test_scores_of_all_classes_need_a_cutoff():
    scores = as_labels(np.array([[0.2, 0.7], [0.6, 0.1]]), classes=["cat", "cow"])

    with refused("needs-option"):
        coverage(scores)
    row = coverage(scores, top_k=1)
    assert (row.labels, row.unknown) == (2, 1)


def test_no_labels_have_no_share():
    row = coverage(as_labels({"a": []}))

    assert (row.images, row.labels, row.unknown) == (0, 0, 0)
    assert np.isnan(row.share)
    assert row.to_dict()["share"] is None
