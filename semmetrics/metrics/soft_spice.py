"""Soft-SPICE: how similar the phrases of a candidate's scene graph are to those of its references.

Conventions
-----------
The tuples of a caption are written as phrases: an object by itself, "attribute object", and
"subject relation object", each of which also brings its objects alone. The phrases of a candidate
are compared with those of all its references, each distinct one once; tuples are not merged by
synonyms. Similarities are cosines of embeddings of the phrases, in [-1, 1].

Where there is nothing to compare, the program of the paper's authors embeds the empty text in place
of a graph's phrases, or fails where there is no reference. Here a candidate without phrases, and
references without any, have no value: they count as 0, as they do in SPICE, and are counted.

References
----------
Li et al., 2023, FACTUAL: A Benchmark for Faithful and Consistent Textual Scene Graph Parsing,
Findings of ACL, and its code, FactualSceneGraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semmetrics.core.backend import Backend
from semmetrics.core.ragged import (
    Codes,
    Floats,
    Ints,
    distinct_codes,
    offsets,
    sum_rows,
    take_rows,
)
from semmetrics.data.lists import Side
from semmetrics.data.tasks import CaptionTask
from semmetrics.frozen import dataclass
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock, References
from semmetrics.metrics.definition import Definition, ItemSums, Measure, Option, Statistic
from semmetrics.metrics.families import ItemMeans, policy_option, value_columns
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.label_similarity import EMBEDDING, choose_similarities, label_vectors_of
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic import BatchLayout
from semmetrics.metrics.spice import PARSER_OPTIONS, parsed_texts
from semmetrics.text.tokens import RawTuple

__all__ = ["SoftSPICE", "UNKNOWN_PHRASES", "phrases_of", "show_nearest"]

UNKNOWN_PHRASES = "phrases without a vector"
"""What is noted, with the name of the embedding, of phrases that it does not know."""


def phrases_of(tuples: Sequence[RawTuple]) -> list[str]:
    """Write the tuples of a caption as phrases, each distinct one once.

    Parameters
    ----------
    tuples : sequence of raw tuples
        ``(object,)``, ``(object, attribute)`` or ``(subject, object, relation)``. The relation "is"
        makes its object an attribute; "be " before a relation is dropped, as SPICE does.

    Examples
    --------
    >>> phrases_of([("dog", "sofa", "be on"), ("sofa", "red"), ("dog", "small", "is"), ("man",)])
    ['dog on sofa', 'dog', 'sofa', 'red sofa', 'small dog', 'man']
    """
    found: dict[str, None] = {}
    for raw in tuples:
        subject, *others = (" ".join(slot.split()) for slot in raw)
        if len(others) == 2 and others[1] != "is":
            relation = others[1].removeprefix("be ")
            found |= dict.fromkeys([f"{subject} {relation} {others[0]}", subject, others[0]])
        else:
            found |= dict.fromkeys([f"{other} {subject}" for other in others[:1]] + [subject])
    return [phrase for phrase in found if phrase.strip()]


@dataclass(frozen=True, eq=False)
class _Phrases:
    """The phrases of the captions of a task: the codes of each caption's, and their vectors."""

    indptr: Ints
    codes: Codes
    vectors: Any

    def sides(self, candidates: Ints, indptr: Ints, references: Ints) -> tuple[Side, Side]:
        """Return the phrases of candidates, and the distinct ones of all references of each."""
        own, flat = take_rows(self.indptr, candidates)
        each, theirs = take_rows(self.indptr, references)
        width = max(1, len(self.vectors.terms))
        united, distinct, _ = distinct_codes(each[indptr], self.codes[theirs], width)
        return Side(own, self.codes[flat]), Side(united, distinct.astype(np.int32))


@dataclass(frozen=True)
class _PhrasesOf:
    """Whose phrases, and by which vectors they are compared."""

    parser: str
    captions: str
    embedding: str

    def of(self, task: CaptionTask) -> _Phrases:
        """Parse the captions of a task and embed their phrases, at the first use."""
        if self not in task.shared:
            texts = parsed_texts(task, self.captions)
            parses = task.fits[f"parser/{self.parser}"].parser.tuples(texts)
            codes: dict[str, int] = {}
            lists = [
                [codes.setdefault(phrase, len(codes)) for phrase in phrases_of(tuples)]
                for tuples in parses
            ]
            task.shared[self] = _Phrases(
                offsets(np.fromiter(map(len, lists), np.int64, len(lists))),
                np.array([code for some in lists for code in some], np.int32),
                label_vectors_of(task, self.embedding).vectors(list(codes)),
            )
        phrases: _Phrases = task.shared[self]
        return phrases


@dataclass(frozen=True, eq=False)
class _Nearest:
    """Sums of similarities to the nearest phrase, and how many phrases each item has."""

    precision: Floats
    recall: Floats
    n_candidate: Ints
    n_reference: Ints


@dataclass(frozen=True)
class _NearestSums:
    """A step: each phrase of either side with the most similar one of the other."""

    phrases: _PhrasesOf

    def compute(self, block: CaptionBlock) -> _Nearest:
        """Parse, embed and compare; note the parser, and phrases without a vector."""
        name, items = self.phrases, block.get(References())
        graphs = block.task.fits[f"parser/{name.parser}"]
        block.note(f"#parser={name.parser}", frozenset([graphs.parser.identity]))
        found = name.of(block.task)
        vectors = found.vectors
        mine, theirs = found.sides(items.candidates, items.indptr, items.references)
        lost = {code for side in (mine, theirs) for code in side.codes[~vectors.known[side.codes]]}
        unknown = frozenset(vectors.terms[code] for code in lost)
        block.note((UNKNOWN_PHRASES, name.embedding), unknown)
        layout = BatchLayout(
            mine, theirs, vectors.included[mine.codes], vectors.included[theirs.codes], vectors
        )
        precision, recall = np.zeros(len(mine.codes)), np.zeros(len(theirs.codes))
        source = choose_similarities(vectors, mine, theirs)
        for batch in layout.batches(by_term=False):
            table = batch.similarities(source)
            backend = Backend(table)
            for values, places, axis in ((precision, batch.owner, 2), (recall, batch.goal, 1)):
                nearest = backend.numpy(backend.xp.amax(table, axis))
                values[places[places >= 0]] = nearest[places >= 0]
        return _Nearest(
            _sum_cosines(precision, mine.indptr),
            _sum_cosines(recall, theirs.indptr),
            sum_rows(layout.pred_kept, mine.indptr),
            sum_rows(layout.ref_kept, theirs.indptr),
        )


def _sum_cosines(values: Floats, indptr: Ints) -> Floats:
    """Sum the cosines of each row, which are rounded to 1e-9: exactly, so in any order."""
    return sum_rows(np.rint(values * 1e9).astype(np.int64), indptr) / 1e9


@dataclass(frozen=True)
class _SoftValues(ItemSums):
    """The value of each candidate: columns "value" and "cause"."""

    phrases: _PhrasesOf
    bidirectional: bool

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Average over the phrases of the candidate, and of the references."""
        near, n_refs = block.get(_NearestSums(self.phrases)), block.get(References()).n_refs
        some = (near.n_candidate > 0) & (near.n_reference > 0)
        value = divide(near.precision, near.n_candidate)
        if self.bidirectional:
            recall = divide(near.recall, near.n_reference)
            value = harmonic_mean((value + 1) / 2, (recall + 1) / 2)
        n_candidate = np.where(n_refs > 0, near.n_candidate, 1)  # without references it is no cause
        return value_columns(np.where(some, value, np.nan), n_candidate, n_refs)


class _SoftMeans(ItemMeans):
    """Means over candidates."""

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the step of item values."""
        return _SoftValues(_named(measure), measure["bidirectional"] == "yes")


def _named(measure: Measure) -> _PhrasesOf:
    return _PhrasesOf(*(str(measure[name]) for name in ("parser", "captions", "embedding")))


def show_nearest(task: CaptionTask, row: int, measure: Measure) -> dict[str, list[list[Any]]]:
    """Return each phrase of a candidate with the nearest of its references and their similarity.

    The most similar stand first.
    """
    found = _named(measure).of(task)
    indptr, references = task.pairs(row, row + 1)
    mine, theirs = found.sides(task.candidates[row : row + 1], indptr, references)
    if not len(mine.codes) or not len(theirs.codes):
        return {"nearest": []}
    source = choose_similarities(found.vectors, mine, theirs)
    rows = (side.codes[None].astype(np.int64) for side in (mine, theirs))
    table = source.gather(*rows, by_term=False)
    values = Backend(table).numpy(table)[0]
    terms, best = found.vectors.terms, values.argmax(axis=1)
    nearest = [
        [terms[code], terms[theirs.codes[place]], round(float(value), 4)]
        for code, place, value in zip(mine.codes, best, values.max(axis=1), strict=True)
        if np.isfinite(value)
    ]
    return {"nearest": sorted(nearest, key=lambda one: -one[2])}


SoftSPICE = add(
    Definition(
        name="Soft-SPICE",
        family=_SoftMeans(),
        summary="Mean similarity of the phrases of the candidate's scene graph to the nearest of "
        "the references'.",
        equation="mean over p in G(c) of max over q in G(S) of cos(e(p), e(q))",
        source="Li et al. 2023 (FACTUAL), and its code",
        cite=("li2023",),
        options=(
            Option(
                "bidirectional",
                "bidir",
                "no",
                ("no", "yes"),
                help="whether phrases of the references count, too: the harmonic mean of both "
                "means, after (cos + 1) / 2",
            ),
            *PARSER_OPTIONS,
            EMBEDDING,
            policy_option("no_prediction", "nopred", "0", "candidates without phrases"),
            NO_REFERENCE,
            policy_option("undefined", "undef", "0", "references without phrases"),
        ),
        bounds=(-1.0, 1.0),
        cutoff=False,
        kind="captions",
        needs=frozenset({"java", "embedding"}),
        extra={"show": show_nearest},
    )
)
