"""Make the task of comparing candidate captions with references.

Conventions
-----------
An item is a candidate, in the order of the references. Where an image has several candidates they
are called "id#1", "id#2", and share its references. An image without a caption on one side, whether
its id or its captions are missing, is an error, is left out ("skip"), or is taken as it is
("empty"): its candidate is then an empty caption, or its references are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import (
    Codes,
    Ints,
    lengths,
    offsets,
    row_numbers,
    take_rows,
)
from semmetrics.data.join import Joined, Weights, join
from semmetrics.data.lists import Ids, Lists, in_order
from semmetrics.data.observations import Observations
from semmetrics.data.swapped import check_captions
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import InputError
from semmetrics.kinds import side_observations
from semmetrics.kinds.captions.oddities import (
    find_joined,
    find_marks,
)

if TYPE_CHECKING:
    pass

_SINGLE = 1.5  # mean words of a caption below which captions look like labels
_BLOCK = 256  # captions whose words are counted at a time


def join_captions(
    candidates: Lists,
    references: Lists,
    *,
    tokenizer: Any,
    missing: str = "error",
    weights: Weights | None = None,
) -> CaptionTask:
    """Make the task of comparing candidates with the references of the same images.

    Parameters
    ----------
    candidates, references : Lists
    tokenizer : Tokenizer
        With ``name`` and ``tokens(captions)``.
    missing : {"error", "skip", "empty"}
        For images without a caption on one side.
    weights : Weights, optional
        The weight of each image; each of its candidates has it.

    Returns
    -------
    CaptionTask
        ``counts`` has the images without captions ("missing_prediction", "missing_reference"),
        those with several candidates ("several_candidates"), and captions that are empty but for
        blanks ("empty_candidates", "empty_references").

    Raises
    ------
    InputError
        If ids or lengths do not match, or a weight is bad.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> mine = as_captions({"a": ["a cat", "the cat"], "b": ["a dog"]})
    >>> task = join_captions(mine, as_captions({"b": ["dog"], "a": ["cat"]}), tokenizer=Blanks)
    >>> task.ids, task.texts
    (['b', 'a#1', 'a#2'], ('a dog', 'a cat', 'the cat', 'dog', 'cat'))
    """
    check_captions(candidates, references)
    joined = join(candidates, references, missing=missing, noun="caption", gaps=True)
    found = joined.pred.sizes
    sizes = np.maximum(found, 1)
    table: dict[Any, int] = {}
    mine, theirs = (
        np.fromiter(
            (table.setdefault(text, len(table)) for text in lists.vocabulary), np.int64
        )
        for lists in (candidates, references)
    )
    filled = np.full(int(sizes.sum()), table.setdefault("", len(table)))
    filled[np.repeat(found > 0, sizes)] = mine[joined.pred.codes]
    counts = joined.counts | {
        "several_candidates": int((found > 1).sum()),
        "empty_candidates": _count_blank(candidates, joined.pred.codes),
        "empty_references": _count_blank(references, joined.ref.codes),
    }
    sides = (
        list(table),
        np.concatenate([filled, theirs[joined.ref.codes]]),
        joined.ref.indptr,
    )
    of = references, joined.ids, sizes
    task = _make_task(*of, sides, weights, tokenizer, counts, {"missing": missing})
    observations = find_oddities(candidates, references, joined)
    return replace(task, observations=observations)


def _make_task(
    lists: Lists,
    ids: Ids,
    sizes: Ints,
    sides: tuple[Sequence[Any], Ints, Ints],
    weights: Weights | None,
    tokenizer: Any,
    counts: Mapping[str, int],
    settings: Mapping[str, str],
) -> CaptionTask:
    """Make the task of captions, their codes (candidates, then references) and references' offsets.

    The captions that codes name are kept, in order of first appearance; a candidate has the weight
    of its image.
    """
    texts, codes, indptr = sides
    ordered, places = in_order(texts, codes)
    candidates, references = np.split(places.astype(np.int64), [int(sizes.sum())])
    given: dict[str, str] = {} if weights is None else {"weights": "given"}
    values = None if weights is None else weights.align(lists, ids)
    return CaptionTask.of_images(
        ids,
        sizes,
        texts=tuple(ordered),
        candidates=candidates,
        indptr=indptr,
        references=references,
        tokenizer=tokenizer,
        counts={name: number for name, number in counts.items() if number},
        settings={"tok": str(tokenizer.name), **settings, **given},
        weights=None if values is None else np.repeat(values, sizes),
    )


def _count_blank(lists: Lists, codes: Codes) -> int:
    """Count the captions that hold nothing but blanks."""
    blank = np.array([not str(text).strip() for text in lists.vocabulary], np.bool_)
    return int(blank[codes].sum())


def leave_one_out(
    references: Lists, *, tokenizer: Any, weights: Weights | None = None
) -> CaptionTask:
    """Make the task of comparing each reference with the other references of its image.

    Parameters
    ----------
    references : Lists
    tokenizer : Tokenizer
    weights : Weights, optional

    Returns
    -------
    CaptionTask
        The items of an image are called "id#1", "id#2", and each has references of its own.
        Images with fewer than two references are left out, and counted ("single_reference").

    Raises
    ------
    InputError
        If no image has two references, or a weight is bad.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> task = leave_one_out(as_captions({"a": ["x", "y", "z"], "b": ["x"]}), tokenizer=Blanks)
    >>> task.ids, task.references.tolist(), task.counts
    (['a#1', 'a#2', 'a#3'], [1, 2, 0, 2, 0, 1], {'single_reference': 1})
    """
    chosen = np.flatnonzero(references.side.sizes > 1)
    if not len(chosen):
        raise InputError("single-references", references.source)
    kept, flat = take_rows(references.side.indptr, chosen)
    sizes = lengths(kept)
    ids = [str(references.ids[i]) for i in chosen.tolist()]
    written = references.side.codes[flat]
    every, others = take_rows(kept, row_numbers(kept))
    others = others[others != row_numbers(every)]
    counts = {
        "single_reference": len(references) - len(chosen),
        "empty_references": _count_blank(references, written),
    }
    codes = np.concatenate([written, written[others]])
    sides = list(references.vocabulary), codes, offsets(lengths(every) - 1)
    own = {"cand": "references"}
    task = _make_task(references, ids, sizes, sides, weights, tokenizer, counts, own)
    return replace(task, images=np.arange(len(task)))  # each has references of its own


def find_oddities(candidates: Lists, references: Lists, joined: Joined) -> Observations:
    """Find what is probably a mistake: captions that look like labels, and swapped sides."""
    observations = side_observations.swapped_sides(candidates, references)
    sides = {"pred": (candidates, joined.pred), "ref": (references, joined.ref)}
    for name, (lists, side) in sides.items():
        n_words, n_captions = count_words(lists, side.codes)
        if n_words:
            observations.merge(side_observations.note_words(name, n_words, n_captions))
        observations.merge(find_marks(name, lists, side.codes))
    observations.merge(find_joined(references, joined.ref.codes))
    pred_sizes = joined.pred.sizes
    has_several_each = len(pred_sizes) > 0 and pred_sizes.min() > 1
    if has_several_each and joined.ref.sizes.max() == 1:
        observations.count(side_observations.SWAPPED, 1, "several")
    return observations


def count_words(lists: Lists, codes: Codes) -> tuple[int, int]:
    """Count the words and the captions of occurrences if they look like labels, else (0, 0).

    Empty captions are not counted. Of others only as many are read as it takes to know.
    """
    times = np.bincount(codes, minlength=len(lists.vocabulary))
    words = captions = 0
    for start in range(0, len(times), _BLOCK):
        some = slice(start, start + _BLOCK)
        each = np.array(
            [len(str(text).split()) for text in lists.vocabulary[some]], np.int64
        )
        words += int(each @ times[some])
        captions += int((each > 0) @ times[some])
        if words >= _SINGLE * len(codes):
            return 0, 0
    return (words, captions) if words < _SINGLE * captions else (0, 0)
