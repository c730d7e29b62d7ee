"""METEOR as nltk computes it, which is another measure than METEOR 1.5.

Conventions
-----------
nltk has the formula of 2007, matches greedily (equal, then equal stems, then synonyms of WordNet),
weighs all words the same, and has no paraphrases. The value of an item is the largest over its
references; that of several is their mean. Values lie in [0, 1]; higher is better.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics.captions.families import NO_REFERENCE, References, caption_values
from semmetrics.metrics.captions.meteor import TokenLists
from semmetrics.metrics.captions.tokens import CaptionBlock
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic, Value
from semmetrics.metrics.policies import ItemMeans
from semmetrics.metrics.registry import add

__all__ = ["METEOR_NLTK", "NltkValues"]


@dataclass(frozen=True)
class NltkValues:
    """nltk's METEOR of each item."""

    alpha: float
    beta: float
    gamma: float
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Columns "value" and "cause"."""
        score, tokens, beside = _score(), block.get(TokenLists()), block.get(References())
        bounds, references = beside.indptr.tolist(), beside.references.tolist()
        values: Floats = np.full(len(block), np.nan)
        for row, code in enumerate(beside.candidates.tolist()):
            several = references[bounds[row] : bounds[row + 1]]
            if several:
                values[row] = score(
                    [tokens[one] for one in several],
                    tokens[code],
                    alpha=self.alpha,
                    beta=self.beta,
                    gamma=self.gamma,
                )
        return caption_values(values, beside.n_refs)


def _score() -> Callable[..., float]:
    """The function of nltk, once its data is seen to be there."""
    try:
        corpus: Any = importlib.import_module("nltk.corpus")
        module: Any = importlib.import_module("nltk.translate.meteor_score")
    except ImportError:
        raise MissingDependencyError("nltk", "METEOR-nltk", extra="wordnet") from None
    try:
        corpus.wordnet.ensure_loaded()
    except (LookupError, OSError):
        raise InputError(
            "METEOR-nltk needs WordNet, which nltk has not here",
            remedy="run: python -m nltk.downloader wordnet",
        ) from None
    score: Callable[..., float] = module.meteor_score
    return score


class NltkFamily(ItemMeans):
    """The mean of nltk's METEOR over items."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        alpha, beta, gamma = (float(measure[name] or 0.0) for name in ("alpha", "beta", "gamma"))
        return NltkValues(alpha, beta, gamma)


def _share(name: str) -> Callable[[Value], None]:
    def check(value: Value) -> None:
        if not isinstance(value, float) or not 0 <= value <= 1:
            raise InputError(f"{name}={value} is not in [0, 1]")

    return check


def _check_beta(value: Value) -> None:
    if not isinstance(value, float) or not 0 <= value < np.inf:
        raise InputError(f"beta={value} is not a finite number from 0")


METEOR_NLTK = add(
    Definition(
        name="METEOR-nltk",
        family=NltkFamily(),
        summary="nltk's METEOR: mean over items of the largest value over references.",
        equation="(1 - gamma (chunks/matches)^beta) P R / (alpha P + (1 - alpha) R)",
        source="nltk.translate.meteor_score (Lavie and Agarwal 2007)",
        cite=("lavie2007",),
        options=(
            Option(
                "alpha",
                "alpha",
                0.9,
                kind=float,
                help="how much recall counts in the mean of precision and recall",
                check=_share("alpha"),
            ),
            Option("beta", "beta", 3.0, kind=float, help="power of the penalty", check=_check_beta),
            Option(
                "gamma",
                "gamma",
                0.5,
                kind=float,
                help="the largest penalty for chunks",
                check=_share("gamma"),
            ),
            NO_REFERENCE,
        ),
        order_invariant=False,
        cutoff=False,
        kind="captions",
    )
)
