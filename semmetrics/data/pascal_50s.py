"""The pairs of captions of Pascal-50S, and which of them people prefer.

Files
-----
``pair_pascal.mat``: ``new_input`` (1, 4000), of each pair the image and both captions; ``category``
(1, 4000), 1 to 4 for HC (both by people, correct), HI (one of another image), HM (one by a
machine) and MM (both). ``consensus_pascal.mat``: ``triplets`` (1, 192000), 48 for each pair: a
reference, both captions, and 1 or -1 for the one that is nearer to it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semmetrics.data.form import ReadOptions, number
from semmetrics.data.judgements import Judgements
from semmetrics.data.mat_file import Struct, read_mat
from semmetrics.data.source import load
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import pluralize

__all__ = ["is_pascal", "read_pascal"]

_CATEGORIES = ("HC", "HI", "HM", "MM")
_PASCAL = ("pair_pascal.mat", "consensus_pascal.mat")
_VARIABLES = ("new_input", "category", "triplets")
_AS_PUBLISHED = "give the files of Pascal-50S as they are"


def is_pascal(path: Path) -> bool:
    """Return whether a path is that of the files, or of a folder, where they are sought."""
    return path.suffix == ".mat" or path.is_dir()


def read_pascal(path: Path, random: np.random.Generator, options: ReadOptions) -> Judgements:
    """Read the pairs, their categories, and the references and votes on each pair.

    Votes that are equal are broken at random.
    """
    folder = path if path.is_dir() else path.parent
    if folder != path and path.name not in _PASCAL:
        raise InputError("MATLAB files are read of Pascal-50S alone", where=os.fspath(path),
                         remedy=f"give {' or '.join(_PASCAL)}, or their folder")  # fmt: skip
    where = os.fspath(folder)
    given, kinds, votes = _read_parts(folder, options)
    each, leads, groups = len(votes) // len(given), list[int](), list[str]()
    candidates, references, images = list[str](), list[tuple[str, ...]](), list[str]()
    for row, (image, *both) in enumerate(given):
        pair, some = [_cell(text) for text in both], votes[row * each : (row + 1) * each]
        place = f"{where}, pair {row}{FROM_0}"
        leads.append(_lead(pair, some, place))
        candidates += pair
        references += [tuple(_cell(reference) for reference, *_ in some)] * 2
        images += [_cell(image)] * 2
        groups.append(_category(kinds[row], place))
    values = [float(np.sign(lead)) if lead else random.choice([1.0, -1.0]) for lead in leads]
    tied = pluralize(leads.count(0), "pair")
    notes = [f"{tied} with as many votes for either side: decided at random"] * (0 in leads)
    firsts = np.arange(0, 2 * len(given), 2)
    return Judgements(candidates, references, images, True, np.array(values), firsts, firsts + 1,
                      groups, where, notes)  # fmt: skip


_Records: TypeAlias = list[tuple[Any, ...]]


def _read_parts(folder: Path, options: ReadOptions) -> tuple[_Records, list[Any], _Records]:
    """Return the pairs, the category of each, and as many votes for each."""
    pairs, triplets = (
        read_mat(load(folder / name, options.max_bytes), _VARIABLES) for name in _PASCAL
    )
    where = os.fspath(folder)
    given, votes = _struct(pairs, "new_input", 3, where), _struct(triplets, "triplets", 4, where)
    kinds = pairs.get("category")
    kinds = kinds.tolist() if isinstance(kinds, np.ndarray) else []
    if not given or len(kinds) != len(given) or len(votes) % len(given):
        sizes = ((len(given), "pair"), (len(kinds), "category"), (len(votes), "vote"))
        raise InputError(f"{', '.join(pluralize(*size) for size in sizes)} do not fit",
                         where=where, remedy=_AS_PUBLISHED)  # fmt: skip
    return given, kinds, votes


def _lead(pair: list[str], votes: list[tuple[Any, ...]], place: str) -> int:
    """Return how many more votes the first caption of a pair has than the second."""
    won: Counter[str] = Counter()
    for _, first, second, vote in votes:
        side = number(_cell(vote), place, "vote")
        if side not in (1, -1):
            raise InputError(f"the vote {side:g} is neither 1 nor -1", where=place,
                             remedy=_AS_PUBLISHED)  # fmt: skip
        won[_cell(first if side == 1 else second)] += 1
    if not won.keys() <= {*pair}:
        raise InputError("votes are on other captions", where=place, remedy=_AS_PUBLISHED)
    return won[pair[0]] - won[pair[1]]


def _struct(found: Mapping[str, Any], name: str, width: int, where: str) -> _Records:
    """Return the records of a MATLAB struct array, as tuples of its fields in their order."""
    value = found.get(name)
    if not isinstance(value, Struct) or len(value.fields) != width:
        raise InputError(f"there is no struct array {name!r} with {width} fields", where=where,
                         remedy=_AS_PUBLISHED)  # fmt: skip
    return value.records


def _cell(value: Any) -> str:
    """Return the text that arrays and cells are wrapped round."""
    while isinstance(value, np.ndarray | list):
        value = value[0] if len(value) else ""
    return str(value).strip()


def _category(value: Any, where: str) -> str:
    if value not in range(1, len(_CATEGORIES) + 1):
        raise InputError(f"{value} is no category", where=where, remedy="write 1 to 4")
    return _CATEGORIES[int(value) - 1]
