"""Candidates and references brought together."""

from __future__ import annotations

from itertools import pairwise

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
    return join_captions(
        as_captions(candidates, source="mine"),
        as_captions(references, source="refs"),
        tokenizer=Blanks(),
        **options,
    )


def items(task):
    """Each item as (id, candidate, references)."""
    ends = task.indptr.tolist()
    refs = [
        [task.texts[c] for c in task.references[a:b].tolist()]
        for a, b in pairwise(ends)
    ]
    return [
        (name, task.texts[c], refs[image])
        for name, c, image in zip(
            task.ids, task.candidates.tolist(), task.images, strict=True
        )
    ]


def test_by_position():
    task = task_of(["x", "y"], [["r"], ["s", "t"]])
    assert task.ids == range(2)
    assert items(task) == [(0, "x", ["r"]), (1, "y", ["s", "t"])]
    several = task_of([["x", "w"], ["y"]], ["r", "s"])
    assert list(several.ids) == ["0#1", "0#2", "1"]
    skipped = task_of([["x"], [], ["y"]], ["r", "s", "t"], missing="skip")
    assert (skipped.ids.tolist(), skipped.counts) == ([0, 2], {"missing_prediction": 1})
    whole = task_of(["x", "v", "y"], ["r", "s", "t"])
    assert skipped.hashes.tolist() == whole.hashes[[0, 2]].tolist()


@pytest.mark.parametrize(
    ("candidates", "references", "options", "code", "where"),
    [
        ({"a": "x"}, {"a": "x", "b": "y"}, {}, "missing-ids", ""),
        ({"a": "x", "c": "x"}, {"a": "x"}, {}, "missing-ids", ""),
        ({"a": ["x"]}, {"a": []}, {}, "missing-entries", ""),
        ({"a": [], "b": ["x"]}, {"a": [], "b": []}, {}, "missing-entries", ""),
        ([["x"], []], ["x", "y"], {}, "missing-entries", ""),
        (["x"], {"a": "x"}, {}, "one-side-has-ids", "mine"),
        ({"a": "x"}, {"a": "x"}, {"missing": "drop"}, "bad-choice", ""),
        (
            {"a": ["x", "y"], "a#1": ["z"]},
            {"a": ["r"], "a#1": ["r"]},
            {},
            "id-of-candidate",
            "",
        ),
        (
            {"a": "x"},
            {"a": "x"},
            {"weights": Weights({"b": 1})},
            "without-value",
            "weights",
        ),
    ],
)
def test_errors(candidates, references, options, code, where):
    with refused(code, place=where):
        task_of(candidates, references, **options)


@given(references=SIDES)
def test_each_reference_against_the_others_of_its_image(references):
    several = {name: refs for name, refs in references.items() if len(refs) > 1}
    if not several:
        with refused("single-references"):
            leave_one_out(as_captions(references, source="refs"), tokenizer=Blanks())
        return
    task = leave_one_out(as_captions(references), tokenizer=Blanks())
    assert items(task) == [
        (f"{name}#{k + 1}", refs[k], refs[:k] + refs[k + 1 :])
        for name, refs in several.items()
        for k in range(len(refs))
    ]
    assert task.images.tolist() == list(range(len(task)))
    assert task.counts.get("single_reference", 0) == len(references) - len(several)
    assert task.counts.get("empty_references", 0) == sum(
        not text.strip() for refs in several.values() for text in refs
    )
    assert task.settings == {"tok": "blanks", "cand": "references"}
    assert set(task.texts) == {text for refs in several.values() for text in refs}


def expected(candidates, references, missing):
    """The items, and the counts of images without captions, by plain loops."""
    found, lacking = [], {"missing_prediction": 0, "missing_reference": 0}
    for name in dict.fromkeys([*references, *candidates]):
        mine, theirs = candidates.get(name, []), references.get(name, [])
        lacking["missing_prediction"] += not mine
        lacking["missing_reference"] += not theirs
        if missing == "skip" and not (mine and theirs):
            continue
        names = (
            [name]
            if len(mine) < 2
            else [f"{name}#{k}" for k in range(1, len(mine) + 1)]
        )
        found += [
            (n, text, theirs) for n, text in zip(names, mine or [""], strict=True)
        ]
    return found, {key: n for key, n in lacking.items() if n}


@given(candidates=SIDES, references=SIDES, missing=st.sampled_from(["skip", "empty"]))
def test_the_join_is_that_of_plain_loops(candidates, references, missing):
    task = task_of(candidates, references, missing=missing)
    found, lacking = expected(candidates, references, missing)
    assert items(task) == found
    assert {
        key: n for key, n in task.counts.items() if key.startswith("missing")
    } == lacking
    assert task.settings == {"tok": "blanks", "missing": missing}
    assert (task.groups is not None) == any("#" in str(name) for name in task.ids)
    assert sorted(task.texts) == sorted(
        {t for _, c, refs in found for t in [c, *refs]}
        | {t for refs in references.values() for t in refs if missing == "empty"}
    )
