"""What every tokenizer asks of its captions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from semmetrics.errors import InputError, brief

__all__ = ["check_captions", "one_line"]

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
    semmetrics.errors.InputError: caption 1: None is a NoneType, not a string; ...
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
                f"{brief(caption)} is a {type(caption).__name__}, not a string",
                where=f"caption {index}",
                remedy='write a caption as "a dog runs"',
            )


def one_line(caption: str) -> str:
    r"""The caption with a blank for each line separator.

    Examples
    --------
    >>> one_line("a dog\nruns\u2028fast")
    'a dog runs fast'
    """
    return _LINE_ENDS.sub(" ", caption)
