"""Captions compared by embeddings: Soft-SPICE of their phrases, BagSim of whole captions.

Conventions
-----------
Similarities are cosines of embeddings, rounded to 1e-9, in [-1, 1].

Soft-SPICE writes the tuples of a caption's scene graph as phrases: an object by itself, "attribute
object", and "subject relation object", each of which also brings its objects alone. The phrases of
a candidate are compared with those of all its references, each distinct one once; tuples are not
merged by synonyms. Where there is nothing to compare, the program of the paper's authors embeds the
empty text in place of a graph's phrases, or fails if there is no reference. Here a candidate
without phrases, and references without any, have no value: they count as 0, as they do in SPICE,
and are counted.

BagSim embeds a caption as it is written, blanks at its ends aside. The references of an image are
one bag, as the labels of an item are in BagSim of labels: those that are not blank are joined by
blanks to one text. Or each is compared by itself, and the similarities are averaged. Of one
reference the two are the same. Blank captions, and those that the model does not know under the
policies ``zero`` and ``skip``, have no similarity; among several references they are left out of
the mean.

References
----------
Li et al., 2023, FACTUAL: A Benchmark for Faithful and Consistent Textual Scene Graph Parsing,
Findings of ACL, and its code, FactualSceneGraph.
Kubany et al., 2020, Expert Systems with Applications, section 3.2, on captions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from semmetrics.core.backend import Backend, to_device
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Floats,
    Ints,
    distinct_codes,
    lengths,
    offsets,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.core.similarity import SplitVectors, paired_cosines
from semmetrics.data.lists import Side
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import InputError
from semmetrics.metrics.bags import embed_wholes
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock, References
from semmetrics.metrics.definition import Definition, ItemSums, Measure, Option, Statistic
from semmetrics.metrics.families import ItemMeans, policy_option, value_columns
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.label_similarity import EMBEDDING, choose_similarities, label_vectors_of
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic import BatchLayout
from semmetrics.metrics.spice import PARSER_OPTIONS, parsed_texts
from semmetrics.text.tokenizers import RawTuple

UNKNOWN_CAPTIONS, CUT_CAPTIONS = "captions without a vector", "captions of which a part was read"
"""What is counted, with the name of the embedding; equal captions of a block once."""
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


@dataclass(frozen=True)
class _NearestSums:
    """A step: each phrase of either side with the most similar one of the other."""

    phrases: _PhrasesOf

    def compute(self, block: CaptionBlock) -> tuple[Floats, Floats, Ints, Ints]:
        """Parse, embed and compare; note the parser, and phrases without a vector.

        Returns the sums of similarities to the nearest phrase, of candidates and of references,
        and how many phrases each item has on these sides.
        """
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
        # cosines are rounded to 1e-9, so that sums of integers are exact in any order
        precision, recall = (
            sum_rows(np.rint(values * 1e9).astype(np.int64), side.indptr) / 1e9
            for values, side in ((precision, mine), (recall, theirs))
        )
        n_candidate = sum_rows(layout.pred_kept, mine.indptr)
        return precision, recall, n_candidate, sum_rows(layout.ref_kept, theirs.indptr)


@dataclass(frozen=True)
class _SoftValues(ItemSums):
    """The value of each candidate: columns "value" and "cause"."""

    phrases: _PhrasesOf
    bidirectional: bool

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Average over the phrases of the candidate, and of the references."""
        precision, recall, n_candidate, n_reference = block.get(_NearestSums(self.phrases))
        n_refs = block.get(References()).n_refs
        value = divide(precision, n_candidate)
        if self.bidirectional:
            value = harmonic_mean((value + 1) / 2, (divide(recall, n_reference) + 1) / 2)
        value = np.where((n_candidate > 0) & (n_reference > 0), value, np.nan)
        n_candidate = np.where(n_refs > 0, n_candidate, 1)  # without references it is no cause
        return value_columns(value, n_candidate, n_refs)


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


@dataclass(frozen=True)
class _BagValues(ItemSums):
    """The similarity of each candidate to its references: columns "value" and "cause"."""

    embedding: str
    references: str

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Embed the captions of a block, each distinct one once, and compare."""
        task, items = block.task, block.get(References())
        model = label_vectors_of(task, self.embedding)
        texts, indptr = _bags(task, items.references, items.indptr, self.references)
        captions = [task.texts[code].strip() for code in items.candidates.tolist()]
        distinct = {text: row for row, text in enumerate(dict.fromkeys([*captions, *texts]))}
        found, lost = embed_wholes(model, list(distinct))
        block.note((UNKNOWN_CAPTIONS, self.embedding), lost)
        block.note((CUT_CAPTIONS, self.embedding), found.truncated)
        mine, theirs = (
            np.array([distinct[one] for one in side], np.int64) for side in (captions, texts)
        )
        item, vectors = row_numbers(indptr), to_device(found.vectors, model.device)
        cosines = Backend(vectors).numpy(paired_cosines(vectors[mine[item]], vectors[theirs]))
        known = found.known[theirs]
        total = np.bincount(item, np.where(known, cosines, 0.0), minlength=len(block))
        value = divide(total, sum_rows(known, indptr))
        some = found.known[mine]
        n_candidate = np.where(items.n_refs > 0, some, 1)  # without references it is no cause
        return value_columns(np.where(some, value, np.nan), n_candidate, items.n_refs)


def _bags(task: CaptionTask, references: Ints, indptr: Ints, how: str) -> tuple[list[str], Ints]:
    """Return the texts that stand for the references of each item, and their offsets."""
    texts = [task.texts[code].strip() for code in references.tolist()]
    if how == "mean":
        return texts, indptr
    joined = [" ".join(filter(None, texts[a:b])) for a, b in pairwise(indptr.tolist())]
    return joined, np.arange(len(joined) + 1)


class _BagMeans(ItemMeans):
    """Means over candidates."""

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the step of item values."""
        return _BagValues(str(measure["embedding"]), str(measure["references"]))


class BagPairs:
    """Similarities of every caption to every image's references, in blocks of images.

    An entry has the same bits whatever block it is in.

    Parameters
    ----------
    texts : sequence of str
        What stands for the references of the images.
    indptr : int array, shape (images + 1,)
        The texts of each image.
    captions : sequence of str
    model : TextModel
    """

    def __init__(
        self, texts: Sequence[str], indptr: Ints, captions: Sequence[str], model: Any
    ) -> None:
        self.n_rows, self.n_columns = len(indptr) - 1, len(captions)
        self._indptr = indptr
        distinct = {text: row for row, text in enumerate(dict.fromkeys([*captions, *texts]))}
        found, _ = embed_wholes(model, list(distinct))
        self._theirs, mine = (
            np.array([distinct[one] for one in side], np.int64) for side in (texts, captions)
        )
        self._known: Bools = found.known
        vectors = to_device(found.vectors, model.device)
        self._split = SplitVectors.of(Backend(vectors).array(vectors, "float64"))
        self._captions, self._known_captions = self._split[mine], found.known[mine]

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the rows start to stop, shape (rows, captions); 0 where there is no value."""
        values = np.empty((stop - start, self.n_columns)) if out is None else out
        values[...] = 0.0
        first, number = self._indptr[start:stop], lengths(self._indptr[start : stop + 1])
        counts = np.zeros(stop - start, np.int64)
        for place in range(int(number.max(initial=0))):  # the references of images, one by one
            rows = np.flatnonzero(number > place)
            texts = self._theirs[first[rows] + place]
            known = self._known[texts]
            rows, texts = rows[known], texts[known]
            table = self._split[texts].cosines(self._captions)
            values[rows] += Backend(table).numpy(table)
            counts[rows] += 1
        values /= np.maximum(counts, 1)[:, None]
        values[:, ~self._known_captions] = 0.0
        return values


def bag_pairs(task: CaptionTask, measure: Measure) -> BagPairs:
    """Return pairs whose entry (image, candidate) is BagSim of the candidate for the image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images; rows are images.
    measure : Measure
        Of BagSim, with 0 for what has no value.

    Raises
    ------
    InputError
        If something else stands for what has no value.
    """
    if any(measure[policy] != "0" for policy in ("no_prediction", "undefined")):
        raise InputError("no-matrix", measure=measure, remedy="entries without a value are 0: "
                         "leave no_prediction and undefined out")  # fmt: skip
    texts, indptr = _bags(task, task.references, task.indptr, str(measure["references"]))
    captions = [task.texts[code].strip() for code in task.candidates.tolist()]
    return BagPairs(texts, indptr, captions, label_vectors_of(task, str(measure["embedding"])))


BagSim = add(
    Definition(
        name="BagSim",
        family=_BagMeans(),
        summary="Cosine of the embeddings of the candidate and of its references.",
        equation="cos(e(c), e(s_1 s_2 …)), or the mean of cos(e(c), e(s_i))",
        source="Kubany et al. 2020, section 3.2, on captions in place of lists of labels",
        cite=("kubany2020",),
        options=(
            Option(
                "references",
                "refs",
                "joined",
                ("joined", "mean"),
                help="several references are joined to one text, or their similarities averaged",
            ),
            EMBEDDING,
            policy_option("no_prediction", "nopred", "0", "candidates that are blank or not known"),
            NO_REFERENCE,
            policy_option("undefined", "undef", "0", "references that are blank or not known"),
        ),
        bounds=(-1.0, 1.0),
        order_invariant=False,
        cutoff=False,
        kind="captions",
        needs=frozenset({"text_embedding"}),
        extra={"pairs": bag_pairs},
    )
)
