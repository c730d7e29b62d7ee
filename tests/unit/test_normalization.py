"""Normalisation of labels: plurals, synonyms separated by commas, and wrong names of steps."""

import pytest
from refusals import refused

from semmetrics import as_labels
from semmetrics.kinds.labels.normalization import normalization, singular

PLURALS = (
    "cats cat, boxes box, dishes dish, watches watch, glasses glass, berries berry, "
    "cookies cookie, houses house, buses bus, lenses lens, tomatoes tomato, shoes shoe, "
    "gloves glove, series series, tennis tennis, cactus cactus, men men, axes axe, gas gas"
)


@pytest.mark.parametrize("pair", PLURALS.split(", "))
def test_english_plurals_become_singular(pair):
    plural, noun = pair.split()

    assert singular(plural) == noun
    assert singular(noun) == noun


@pytest.mark.parametrize(
    "name", ["none+lower", "lower+lower", "lower+", "stem", "", None, 3]
)
def test_unknown_or_repeated_steps_are_an_error(name):
    with refused("bad-option", name="normalize"):
        normalization(name)


@pytest.mark.parametrize(
    ("label", "terms"),
    [
        ("a, b", ("a", "b")),
        ("a, A!", ("a",)),
        (",a,&, b", ("a", "b")),
        (["a, b", "b", "c"], ("a", "b", "c")),
        (["&", "c"], ("c",)),
    ],
)
def test_commas_separate_synonyms_in_the_normalisation_of_kubany2020(label, terms):
    lists = as_labels([[label]])

    assert lists.normalized(normalization("kubany2020")).terms == [terms]


@pytest.mark.parametrize("label", ["&", ["&", "?"], ","])
def test_a_label_without_any_letter_left_is_an_error(label):
    lists = as_labels({"a": ["x"], "b": ["x", label]})

    with refused("nothing-left"):
        lists.normalized(normalization("kubany2020"))
