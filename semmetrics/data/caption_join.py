"""Candidate captions and references brought together, image by image.

Conventions
-----------
An item is a candidate, in the order of the references. Where an image has several candidates they
are called "id#1", "id#2", and share its references. An image without a caption on one side, whether
its id or its captions are missing, is an error, is left out ("skip"), or is taken as it is
("empty"): its candidate is then an empty caption, or its references are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.hashing import hash_ids
from semmetrics.core.ragged import Floats, Ints, offsets, row_numbers, take_rows
from semmetrics.data.caption_task import CaptionTask, caption_task, item_ids
from semmetrics.data.captions import Captions
from semmetrics.data.join import Alignment, align, aligned_weights
from semmetrics.data.labels import Ids
from semmetrics.errors import InputError, listing

__all__ = ["join_captions", "leave_one_out"]

Weights = Mapping[str, float] | Sequence[float] | Floats


def join_captions(
    candidates: Captions,
    references: Captions,
    *,
    tokenizer: Any,
    missing: str = "error",
    weights: Weights | None = None,
) -> CaptionTask:
    """Make the task of comparing candidates with the references of the same images.

    Parameters
    ----------
    candidates, references : Captions
    tokenizer : Tokenizer
        With ``name`` and ``tokens(captions)``.
    missing : {"error", "skip", "empty"}
        For images without a caption on one side.
    weights : mapping from id, or array of shape (items of the references,), optional
        The weight of an image, finite and not negative; each of its candidates has it.

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
    >>> from semmetrics.data.caption_inputs import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> mine = as_captions({"a": ["a cat", "the cat"], "b": ["a dog"]})
    >>> task = join_captions(mine, as_captions({"b": ["dog"], "a": ["cat"]}), tokenizer=Blanks)
    >>> task.ids, task.texts
    (['b', 'a#1', 'a#2'], ('a dog', 'a cat', 'the cat', 'dog', 'cat'))
    """
    _check_lengths(candidates, references)
    # images to skip are left out below, with those whose captions are an empty list
    every = "empty" if missing == "skip" else missing
    rows = align(candidates, references, missing=every, empty="captions")
    sides = _taken(candidates, rows.pred), _taken(references, rows.ref)
    sources = candidates.source, references.source
    ids, sides, counts = _without_gaps(rows.ids, sides, missing, sources)
    several = sum(len(captions) > 1 for captions in sides[0])
    counts |= {"several_candidates": several} if several else {}
    for name, side in zip(("empty_candidates", "empty_references"), sides, strict=True):
        if empty := sum(not text.strip() for captions in side for text in captions):
            counts[name] = empty
    settings = {"tok": str(tokenizer.name), "missing": missing}
    given = None
    if weights is not None:
        settings["weights"] = "given"
        sizes = [max(1, len(captions)) for captions in sides[0]]
        given = _repeated(aligned_weights(weights, references, Alignment(ids)), sizes)
    filled = [captions or [""] for captions in sides[0]]
    return caption_task(
        filled, sides[1], ids, tokenizer, settings=settings, counts=counts, weights=given
    )


def _check_lengths(candidates: Captions, references: Captions) -> None:
    both = isinstance(candidates.ids, range) and isinstance(references.ids, range)
    if not both or len(candidates) == len(references):
        return
    shorter = min(candidates, references, key=len)
    last = f"; the last is {shorter.where(len(shorter) - 1)}" if len(shorter) else ""
    raise InputError(
        f"{candidates.source} has {len(candidates)} items and {references.source} has "
        f"{len(references)}{last}",
        remedy="items without ids are matched by position: give as many on both sides, or ids",
    )


def _taken(side: Captions, rows: Ints | None) -> list[Sequence[str]]:
    """The captions of the items of those numbers; -1 has none."""
    ends, texts = side.indptr.tolist(), side.texts
    numbers = range(len(side)) if rows is None else rows.tolist()
    return [texts[ends[i] : ends[i + 1]] if i >= 0 else [] for i in numbers]


def _without_gaps(
    ids: Ids,
    sides: tuple[list[Sequence[str]], list[Sequence[str]]],
    missing: str,
    sources: tuple[str, str],
) -> tuple[Ids, tuple[list[Sequence[str]], list[Sequence[str]]], dict[str, int]]:
    """Ids, captions and counts, after the policy for images without captions on one side."""
    gaps = [[i for i, captions in enumerate(side) if not captions] for side in sides]
    if missing == "error" and any(gaps):
        _report_gaps(ids, gaps, sources)
    names = ("missing_prediction", "missing_reference")
    counts = {name: len(side) for name, side in zip(names, gaps, strict=True) if side}
    if missing != "skip" or not counts:
        return ids, sides, counts
    kept = [i for i, both in enumerate(zip(*sides, strict=True)) if all(both)]
    left: Ids = np.array(kept, np.int64) if isinstance(ids, range) else [str(ids[i]) for i in kept]
    return left, ([sides[0][i] for i in kept], [sides[1][i] for i in kept]), counts


def _report_gaps(ids: Ids, gaps: list[list[int]], sources: tuple[str, str]) -> None:
    lost = [
        f"{source} has no caption for {len(side)} of the ids: {listing(ids[i] for i in side)}"
        for side, source in zip(gaps, sources, strict=True)
        if side
    ]
    raise InputError(
        "; ".join(lost),
        remedy="add captions, or say missing='skip' to leave these items out, missing='empty' for "
        "an empty candidate or no reference (on the command line --missing)",
    )


def _repeated(weights: Floats, sizes: list[int] | Ints) -> Floats:
    """The weight of each candidate, from those of images."""
    if len(weights) and not weights.any():
        raise InputError("all sample weights are zero", remedy="give some item a weight")
    return np.repeat(weights, sizes)


def leave_one_out(
    references: Captions, *, tokenizer: Any, weights: Weights | None = None
) -> CaptionTask:
    """The task of comparing each reference with the other references of its image.

    Parameters
    ----------
    references : Captions
    tokenizer : Tokenizer
    weights : mapping from id, or array of shape (items of the references,), optional

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
    >>> from semmetrics.data.caption_inputs import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> task = leave_one_out(as_captions({"a": ["x", "y", "z"], "b": ["x"]}), tokenizer=Blanks)
    >>> task.ids, task.references.tolist(), task.counts
    (['a#1', 'a#2', 'a#3'], [1, 2, 0, 2, 0, 1], {'single_reference': 1})
    """
    sizes = np.diff(references.indptr)
    chosen = np.flatnonzero(sizes > 1)
    if not len(chosen):
        raise InputError(
            "no image has two references",
            where=references.source,
            remedy="leaving one out needs at least two",
        )
    kept, flat = take_rows(references.indptr, chosen)
    ids = [str(references.ids[i]) for i in chosen.tolist()]
    table: dict[str, int] = {}
    texts = [references.texts[i] for i in flat.tolist()]
    codes = np.array([table.setdefault(text, len(table)) for text in texts], np.int64)
    every, others = take_rows(kept, row_numbers(kept))
    others = others[others != row_numbers(every)]
    alone = len(sizes) - len(chosen)
    empty = sum(not text.strip() for text in texts)
    counts = {"single_reference": alone, "empty_references": empty}
    settings = {"tok": str(tokenizer.name), "cand": "references"}
    given = None
    if weights is not None:
        settings["weights"] = "given"
        given = _repeated(aligned_weights(weights, references, Alignment(ids)), sizes[chosen])
    return CaptionTask(
        ids=item_ids(ids, sizes[chosen]),
        texts=tuple(table),
        candidates=codes,
        images=np.arange(len(codes)),
        indptr=offsets(np.diff(every) - 1),
        references=codes[others],
        tokenizer=tokenizer,
        settings=settings,
        counts={name: number for name, number in counts.items() if number},
        weights=given,
        groups=np.repeat(hash_ids(ids), sizes[chosen]),
        unit="caption",
    )
