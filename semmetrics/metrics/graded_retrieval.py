"""NCS, semantic recall and graded nDCG of retrieval: the functions of phi as measures of queries.

Conventions
-----------
An item is a query; phi is a matrix beside the run, of its shape. What the functions leave undefined
(nan) counts as 0, as in the released code of Biten et al. 2022, unless a policy says otherwise. A
query that nothing ranks has retrieved nothing: its value is 0.

Measures
--------
``NCS@K``     normalised cumulative semantic score: `semmetrics.metrics.ncs`
``SR(m=)@K``  semantic recall: `semmetrics.metrics.semantic_recall`
``nDCG@K``    with phi as the gain: `semmetrics.metrics.ndcg`
``Nsum``      100 times the sum of NCS@1, @5 and @10 of both directions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints, lengths, offsets, row_numbers, take_rows
from semmetrics.data.rankings import DEPTH, MOST, PHI, Phi
from semmetrics.data.tasks import RetrievalTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, ItemSums, Measure, Option, Statistic
from semmetrics.metrics.families import ItemMeans, SumOverParts, policy_option, value_columns
from semmetrics.metrics.registry import add
from semmetrics.metrics.relations import Relation, is_related
from semmetrics.metrics.retrieval import (
    MostSimilar,
    RankBlock,
    captions_of_images,
    images_of_captions,
    most_similar,
    similar_images,
)
from semmetrics.metrics.semantic_retrieval import ncs, ndcg, semantic_recall

LEFT_OUT = "left-out"


def find_phi(task: RetrievalTask, name: str) -> Phi:
    """Return a matrix beside a task by its name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    found: Phi | None = task.beside.get(PHI, {}).get(name)
    if found is None:
        given = f"give phi={{{name!r}: …}}"
        raise InputError("unknown-name", what="phi", value=name, remedy=given)
    return found


def needed_depth(measure: Measure, positives: int) -> tuple[int, int]:
    """Return how many ranks, and how many most similar items, a measure of phi needs.

    Parameters
    ----------
    measure : Measure
    positives : int
        The most that a query has, which are perhaps left out.

    Raises
    ------
    InputError
        If the measure has no cutoff.
    """
    if measure.k is None:
        raise InputError("no-cutoff", measure=measure, wanted=f"{measure.definition.name}@10")
    out = positives if measure["ground_truth"] == LEFT_OUT else 0
    extended = str(measure["extended"])
    m = measure["m"] or (extended if extended.isdecimal() else 0)
    return measure.k + out, max(measure.k, int(m))


@dataclass(frozen=True)
class FirstPlaces:
    """A step: the first candidates of each query, as many as any measure needs; -1 beyond.

    One column more than the longest has: a list ends there, also where all are as short.
    """

    def compute(self, block: RankBlock) -> Ints:
        """Rank the gallery as far as that."""
        task = block.task
        found = task.first(block.start, block.stop, task.beside[DEPTH])
        table = np.full((len(block), max(map(len, found), default=0) + 1), -1)
        for row, codes in zip(table, found, strict=True):
            row[: len(codes)] = codes
        return table


@dataclass(frozen=True)
class View:
    """A matrix and the queries of a task that it is for; of one fold, or all.

    Attributes
    ----------
    task : RetrievalTask
    phi : Phi
        Of a fold the rows and columns of its queries and candidates.
    queries : int array
        Those of the task.
    candidates : int array or None
        The places of a fold's candidates in the gallery, rising; None where all are ranked.
    """

    task: RetrievalTask
    phi: Phi
    queries: Ints
    candidates: Ints | None

    @staticmethod
    def of(task: RetrievalTask, name: str, fold: int | None) -> View:
        """Cut the matrix to a fold; done once for the task."""
        phi = find_phi(task, name)
        if task.folds is None or fold is None:
            return View(task, phi, np.arange(len(task)), None)
        key = (PHI, phi.identity, "fold", fold)
        if key not in task.shared:
            queries, candidates = (np.flatnonzero(own == fold) for own in task.folds)
            part = phi.part(task.rows[queries], candidates, f"{phi.identity}/{fold}")
            task.shared[key] = View(task, part, queries, candidates)
        found: View = task.shared[key]
        return found

    def own(self, queries: Ints) -> Relation:
        """Return the positives of queries that are in the gallery, by their columns of phi."""
        task = self.task
        indptr, flat = take_rows(task.indptr, queries)
        codes = task.positives[flat].astype(np.int64)
        inside = codes < task.scores.shape[1]
        number = np.bincount(row_numbers(indptr)[inside], minlength=len(queries))
        return offsets(number), self.columns(codes[inside])

    def columns(self, codes: Ints) -> Ints:
        """Return where candidates lie in phi; -1 stays."""
        if self.candidates is None:
            return codes
        return np.where(codes < 0, -1, np.searchsorted(self.candidates, codes))

    def relation(self) -> Relation:
        """Return the positives of all queries of phi; of those that are not scored none."""
        task, phi = self.task, self.phi
        places = phi.places(task.rows[self.queries])
        there = np.flatnonzero(places >= 0)
        there = there[np.argsort(places[there], kind="stable")]
        own = self.own(self.queries[there])
        number = np.zeros(phi.matrix.shape[0 if phi.queries == "rows" else 1], np.int64)
        number[places[there]] = lengths(own[0])
        return offsets(number), own[1]


@dataclass(frozen=True)
class Chosen:
    """Queries of a block that phi has, with what the functions of phi take of them.

    Attributes
    ----------
    view : View
    here : int array
        The queries, from 0 in the block.
    rows : int array
        Where they lie in phi.
    top : int array, shape (queries, ranks)
    own : pair of int arrays
        Their positives in the gallery.
    """

    view: View
    here: Ints
    rows: Ints
    top: Ints
    own: Relation

    @property
    def phi(self) -> Phi:
        """The matrix."""
        return self.view.phi

    @staticmethod
    def each(block: RankBlock, name: str) -> Iterator[Chosen]:
        """Find them, of each fold by themselves."""
        task, rows = block.task, block.task.rows[block.start : block.stop]
        folds = (
            np.zeros(len(rows)) if task.folds is None else task.folds[0][block.start : block.stop]
        )
        for fold in np.unique(folds[rows >= 0]).tolist():
            view = View.of(task, name, None if task.folds is None else fold)
            places = view.phi.places(np.where(folds == fold, rows, -1))
            here = np.flatnonzero(places >= 0)
            top = view.columns(block.get(FirstPlaces())[here])
            yield Chosen(view, here, places[here], top, view.own(here + block.start))

    def shared(self, ground_truth: str) -> dict[str, Any]:
        """Return the arguments that all functions of phi take."""
        out = self.own if ground_truth == LEFT_OUT else None
        return {"queries": self.phi.queries, "leave_out": out, "rows": self.rows}

    def best(self, ground_truth: str) -> MostSimilar:
        """Return the most similar items of the queries; found once for the task."""
        task, phi = self.view.task, self.phi
        key = (PHI, phi.identity, ground_truth)
        if key not in task.shared:
            out = self.view.relation() if ground_truth == LEFT_OUT else None
            depth = task.beside[MOST]
            task.shared[key] = most_similar(phi.matrix, depth, queries=phi.queries, leave_out=out)
        found: MostSimilar = task.shared[key]
        return found.part(self.rows)


@dataclass(frozen=True)
class PhiValues(ItemSums):
    """A step: a value of each query, by a function of what it retrieved and phi."""

    values: Callable[[Chosen, Measure], Floats]
    measure: Measure

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        values, counted = np.zeros(len(block)), np.zeros(len(block), np.int64)
        left_out = self.measure["ground_truth"] == LEFT_OUT
        for chosen in Chosen.each(block, str(self.measure["phi"])):
            values[chosen.here] = self.values(chosen, self.measure)[:, 0]
            counts = chosen.top >= 0
            if left_out:
                counts &= ~is_related(chosen.top, chosen.own, block.task.scores.shape[1])
            counted[chosen.here] = counts.sum(axis=1)
        fewer = "fewer", _k(self.measure), str(self.measure), left_out
        block.note(fewer, int((counted < fewer[1]).sum()))
        ones = np.ones(len(block), np.int64)
        return value_columns(values, ones, ones)


class PhiMeans(ItemMeans):
    """Means over queries of a function of phi."""

    def __init__(self, values: Callable[[Chosen, Measure], Floats]) -> None:
        self._values = values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the values of queries."""
        return PhiValues(self._values, measure)


def _ncs(chosen: Chosen, measure: Measure) -> Floats:
    truth, extent = str(measure["ground_truth"]), str(measure["extended"])
    extended: Any = {"none": None, "k": "k"}.get(extent) or (
        int(extent) if extent.isdecimal() else None
    )
    return ncs(
        chosen.top, chosen.phi.matrix, _k(measure), extended=extended, best=chosen.best(truth),
        **chosen.shared(truth),
    )  # fmt: skip


def _recall(chosen: Chosen, measure: Measure) -> Floats:
    truth, m = str(measure["ground_truth"]), int(measure["m"])  # type: ignore[arg-type]
    best = chosen.best(truth)
    if measure["similar"] == "items":
        relevant = best.relation(m)
    else:
        relevant = _by_images(chosen, m, int(measure["depth"]), truth)  # type: ignore[arg-type]
    variant: Any = measure["variant"]
    phi = chosen.phi.matrix
    values = semantic_recall(
        chosen.top, relevant, _k(measure), variant=variant, phi=phi, **chosen.shared(truth)
    )
    similar = best.values[:, :m].sum(axis=1) > 0  # else nothing is similar, and any would do
    return np.where(similar[:, None], values, np.nan)


def _by_images(chosen: Chosen, m: int, depth: int, truth: str) -> Relation:
    """Return the extended ground truth that the released code finds by similar images."""
    task, phi = chosen.view.task, chosen.phi
    key = (PHI, phi.identity, "images", m, depth, truth)
    if key not in task.shared:
        rows, columns = phi.matrix.shape
        captions = own = chosen.view.relation()
        if phi.queries == "columns":  # the relation turned round
            image = np.argsort(own[1], kind="stable")
            captions = offsets(np.bincount(own[1], minlength=rows)), row_numbers(own[0])[image]
        similar = similar_images(phi.matrix, captions, m, depth=depth, itself=truth != LEFT_OUT)
        if phi.queries == "rows":
            task.shared[key] = captions_of_images(similar, captions)
        else:
            task.shared[key] = images_of_captions(similar, captions, columns)
    indptr, codes = task.shared[key]
    found, flat = take_rows(indptr, chosen.rows)
    return found, codes[flat]


def _ndcg(chosen: Chosen, measure: Measure) -> Floats:
    truth = str(measure["ground_truth"])
    gain: Any = measure["gain"]
    discount: Any = measure["discount"]
    return ndcg(
        chosen.top, chosen.phi.matrix, _k(measure), gain=gain, discount=discount,
        best=chosen.best(truth), **chosen.shared(truth),
    )  # fmt: skip


def _k(measure: Measure) -> int:
    return int(measure.k or 1)


class NcsSum(SumOverParts):
    """The sum of NCS over cutoffs and directions, in percent."""

    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the NCS that are added, with the options of the sum."""
        options = dict(measure.options)
        found = tuple(NCS(k=k, **options) for k in (1, 5, 10))
        return {"i2t": found, "t2i": found}


def _check_extended(value: str) -> None:
    if value not in ("none", "k"):
        number = int(value) if value.isdecimal() and len(value) < 11 else 0
        if not 0 < number < 1 << 31:
            wanted = "none, k or a whole number from 1"
            raise InputError("bad-option", name="extended", value=value, wanted=wanted)


def _check_positive(value: int) -> None:
    if not 0 < value < 1 << 31:
        wanted = "a whole number from 1"
        raise InputError("out-of-range", role="a number of items", value=value, wanted=wanted)


_PHI = Option("phi", "phi", "default", help="which of the matrices given as phi is meant, or what "
              "computes it of captions= (--captions): CIDEr-D, CIDEr, SPICE or BagSim")  # fmt: skip
_TRUTH = Option(
    "ground_truth", "gt", "kept", ("kept", LEFT_OUT),
    help="the query's own positives count as all else, or are left out of what is retrieved and "
    "of what is most similar",
)  # fmt: skip
_NOTHING = policy_option(
    "undefined", "undef", "0", "queries that no candidate has a phi above 0 with"
)
_NCS_OPTIONS = (
    _PHI,
    _TRUTH,
    Option(
        "extended", "ext", "none", check=_check_extended,
        help="none is the released code; a number such as 20, or k, is equation 5 as it is "
        "written, with so many most similar items for the extended ground truth",
    ),
    _NOTHING,
)  # fmt: skip


def _add(name: str, family: Any, options: tuple[Option, ...], **more: Any) -> Definition:
    return add(
        Definition(
            name=name,
            family=family,
            options=options,
            order_invariant=False,
            kind="retrieval",
            needs=frozenset({PHI}),
            **more,
        )
    )


NCS = _add(
    "NCS",
    PhiMeans(_ncs),
    _NCS_OPTIONS,
    summary="Normalised cumulative semantic score: phi of what is retrieved over the largest phi.",
    equation="Σ_{j∈Q_q,K} φ_qj / Σ_{l∈B_q,K} φ_ql, B_q,K the K most similar",
    source="Biten et al. 2022, equation 5, as the released code computes it",
    cite=("biten2022",),
)
SR = _add(
    "SR",
    PhiMeans(_recall),
    (
        Option(
            "m", "m", kind=int, required=True, check=_check_positive,
            help="how many items, or images, extend the ground truth",
        ),
        _PHI,
        Option(
            "variant", "variant", "hard", ("hard", "soft", "weighted", "hit"),
            help="how items of the extended ground truth count: each alike (hard), by phi "
            "(weighted), by phi over their number (soft), or any of them (hit)",
        ),
        Option(
            "similar", "similar", "items", ("items", "images"),
            help="the extended ground truth is the m most similar items (equation 4), or all "
            "captions of the m most similar images (the released code)",
        ),
        Option(
            "depth", "depth", 10, kind=int, check=_check_positive,
            help="of similar=images: images that each caption lists",
        ),
        _TRUTH,
        _NOTHING,
    ),
    summary="Semantic recall: the share of an extended ground truth among the first K candidates.",
    equation="|G̃_q ∩ Q_q,K| / |G̃_q|",
    source="Biten et al. 2022, equation 4, and the released code",
    cite=("biten2022",),
)  # fmt: skip
NDCG = _add(
    "nDCG",
    PhiMeans(_ndcg),
    (
        _PHI,
        Option("gain", "gain", "linear", ("linear", "exponential"), help="phi, or 2^phi - 1"),
        Option(
            "discount", "discount", "log2", ("log2", "jarvelin2002"),
            help="1/log2(r + 1), or 1/log2 r from the second rank on",
        ),
        _TRUTH,
        _NOTHING,
    ),
    summary="Normalised discounted cumulative gain, phi being the gain of a candidate.",
    equation="Σ_{r≤K} g(φ_r) d(r) / Σ_{r≤K} g(φ*_r) d(r), φ* the largest",
    source="Järvelin and Kekäläinen 2002, section 2",
    cite=("jarvelin2002",),
)  # fmt: skip
Nsum = _add(
    "Nsum",
    NcsSum({}, scale=100.0),
    _NCS_OPTIONS,
    summary="Sum over both directions of NCS@1, @5 and @10, in percent.",
    equation="100 Σ_{K=1,5,10} (NCS@K(i2t) + NCS@K(t2i))",
    source="Biten et al. 2022, table 3",
    bounds=(0.0, 600.0),
    cutoff=False,
    cite=("biten2022",),
)
