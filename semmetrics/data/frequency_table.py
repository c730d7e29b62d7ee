"""In how many documents n-grams occur: checked, and held as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.ragged import Codes, Ints
from semmetrics.errors import InputError, brief

__all__ = [
    "CLOSE",
    "LARGEST",
    "FrequencyTable",
    "check_counts",
    "frequency_table",
    "is_count",
    "log_of",
    "of_counts",
]

CLOSE = 1e-9  # to which a logarithm is that of a whole number
LARGEST = 2**53
"""Counts are below it: each is a float, too."""


@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """In how many documents n-grams occur.

    Attributes
    ----------
    documents : int or None
        How many documents there are; None where only a logarithm is known that is of no integer.
    log_documents : float
        The natural logarithm of their number; of 1 where there is none.
    vocabulary : tuple of str
        Tokens.
    grams : tuple of int arrays, shapes (n-grams, order)
        The distinct n-grams of orders 1, 2, …, as places in ``vocabulary``.
    counts : tuple of int arrays, shapes (n-grams,)
        In how many documents each occurs, at least 1.
    tokenizer, stem : str
        How the tokens were made; "" where that is not known.
    """

    documents: int | None
    log_documents: float
    vocabulary: tuple[str, ...]
    grams: tuple[Codes, ...]
    counts: tuple[Ints, ...]
    tokenizer: str = ""
    stem: str = ""


def log_of(documents: int) -> float:
    """The natural logarithm of a number of documents; 0 where there is none."""
    return float(np.log(np.float64(max(1, documents))))


def frequency_table(
    counts: Mapping[tuple[str, ...], Any], documents: int, tokenizer: str = "", stem: str = ""
) -> FrequencyTable:
    """A table from a mapping of n-grams to counts.

    Raises
    ------
    InputError
        If a count is no whole number from 0 to the number of documents, below 2**53.
    """
    if not is_count(documents):
        raise InputError(
            f"there are {brief(documents)} documents", remedy="give a whole number below 2**53"
        )
    table = of_counts(counts, documents, log_of(documents), "", tokenizer, stem)
    check_counts(table, "")
    return table


def is_count(number: object) -> bool:
    """Whether it is a whole number from 0, below 2**53."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < LARGEST


def of_counts(
    counts: Mapping[tuple[Any, ...], Any],
    documents: int | None,
    log_documents: float,
    name: str,
    tokenizer: str = "",
    stem: str = "",
) -> FrequencyTable:
    """A table from n-grams and their counts; counts of 0 are left out."""
    for gram, count in counts.items():
        _check_entry(gram, count, name)
    alike: dict[int, list[tuple[tuple[str, ...], Any]]] = {}
    for gram, count in counts.items():
        if count > 0:
            alike.setdefault(len(gram), []).append((gram, count))
    chosen = [alike.get(order, []) for order in range(1, max(alike, default=0) + 1)]
    names = dict.fromkeys(chain.from_iterable(gram for gram, count in counts.items() if count > 0))
    vocabulary = {token: code for code, token in enumerate(names)}
    return FrequencyTable(
        documents,
        log_documents,
        tuple(vocabulary),
        tuple(
            _rows((vocabulary[token] for gram, _ in some for token in gram), order)
            for order, some in enumerate(chosen, 1)
        ),
        tuple(np.array([count for _, count in some], np.int64) for some in chosen),
        tokenizer,
        stem,
    )


def _rows(codes: Iterable[int], order: int) -> Codes:
    return np.fromiter(codes, np.int32).reshape(-1, order)


def _check_entry(gram: tuple[Any, ...], count: Any, name: str) -> None:
    if not gram or not all(isinstance(token, str) for token in gram):
        raise InputError(
            f"{brief(gram)} is no n-gram", where=name, remedy="an n-gram is a tuple of tokens"
        )
    number = isinstance(count, int | float) and not isinstance(count, bool)
    if not number or not 0 <= count < LARGEST or count != int(count):
        raise InputError(
            f"the frequency of {brief(' '.join(gram))} is {brief(count)}",
            where=name,
            remedy="give the whole number of documents that hold it",
        )


def check_counts(table: FrequencyTable, name: str) -> None:
    """Refuse n-grams that are in more documents than there are: their weight would be negative."""
    most = math.exp(table.log_documents + CLOSE)
    most = most if table.documents is None else table.documents
    for grams, counts in zip(table.grams, table.counts, strict=True):
        if counts.max(initial=0) > most:
            place = int(np.argmax(counts))
            gram = brief(" ".join(table.vocabulary[code] for code in grams[place].tolist()))
            raise InputError(
                f"{gram} is in {counts[place]} of {table.documents or round(most, 1)} documents",
                where=name,
                remedy="count an n-gram once a document, or correct the number of documents",
            )
