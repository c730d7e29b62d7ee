"""Tokens and n-grams of a task's captions: each distinct caption once, for all measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Codes, Ints
from semmetrics.data.block import Block
from semmetrics.data.caption_task import CaptionTask
from semmetrics.text.tokens import encode_tokens

__all__ = ["CaptionBlock", "TokenTable", "Tokens"]

CaptionBlock: TypeAlias = Block[CaptionTask]


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of the distinct captions of a task.

    Attributes
    ----------
    indptr, codes : int arrays
        Tokens of each caption, as numbers.
    vocabulary : list of str
        The token of each number.
    """

    indptr: Ints
    codes: Codes
    vocabulary: list[str]

    @cached_property
    def ngrams(self) -> list[NGrams]:
        """Counts of the n-grams of orders 1 to 4."""
        return count_ngrams(self.indptr, self.codes)


@dataclass(frozen=True)
class Tokens:
    """The tokens of all captions of the task, made at the first use.

    ``stem`` is "none" or "porter".
    """

    stem: str = "none"

    def compute(self, block: CaptionBlock) -> TokenTable:
        """Tokenise and code them."""
        task = block.task
        key = ("tokens", self.stem)
        if key not in task.shared:
            lists = task.tokenizer.tokens(task.texts)
            if self.stem == "porter":
                lists = _stemmed(lists)
            task.shared[key] = TokenTable(*encode_tokens(lists))
        table: TokenTable = task.shared[key]
        return table


def _stemmed(lists: list[list[str]]) -> list[list[str]]:
    from semmetrics.text.stem import porter_stem

    stems = {token: porter_stem(token) for tokens in lists for token in tokens}
    return [[stems[token] for token in tokens] for tokens in lists]
