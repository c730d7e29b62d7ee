"""Candidates and references joined to the task of a score, against plain loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.captions_ngram import Blanks
from refusals import refused

from semmetrics.data.join import Weights
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.task import join_captions, leave_one_out

TEXTS = st.lists(st.sampled_from(["", " ", "a cat", "the cat", "a dog"]), max_size=3)
SIDES = st.dictionaries(st.sampled_from("abcdef"), TEXTS, max_size=5)


def task_of(candidates, references, **options):
    """Return the task of candidates and references."""
    candidates = as_captions(candidates)
    references = as_captions(references)
    return join_captions(candidates, references, tokenizer=Blanks(), **options)


def items_of(task):
    """Return each item as (id, candidate, references)."""
    items = []
    columns = zip(task.ids, task.candidates.tolist(), task.images, strict=True)
    for id_, candidate, image in columns:
        start, end = task.indptr[image : image + 2]
        references = [task.texts[code] for code in task.references[start:end].tolist()]
        items.append((id_, task.texts[candidate], references))
    return items


def test_captions_without_ids_are_joined_by_position():
    task = task_of(["x", "y"], [["r"], ["s", "t"]])

    assert task.ids == range(2)
    assert items_of(task) == [(0, "x", ["r"]), (1, "y", ["s", "t"])]


@pytest.mark.parametrize(
    ("candidates", "references", "options", "code"),
    [
        ({"a": ["x"]}, {"a": []}, {}, "missing-entries"),
        ([["x"], []], ["x", "y"], {}, "missing-entries"),
        (
            {"a": ["x", "y"], "a#1": ["z"]},
            {"a": ["r"], "a#1": ["r"]},
            {},
            "id-of-candidate",
        ),
        ({"a": "x"}, {"a": "x"}, {"weights": Weights({"b": 1})}, "without-value"),
    ],
)
def test_captions_that_do_not_match_are_an_error(candidates, references, options, code):
    with refused(code):
        task_of(candidates, references, **options)


def expected_items(candidates, references, missing):
    """Join candidates and references by plain loops."""
    items = []
    for id_ in dict.fromkeys([*references, *candidates]):
        own_candidates = candidates.get(id_, [])
        own_references = references.get(id_, [])
        if missing == "skip" and not (own_candidates and own_references):
            continue
        for number, text in enumerate(own_candidates or [""], 1):
            name = f"{id_}#{number}" if len(own_candidates) > 1 else id_
            items.append((name, text, own_references))
    return items


@given(candidates=SIDES, references=SIDES, missing=st.sampled_from(["skip", "empty"]))
def test_joined_captions_equal_plain_loops(candidates, references, missing):
    task = task_of(candidates, references, missing=missing)

    assert items_of(task) == expected_items(candidates, references, missing)
    has_numbered_candidates = any("#" in str(id_) for id_ in task.ids)
    assert (task.groups is not None) == has_numbered_candidates
    assert task.settings == {"tok": "blanks", "missing": missing}
    ids = {*candidates, *references}
    n_without_candidate = sum(not candidates.get(id_) for id_ in ids)
    n_without_reference = sum(not references.get(id_) for id_ in ids)
    assert task.counts.get("missing_prediction", 0) == n_without_candidate
    assert task.counts.get("missing_reference", 0) == n_without_reference


@given(references=SIDES)
def test_each_reference_is_compared_with_the_others_of_its_image(references):
    items = []
    n_empty = 0
    for id_, texts in references.items():
        if len(texts) < 2:
            continue
        for number, text in enumerate(texts):
            others = texts[:number] + texts[number + 1 :]
            items.append((f"{id_}#{number + 1}", text, others))
            n_empty += not text.strip()
    if not items:
        with refused("single-references"):
            leave_one_out(as_captions(references), tokenizer=Blanks())
        return

    task = leave_one_out(as_captions(references), tokenizer=Blanks())

    assert items_of(task) == items
    n_single = sum(len(texts) < 2 for texts in references.values())
    assert task.counts.get("single_reference", 0) == n_single
    assert task.counts.get("empty_references", 0) == n_empty
    assert task.settings == {"tok": "blanks", "cand": "references"}
