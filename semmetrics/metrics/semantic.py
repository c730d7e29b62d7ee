"""Precision, recall and F1 of label sets with different words, on label embeddings.

Conventions
-----------
**Matched** measures (``SemPrecision`` and others): a predicted label matches a reference
label if the cosine of their embeddings is strictly above a threshold. With tp matched
predictions, p predictions and g references, precision is tp/p and recall is tp/g. With
``match=any``, recall is the share of references that some prediction matches.
``threshold=auto`` is the threshold of the embedding: calibrated for the default model,
0.4 for word2vec (Kubany et al. 2020, section 3.2, footnote 2).

``match=exact-first``, the default, first pairs as many equal labels as possible, whatever
the threshold. It then pairs the others one-to-one so that the sum of their similarities
is as large as possible. If sums are equal, the pairing with more pairs wins. Labels are
equal if they share a term that is not left out. A matched measure is therefore at least
as high as the exact one, and a perfect answer in any order has the value 1. The order of
labels matters only under a cutoff and in ``SemAP``, where the rule applies to the first k
predictions, for every k.

**Soft** measures (``SoftPrecision`` and others): precision is the mean over predictions of
the similarity to the nearest reference, and recall the mean over references of the
similarity to the nearest prediction. There is no threshold, and negative similarities
count as 0. With ``match=total``, labels are paired one-to-one so that the sum of
similarities is as large as possible, and a label without a partner counts as 0.

Similarities are computed by `semmetrics.metrics.similarity_sources`, in the batches of
`semmetrics.metrics.label_batches`. They are on the model's device, and are copied to the
processor to be matched.

References
----------
Kubany et al., 2020, Expert Systems with Applications, section 3.2.
Zhang, Kishore, Wu, Weinberger, Artzi, 2020, BERTScore: Evaluating Text Generation with
BERT, ICLR, equation 1.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from semmetrics.core import assignment, ragged
from semmetrics.core.backend import to_numpy
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Measure, Statistic, model_key
from semmetrics.metrics.families import CountFormulas
from semmetrics.metrics.gain_tables import GainTable, lay_out_pairs
from semmetrics.metrics.label_batches import Batch, BatchLayout, LabelBlock, lay_out
from semmetrics.metrics.label_similarity import EMBEDDING, similarities_of
from semmetrics.metrics.matching import CountColumns, Cut, Matched, cut_of, sides_of
from semmetrics.metrics.measure_options import MeasureOption, OptionValue, choice_option
from semmetrics.metrics.registry import define
from semmetrics.metrics.set_options import set_options
from semmetrics.metrics.similarity_sources import SimilaritySource
from semmetrics.metrics.soft_matching import SoftFamily, soft_f1
from semmetrics.options import clean_number

PAIRS_NEAR_THRESHOLD = "pairs near a threshold"
"""Name of the note, with the step that matched, on pairs within 1e-6 of its threshold."""

# ---- matching ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class SemanticMatched(Matched):
    """Matching on similarities.

    Attributes
    ----------
    first : int array, shape (references,)
        The place of the first prediction that matches a reference, or the number of
        predictions if none does. Empty under a rule by which a reference serves only one
        prediction.
    """

    first: Ints


@dataclass(frozen=True, repr=False)
class SemanticMatches:
    """A step: match ranked predictions with references of similar meaning.

    Attributes
    ----------
    threshold : float
        Exclusive: a similarity equal to the threshold does not match.
    match : {"exact-first", "greedy", "optimal", "total", "any"}
        How labels are paired.

        - "exact-first": equal labels are paired first, whatever the threshold, and the
          others one-to-one with the largest sum of similarities. If sums are equal, the
          matching with more pairs wins.
        - "greedy": predictions in their order, and the terms of each in theirs, take the
          first unused reference in the order of the list (Kubany et al. 2020).
        - "optimal": as many matches as a one-to-one matching can have.
        - "total": the one-to-one matching with the largest sum of similarities. Equal
          labels are no exception.
        - "any": a reference may serve several predictions.

        Except for "any" and "greedy", each rule applies to the first k predictions, for
        every k.
    duplicates : {"once", "each"}
    model : str
        The key of the label vectors in the task.
    cut : Cut, optional
        Match only the predictions that the cut keeps. The counts are the same without
        it, but the pairs may differ.
    """

    threshold: float
    match: str = "exact-first"
    duplicates: str = "once"
    model: str = "default"
    cut: Cut | None = None

    @property
    def maximizes_sum(self) -> bool:
        """Whether the rule maximises the sum of similarities."""
        return self.match in ("exact-first", "total")

    def takes_terms(self, layout: BatchLayout) -> bool:
        """Return whether the rows of batches are terms instead of labels."""
        return self.match == "greedy" and bool(layout.vectors.has_synonyms)

    def compute(self, block: LabelBlock) -> SemanticMatched:
        """Match the items of a block, grouped by size."""
        layout = lay_out(block, self.duplicates, self.model, self.cut)
        source = similarities_of(block, self.model)
        n_pred = len(layout.pred.codes)
        hit = np.zeros(n_pred, np.bool_)
        n_refs_with_first = 0
        if self.match == "any":
            n_refs_with_first = len(layout.ref.codes)
        first = np.full(n_refs_with_first, n_pred)
        n_close = 0
        by_term = self.takes_terms(layout)
        for batch in layout.batches(by_term=by_term):
            decisions = source.above(
                batch.rows, batch.columns, self.threshold, by_term=by_term
            )
            n_close += decisions.n_close
            hits = self._find_hits(batch, source, decisions.above)
            hit[batch.pred_places[hits]] = True
            if self.match == "any":
                item, row, column = np.nonzero(decisions.above)
                ref_places = batch.ref_places[item, column]
                np.minimum.at(first, ref_places, batch.pred_places[item, row])
        block.observations.count(
            PAIRS_NEAR_THRESHOLD,
            n_close,
            self.model,
            self.threshold,
            str(astuple(self)),
        )
        is_counted = None
        if not layout.pred_used.all():
            is_counted = layout.pred_used
        n_ref = ragged.sum_rows(layout.ref_used, layout.ref.indptr)
        return SemanticMatched(is_counted, hit, layout.ref_used, n_ref, first)

    def _find_hits(self, batch: Batch, source: SimilaritySource, above: Bools) -> Bools:
        """Return the rows of a batch that are hits, for every number of predictions."""
        if not self.maximizes_sum:
            return self._pair_by_order(batch, above) >= 0
        usable = self._find_usable(batch, source, above)
        hits, contested = assignment.find_stars(usable)
        if len(contested):
            table = self._make_gain_table(batch, source, usable.shape, contested)
            item, row = np.nonzero(assignment.rows_with_more_pairs(table.gains))
            hits[table.items[item], table.rows[item, row]] = True
        return hits

    def find_pairs(self, batch: Batch, source: SimilaritySource, above: Bools) -> Ints:
        """Return the column that each row of a batch is paired with, or -1.

        Of several pairings with the largest sum, the one with the first rows and columns
        is chosen.

        Parameters
        ----------
        batch : Batch
        source : SimilarityTable or PairwiseSimilarity
        above : bool array, shape (items, rows, columns)
            Which similarities are above the threshold.
        """
        if not self.maximizes_sum:
            return self._pair_by_order(batch, above)
        usable = self._find_usable(batch, source, above)
        columns = np.full(batch.rows.shape, -1)
        pairs = np.flatnonzero(usable)
        if len(pairs):
            table = self._make_gain_table(batch, source, usable.shape, pairs)
            best_columns = assignment.best_pairs(table.gains)
            item, row = np.nonzero(best_columns >= 0)
            column = table.columns[item, best_columns[item, row]]
            columns[table.items[item], table.rows[item, row]] = column
        return columns

    def _pair_by_order(self, batch: Batch, above: Bools) -> Ints:
        """Return the column of each row, or -1, under a rule without a sum."""
        if self.match == "greedy":
            return assignment.greedy_matching(above, batch.continues)
        if self.match == "any":
            return assignment.first_allowed(above)
        return assignment.max_cardinality_matching(above)

    def _find_usable(
        self, batch: Batch, source: SimilaritySource, above: Bools
    ) -> Bools:
        """Return the pairs that a matching with the largest sum may contain.

        A negative similarity makes no sum larger. Equal labels have the similarity 1,
        and may be paired even at a threshold of 1.
        """
        if self.threshold < 0:
            similarity = source.gather(
                batch.rows, batch.columns, skip_zero_vectors=True
            )
            least = 0.0
            if self.match == "total":
                least = np.nextafter(0.0, 1.0)  # a pair of similarity 0 adds nothing
            usable: Bools = above & to_numpy(similarity >= least)
            return usable
        if self.threshold >= 1 and self.match == "exact-first":
            return source.equal(batch.rows[:, :, None], batch.columns[:, None, :])
        return above

    def _make_gain_table(
        self,
        batch: Batch,
        source: SimilaritySource,
        shape: tuple[int, ...],
        pairs: Ints,
    ) -> GainTable:
        """Lay out the rows and columns of some pairs, with the gain of each pair.

        Parameters
        ----------
        batch : Batch
        source : SimilarityTable or PairwiseSimilarity
        shape : tuple of int
        pairs : int array
            Flat places in a table of that shape: items, rows and columns.
        """
        layout = lay_out_pairs(pairs, shape)
        predicted = batch.rows[layout.item, layout.row]
        true = batch.columns[layout.item, layout.column]
        gains = self._compute_gains(source, predicted, true, layout.max_matched)
        return layout.fill(gains)

    def _compute_gains(
        self, source: SimilaritySource, predicted: Ints, true: Ints, max_matched: int
    ) -> Floats:
        """Return the gain of each pair of labels, computing each distinct pair once."""
        width = int(true.max()) + 1
        keys, key_of_pair = ragged.distinct_keys(predicted * np.int64(width) + true)
        predicted, true = np.divmod(keys, width)
        similarity = source.gather(
            predicted[:, None], true[:, None], skip_zero_vectors=self.threshold < 0
        )
        equal = np.zeros(len(keys), np.bool_)
        if self.match == "exact-first":
            equal = source.equal(predicted, true)
        gains = assignment.make_gains(to_numpy(similarity)[:, 0, 0], equal, max_matched)
        return gains[key_of_pair]


def matches_of(measure: Measure, cut: Cut | None = None) -> SemanticMatches:
    """Return the step that a measure's options describe."""
    return SemanticMatches(
        float(str(measure["threshold"])),
        str(measure["match"]),
        str(measure["duplicates"]),
        model_key(measure),
        cut,
    )


# ---- counts --------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SemanticCounts(Statistic):
    """A step: counts of semantic matches, "hit", "served", "n_pred" and "n_ref".

    ``served`` counts the references that a prediction matches. It differs from ``hit``
    only if a reference may serve several predictions.

    Attributes
    ----------
    cut : Cut
    matches : SemanticMatches
    with_precision_sum : bool
        Whether to add the column "precision_sum".
    """

    cut: Cut
    matches: SemanticMatches
    with_precision_sum: bool = False

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Count within the predictions that the cut keeps."""
        counts = CountColumns(self.cut, self.matches, self.with_precision_sum)
        columns = block.get(counts)
        if self.matches.match != "any":
            return {**columns, "served": columns["hit"]}
        matched = block.get(self.matches)
        ranked, ref = sides_of(block)
        ends = ranked.indptr[:-1] + block.get(self.cut)
        end_of_reference = ends[ragged.row_numbers(ref.indptr)]
        is_served = matched.first < end_of_reference
        return {**columns, "served": Dense(ragged.sum_rows(is_served, ref.indptr))}


class SemanticFamily(CountFormulas):
    """Formulas on counts of semantic matches, per item or of all items together."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the counts of matches."""
        needs_precisions = "precision_sum" in measure.definition.arguments
        return SemanticCounts(cut_of(measure), matches_of(measure), needs_precisions)


# ---- definitions ---------------------------------------------------------------------


def _recall(served: Any, n_ref: Any) -> Any:
    """Return recall. The names of the parameters choose the counts."""
    return formulas.recall(served, n_ref)


class _Threshold(MeasureOption):
    """A cosine, as a number or as text, or "auto"."""

    def read(self, raw_value: OptionValue) -> OptionValue:
        """Return the canonical text of a number."""
        is_bool = isinstance(raw_value, bool)
        if isinstance(raw_value, (int, float, np.number)) and not is_bool:
            raw_value = repr(float(raw_value))
        value = clean_number(str(super().read(raw_value)))
        if _is_threshold(value):
            return value
        wanted = "a cosine, or auto"
        raise InputError("bad-option", name=self.name, value=value, wanted=wanted)


def _is_threshold(value: str) -> bool:
    """Return whether a value is "auto" or a number in [-1, 1]."""
    if value == "auto":
        return True
    with suppress(ValueError):
        return -1 <= float(value) <= 1
    return False


_THRESHOLD = _Threshold(
    "threshold",
    "thr",
    "auto",
    help="the cosine similarity that a match exceeds. auto is the threshold of the "
    "embedding",
)
_PAIRS = choice_option(
    "match",
    "exact-first greedy optimal total",
    "exact-first pairs equal labels, then maximises the total similarity; "
    "greedy takes the first unused reference (Kubany et al. 2020); optimal "
    "finds the most matches; total maximises the total similarity",
)
_MATCH = _PAIRS._replace(
    choices=(*_PAIRS.choices, "any"),
    help=f"{_PAIRS.help}; any lets a reference match several predictions",
)
_NEAREST = choice_option(
    "match",
    "any total",
    "the most similar label of the other side, or one-to-one pairs with the "
    "largest total similarity",
)
_HITS = choice_option(
    "normalize",
    "references hits",
    "whether to divide by the number of references or of hits (Kubany et al. 2020)",
)


def _define(
    name: str,
    summary: str,
    equation: str,
    formula: Callable[..., Any],
    *options: MeasureOption,
    policies: tuple[str, ...] = (),
    averages: tuple[str, ...] = ("example", "micro"),
    **traits: Any,
) -> Definition:
    """Register a measure with its own options and those that all set measures share.

    ``policies`` are the policies for undefined values that it accepts besides "empty".
    """
    policies = ("empty", *policies)
    # set_options begins with these two, since "labels" is left out.
    average, duplicates, *shared = set_options(
        averages, without=("labels",), policies=policies
    )
    duplicates = duplicates._replace(averages=None)
    return define(
        name,
        summary=summary,
        equation=equation,
        options=(average, *options, EMBEDDING, duplicates, *shared),
        averages=averages,
        formula=formula,
        needs=frozenset({"embedding"}),
        **traits,
    )


_MATCHED: dict[str, Any] = {
    "family": SemanticFamily(),
    "source": "Kubany et al. 2020, section 3.2",
    "cite": ("kubany2020",),
    "extra": {"ordered": ("greedy",)},
    "own_embedding": "same",
}
_SOFT: dict[str, Any] = {
    "family": SoftFamily(),
    "source": "Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
    "cite": ("zhang2020",),
    "averages": ("example",),
}
SemPrecision = _define(
    "SemPrecision",
    "Share of the predicted labels that match a true label by meaning.",
    "tp / p",
    formulas.precision,
    _THRESHOLD,
    _MATCH,
    policies=("no_prediction",),
    **_MATCHED,
)
SemRecall = _define(
    "SemRecall",
    "Share of the true labels that match a predicted label by meaning.",
    "tp / g",
    _recall,
    _THRESHOLD,
    _MATCH,
    policies=("no_reference",),
    **_MATCHED,
)
SemF1 = _define(
    "SemF1",
    "Harmonic mean of semantic precision and recall.",
    "2PR / (P + R)",
    formulas.f1_many_to_one,
    _THRESHOLD,
    _MATCH,
    **_MATCHED,
)
SemJaccard = _define(
    "SemJaccard",
    "Number of matched labels divided by the number of all labels, the "
    "accuracy of the paper.",
    "tp / (p + g - tp)",
    formulas.jaccard,
    _THRESHOLD,
    _PAIRS,
    **_MATCHED,
)
SemAP = _define(
    "SemAP",
    "Average precision of the ranked labels of an item, which match true "
    "labels by meaning.",
    "Σ over matched ranks of (matches so far / rank), over the references or the matches",
    formulas.average_precision,
    _THRESHOLD,
    _PAIRS,
    _HITS,
    averages=("example",),
    policies=("no_prediction", "no_reference"),
    order_invariant=False,
    **_MATCHED,
)
SoftPrecision = _define(
    "SoftPrecision",
    "Mean similarity of each predicted label to the most similar true label.",
    "Σ max cos / p",
    formulas.precision,
    _NEAREST,
    policies=("no_prediction",),
    **_SOFT,
)
SoftRecall = _define(
    "SoftRecall",
    "Mean similarity of each true label to the most similar predicted label.",
    "Σ max cos / g",
    _recall,
    _NEAREST,
    policies=("no_reference",),
    **_SOFT,
)
SoftF1 = _define(
    "SoftF1",
    "Harmonic mean of soft precision and soft recall.",
    "2PR / (P + R)",
    soft_f1,
    _NEAREST,
    symmetric=True,
    **_SOFT,
)
