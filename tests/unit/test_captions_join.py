"""Candidates and references brought together."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from semmetrics.data.tasks import item_ids
from semmetrics.errors import InputError
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.task import join_captions, leave_one_out


class Blanks:
    """Splits at blanks."""

    name = "blanks"

    def tokens(self, captions):
        return [caption.split() for caption in captions]


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
    refs = [[task.texts[c] for c in task.references[a:b].tolist()] for a, b in pairwise(ends)]
    return [
        (name, task.texts[c], refs[image])
        for name, c, image in zip(task.ids, task.candidates.tolist(), task.images, strict=True)
    ]


def expected(candidates, references, missing):
    """The items, and the counts of images without captions, by plain loops."""
    found, lacking = [], {"missing_prediction": 0, "missing_reference": 0}
    for name in dict.fromkeys([*references, *candidates]):
        mine, theirs = candidates.get(name, []), references.get(name, [])
        lacking["missing_prediction"] += not mine
        lacking["missing_reference"] += not theirs
        if missing == "skip" and not (mine and theirs):
            continue
        names = [name] if len(mine) < 2 else [f"{name}#{k}" for k in range(1, len(mine) + 1)]
        found += [(n, text, theirs) for n, text in zip(names, mine or [""], strict=True)]
    return found, {key: n for key, n in lacking.items() if n}


@given(candidates=SIDES, references=SIDES, missing=st.sampled_from(["skip", "empty"]))
def test_the_join_is_that_of_plain_loops(candidates, references, missing):
    task = task_of(candidates, references, missing=missing)
    found, lacking = expected(candidates, references, missing)
    assert items(task) == found
    assert {key: n for key, n in task.counts.items() if key.startswith("missing")} == lacking
    assert task.settings == {"tok": "blanks", "missing": missing}
    assert (task.groups is not None) == any("#" in str(name) for name in task.ids)
    assert sorted(task.texts) == sorted({t for _, c, refs in found for t in [c, *refs]}
                                        | {t for refs in references.values() for t in refs
                                           if missing == "empty"})  # fmt: skip


@given(candidates=SIDES, references=SIDES)
def test_under_error_all_images_have_captions_on_both_sides(candidates, references):
    complete = candidates.keys() == references.keys() and all(
        [*candidates.values(), *references.values()]
    )
    if complete:
        assert items(task_of(candidates, references)) == expected(candidates, references, "")[0]
    else:
        with pytest.raises(InputError) as caught:
            task_of(candidates, references)
        assert caught.value.code in ("missing-ids", "other-ids", "missing-entries")


def test_items_of_an_image_share_its_references():
    task = task_of({"b": ["x", "y"], "a": ["z"]}, {"a": ["r"], "b": ["s", "r"]})
    assert items(task) == [("a", "z", ["r"]), ("b#1", "x", ["s", "r"]), ("b#2", "y", ["s", "r"])]
    assert task.images.tolist() == [0, 1, 1]
    assert len(task.indptr) == 3
    assert task.counts == {"several_candidates": 1}


def test_empty_captions_are_kept_and_counted():
    task = task_of({"a": [" ", "x"], "b": [""]}, {"a": ["", "y", "\u3000"], "b": ["z"]})
    assert task.counts == {"several_candidates": 1, "empty_candidates": 2, "empty_references": 2}
    assert [text for _, text, _ in items(task)] == [" ", "x", ""]
    # a candidate that is not there is counted as such, and not again as empty
    assert task_of({"a": "x"}, {"a": "x", "b": "y"}, missing="empty").counts == {
        "missing_prediction": 1
    }


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


def test_lengths_by_position_and_the_last_line(tmp_path):
    short, long = tmp_path / "short.txt", tmp_path / "long.txt"
    short.write_text("a\n\nb\n")
    long.write_text("a\tb\nc\nd\ne\n")
    with refused("other-length", f"{short}, line 3", n=4, m=3):
        task_of(long, short)
    with refused("other-length", "mine, item 0 (from 0)"):
        task_of(["x"], ["x", "y"])
    with refused("other-length", "mine"):
        task_of([], ["x"])


@pytest.mark.parametrize(
    ("candidates", "references", "options", "code", "where"),
    [
        ({"a": "x"}, {"a": "x", "b": "y"}, {}, "missing-ids", ""),
        ({"a": "x", "c": "x"}, {"a": "x"}, {}, "missing-ids", ""),
        ({"q": "x"}, {"a": "x"}, {}, "other-ids", ""),
        ({"a": ["x"]}, {"a": []}, {}, "missing-entries", ""),
        ({"a": [], "b": ["x"]}, {"a": [], "b": []}, {}, "missing-entries", ""),
        ([["x"], []], ["x", "y"], {}, "missing-entries", ""),
        (["x"], {"a": "x"}, {}, "one-side-has-ids", "mine"),
        ({"a": "x"}, {"a": "x"}, {"missing": "drop"}, "bad-choice", ""),
        ({"a": ["x", "y"], "a#1": ["z"]}, {"a": ["r"], "a#1": ["r"]}, {},
         "id-of-candidate", ""),
        ({"a": "x"}, {"a": "x"}, {"weights": {"b": 1}}, "no-weights", "weights"),
        ({"a": "x"}, {"a": "x"}, {"weights": [-1]}, "out-of-range", "weights"),
        ({"a": "x"}, {"a": "x"}, {"weights": [1, 2]}, "wrong-count", "weights"),
    ],
)  # fmt: skip
def test_errors(candidates, references, options, code, where):
    with refused(code) as caught:
        task_of(candidates, references, **options)
    assert caught.value.where.endswith(where)


def test_weights_are_those_of_images():
    task = task_of(
        {"a": ["x"], "c": ["v"], "b": ["y", "z"]},
        {"b": ["r"], "d": ["r"], "a": ["s"]},
        weights=[3, 5, 0.5],
        missing="skip",
    )
    assert list(task.ids) == ["b#1", "b#2", "a"]
    assert task.weights.tolist() == [3, 3, 0.5]
    assert task.settings["weights"] == "given"
    by_id = task_of({"a": []}, {"a": ["s"]}, weights={"a": 2}, missing="empty")
    assert by_id.weights.tolist() == [2]
    assert task_of([["x", "y"]], ["s"], weights=[2]).weights.tolist() == [2, 2]


@given(references=SIDES, seed=st.integers(0, 99))
def test_the_fingerprint_does_not_depend_on_order_and_adds_up(references, seed):
    references = {name: refs for name, refs in references.items() if refs}
    rng = random.Random(seed)
    candidates = {name: [f"{name} {k}" for k in range(rng.randint(1, 3))] for name in references}

    def mixed(side):
        return dict(rng.sample(list(side.items()), len(side)))

    one = task_of(candidates, references)
    other = task_of(mixed(candidates), mixed(references))
    assert one.fingerprint == other.fingerprint
    hashes = dict(zip(one.ids, one.hashes.tolist(), strict=True))
    assert hashes == dict(zip(other.ids, other.hashes.tolist(), strict=True))
    chosen = np.array([rng.random() < 0.5 for _ in range(len(one))], bool)
    parts = [one.take(np.flatnonzero(mask)) for mask in (chosen, ~chosen)]
    assert sum(part.fingerprint for part in parts) % 2**64 == one.fingerprint
    assert sum(map(len, parts)) == len(one)
    # images apart, as users split data: each part is joined by itself
    names = list(references)
    halves = [
        task_of({n: candidates[n] for n in half}, {n: references[n] for n in half})
        for half in (names[::2], names[1::2])
    ]
    assert sum(half.fingerprint for half in halves) % 2**64 == one.fingerprint


def test_the_fingerprint_is_that_of_ids_and_references_in_order():
    base = task_of({"a": "x", "b": "y"}, {"a": ["r", "s"], "b": ["t"]}).fingerprint
    assert task_of({"a": "other", "b": ""}, {"a": ["r", "s"], "b": ["t"]}).fingerprint == base
    for references in (
        {"a": ["s", "r"], "b": ["t"]},
        {"a": ["r", "s", "s"], "b": ["t"]},
        {"a": ["r"], "b": ["t"]},
        {"a": ["t"], "b": ["r", "s"]},
    ):
        assert task_of({"a": "x", "b": "y"}, references).fingerprint != base
    assert task_of({"a": "x", "c": "y"}, {"a": ["r", "s"], "c": ["t"]}).fingerprint != base


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


def test_leaving_one_out_with_weights_and_by_position():
    references = as_captions([["x", "y"], ["z"], ["u", "v", "w"]])
    task = leave_one_out(references, tokenizer=Blanks(), weights=[2, 9, 3])
    assert list(task.ids) == ["0#1", "0#2", "2#1", "2#2", "2#3"]
    assert task.weights.tolist() == [2, 2, 3, 3, 3]
    assert task.settings == {"tok": "blanks", "cand": "references", "weights": "given"}


def test_names_of_items():
    assert item_ids(range(2), np.array([1, 1])) == range(2)
    assert item_ids(range(2), np.array([0, 2])) == ["1#1", "1#2"]


def test_five_thousand_images_are_joined_fast():
    rng = random.Random(0)
    words = [f"w{i}" for i in range(500)]
    ids = [str(rng.randrange(10**9)) for _ in range(5000)]
    references = as_captions(
        {i: [" ".join(rng.choices(words, k=10)) for _ in range(5)] for i in ids}
    )
    candidates = as_captions({i: " ".join(rng.choices(words, k=10)) for i in sorted(ids)})
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        task = join_captions(candidates, references, tokenizer=Blanks())
        best = min(best, time.perf_counter() - start)
    assert len(task) == len(set(ids))
    assert best < 0.25


def test_fakecap(reference_dir):
    folder = reference_dir / "coco"
    raw = as_captions(folder / "captions_val2014_fakecap_results.json")
    references = as_captions(folder / "fakecap_tokenized_gts.json")
    task = join_captions(raw, references, tokenizer=Blanks())
    assert len(task) == 1000
    assert task.ids == references.ids
    assert task.counts == {}
    assert set(np.diff(task.indptr).tolist()) == {5, 6}
    mine = dict(zip(raw.ids, raw.values(), strict=True))
    assert all(text == mine[name] for name, text, _ in items(task))
    people = leave_one_out(references, tokenizer=Blanks())
    assert len(people) == len(references.values())


def test_flickr30k_against_itself(reference_dir):
    captions = as_captions(reference_dir / "flickr30k" / "test_caps.txt")
    task = join_captions(captions, captions, tokenizer=Blanks())
    assert all(text == refs[0] for _, text, refs in items(task))
