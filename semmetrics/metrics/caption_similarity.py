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
from itertools import pairwise
from typing import Any

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import Backend, to_device, to_numpy
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.similarity import SplitVectors, paired_cosines
from semmetrics.data.lists import Side
from semmetrics.data.tasks import CaptionTask, kept
from semmetrics.errors import InputError
from semmetrics.metrics import caption_steps
from semmetrics.metrics.bags import embed_wholes
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock, items_of
from semmetrics.metrics.definition import Measure, model_key, one_of
from semmetrics.metrics.families import policy_option
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.label_similarity import (
    EMBEDDING,
    choose_similarities,
    label_vectors_of,
)
from semmetrics.metrics.semantic import BatchLayout, nearest_by_rule
from semmetrics.metrics.spice import PARSER_OPTIONS, parsed_texts
from semmetrics.text.raw_tuples import RawTuple
from semmetrics.text.tokenizers import encode_tokens

UNKNOWN_CAPTIONS, CUT_CAPTIONS = (
    "captions without a vector",
    "captions of which a part was read",
)
"""What is counted, with the name of the embedding; equal captions of a block once."""
UNKNOWN_PHRASES = "phrases without a vector"
"""What is noted, with the name of the embedding, of phrases that it does not know."""
KNOWN_TEXTS = "texts with a vector"
"""What is counted, with the name of the embedding: phrases and captions."""


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
            found |= dict.fromkeys(
                [f"{subject} {relation} {others[0]}", subject, others[0]]
            )
        else:
            found |= dict.fromkeys(
                [f"{other} {subject}" for other in others[:1]] + [subject]
            )
    return [phrase for phrase in found if phrase.strip()]


class _Phrases:
    """The phrases of the captions of a task: the codes of each caption's, and their vectors."""

    def __init__(
        self, task: CaptionTask, parser: str, captions: str, embedding: str
    ) -> None:
        parses = task.fits[f"parser/{parser}"].parser.tuples(
            parsed_texts(task, captions)
        )
        self.indptr, self.codes, phrases = encode_tokens(
            [phrases_of(one) for one in parses]
        )
        self.vectors = label_vectors_of(task, embedding).vectors(phrases)

    def sides(
        self, candidates: Ints, indptr: Ints, references: Ints
    ) -> tuple[Side, Side]:
        """Return the phrases of candidates, and the distinct ones of all references of each."""
        own, flat = ragged.take_rows(self.indptr, candidates)
        each, theirs = ragged.take_rows(self.indptr, references)
        width = max(1, len(self.vectors.terms))
        united, distinct, _ = ragged.distinct_codes(
            each[indptr], self.codes[theirs], width
        )
        return Side(own, self.codes[flat]), Side(united, distinct.astype(np.int32))


_parsed_phrases = kept(_Phrases)


@kept
def _nearest_sums(
    block: CaptionBlock, parser: str, captions: str, embedding: str
) -> tuple[Floats, Floats, Ints, Ints]:
    """Compare each phrase of either side with the most similar one of the other.

    Returns the sums of similarities to the nearest phrase, of candidates and of references, and how
    many phrases each item has on these sides.
    """
    items, graphs = items_of(block), block.task.fits[f"parser/{parser}"]
    block.note(f"#parser={parser}", frozenset([graphs.parser.identity]))
    found = _parsed_phrases(block.task, parser, captions, embedding)
    vectors = found.vectors
    mine, theirs = found.sides(items.candidates, items.indptr, items.references)
    lost = {
        code
        for side in (mine, theirs)
        for code in side.codes[~vectors.known[side.codes]]
    }
    block.note(
        (UNKNOWN_PHRASES, embedding), frozenset(vectors.terms[code] for code in lost)
    )
    n_known = sum(int(vectors.known[side.codes].sum()) for side in (mine, theirs))
    block.note((KNOWN_TEXTS, embedding), n_known)
    own, other = (vectors.included[side.codes] for side in (mine, theirs))
    layout = BatchLayout(mine, theirs, own, other, vectors)
    nearest = nearest_by_rule(layout, choose_similarities(vectors, mine, theirs))
    # cosines are rounded to 1e-9, so that sums of integers are exact in any order
    precision, recall = (
        ragged.sum_rows(np.rint(values * 1e9).astype(np.int64), side.indptr) / 1e9
        for values, side in zip(nearest, (mine, theirs), strict=True)
    )
    n_candidate = ragged.sum_rows(layout.pred_kept, mine.indptr)
    return (
        precision,
        recall,
        n_candidate,
        ragged.sum_rows(layout.ref_kept, theirs.indptr),
    )


def _soft_values(
    block: CaptionBlock, *, bidirectional: str, **source: str
) -> tuple[Floats, Ints]:
    """Average over the phrases of the candidate, and of the references."""
    precision, recall, n_candidate, n_reference = _nearest_sums(block, **source)
    value = divide(precision, n_candidate)
    if bidirectional == "yes":
        value = harmonic_mean((value + 1) / 2, (divide(recall, n_reference) + 1) / 2)
    return np.where((n_candidate > 0) & (n_reference > 0), value, np.nan), n_candidate


def show_nearest(
    task: CaptionTask, row: int, measure: Measure
) -> dict[str, list[list[Any]]]:
    """Return each phrase of a candidate with the nearest of its references and their similarity.

    The most similar stand first.
    """
    parser, captions = str(measure["parser"]), str(measure["captions"])
    found = _parsed_phrases(task, parser, captions, model_key(measure))
    indptr, references = task.pairs(row, row + 1)
    mine, theirs = found.sides(task.candidates[row : row + 1], indptr, references)
    if not len(mine.codes) or not len(theirs.codes):
        return {"nearest": []}
    source = choose_similarities(found.vectors, mine, theirs)
    rows = (side.codes[None].astype(np.int64) for side in (mine, theirs))
    values = to_numpy(source.gather(*rows, by_term=False))[0]
    terms, best = found.vectors.terms, values.argmax(axis=1)
    nearest = [
        [terms[code], terms[theirs.codes[place]], round(float(value), 4)]
        for code, place, value in zip(mine.codes, best, values.max(axis=1), strict=True)
        if np.isfinite(value)
    ]
    return {"nearest": sorted(nearest, key=lambda one: -one[2])}


_BIDIRECTIONAL = one_of(
    "bidirectional",
    "no yes",
    "whether phrases of the references count, "
    "too: the harmonic mean of both means, after (cos + 1) / 2",
    short="bidir",
)
SoftSPICE = caption_steps.caption_measure(
    "Soft-SPICE",
    caption_steps.CaptionMeans(_soft_values),
    "Mean similarity of the phrases of the candidate's scene graph to the nearest of the "
    "references'.",
    "mean over p in G(c) of max over q in G(S) of cos(e(p), e(q))",
    "Li et al. 2023 (FACTUAL), and its code",
    cite=("li2023",),
    options=(
        _BIDIRECTIONAL,
        *PARSER_OPTIONS,
        EMBEDDING,
        policy_option("no_prediction", "nopred", "0", "candidates without phrases"),
        NO_REFERENCE,
        policy_option("undefined", "undef", "0", "references without phrases"),
    ),
    bounds=(-1.0, 1.0),
    needs=frozenset({"java", "embedding"}),
    extra={"show": show_nearest},
)


class _Bags:
    """Candidates, and what stands for the references of items, embedded each distinct text once.

    The texts of ``sides`` are candidates, and the offsets of references and these; ``how`` is
    "joined" or "mean".

    Attributes
    ----------
    known : bool array
        Whether the model knows each text.
    vectors : array
        On the device of the model.
    lost, cut : int
        How many texts the model does not know, or read a part of.
    mine : int array, shape (candidates,)
        The text of each candidate.
    indptr, theirs : int arrays
        The texts of each item's references.
    """

    def __init__(
        self, task: CaptionTask, embedding: str, how: str, *sides: Ints
    ) -> None:
        model = label_vectors_of(task, embedding)
        candidates, indptr, references = sides
        captions, texts = (
            [task.texts[code].strip() for code in side.tolist()]
            for side in (candidates, references)
        )
        if how == "joined":
            texts = [
                " ".join(filter(None, texts[a:b])) for a, b in pairwise(indptr.tolist())
            ]
            indptr = np.arange(len(indptr))
        distinct = {
            text: row for row, text in enumerate(dict.fromkeys([*captions, *texts]))
        }
        found, self.lost = embed_wholes(model, list(distinct))
        self.known, self.cut, self.indptr = found.known, found.truncated, indptr
        self.vectors = to_device(found.vectors, model.device)
        self.mine, self.theirs = (
            np.array([distinct[one] for one in side], np.int64)
            for side in (captions, texts)
        )


def _bag_values(
    block: CaptionBlock, *, references: str, embedding: str
) -> tuple[Floats, Bools]:
    """Return the similarity of each candidate to its references, and whether it is known."""
    items = items_of(block)
    sides = items.candidates, items.indptr, items.references
    bags = _Bags(block.task, embedding, references, *sides)
    block.note((UNKNOWN_CAPTIONS, embedding), bags.lost)
    block.note((CUT_CAPTIONS, embedding), bags.cut)
    block.note((KNOWN_TEXTS, embedding), int(bags.known.sum()))
    item, vectors = ragged.row_numbers(bags.indptr), bags.vectors
    pairs = vectors[bags.mine[item]], vectors[bags.theirs]
    known = bags.known[bags.theirs]
    cosines = np.where(known, to_numpy(paired_cosines(*pairs)), 0.0)
    value = divide(
        np.bincount(item, cosines, len(block)), ragged.sum_rows(known, bags.indptr)
    )
    return np.where(bags.known[bags.mine], value, np.nan), bags.known[bags.mine]


class BagPairs:
    """Similarities of every caption to every image's references, in blocks of images.

    An entry has the same bits whatever block it is in.

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

    def __init__(self, task: CaptionTask, measure: Measure) -> None:
        if any(measure[policy] != "0" for policy in ("no_prediction", "undefined")):
            raise InputError(
                "no-matrix",
                measure=measure,
                remedy="entries without a value are 0: "
                "leave no_prediction and undefined out",
            )
        sides = task.candidates, task.indptr, task.references
        bags = _Bags(task, model_key(measure), str(measure["references"]), *sides)
        self.n_rows, self.n_columns = len(task.indptr) - 1, len(task)
        self._indptr, self._theirs, self._known = bags.indptr, bags.theirs, bags.known
        self._split = SplitVectors.of(
            Backend(bags.vectors).array(bags.vectors, "float64")
        )
        self._captions, self._known_captions = (
            self._split[bags.mine],
            self._known[bags.mine],
        )

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the rows start to stop, shape (rows, captions); 0 where there is no value."""
        values = np.empty((stop - start, self.n_columns)) if out is None else out
        values[...] = 0.0
        first, number = (
            self._indptr[start:stop],
            np.diff(self._indptr[start : stop + 1]),
        )
        counts = np.zeros(stop - start, np.int64)
        # the references of images, one by one
        for place in range(int(number.max(initial=0))):
            rows = np.flatnonzero(number > place)
            texts = self._theirs[first[rows] + place]
            known = self._known[texts]
            rows, texts = rows[known], texts[known]
            values[rows] += to_numpy(self._split[texts].cosines(self._captions))
            counts[rows] += 1
        values /= np.maximum(counts, 1)[:, None]
        values[:, ~self._known_captions] = 0.0
        return values


_REFERENCES = one_of(
    "references",
    "joined mean",
    "several references are joined to one text, or their similarities averaged",
    short="refs",
)
BagSim = caption_steps.caption_measure(
    "BagSim",
    caption_steps.CaptionMeans(_bag_values),
    "Cosine of the embeddings of the candidate and of its references.",
    "cos(e(c), e(s_1 s_2 …)), or the mean of cos(e(c), e(s_i))",
    "Kubany et al. 2020, section 3.2, on captions in place of lists of labels",
    cite=("kubany2020",),
    options=(
        _REFERENCES,
        EMBEDDING,
        policy_option(
            "no_prediction", "nopred", "0", "candidates that are blank or not known"
        ),
        NO_REFERENCE,
        policy_option(
            "undefined", "undef", "0", "references that are blank or not known"
        ),
    ),
    bounds=(-1.0, 1.0),
    order_invariant=False,
    needs=frozenset({"text_embedding"}),
    extra={"pairs": BagPairs},
)
