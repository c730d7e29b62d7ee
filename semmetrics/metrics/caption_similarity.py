"""Captions compared by embeddings: Soft-SPICE of phrases, and BagSim of whole captions.

Conventions
-----------
Similarities are cosines of embeddings, rounded to 1e-9, in [-1, 1].

**Soft-SPICE** writes the tuples of a caption's scene graph as phrases: an object by
itself, "attribute object", and "subject relation object". The objects of the last two are
also phrases of their own. The phrases of a candidate are compared with the phrases of all
its references, each distinct phrase once. Tuples are not merged by synonyms. If a
candidate or its references have no phrases, the value is undefined. By default it counts
as 0, as in SPICE. The program of the paper's authors embeds the empty string instead, or
fails without a reference.

**BagSim** embeds a caption as it is written, without surrounding white space. The
references of an image are one bag, as the labels of an item are in BagSim of labels:
those that are not empty are joined by spaces into one string. Alternatively each reference
is compared by itself, and the similarities are averaged. With a single reference, both
give the same value. Empty captions have no similarity. Under the policies ``zero`` and
``skip``, captions that the model does not know have none either. Among several references
they are left out of the mean.

References
----------
Li et al., 2023, FACTUAL: A Benchmark for Faithful and Consistent Textual Scene Graph
Parsing, Findings of ACL, and its code, FactualSceneGraph.
Kubany et al., 2020, Expert Systems with Applications, section 3.2, on captions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import Backend, to_device, to_numpy
from semmetrics.core.ragged import Bools, Codes, Floats, Ints
from semmetrics.core.similarity import SplitVectors, paired_cosines
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.embed.label_vectors import LabelVectors
from semmetrics.errors import InputError
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CandidateReferences,
    CaptionBlock,
    CaptionMeans,
    ComparedValues,
    caption_measure,
    captions_of,
)
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.families import policy_option
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.label_batches import BatchLayout
from semmetrics.metrics.label_similarity import (
    EMBEDDING,
    choose_similarities,
    label_vectors_of,
)
from semmetrics.metrics.measure_options import choice_option
from semmetrics.metrics.soft_matching import nearest_by_rule
from semmetrics.metrics.spice import PARSER_OPTIONS, parsed_texts
from semmetrics.metrics.whole_texts import embed_texts
from semmetrics.text.raw_tuples import RawTuple
from semmetrics.text.tokenizers import encode_tokens

# Codes of observations, whose detail is the name of the embedding
UNKNOWN_CAPTIONS = "captions without a vector"
"""The number of captions that the model does not know. Equal ones of a block count once."""
CUT_CAPTIONS = "captions of which a part was read"
"""The number of truncated captions."""
UNKNOWN_PHRASES = "phrases without a vector"
"""The phrases that the model does not know."""
KNOWN_TEXTS = "texts with a vector"
"""The number of phrases and captions that the model knows."""

# ---- Soft-SPICE ----------------------------------------------------------------------


def phrases_of(tuples: Sequence[RawTuple]) -> list[str]:
    """Write the tuples of a caption as phrases, each distinct phrase once.

    Parameters
    ----------
    tuples : sequence of raw tuples
        ``(object,)``, ``(object, attribute)`` or ``(subject, object, relation)``. The
        relation "is" makes its object an attribute. "be " before a relation is dropped,
        as in SPICE.

    Examples
    --------
    >>> phrases_of([("dog", "sofa", "be on"), ("sofa", "red"), ("dog", "small", "is"), ("man",)])
    ['dog on sofa', 'dog', 'sofa', 'red sofa', 'small dog', 'man']
    """
    phrases: dict[str, None] = {}
    for raw_tuple in tuples:
        slots = [" ".join(slot.split()) for slot in raw_tuple]
        for phrase in _phrases_of_tuple(slots):
            phrases[phrase] = None
    return [phrase for phrase in phrases if phrase.strip()]


def _phrases_of_tuple(slots: Sequence[str]) -> list[str]:
    """Return the phrases of one tuple, given its slots."""
    if len(slots) == 1:
        return [slots[0]]
    is_attribute = len(slots) == 2 or slots[2] == "is"
    if is_attribute:
        name, attribute = slots[:2]
        return [f"{attribute} {name}", name]
    subject, target, relation = slots
    relation = relation.removeprefix("be ")
    return [f"{subject} {relation} {target}", subject, target]


class _PhraseTable(NamedTuple):
    """The phrases of the captions of a task.

    Attributes
    ----------
    indptr, codes : int arrays
        The phrases of each distinct caption, as codes of ``vectors``.
    vectors : LabelVectors
        The vectors of the distinct phrases.
    """

    indptr: Ints
    codes: Codes
    vectors: LabelVectors

    def sides(self, captions: CandidateReferences) -> tuple[Side, Side]:
        """Return the phrases of candidates, and the distinct ones of their references."""
        indptr, places = ragged.take_rows(self.indptr, captions.candidates)
        candidate_side = Side(indptr, self.codes[places])
        reference_indptr, places = ragged.take_rows(self.indptr, captions.references)
        # The references of an item follow one another, and so do their phrases.
        item_indptr = reference_indptr[captions.indptr]
        n_phrases = max(1, len(self.vectors.terms))
        indptr, codes, _ = ragged.distinct_codes(
            item_indptr, self.codes[places], n_phrases
        )
        return candidate_side, Side(indptr, codes.astype(np.int32))


@memoised
def _phrase_table(
    task: CaptionTask, parser: str, captions: str, embedding: str
) -> _PhraseTable:
    """Parse the captions of a task, and embed their phrases.

    Parameters
    ----------
    task : CaptionTask
    parser, captions : str
        The measure's options.
    embedding : str
        The ``model_key`` of the measure.
    """
    graphs = task.fits[f"parser/{parser}"]
    parses = graphs.parser.tuples(parsed_texts(task, captions))
    phrase_lists = list(map(phrases_of, parses))
    indptr, codes, phrases = encode_tokens(phrase_lists)
    vectors = label_vectors_of(task, embedding).vectors(phrases)
    return _PhraseTable(indptr, codes, vectors)


class _NearestSums(NamedTuple):
    """Similarities of phrases to the nearest phrase of the other side, summed per item.

    Attributes
    ----------
    candidate_sums, reference_sums : float arrays, shape (items,)
    n_candidate, n_reference : int arrays, shape (items,)
        The number of phrases on either side.
    """

    candidate_sums: Floats
    reference_sums: Floats
    n_candidate: Ints
    n_reference: Ints


@memoised
def _nearest_sums(
    block: CaptionBlock, parser: str, captions: str, embedding: str
) -> _NearestSums:
    """Compare each phrase of either side with the most similar one of the other."""
    graphs = block.task.fits[f"parser/{parser}"]
    block.observations.require(f"parser={parser}", graphs.parser.identity)
    phrases = _phrase_table(block.task, parser, captions, embedding)
    vectors = phrases.vectors
    candidates, references = phrases.sides(captions_of(block))
    _note_phrases(block, embedding, vectors, candidates, references)
    layout = BatchLayout(
        candidates,
        references,
        vectors.included[candidates.codes],
        vectors.included[references.codes],
        vectors,
    )
    source = choose_similarities(vectors, candidates, references)
    nearest = nearest_by_rule(layout, source)
    return _NearestSums(
        _sum_exactly(candidates, nearest.pred),
        _sum_exactly(references, nearest.ref),
        ragged.sum_rows(layout.pred_used, candidates.indptr),
        ragged.sum_rows(layout.ref_used, references.indptr),
    )


def _note_phrases(
    block: CaptionBlock,
    embedding: str,
    vectors: LabelVectors,
    candidates: Side,
    references: Side,
) -> None:
    """Note which phrases of a block the embedding does not know, and count the others."""
    unknown = set()
    n_known = 0
    for side in (candidates, references):
        is_known = vectors.known[side.codes]
        n_known += int(is_known.sum())
        unknown.update(side.codes[~is_known].tolist())
    unknown_phrases = frozenset(vectors.terms[code] for code in unknown)
    block.observations.add_names(UNKNOWN_PHRASES, unknown_phrases, embedding)
    block.observations.count(KNOWN_TEXTS, n_known, embedding)


def _sum_exactly(side: Side, similarities: Floats) -> Floats:
    """Sum the similarities of each item.

    Cosines are rounded to 1e-9, so sums of integers are exact in any order.
    """
    units = np.rint(similarities * 1e9).astype(np.int64)
    return np.asarray(ragged.sum_rows(units, side.indptr) / 1e9)


def _soft_spice_values(
    block: CaptionBlock,
    *,
    bidirectional: str,
    parser: str,
    captions: str,
    embedding: str,
) -> ComparedValues:
    """Average over the phrases of each candidate, and of its references if requested."""
    sums = _nearest_sums(block, parser, captions, embedding)
    values = divide(sums.candidate_sums, sums.n_candidate)
    if bidirectional == "yes":
        recall = divide(sums.reference_sums, sums.n_reference)
        values = harmonic_mean((values + 1) / 2, (recall + 1) / 2)
    is_defined = (sums.n_candidate > 0) & (sums.n_reference > 0)
    return ComparedValues(np.where(is_defined, values, np.nan), sums.n_candidate)


def show_nearest(
    task: CaptionTask, row: int, measure: Measure
) -> dict[str, list[list[Any]]]:
    """Return each phrase of a candidate with its nearest reference phrase.

    Each entry has both phrases and their similarity, the most similar first.
    """
    parser = str(measure["parser"])
    captions = str(measure["captions"])
    phrases = _phrase_table(task, parser, captions, model_key(measure))
    indptr, references = task.item_references(row, row + 1)
    item = CandidateReferences(task.candidates[row : row + 1], indptr, references)
    candidate_side, reference_side = phrases.sides(item)
    if not len(candidate_side.codes) or not len(reference_side.codes):
        return {"nearest": []}
    source = choose_similarities(phrases.vectors, candidate_side, reference_side)
    # A batch of one item
    rows = candidate_side.codes[None].astype(np.int64)
    columns = reference_side.codes[None].astype(np.int64)
    similarities = to_numpy(source.gather(rows, columns, by_term=False))[0]
    terms = phrases.vectors.terms
    nearest: list[list[Any]] = []
    for code, row_similarities in zip(candidate_side.codes, similarities, strict=True):
        column = row_similarities.argmax()
        similarity = row_similarities[column]
        if np.isfinite(similarity):
            reference = terms[reference_side.codes[column]]
            nearest.append([terms[code], reference, round(float(similarity), 4)])
    return {"nearest": sorted(nearest, key=_falling_similarity)}


def _falling_similarity(entry: list[Any]) -> float:
    """Return the sort key of an entry of `show_nearest`."""
    return -float(entry[2])


_BIDIRECTIONAL = choice_option(
    "bidirectional",
    "no yes",
    "also match the phrases of the references: the harmonic mean of both "
    "directions, with similarities as (cos + 1) / 2",
    short="bidir",
)
SoftSPICE = caption_measure(
    "Soft-SPICE",
    CaptionMeans(_soft_spice_values),
    "Mean similarity of each phrase of the candidate's scene graph to the most "
    "similar phrase of the references.",
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

# ---- BagSim --------------------------------------------------------------------------


class _CaptionBags(NamedTuple):
    """Embedded candidates and references, each distinct string once.

    Attributes
    ----------
    vectors : array or tensor, shape (strings, dimension)
        On the device of the model.
    known : bool array, shape (strings,)
        Whether the model knows each string.
    n_unknown, n_truncated : int
        How many strings the model does not know, or reads only in part.
    candidates : int array, shape (candidates,)
        The string of each candidate.
    indptr, references : int arrays
        The strings of each item's references, or the one string that joins them.
    """

    vectors: Any
    known: Bools
    n_unknown: int
    n_truncated: int
    candidates: Ints
    indptr: Ints
    references: Ints


def _embed_bags(
    task: CaptionTask, embedding: str, pooling: str, captions: CandidateReferences
) -> _CaptionBags:
    """Embed candidates and references.

    Parameters
    ----------
    task : CaptionTask
    embedding : str
        The ``model_key`` of the measure.
    pooling : {"joined", "mean"}
        Whether the references of an item are joined into one string.
    captions : CandidateReferences
        References may be of items or of images.
    """
    model = label_vectors_of(task, embedding)
    candidates = _strip_texts(task, captions.candidates)
    references = _strip_texts(task, captions.references)
    indptr = captions.indptr
    if pooling == "joined":
        references = _join_references(references, indptr)
        indptr = np.arange(len(indptr))  # one string per item
    distinct = list(dict.fromkeys([*candidates, *references]))
    row_of_string = {string: row for row, string in enumerate(distinct)}
    embedded, n_unknown = embed_texts(model, distinct)
    candidate_rows = [row_of_string[string] for string in candidates]
    reference_rows = [row_of_string[string] for string in references]
    return _CaptionBags(
        vectors=to_device(embedded.vectors, model.device),
        known=embedded.known,
        n_unknown=n_unknown,
        n_truncated=embedded.truncated,
        candidates=np.array(candidate_rows, np.int64),
        indptr=indptr,
        references=np.array(reference_rows, np.int64),
    )


def _strip_texts(task: CaptionTask, codes: Ints) -> list[str]:
    """Return captions without surrounding white space."""
    return [task.texts[code].strip() for code in codes.tolist()]


def _join_references(references: Sequence[str], indptr: Ints) -> list[str]:
    """Join the references of each item that are not empty by spaces."""
    joined = []
    for start, stop in pairwise(indptr.tolist()):
        texts = filter(None, references[start:stop])
        joined.append(" ".join(texts))
    return joined


def _bag_values(
    block: CaptionBlock, *, references: str, embedding: str
) -> ComparedValues:
    """Return the similarity of each candidate to its references."""
    captions = captions_of(block)
    bags = _embed_bags(block.task, embedding, references, captions)
    block.observations.count(UNKNOWN_CAPTIONS, bags.n_unknown, embedding)
    block.observations.count(CUT_CAPTIONS, bags.n_truncated, embedding)
    block.observations.count(KNOWN_TEXTS, int(bags.known.sum()), embedding)
    item_of_pair = ragged.row_numbers(bags.indptr)
    candidate_vectors = bags.vectors[bags.candidates[item_of_pair]]
    cosines = paired_cosines(candidate_vectors, bags.vectors[bags.references])
    is_known = bags.known[bags.references]
    known_cosines = np.where(is_known, to_numpy(cosines), 0.0)
    sums = np.bincount(item_of_pair, known_cosines, len(block))
    values = divide(sums, ragged.sum_rows(is_known, bags.indptr))
    candidate_known = bags.known[bags.candidates]
    return ComparedValues(np.where(candidate_known, values, np.nan), candidate_known)


class BagPairs:
    """Similarities of every caption to every image's references, in blocks of images.

    The division into blocks does not change the bits of an entry.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images. Rows are
        images.
    measure : Measure
        BagSim, with the default policies, which count undefined values as 0.

    Raises
    ------
    InputError
        If the measure has other policies for undefined values.
    """

    def __init__(self, task: CaptionTask, measure: Measure) -> None:
        if measure["no_prediction"] != "0" or measure["undefined"] != "0":
            raise InputError(
                "no-matrix",
                measure=measure,
                remedy="leave out no_prediction and undefined. Entries without a value are 0",
            )
        captions = CandidateReferences(task.candidates, task.indptr, task.references)
        pooling = str(measure["references"])
        bags = _embed_bags(task, model_key(measure), pooling, captions)
        self.n_rows = len(task.indptr) - 1
        self.n_columns = len(task)
        self._indptr = bags.indptr
        self._references = bags.references
        self._known = bags.known
        backend = Backend(bags.vectors)
        self._vectors = SplitVectors.of(backend.array(bags.vectors, "float64"))
        self._candidate_vectors = self._vectors[bags.candidates]
        self._candidate_known = self._known[bags.candidates]

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the rows start to stop, shape (rows, captions), 0 without a value."""
        values = out
        if values is None:
            values = np.empty((stop - start, self.n_columns))
        values[...] = 0.0
        first_references = self._indptr[start:stop]
        n_refs = np.diff(self._indptr[start : stop + 1])
        n_known = np.zeros(stop - start, np.int64)
        # Add the first reference of all images, then the second one, and so on.
        for number in range(int(n_refs.max(initial=0))):
            rows = np.flatnonzero(n_refs > number)
            strings = self._references[first_references[rows] + number]
            is_known = self._known[strings]
            known_rows = rows[is_known]
            vectors = self._vectors[strings[is_known]]
            values[known_rows] += to_numpy(vectors.cosines(self._candidate_vectors))
            n_known[known_rows] += 1
        values /= np.maximum(n_known, 1)[:, None]
        values[:, ~self._candidate_known] = 0.0
        return values


_REFERENCES = choice_option(
    "references",
    "joined mean",
    "whether several references are joined into one text, or their "
    "similarities are averaged",
    short="refs",
)
BagSim = caption_measure(
    "BagSim",
    CaptionMeans(_bag_values),
    "Cosine similarity of the embeddings of the candidate and its references.",
    "cos(e(c), e(s_1 s_2 …)), or the mean of cos(e(c), e(s_i))",
    "Kubany et al. 2020, section 3.2, applied to captions instead of label lists",
    cite=("kubany2020",),
    options=(
        _REFERENCES,
        EMBEDDING,
        policy_option(
            "no_prediction",
            "nopred",
            "0",
            "candidates that are empty or out of vocabulary",
        ),
        NO_REFERENCE,
        policy_option(
            "undefined", "undef", "0", "references that are empty or out of vocabulary"
        ),
    ),
    bounds=(-1.0, 1.0),
    order_invariant=False,
    needs=frozenset({"text_embedding"}),
    extra={"pairs": BagPairs},
)
