"""METEOR as a measure: its values, parts, intervals, matrix and aligned words."""

import numpy as np
import pytest
from meteor_inputs import best_lines, oracle_data, random_captions
from oracles import meteor as oracle
from stand_ins import meteor_programs

import semmetrics
from semmetrics.errors import MissingDependencyError
from semmetrics.metrics.meteor import METEOR
from semmetrics.text.meteor import STAGES

TOKENS = {"tokenizer": "whitespace", "task": "captions"}


@pytest.fixture
def small_tables():
    with meteor_programs():
        yield


def test_items_and_corpus_have_the_oracles_values(small_tables):
    candidates, references = random_captions(200, seed=1)
    candidates[0] = references[0][0]

    table = semmetrics.score(candidates, references, measures="METEOR", **TOKENS)

    score = table["METEOR"]
    lines = best_lines(oracle_data(), candidates, references)
    items = [oracle.meteor([line]) for line in lines]
    assert score.items == pytest.approx(items, abs=1e-12)
    assert score.value == pytest.approx(oracle.meteor(lines), abs=1e-12)
    assert score.items[0] == 1.0


def test_parts_are_those_of_the_summed_counts(small_tables):
    candidates, references = random_captions(50, seed=8)
    parts = ["precision", "recall", "fragmentation", *STAGES]
    measures = [METEOR(part=part) for part in parts]

    table = semmetrics.score(candidates, references, measures=measures, **TOKENS)

    total = np.sum(best_lines(oracle_data(), candidates, references), axis=0).tolist()
    n_words = total[0] + total[1]
    n_matched = total[21] + total[22]
    expected = [
        float(oracle.share(total, 0)),
        float(oracle.share(total, 1)),
        2 * total[20] / n_matched,
    ]
    for first in (4, 8, 12, 16):  # matches by stage
        expected.append(sum(total[first : first + 4]) / n_words)
    assert [score.value for score in table] == pytest.approx(expected, abs=1e-12)


def test_a_lower_fragmentation_is_better():
    fragmentation = METEOR(part="fragmentation")

    assert not fragmentation.higher_is_better
    assert fragmentation.with_options(part="recall").higher_is_better


@pytest.mark.parametrize(
    "measure", ["METEOR", "METEOR(paraphrases=false)", "METEOR(part=recall)"]
)
def test_the_matrix_has_the_value_of_each_caption_for_each_image(small_tables, measure):
    captions, images = random_captions(12, seed=4)

    matrix = semmetrics.caption_matrix(
        images, captions, measure=measure, tokenizer="whitespace"
    )

    for row, references in zip(matrix, images, strict=True):
        table = semmetrics.score(
            captions, [references] * 12, measures=measure, **TOKENS
        )
        assert row == pytest.approx(table[0].items, abs=1e-12)


@pytest.fixture
def aligned(small_tables):
    candidate = {"a": "the big dog rides on a horse"}
    references = {"a": ["cats", "puppy is riding the pony . Mr. X"]}
    return semmetrics.score(
        candidate, references, measures="METEOR", tokenizer="whitespace"
    )


def test_matches_list_aligned_words_and_words_without_a_match(aligned):
    rows = [tuple(row.values()) for row in aligned.matches()]

    in_candidate = [
        (1, "the", 2, 4, "the", "exact"),
        (2, "big", 2, None, None, None),
        (3, "dog", 2, 1, "puppy", "synonym"),
        (4, "rides", 2, 2, "is riding", "paraphrase"),
        (5, "on", 2, None, None, None),
        (6, "a", 2, None, None, None),
        (7, "horse", 2, None, None, None),  # a skipped match: horse is found twice
    ]
    only_in_reference = [
        (None, None, 2, 5, "pony", None),
        (None, None, 2, 6, ".", None),
        (None, None, 2, 7, "mr.", None),
        (None, None, 2, 8, "x", None),
    ]
    lines = [*in_candidate, *only_in_reference]
    assert rows == [("a", "preds", *line) for line in lines]


def test_worst_items_show_aligned_words(aligned):
    (worst,) = aligned.worst(1)

    assert worst["aligned"][1] == ["dog", "puppy", "synonym"]
    assert worst["unmatched"] == [["big"], ["on"], ["a"], ["horse"]]
    assert worst["missing"] == [["pony"], ["."], ["mr."], ["x"]]


def test_matches_of_many_items_are_found_in_several_runs(small_tables):
    caption = " ".join(["dog"] * 725)  # its matches with itself fill a run

    table = semmetrics.score(
        {"a": caption, "b": caption},
        {"a": [caption], "b": [caption]},
        measures="METEOR",
        tokenizer="whitespace",
    )

    rows = list(table.matches())
    assert [row["id"] for row in rows] == ["a"] * 725 + ["b"] * 725
    assert all(row["start"] == row["reference_start"] for row in rows)


@pytest.mark.parametrize(
    "measure", ["METEOR", "METEOR(paraphrases=false)", "METEOR(program=java)"]
)
def test_a_missing_package_is_an_error_with_its_extra(monkeypatch, measure):
    monkeypatch.setattr("semmetrics.text.java.find_spec", lambda name: None)

    with pytest.raises(MissingDependencyError, match=r"semmetrics\[captions\]"):
        semmetrics.score({"a": "a dog"}, {"a": ["a dog"]}, measures=measure)
