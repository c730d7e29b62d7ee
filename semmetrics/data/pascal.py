"""Reader of Pascal-50S, preferences between two captions of an image (Vedantam et al. 2015).

Files
-----
``pair_pascal.mat`` contains ``new_input`` (1, 4000), the image and both captions of each pair, and
``category`` (1, 4000), a number from 1 to 4:

1. HC: people wrote both captions, and both describe the image.
2. HI: people wrote both captions, and one describes another image.
3. HM: a person wrote one caption, and a machine the other.
4. MM: machines wrote both captions.

``consensus_pascal.mat`` contains ``triplets`` (1, 192000), 48 votes for each pair. A vote is a
reference, both captions, and 1 or -1 for the caption that is nearer to the reference.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.judgements import Judgements
from semmetrics.data.mat_files import Struct, read_mat
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import load
from semmetrics.errors import FROM_0, Fact, InputError

_PAIRS_FILE = "pair_pascal.mat"
_VOTES_FILE = "consensus_pascal.mat"
_VARIABLES = ("new_input", "category", "triplets")
_CATEGORIES = ("HC", "HI", "HM", "MM")
_SIGN_FIELD = 3
"""The field of a vote that contains 1 or -1."""
_CAPTION_FIELDS = {"1": 1, "-1": 2}
"""The field of a vote that contains the preferred caption, by sign."""

_Record = tuple[Any, ...]


class _Pair(NamedTuple):
    """A pair of captions and the votes on it.

    Attributes
    ----------
    image : str
    captions : list of two str
    references : tuple of str
        The reference of each vote.
    lead : int
        How many more votes the first caption has.
    category : str
    """

    image: str
    captions: list[str]
    references: tuple[str, ...]
    lead: int
    category: str


def is_pascal(path: Path) -> bool:
    """Return whether a path may be Pascal-50S: a .mat file or a folder."""
    return path.suffix == ".mat" or path.is_dir()


def read_pascal(
    path: Path, random: np.random.Generator, options: ReadOptions
) -> Judgements:
    """Read Pascal-50S from one of its files or their folder.

    Parameters
    ----------
    path : Path
    random : Generator
        Decides pairs with equally many votes for both captions.
    options : ReadOptions

    Raises
    ------
    InputError
        If the files are not Pascal-50S.
    """
    folder = path if path.is_dir() else path.parent
    where = os.fspath(folder)
    pairs = _read_pairs(path, folder, options)
    candidates: list[str] = []
    references: list[tuple[str, ...]] = []
    images: list[str] = []
    values: list[float] = []
    for pair in pairs:
        candidates += pair.captions
        references += [pair.references, pair.references]
        images += [pair.image, pair.image]
        if pair.lead:
            values.append(float(np.sign(pair.lead)))
        else:
            values.append(random.choice([1.0, -1.0]))
    notes = []
    n_ties = sum(pair.lead == 0 for pair in pairs)
    if n_ties:
        notes.append(Fact("equal-votes", n_ties, where=where))
    first = np.arange(0, 2 * len(pairs), 2)
    return Judgements(
        candidates,
        references,
        images,
        are_captions=True,
        values=np.array(values),
        first=first,
        second=first + 1,
        groups=[pair.category for pair in pairs],
        source=where,
        notes=notes,
    )


def _read_pairs(path: Path, folder: Path, options: ReadOptions) -> list[_Pair]:
    """Read the pairs with their votes."""
    where = os.fspath(folder)
    if folder != path and path.name not in (_PAIRS_FILE, _VOTES_FILE):
        raise InputError(
            "wrong-format",
            os.fspath(path),
            what="judgements",
            format="other .mat files",
            wanted=f"{_PAIRS_FILE} or {_VOTES_FILE}, or their folder",
        )
    pair_variables = _read_variables(folder / _PAIRS_FILE, options)
    vote_variables = _read_variables(folder / _VOTES_FILE, options)
    pairs = _read_records(pair_variables, "new_input", 3, where)
    votes = _read_records(vote_variables, "triplets", 4, where)
    categories = np.atleast_1d(pair_variables.get("category", ())).tolist()
    n_pairs = len(pairs)
    n_votes = len(votes)
    is_consistent = n_pairs > 0 and len(categories) == n_pairs and n_votes > 0
    if not is_consistent or n_votes % n_pairs:
        n_categories = len(categories)
        why = (
            f"{n_pairs} pairs, {n_categories} categories and {n_votes} votes do not fit"
        )
        raise InputError("not-pascal", where, why=why)
    n_votes_per_pair = n_votes // n_pairs
    judged_pairs = []
    for row, pair in enumerate(pairs):
        first_vote = row * n_votes_per_pair
        own_votes = votes[first_vote : first_vote + n_votes_per_pair]
        place = f"{where}, pair {row}{FROM_0}"
        judged_pairs.append(_as_pair(pair, own_votes, categories[row], place))
    return judged_pairs


def _read_variables(path: Path, options: ReadOptions) -> Mapping[str, Any]:
    """Read the variables of a MATLAB file that contain judgements."""
    return read_mat(load(path, options.max_bytes), _VARIABLES)


def _read_records(
    variables: Mapping[str, Any], name: str, width: int, where: str
) -> list[_Record]:
    """Return the records of a struct array, which are tuples with a value for each field."""
    struct = variables.get(name)
    if not isinstance(struct, Struct) or len(struct.fields) != width:
        why = f"no struct array {name} with {width} fields"
        raise InputError("not-pascal", where, why=why)
    return struct.records


def _as_pair(
    pair: _Record, votes: Sequence[_Record], category: Any, where: str
) -> _Pair:
    """Count the votes on a pair."""
    image, *captions = map(_read_cell, pair)
    votes_by_caption = Counter(map(_preferred_caption, votes))
    is_known_category = category in range(1, len(_CATEGORIES) + 1)
    if not votes_by_caption.keys() <= set(captions) or not is_known_category:
        why = (
            "votes must be 1 or -1 and on the same captions, and categories from 1 to 4"
        )
        raise InputError("not-pascal", where, why=why)
    first, second = captions
    return _Pair(
        image,
        captions,
        references=tuple(_read_cell(vote[0]) for vote in votes),
        lead=votes_by_caption[first] - votes_by_caption[second],
        category=_CATEGORIES[int(category) - 1],
    )


def _preferred_caption(vote: _Record) -> str:
    """Return the caption that a vote prefers. Return an invalid sign, which is not a caption."""
    sign = _read_cell(vote[_SIGN_FIELD])
    if sign not in _CAPTION_FIELDS:
        return sign
    return _read_cell(vote[_CAPTION_FIELDS[sign]])


def _read_cell(value: Any) -> str:
    """Return the string or number inside nested arrays and cells as a string."""
    while isinstance(value, np.ndarray | list):
        elements = value
        if isinstance(value, np.ndarray):
            elements = value.ravel().tolist()
        value = elements[0] if elements else ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
