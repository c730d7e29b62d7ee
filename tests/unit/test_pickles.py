"""Tables and scores of every measure can be pickled and copied."""

from __future__ import annotations

import copy
import functools
import pickle

import pytest
from every_measure import EVERY, case_of
from stand_ins import meteor_programs

import semmetrics


@pytest.fixture(scope="module", autouse=True)
def small_word_lists():
    """Replace the word lists of METEOR."""
    with meteor_programs():
        yield


def pickle_and_load(value):
    return pickle.loads(pickle.dumps(value))


EVERY_COPY = pytest.mark.parametrize(
    "make_copy", [pickle_and_load, copy.deepcopy, copy.copy]
)


@functools.cache
def table_of(definition):
    measures, options, (preds, gts) = case_of(definition)
    if any(option.name == "parser" for option in definition.options):
        pytest.importorskip("pycocoevalcap", reason="SPICE needs its words")
        measures = [measure.with_options(parser="offline") for measure in measures]
    return semmetrics.score_systems(
        {"s": preds, "t": preds}, gts, measures=measures, **options
    )


@pytest.mark.sampled(100)
@EVERY_COPY
@EVERY
def test_a_copied_table_is_equal(definition, make_copy):
    table = table_of(definition)

    copied = make_copy(table)

    assert copied.to_json() == table.to_json()
    assert str(copied) == str(table)
    for score in table:
        copied_score = make_copy(score)
        assert str(copied_score.to_dict()) == str(score.to_dict())
        assert copied_score.measure == score.measure


@EVERY_COPY
def test_a_copied_table_of_both_directions_has_the_values_of_items(make_copy):
    table = semmetrics.score(
        [[0.5, 0.2, 0.1], [0.3, 0.1, 0.4]],
        {"a": ["x", "y"], "b": ["z"]},
        measures="NCS@2 Recall@1",
        task="retrieval",
        direction="both",
        phi=[[2, 1, 0], [0, 3, 1]],
        queries=["a", "b"],
        gallery=["x", "y", "z"],
    )

    copied = make_copy(table)

    assert copied.to_json() == table.to_json()
    assert copied.per_item().to_csv() == table.per_item().to_csv()
