"""Tables and scores of every measure can be pickled and copied."""

from __future__ import annotations

import copy
import functools
import pickle

import pytest
from stand_ins import meteor_programs

import semmetrics
from semmetrics.errors import MissingDependencyError
from semmetrics.metrics import measure_table

NAMES = ["x", "y", "z"]
SCORES = [[0.5, 0.2, 0.1], [0.3, 0.1, 0.4]]
PREDS = {
    "labels": {"a": {"x": 0.5, "y": 0.2}, "b": {"y": 0.1}},
    "captions": {"a": "a cat sits", "b": "a dog"},
    "retrieval": SCORES,
    "classes": SCORES,
}
GTS = {
    "labels": {"a": ["x"], "b": ["x", "y"]},
    "captions": {"a": ["a cat sat", "the cat"], "b": ["a dog runs"]},
    "retrieval": {"a": ["x", "y"], "b": ["z"]},
    "classes": ["x", "z"],
}
OPTIONS = {
    "labels": {"taxonomy": dict.fromkeys(NAMES, "letter"), "classes": NAMES},
    "captions": {},
    "retrieval": {
        "direction": "both",
        "phi": [[2, 1, 0], [0, 3, 1]],
        "queries": ["a", "b"],
        "gallery": NAMES,
    },
    "classes": {"classes": NAMES, "seen": NAMES[:2], "unseen": NAMES[2:]},
}
WITH_REQUIRED_OPTIONS = {
    "BalancedAccuracy": "BalancedAccuracy(q=3)",
    "FBeta": "FBeta(beta=2)",
    "NCS": "NCS@2",
    "nDCG": "nDCG@2",
    "SR": "SR(m=2)@2",
    "SPICE": "SPICE(parser=offline)",
    "SPIDEr": "SPIDEr(parser=offline)",
    "Soft-SPICE": "Soft-SPICE(parser=offline)",
}


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@functools.cache
def table_of(kind, name):
    measure = WITH_REQUIRED_OPTIONS.get(name, name)
    systems = {"s": PREDS[kind], "t": PREDS[kind]}
    try:
        with meteor_programs():
            return semmetrics.score_systems(
                systems, GTS[kind], measures=[measure], task=kind, **OPTIONS[kind]
            )
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.mark.sampled(100)
@pytest.mark.parametrize("make_copy", [pickled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize(("kind", "name"), list(measure_table.ROWS))
def test_a_copied_table_is_equal(kind, name, make_copy):
    table = table_of(kind, name)

    copied = make_copy(table)

    assert copied.to_json() == table.to_json()
    assert str(copied) == str(table)
    for score in table:
        copied_score = make_copy(score)
        assert copied_score.to_dict() == score.to_dict()
        assert copied_score.measure == score.measure


@pytest.mark.parametrize("make_copy", [pickled, copy.deepcopy, copy.copy])
def test_a_copied_table_has_the_values_of_items(make_copy):
    table = table_of("labels", "F1")

    copied = make_copy(table)

    assert copied.per_item().to_csv() == table.per_item().to_csv()
