"""Make the task of comparing candidate captions with references.

Conventions
-----------
An item is a candidate. Items are in the order of the references. If an image has several
candidates, they are called "id#1", "id#2" and so on, and share the references of the image.

An image without a caption on one side has no id or no captions there. By the option ``missing``,
it is an error, is left out ("skip"), or is scored as it is ("empty"): its candidate is an empty
caption, or it has no references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import (
    Codes,
    Ints,
    lengths,
    offsets,
    row_numbers,
    take_rows,
)
from semmetrics.data.item_ids import Ids
from semmetrics.data.join import Weights, join
from semmetrics.data.lists import Lists, renumber_entries
from semmetrics.data.swapped import check_captions
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import InputError
from semmetrics.kinds.captions.oddities import find_oddities

HUMAN = "human"
"""The system whose candidates are the references, each compared with the others of its image."""


class _Captions(NamedTuple):
    """The captions of the images of a task.

    Attributes
    ----------
    ids : sequence of str, or range
        The ids of the images.
    n_candidates : int array, shape (images,)
    texts : sequence of str
        The caption of each code.
    candidates : int array
        The codes of the candidates, image by image.
    references : int array
        The codes of the references, image by image.
    indptr : int array
        The offsets of the references of each image, or of each candidate.
    """

    ids: Ids
    n_candidates: Ints
    texts: Sequence[Any]
    candidates: NDArray[np.integer]
    references: NDArray[np.integer]
    indptr: Ints


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
        What to do with images that have no caption on one side.
    weights : Weights, optional
        The weight of each image. Each of its candidates has this weight.

    Returns
    -------
    CaptionTask
        ``counts`` has the number of images without captions ("missing_prediction",
        "missing_reference") and of images with several candidates ("several_candidates"), and the
        number of captions that are empty or only white space ("empty_candidates",
        "empty_references").

    Raises
    ------
    InputError
        If ids or lengths do not match, or a weight is wrong.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> class Tokenizer:
    ...     name = "whitespace"
    >>> candidates = as_captions({"a": ["a cat", "the cat"], "b": ["a dog"]})
    >>> references = as_captions({"b": ["dog"], "a": ["cat"]})
    >>> task = join_captions(candidates, references, tokenizer=Tokenizer)
    >>> task.ids, task.texts
    (['b', 'a#1', 'a#2'], ('a dog', 'a cat', 'the cat', 'dog', 'cat'))
    """
    check_captions(candidates, references)
    joined = join(candidates, references, missing=missing, noun="caption", gaps=True)
    sizes = joined.pred.sizes
    # An image without a caption has one empty candidate.
    n_candidates = np.maximum(sizes, 1)
    codes_by_text: dict[Any, int] = {}
    pred_codes = _code_texts(candidates.vocabulary, codes_by_text)
    ref_codes = _code_texts(references.vocabulary, codes_by_text)
    empty_code = codes_by_text.setdefault("", len(codes_by_text))
    candidate_codes = np.full(int(n_candidates.sum()), empty_code)
    has_caption = np.repeat(sizes > 0, n_candidates)
    candidate_codes[has_caption] = pred_codes[joined.pred.codes]
    captions = _Captions(
        ids=joined.ids,
        n_candidates=n_candidates,
        texts=list(codes_by_text),
        candidates=candidate_codes,
        references=ref_codes[joined.ref.codes],
        indptr=joined.ref.indptr,
    )
    counts = {
        **joined.counts,
        "several_candidates": int((sizes > 1).sum()),
        "empty_candidates": _count_empty(candidates, joined.pred.codes),
        "empty_references": _count_empty(references, joined.ref.codes),
    }
    settings = {"missing": missing}
    task = _make_task(captions, references, weights, tokenizer, counts, settings)
    observations = find_oddities(candidates, references, joined)
    return replace(task, observations=observations)


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
        The items of an image are called "id#1", "id#2" and so on, and each has its own references.
        Images with fewer than two references are left out and counted ("single_reference").

    Raises
    ------
    InputError
        If no image has two references, or a weight is wrong.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> class Tokenizer:
    ...     name = "whitespace"
    >>> references = as_captions({"a": ["x", "y", "z"], "b": ["x"]})
    >>> task = leave_one_out(references, tokenizer=Tokenizer)
    >>> task.ids, task.references.tolist(), task.counts
    (['a#1', 'a#2', 'a#3'], [1, 2, 0, 2, 0, 1], {'single_reference': 1})
    """
    images = np.flatnonzero(references.side.sizes > 1)
    if not len(images):
        raise InputError("single-references", references.source)
    indptr, places = take_rows(references.side.indptr, images)
    codes = references.side.codes[places]
    # Each reference is a candidate. It is paired with all references of its image, and then the
    # pair with itself is removed. Both are positions in `codes`.
    pair_indptr, paired = take_rows(indptr, row_numbers(indptr))
    others = paired[paired != row_numbers(pair_indptr)]
    captions = _Captions(
        ids=[str(references.ids[row]) for row in images.tolist()],
        n_candidates=lengths(indptr),
        texts=list(references.vocabulary),
        candidates=codes,
        references=codes[others],
        indptr=offsets(lengths(pair_indptr) - 1),
    )
    counts = {
        "single_reference": len(references) - len(images),
        "empty_references": _count_empty(references, codes),
    }
    settings = {"cand": "references"}
    task = _make_task(captions, references, weights, tokenizer, counts, settings)
    return replace(task, images=np.arange(len(task)))


def _code_texts(texts: Sequence[Any], codes_by_text: dict[Any, int]) -> Ints:
    """Return the code of each caption. New captions are added to the codes."""
    codes = (codes_by_text.setdefault(text, len(codes_by_text)) for text in texts)
    return np.fromiter(codes, np.int64, len(texts))


def _make_task(
    captions: _Captions,
    lists: Lists,
    weights: Weights | None,
    tokenizer: Any,
    counts: Mapping[str, int],
    settings: Mapping[str, str],
) -> CaptionTask:
    """Make the task of captions.

    Only the captions that occur are stored, in the order in which they first occur among the
    candidates and then the references.

    Parameters
    ----------
    captions : _Captions
    lists : Lists
        The references, whose order an array of weights has.
    weights : Weights or None
        The weight of each image. Each of its candidates has this weight.
    tokenizer : Tokenizer
    counts : mapping from code to int
    settings : mapping
        The settings in the signature, except the tokenizer and the weights.
    """
    all_codes = np.concatenate([captions.candidates, captions.references])
    texts, new_codes = renumber_entries(captions.texts, all_codes)
    n_candidates = int(captions.n_candidates.sum())
    candidates, references = np.split(new_codes.astype(np.int64), [n_candidates])
    all_settings = {"tok": str(tokenizer.name), **settings}
    weight_of_candidate = None
    if weights is not None:
        all_settings["weights"] = "given"
        weight_of_image = weights.align(lists, captions.ids)
        weight_of_candidate = np.repeat(weight_of_image, captions.n_candidates)
    return CaptionTask.of_images(
        captions.ids,
        captions.n_candidates,
        texts=tuple(texts),
        candidates=candidates,
        indptr=captions.indptr,
        references=references,
        tokenizer=tokenizer,
        counts={name: number for name, number in counts.items() if number},
        settings=all_settings,
        weights=weight_of_candidate,
    )


def _count_empty(lists: Lists, codes: Codes) -> int:
    """Count the captions that are empty or only white space."""
    is_empty = [not str(text).strip() for text in lists.vocabulary]
    return int(np.array(is_empty, np.bool_)[codes].sum())
