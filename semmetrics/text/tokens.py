"""What tokenizers share: checks of captions, and tokens as integers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np

from semmetrics.core.ragged import Codes, Ints, offsets
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import brief, misfit

__all__ = ["PUNCTUATION", "check_captions", "encode_tokens", "one_line"]

# The PTB tokens that pycocoevalcap removes, in its capitals.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", "--", "...", *".?!,:-;"]
)
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\u2028\u2029]")


def check_captions(captions: Sequence[str]) -> None:
    """Refuse captions that are not strings.

    Raises
    ------
    InputError
        If the captions are one string, or one of them is not a string; names its index.

    Examples
    --------
    >>> check_captions(["a dog", None])
    Traceback (most recent call last):
    semmetrics.errors.InputError: caption 1: None (null) is not a string; ...
    """
    if isinstance(captions, str):
        raise InputError(
            f"the captions are one string, {brief(captions)}", remedy="give a list of captions"
        )
    if set(map(type, captions)) <= {str}:
        return
    for index, caption in enumerate(captions):
        if not isinstance(caption, str):
            raise InputError(
                misfit(caption, "a string"),
                where=f"caption {index}{FROM_0}",
                remedy='write a caption as "a dog runs"',
            )


def one_line(caption: str) -> str:
    r"""Replace each line separator of a caption with a blank.

    Examples
    --------
    >>> one_line("a dog\nruns\u2028fast")
    'a dog runs fast'
    """
    return _LINE_ENDS.sub(" ", caption)


def encode_tokens(token_lists: Sequence[Sequence[str]]) -> tuple[Ints, Codes, list[str]]:
    """Code tokens by their first occurrence.

    Parameters
    ----------
    token_lists : sequence of sequence of str

    Returns
    -------
    indptr : array, shape (captions + 1,), int64
        Caption ``i`` has the codes ``codes[indptr[i]:indptr[i + 1]]``.
    codes : array, shape (tokens,), int32
        Places in the vocabulary.
    vocabulary : list of str
        The distinct tokens in order of first occurrence.

    Examples
    --------
    >>> indptr, codes, vocabulary = encode_tokens([["a", "dog"], [], ["dog", "a", "cat"]])
    >>> indptr.tolist(), codes.tolist(), vocabulary
    ([0, 2, 2, 5], [0, 1, 1, 0, 2], ['a', 'dog', 'cat'])
    """
    indptr = offsets(np.fromiter(map(len, token_lists), np.int64, len(token_lists)))
    table: defaultdict[str, int] = defaultdict(count().__next__)
    flat = chain.from_iterable(token_lists)
    codes = np.fromiter(map(table.__getitem__, flat), np.int32, int(indptr[-1]))
    return indptr, codes, list(table)
