"""METEOR: words of a candidate matched with those of a reference, and the order they stand in.

Conventions
-----------
The value of several captions is the formula on their summed counts, not the mean of their values.
A caption whose words all match in one chunk adds no chunk to the sum. Values lie in [0, 1]; higher
is better. Items without a reference have no value and add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Dense, as_floats
from semmetrics.core.ragged import Floats, Ints
from semmetrics.metrics.captions.families import (
    SKIP_OR_NAN,
    CountSums,
    References,
    reference_causes,
    summed_or_nan,
)
from semmetrics.metrics.captions.meteor_jar import COUNTS, STAGES, meteor_missing, segment_counts
from semmetrics.metrics.captions.tokens import CaptionBlock, Tokens
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.registry import add

__all__ = ["METEOR", "MeteorCounts", "TokenLists", "meteor_missing", "meteor_value"]

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = dict(zip(STAGES, (1.0, 0.6, 0.8, 0.6), strict=True))
_PLACE = {name: place for place, name in enumerate(COUNTS)}


@dataclass(frozen=True)
class TokenLists:
    """The tokens of all captions of the task, as lists; made at the first use."""

    def compute(self, block: CaptionBlock) -> list[list[str]]:
        """Tokens of each distinct caption."""
        shared = block.task.shared
        if "token lists" not in shared:
            table = block.get(Tokens())
            words = [table.vocabulary[code] for code in table.codes.tolist()]
            bounds = table.indptr.tolist()
            shared["token lists"] = [words[a:b] for a, b in pairwise(bounds)]
        tokens: list[list[str]] = shared["token lists"]
        return tokens


@dataclass(frozen=True)
class MeteorCounts:
    """The counts of each item, from one run of the program for the whole task."""

    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """The columns ``COUNTS``, and "cause"."""
        shared = block.task.shared
        if "meteor" not in shared:
            shared["meteor"] = _task_counts(block)
        counts = shared["meteor"][block.start : block.stop]
        columns: dict[str, Any] = {
            name: Dense(np.ascontiguousarray(counts[:, place])) for name, place in _PLACE.items()
        }
        return {**columns, "cause": reference_causes(block.get(References()).n_refs)}


def _task_counts(block: CaptionBlock) -> NDArray[np.int64]:
    """Counts of all items of the block's task; zeros without a reference."""
    task = block.task
    texts = [" ".join(tokens) for tokens in block.get(TokenLists())]
    indptr, references = task.pairs(0, len(task))
    some = np.flatnonzero(np.diff(indptr))
    counts = np.zeros((len(task), len(COUNTS)), np.int64)
    counts[some] = segment_counts(
        [texts[code] for code in task.candidates[some].tolist()],
        [[texts[code] for code in references[indptr[i] : indptr[i + 1]]] for i in some.tolist()],
    )
    counts[_whole(counts), _PLACE["chunks"]] = 0
    return counts


def _whole(counts: Ints) -> NDArray[np.bool_]:
    """Segments whose words all match, on both sides, in one chunk."""
    count = {name: counts[:, place] for name, place in _PLACE.items()}
    matched = (count["matched_pred"] == count["n_pred"]) & (count["matched_ref"] == count["n_ref"])
    whole: NDArray[np.bool_] = matched & (count["chunks"] == 1)
    return whole


def meteor_value(counts: Any) -> Floats:
    r"""METEOR 1.5 for English of counts, or of sums of counts.

    ``(1 - gamma (chunks / matches)^beta) P R / (alpha P + (1 - alpha) R)``. In precision P and
    recall R a content word weighs ``delta`` and a function word ``1 - delta``, and a match the
    weight of its stage; ``matches`` is the mean of the matched words of both sides.

    Parameters
    ----------
    counts : mapping from name to float arrays of one shape
        The names are ``COUNTS``.

    Returns
    -------
    float array of that shape
        In [0, 1]; 0 where nothing matches.

    References
    ----------
    Denkowski and Lavie 2014, section 2, with the program's parameters for English; Banerjee and
    Lavie 2005 for chunks.

    Examples
    --------
    Four words in one chunk, of five and six, all of them content words:

    >>> counts = dict.fromkeys(COUNTS, np.array(0.0))
    >>> counts |= {"n_pred": np.array(5.0), "n_ref": np.array(6.0), "chunks": np.array(1.0)}
    >>> counts |= dict.fromkeys(("matched_pred", "matched_ref"), np.array(4.0))
    >>> counts |= dict.fromkeys(("exact_content_pred", "exact_content_ref"), np.array(4.0))
    >>> round(float(meteor_value(counts)), 4)
    0.3728
    """
    precision, recall = (_share(counts, side) for side in ("pred", "ref"))
    both = ALPHA * precision + (1 - ALPHA) * recall
    mean = precision * recall / np.where(both > 0, both, 1.0)
    words = (counts["matched_pred"] + counts["matched_ref"]) / 2
    parts = counts["chunks"] / np.where(words > 0, words, 1.0)
    return np.asarray(mean * (1 - GAMMA * parts**BETA))


def _share(counts: Any, side: str) -> Floats:
    """Weighted matches over weighted words of one side, 0 without words."""
    function = counts[f"function_{side}"]
    words = DELTA * (counts[f"n_{side}"] - function) + (1 - DELTA) * function
    matches = sum(
        weight
        * (
            DELTA * counts[f"{stage}_content_{side}"]
            + (1 - DELTA) * counts[f"{stage}_function_{side}"]
        )
        for stage, weight in WEIGHTS.items()
    )
    share: Floats = matches / np.where(words > 0, words, 1.0)
    return share


class MeteorFamily(CountSums):
    """METEOR of summed counts."""

    def statistic(self, measure: Measure) -> Statistic:
        """The program's counts."""
        return MeteorCounts()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The formula on the sums; nan where no item has a reference."""
        value = meteor_value({name: as_floats(sums[name]) for name in COUNTS})
        return summed_or_nan(measure, sums, value)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The formula on each item: the program's segment score."""
        columns: Any = rows
        value = meteor_value({name: columns[name].values.astype(np.float64) for name in COUNTS})
        return np.where(columns["cause"].codes == 0, value, np.nan)


METEOR = add(
    Definition(
        name="METEOR",
        family=MeteorFamily(),
        summary="Harmonic mean of weighted precision and recall of matched words, less a penalty "
        "for chunks.",
        equation="(1 - .6 (chunks/matches)^.2) P R / (.85 P + .15 R), on summed counts",
        source="METEOR 1.5 for English as pycocoevalcap 1.2 runs it (Denkowski and Lavie 2014)",
        cite=("denkowski2014", "banerjee2005"),
        options=(
            Option(
                "release",
                "release",
                "1.5",
                ("1.5",),
                help="the release of the program, with its English parameters and -norm",
            ),
            SKIP_OR_NAN,
        ),
        order_invariant=False,
        cutoff=False,
        kind="captions",
    )
)
