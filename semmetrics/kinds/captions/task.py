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
from semmetrics.core.ragged import Bools, Floats, Ints, lengths, offsets, row_numbers, take_rows
from semmetrics.data.join import Joined, aligned_weights, join
from semmetrics.data.lists import Lists
from semmetrics.data.tasks import CaptionTask, item_ids
from semmetrics.errors import InputError

__all__ = ["join_captions", "leave_one_out"]

Weights = Mapping[str, float] | Sequence[float] | Floats


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
    >>> from semmetrics.kinds.captions.reading import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> mine = as_captions({"a": ["a cat", "the cat"], "b": ["a dog"]})
    >>> task = join_captions(mine, as_captions({"b": ["dog"], "a": ["cat"]}), tokenizer=Blanks)
    >>> task.ids, task.texts
    (['b', 'a#1', 'a#2'], ('a dog', 'a cat', 'the cat', 'dog', 'cat'))
    """
    joined = join(candidates, references, missing=missing, noun="caption", gaps=True)
    found = lengths(joined.pred.indptr)
    sizes = np.maximum(found, 1)
    texts, mine, theirs = _one_vocabulary(joined, candidates, references, found)
    several = int((found > 1).sum())
    counts = joined.counts | ({"several_candidates": several} if several else {})
    for name, side, lists in (
        ("empty_candidates", joined.pred, candidates),
        ("empty_references", joined.ref, references),
    ):
        if empty := int(_blank(lists)[side.codes].sum()):
            counts[name] = empty
    more: dict[str, Any] = {}
    settings = {"tok": str(tokenizer.name), "missing": missing}
    if weights is not None:
        settings["weights"] = "given"
        more["weights"] = _repeated(aligned_weights(weights, references, joined.ids), sizes)
    if several:
        more |= {"groups": np.repeat(hash_ids(joined.ids), sizes), "unit": "caption"}
    return CaptionTask(
        ids=item_ids(joined.ids, sizes),
        texts=texts,
        candidates=mine,
        images=np.repeat(np.arange(len(sizes)), sizes),
        indptr=joined.ref.indptr,
        references=theirs,
        tokenizer=tokenizer,
        settings=settings,
        counts=counts,
        **more,
    )


def _one_vocabulary(
    joined: Joined, candidates: Lists, references: Lists, found: Ints
) -> tuple[tuple[str, ...], Ints, Ints]:
    """Return the distinct captions in order of first appearance, and the codes of both sides."""
    table: dict[Any, int] = {}
    mine, theirs = (
        np.fromiter((table.setdefault(text, len(table)) for text in lists.vocabulary), np.int64)
        for lists in (candidates, references)
    )
    filled = np.full(int(np.maximum(found, 1).sum()), table.setdefault("", len(table)))
    filled[np.repeat(found > 0, np.maximum(found, 1))] = mine[joined.pred.codes]
    flat = np.concatenate([filled, theirs[joined.ref.codes]])
    first = np.full(len(table), len(flat))
    first[flat[::-1]] = np.arange(len(flat))[::-1]  # of places written twice the last one stays
    order = np.argsort(first)[: int((first < len(flat)).sum())]
    place = np.empty(len(table), np.int64)
    place[order] = np.arange(len(order))
    texts, flat = list(table), place[flat]
    return tuple(texts[i] for i in order.tolist()), flat[: len(filled)], flat[len(filled) :]


def _blank(lists: Lists) -> Bools:
    """Tell which captions of the vocabulary hold nothing but blanks."""
    return np.array([not str(text).strip() for text in lists.vocabulary], np.bool_)


def _repeated(weights: Floats, sizes: Ints) -> Floats:
    """Return the weight of each candidate, from those of images."""
    if len(weights) and not weights.any():
        raise InputError("all sample weights are zero", remedy="give some item a weight")
    return np.repeat(weights, sizes)


def leave_one_out(
    references: Lists, *, tokenizer: Any, weights: Weights | None = None
) -> CaptionTask:
    """Make the task of comparing each reference with the other references of its image.

    Parameters
    ----------
    references : Lists
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
    >>> from semmetrics.kinds.captions.reading import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> task = leave_one_out(as_captions({"a": ["x", "y", "z"], "b": ["x"]}), tokenizer=Blanks)
    >>> task.ids, task.references.tolist(), task.counts
    (['a#1', 'a#2', 'a#3'], [1, 2, 0, 2, 0, 1], {'single_reference': 1})
    """
    sizes = lengths(references.side.indptr)
    chosen = np.flatnonzero(sizes > 1)
    if not len(chosen):
        raise InputError(
            "no image has two references",
            where=references.source,
            remedy="leaving one out needs at least two",
        )
    kept, flat = take_rows(references.side.indptr, chosen)
    ids = [str(references.ids[i]) for i in chosen.tolist()]
    table: dict[Any, int] = {}
    vocabulary = list(references.vocabulary)
    texts = [vocabulary[code] for code in references.side.codes[flat].tolist()]
    codes = np.array([table.setdefault(text, len(table)) for text in texts], np.int64)
    every, others = take_rows(kept, row_numbers(kept))
    others = others[others != row_numbers(every)]
    alone = len(sizes) - len(chosen)
    empty = int(_blank(references)[references.side.codes[flat]].sum())
    counts = {"single_reference": alone, "empty_references": empty}
    settings = {"tok": str(tokenizer.name), "cand": "references"}
    given = None
    if weights is not None:
        settings["weights"] = "given"
        given = _repeated(aligned_weights(weights, references, ids), sizes[chosen])
    return CaptionTask(
        ids=item_ids(ids, sizes[chosen]),
        texts=tuple(table),
        candidates=codes,
        images=np.arange(len(codes)),
        indptr=offsets(lengths(every) - 1),
        references=codes[others],
        tokenizer=tokenizer,
        settings=settings,
        counts={name: number for name, number in counts.items() if number},
        weights=given,
        groups=np.repeat(hash_ids(ids), sizes[chosen]),
        unit="caption",
    )
