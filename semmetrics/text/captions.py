"""Check lists of captions, and write a caption on one line."""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized

from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import pluralize

_LINE_SEPARATOR = re.compile("[\n\r\x0b\x0c\u2028\u2029]")


def check_captions(captions: Sequence[object]) -> None:
    """Check that captions are a list of strings.

    Raises
    ------
    InputError
        If the captions are a single string, or one of them is not a string. The message
        has the index of that caption.

    Examples
    --------
    >>> check_captions(["a dog", None])
    Traceback (most recent call last):
    semmetrics.errors.InputError: caption 1 (from 0): None is null. Expected a string.
    """
    if isinstance(captions, str):
        raise InputError("wrong-type", value=captions, wanted="a list of captions")
    # Usually all are plain strings, which the set of types shows faster than a loop.
    types = set(map(type, captions))
    if types <= {str}:
        return
    for index, caption in enumerate(captions):
        if not isinstance(caption, str):
            where = f"caption {index}{FROM_0}"
            raise InputError("wrong-type", where, value=caption, wanted="a string")


def check_count(where: str, lists: Sized, captions: Sized) -> None:
    """Check that each caption has one list, of its tokens or of its tuples.

    Raises
    ------
    InputError
        If there are more or fewer lists than captions.
    """
    n_lists = len(lists)
    n_captions = len(captions)
    if n_lists != n_captions:
        raise InputError(
            "wrong-count",
            where,
            found=pluralize(n_lists, "list"),
            wanted=pluralize(n_captions, "caption"),
        )


def one_line(caption: str) -> str:
    r"""Replace each line separator by a space.

    Examples
    --------
    >>> one_line("a dog\nruns\u2028fast")
    'a dog runs fast'
    """
    return _LINE_SEPARATOR.sub(" ", caption)
