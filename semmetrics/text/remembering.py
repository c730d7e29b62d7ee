"""A tokenizer that makes tokens of each caption once, however many systems are scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.errors import InputError

__all__ = ["Remembering"]


class Remembering:
    """Keeps the tokens of every caption it has seen.

    Parameters
    ----------
    tokenizer : Tokenizer

    Examples
    --------
    >>> from semmetrics.text.tokenize import open_tokenizer
    >>> tokenizer = Remembering(open_tokenizer("whitespace"))
    >>> tokenizer.name, tokenizer.tokens(["a cat", "a dog", "a cat"])
    ('whitespace', [['a', 'cat'], ['a', 'dog'], ['a', 'cat']])
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[str]] = {}
        self.name: str = tokenizer.name

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """The tokens of each caption."""
        new = [text for text in dict.fromkeys(captions) if text not in self._known]
        found = self._tokenizer.tokens(new)
        if len(found) != len(new):
            raise InputError(
                f"the tokenizer {self.name} gives {len(found)} lists for {len(new)} captions",
                remedy="give the tokens of each caption",
            )
        self._known.update(zip(new, found, strict=True))
        return [self._known[text] for text in captions]
