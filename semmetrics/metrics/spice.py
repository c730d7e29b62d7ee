"""SPICE: the tuples of a candidate's scene graph that match those of its references.

Conventions
-----------
The captions of one image's references are merged into one scene graph, and so is the candidate
(`semmetrics.text.graphs`). A tuple of the candidate counts as a hit if any tuple of the
reference matches it; several may match the same one, so that ``fn`` may be negative and F above 1.
A category keeps the tuples of a kind on both sides: objects, attributes and relations by their
length, colours, numbers and sizes by lists of words. Where the references have no such tuple, "All"
is 0, as in the official program, and a category has no value.

Captions are parsed as tokens with blanks between them, as pycocoevalcap does, or as they are
written. The value of several items is the mean of their F.

Source: Anderson et al., 2016, ECCV, sections 3.1 to 3.3.

Of all captions for all images, a candidate's tuple is a hit for an image where any tuple of the
image's graph matches it. Distinct tuples are matched once: ``match`` (tuples of candidates x tuples
of references) gives ``meets`` (tuples of candidates x images), 1 where any does, and a caption's
hits are the sum over its tuples.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise, product
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks import CaptionTask, kept, occurring
from semmetrics.errors import FROM_0, ITEM
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock
from semmetrics.metrics.cider import CIDErD, cider_values
from semmetrics.metrics.definition import Measure, one_of
from semmetrics.metrics.families import policy_option
from semmetrics.text import scene_graphs
from semmetrics.text.concepts import Concepts
from semmetrics.text.graphs import Graphs, Group
from semmetrics.text.parses import PARSERS
from semmetrics.text.raw_tuples import RawTuple, check_tuples
from semmetrics.text.scene_graphs import GraphTable
from semmetrics.text.synonyms import category_words, open_synonyms

_WORK = 1 << 26  # pairs of tuples that are compared to find the range of an item
_BLOCK = 1 << 20  # and at a time
_BY_LENGTH = ("Object", "Attribute", "Relation")
CATEGORIES = ("All", *_BY_LENGTH, "Color", "Cardinality", "Size")
HITS = "tuples that match"
"""What is noted with the number of hits, over all categories, where there are tuples to match."""
NO_TUPLES = "without tuples"
"""What is noted, with "candidates" or "references", of the ids of items that have captions there,
but no tuples."""
TIED = "tied scene graphs"
"""What is noted of items whose F depends on ties: [id, lowest, F, highest, whether all ways were
tried], as JSON."""

Captions: TypeAlias = Sequence[Sequence[RawTuple]]


def spice_scores(
    candidates: Sequence[Sequence[RawTuple]], references: Sequence[Captions]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return SPICE of items whose captions are parsed.

    Parameters
    ----------
    candidates : sequence of lists of raw tuples
        For each item the candidate's: ``(object,)``, ``(object, attribute)`` or ``(subject, object,
        relation)``, in the order in which the parser gives them.
    references : sequence of lists of lists of raw tuples
        For each item a list a reference caption.

    Returns
    -------
    dict
        For each of "All", "Object", "Attribute", "Relation", "Color", "Cardinality" and "Size" the
        float arrays, shape (items,), "f", "precision", "recall", "tp", "fp" and "fn".

    Raises
    ------
    InputError
        If something is no tuple; says where.
    ValueError
        If the sides have different lengths.
    MissingDependencyError
        If pycocoevalcap, whose synonyms are used, is not installed.

    References
    ----------
    Anderson et al., 2016, ECCV, equations 4 to 6.

    Examples
    --------
    >>> dog = [("dog", "sofa", "on"), ("dog", "small"), ("sofa", "red"), ("dog",), ("sofa",)]
    >>> others = [[("dog", "couch", "sit on"), ("dog", "little"), ("dog",), ("couch",)],
    ...           [("puppy", "couch", "lie on"), ("puppy",), ("couch",)]]
    >>> scores = spice_scores([dog], [others])
    >>> scores["All"]["f"].round(4).tolist(), scores["Size"]["f"].tolist()
    ([0.5455], [1.0])
    """
    for item, (candidate, several) in enumerate(
        zip(candidates, references, strict=True)
    ):
        check_tuples(candidate, f"candidate of {ITEM.format(item)}")
        for number, caption in enumerate(several):
            check_tuples(caption, f"item {item}, reference {number}{FROM_0}")
    concepts = Concepts(open_synonyms())
    mine = GraphTable.of(
        [scene_graphs.merge_captions([one], concepts) for one in candidates]
    )
    theirs = GraphTable.of(
        [scene_graphs.merge_captions(one, concepts) for one in references]
    )
    matches = Matches(mine, theirs, concepts)
    return {name: matches.scores(name) for name in CATEGORIES}


class Matches:
    """Which tuples of candidates match one of their references: those similar in each slot.

    Parameters
    ----------
    candidates, references : GraphTable
        A graph an item each, of the same concepts.
    concepts : Concepts
    """

    def __init__(
        self, candidates: GraphTable, references: GraphTable, concepts: Concepts
    ) -> None:
        self._sides, self._concepts = (candidates, references), concepts
        self._near = SimilarConcepts(candidates.slots, references.slots, concepts)
        self._pairs = [self._similar(place) for place in range(len(_BY_LENGTH))]
        self._counts: dict[str, Ints] = {}

    def counts(self, category: str) -> Ints:
        """Count hits, tuples of the candidate and tuples of the reference.

        Returns
        -------
        array, shape (items, 3)
        """
        if category not in self._counts:
            if category == "All":
                found = np.sum([self.counts(name) for name in _BY_LENGTH], axis=0)
            else:
                own, other = (table.indptr[_place(category)] for table in self._sides)
                (mine, hits), (theirs, _) = self.flags(category)
                columns = (hits, own), (mine, own), (theirs, other)
                found = np.stack([ragged.sum_rows(*one) for one in columns], axis=1)
            self._counts[category] = found
        return self._counts[category]

    def scores(self, category: str) -> dict[str, Floats]:
        """Return the scores that `spice_scores` has of a category, each of shape (items,).

        Without tuples in the reference they are 0 for "All" and nan for a category.
        """
        tp, in_candidate, in_reference = self.counts(category).T.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = tp / in_reference
            precision = np.where(in_candidate > 0, tp / in_candidate, 0.0)
            f = np.where(tp > 0, 2.0 * (precision * recall) / (precision + recall), 0.0)
        for values in (precision, recall, f):
            values[in_reference == 0] = 0.0 if category == "All" else np.nan
        return {
            "f": f,
            "precision": precision,
            "recall": recall,
            "tp": tp,
            "fp": in_candidate - tp,
            "fn": in_reference - tp,
        }

    def flags(self, category: str) -> list[tuple[Bools, Bools]]:
        """Return which tuples are in a category, and which of these match.

        A pair of arrays of the candidates and one of the references; each is of all tuples that
        have the category's length, shape (tuples,).
        """
        kept = [self._kept(side, category) for side in range(len(self._sides))]
        first, second = self._pairs[_place(category)]
        both = kept[0][first] & kept[1][second]
        found = []
        for one, places in zip(kept, (first, second), strict=True):
            matched = np.zeros(len(one), np.bool_)
            matched[places[both]] = True
            found.append((one, matched))
        return found

    def _similar(self, place: int) -> tuple[Ints, Ints]:
        """Return the pairs of tuples of an item that are similar in each slot."""
        mine, theirs = (table.indptr[place] for table in self._sides)
        slots = [table.slots[place].T for table in self._sides]
        item, found = ragged.row_numbers(mine), [np.zeros((2, 0), np.int64)]
        for run in ragged.runs_within(
            ragged.offsets(ragged.lengths(theirs)[item]), _BLOCK
        ):
            indptr, second = ragged.take_rows(theirs, item[run])
            first = ragged.row_numbers(indptr) + run.start
            for one, other in zip(*slots, strict=True):
                near = self._near.are_similar(one[first], other[second])
                first, second = first[near], second[near]
            found.append(np.stack([first, second]))
        first, second = np.concatenate(found, axis=1)
        return first, second

    def _kept(self, side: int, category: str) -> Bools:
        """Return which tuples of a length a category has: all, or attributes that its list has."""
        table = self._sides[side]
        if category in _BY_LENGTH:
            return np.ones(len(table.slots[_place(category)]), np.bool_)
        concepts, places = np.unique(table.slots[1][:, 1], return_inverse=True)
        names, words = (
            map(self._concepts.name, concepts.tolist()),
            category_words()[category],
        )
        return np.array([name in words for name in names], np.bool_)[places]


def _place(category: str) -> int:
    """Return where a table of graphs has the tuples of a category; listed ones are attributes."""
    return _BY_LENGTH.index(category) if category in _BY_LENGTH else 1


def spice_range(
    candidate: Sequence[RawTuple],
    references: Captions,
    concepts: Concepts,
    most: int = 4096,
) -> tuple[float, float, bool]:
    """Return the smallest and the largest F that ties in merging can give to an item.

    Parameters
    ----------
    candidate : sequence of raw tuples
    references : sequence of sequences of raw tuples
    concepts : Concepts
    most : int
        How many ways of merging both sides are tried, of the candidate at most the square root;
        fewer of captions that have more than 128 tuples in all.

    Returns
    -------
    float, float, bool
        The last is whether all ways were tried.
    """
    n_tuples = 1 + len(candidate) + sum(map(len, references))
    most = min(most, max(1, _WORK // n_tuples**2))
    ways, every, left = list[list[scene_graphs.SceneGraph]](), True, most
    for side, room in (([candidate], isqrt(most)), (references, most)):
        found = list(
            islice(scene_graphs.every_merge(side, concepts), min(room, left) + 1)
        )
        every &= len(found) <= min(room, left)
        ways.append(found[: min(room, left)])
        left //= len(ways[-1])
    mine, theirs = map(GraphTable.of, zip(*product(*ways), strict=True))
    values = Matches(mine, theirs, concepts).scores("All")["f"]
    return float(values.min()), float(values.max()), every


# ---- captions of a task ----------------------------------------------------------------------


@kept
def _match_tuples(block: CaptionBlock, parser: str, captions: str) -> Matches:
    """Match the tuples of each item; note who parsed, what has no tuples, and what ties decide."""
    graphs: Graphs = block.task.fits[f"parser/{parser}"]
    block.note(f"#parser={parser}", frozenset([graphs.parser.identity]))
    groups, of_images = parsed_groups(block.task, captions)
    images = block.task.images[block.start : block.stop].tolist()
    sides = groups[block.start : block.stop], [of_images[image] for image in images]
    mine, theirs = map(graphs.take, sides)
    matches = Matches(mine, theirs, graphs.concepts)
    if (mine.n_tuples * theirs.n_tuples).any():
        block.note(HITS, int(matches.counts("All")[:, 0].sum()))
    refs, texts = caption_steps.items_of(block), block.task.texts
    for side, table, indptr, codes in (
        ("candidates", mine, np.arange(len(block) + 1), refs.candidates),
        ("references", theirs, refs.indptr, refs.references),
    ):
        lacking = frozenset(
            str(block.task.ids[block.start + row])
            for row in np.flatnonzero(table.n_tuples == 0).tolist()
            if any(texts[code].strip() for code in codes[indptr[row] : indptr[row + 1]])
        )
        block.note((NO_TUPLES, side), lacking)
    values, tied = matches.scores("All")["f"], []
    for row in np.flatnonzero(mine.ties + theirs.ties).tolist():
        (candidate,), references = (graphs.parser.tuples(side[row]) for side in sides)
        low, high, every = spice_range(candidate, references, graphs.concepts)
        if low < high or not every:
            value = float(values[row])
            tied.append(
                [str(block.task.ids[block.start + row]), low, value, high, every]
            )
    block.note(TIED, frozenset(map(json.dumps, tied)))
    return matches


def parsed_texts(task: CaptionTask, captions: str) -> list[str]:
    """Return what is parsed of each distinct caption of a task; blanks at its ends are not.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
    """
    if captions == "written":
        return [text.strip() for text in task.texts]
    return caption_steps.joined_tokens(task)


@kept
def parsed_groups(task: CaptionTask, captions: str) -> tuple[list[Group], list[Group]]:
    """Return the captions of each graph: an item's candidate, and all references of an image.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
    """
    texts, bounds = parsed_texts(task, captions), task.indptr.tolist()
    flat = [texts[code] for code in task.references.tolist()]
    return (
        [(texts[code],) for code in task.candidates.tolist()],
        [tuple(flat[start:stop]) for start, stop in pairwise(bounds)],
    )


def tied_captions(task: CaptionTask, captions: str, graphs: Graphs) -> list[str]:
    """Return the captions of items with ties, whose range takes parses where graphs are kept.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
    graphs : Graphs
    """
    if not graphs.has_ties:
        return []
    candidates, references = parsed_groups(task, captions)
    ties = graphs.take(candidates).ties + graphs.take(references).ties[task.images]
    return [
        text
        for row in np.flatnonzero(ties).tolist()
        for text in (*candidates[row], *references[task.images[row]])
    ]


def show_tuples(
    task: CaptionTask, row: int, measure: Measure
) -> dict[str, list[list[str]]]:
    """Return the tuples of an item: those that match, and those of either side that do not.

    A slot's words are joined by slashes; a relation is subject, object, relation.
    """
    graphs: Graphs = task.fits[f"parser/{measure['parser']}"]
    category = str(measure["category"] or "all").capitalize()
    candidates, references = parsed_groups(task, str(measure["captions"]))
    mine, theirs = (
        graphs.take([candidates[row]]),
        graphs.take([references[task.images[row]]]),
    )
    matches = Matches(mine, theirs, graphs.concepts)
    shown: dict[str, list[list[str]]] = {"matched": [], "unmatched": [], "missing": []}
    for name in _BY_LENGTH if category == "All" else [category]:
        place, ((own, hits), (other, met)) = _place(name), matches.flags(name)
        for key, found in (
            ("matched", mine.slots[place][hits]),
            ("unmatched", mine.slots[place][own & ~hits]),
            ("missing", theirs.slots[place][other & ~met]),
        ):
            shown[key] += [
                list(map(graphs.concepts.name, one)) for one in found.tolist()
            ]
    return shown


def _item_values(
    block: CaptionBlock, *, category: str, parser: str, captions: str
) -> Floats:
    """Return F of each candidate in a category; nan without references."""
    f = _match_tuples(block, parser, captions).scores(category.capitalize())["f"]
    return np.where(caption_steps.items_of(block).n_refs > 0, f, np.nan)


def _spider_values(
    block: CaptionBlock, *, parser: str, captions: str, **options: Any
) -> Floats:
    """Return the mean of SPICE and CIDEr-D of each candidate."""
    spice = _item_values(block, category="all", parser=parser, captions=captions)
    return (spice + cider_values(block, **options)) / 2


_TUPLE_BLOCK = 1 << 22  # pairs of tuples that are compared at a time
_CELLS = 1 << 26  # of a table of concepts, and
# similar ones, up to which it is made instead of comparing those of a pair
_PAIRS = 1 << 20


class SpicePairs:
    """F of every caption for every image, in blocks of images.

    An entry (image, candidate) is SPICE of the candidate for the image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images; rows are images.
    measure : Measure
        Of SPICE, over all categories: of one of them many graphs have no tuples.
    """

    def __init__(self, task: CaptionTask, measure: Measure) -> None:
        from scipy import sparse

        graphs: Graphs = task.fits[f"parser/{measure['parser']}"]
        tables = [
            graphs.take(side) for side in parsed_groups(task, str(measure["captions"]))
        ]
        self.n_columns, self.n_rows = map(len, tables)
        self._in_column, self._in_row = (table.n_tuples for table in tables)
        most = max(self._in_row.max(initial=0), self._in_column.max(initial=0))
        # that hits are counted in
        kind = np.int16 if most <= np.iinfo(np.int16).max else np.int32
        (mine, first, self._captions), (theirs, other, images) = (
            _tuples_of(table, kind, sparse) for table in tables
        )
        near = SimilarConcepts(mine, theirs, graphs.concepts)
        found = []
        for place in range(len(mine)):
            slots = near.row_of[mine[place]], near.column_of[theirs[place]]
            start = np.array([[first[place]], [other[place]]])
            found += [
                pairs + start for pairs in _pairs_of_slots(*slots, near.table, sparse)
            ]
        pairs = np.concatenate(found, axis=1)
        ones = np.ones(pairs.shape[1], kind)
        meets = (
            sparse.csr_matrix((ones, tuple(pairs)), shape=(first[-1], other[-1]))
            @ images.T
        )
        meets.data[:] = 1
        self._meets = meets.tocsc()

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return F of the rows start to stop, shape (stop - start, columns)."""
        values = np.zeros((stop - start, self.n_columns)) if out is None else out
        values[...] = 0.0
        hits = (self._captions @ self._meets[:, start:stop]).T.tocsr()
        row = ragged.row_numbers(hits.indptr)
        found = hits.data.astype(np.float64)
        recall = found / self._in_row[start:stop][row]
        precision = found / self._in_column[hits.indices]
        values[row, hits.indices] = 2.0 * (precision * recall) / (precision + recall)
        return values


def _tuples_of(
    table: GraphTable, kind: Any, sparse: Any
) -> tuple[list[Ints], list[int], Any]:
    """Return the distinct tuples of graphs, and which graph has which.

    Returns
    -------
    slots : list of int arrays, shape (slots, distinct tuples)
        Of objects, attributes and relations.
    starts : list of int
        The number of the first tuple of each of them, and of all.
    incidence : sparse matrix, graphs x distinct tuples
        How often a graph has one.
    """
    slots, codes, starts = list[Ints](), list[Ints](), [0]
    for one in table.slots:
        distinct, code = np.unique(one, axis=0, return_inverse=True)
        slots.append(distinct.T)
        codes.append(code.ravel() + starts[-1])
        starts.append(starts[-1] + len(distinct))
    cells = (
        np.concatenate([ragged.row_numbers(one) for one in table.indptr]),
        np.concatenate(codes),
    )
    shape = len(table), starts[-1]
    return (
        slots,
        starts,
        sparse.csr_matrix((np.ones(len(cells[0]), kind), cells), shape=shape),
    )


class SimilarConcepts:
    """Which concepts of candidates are similar to which of references.

    Parameters
    ----------
    mine, theirs : sequence of arrays of int
        The concepts of either side; some several times.
    concepts : Concepts

    Attributes
    ----------
    row_of, column_of : array of int, shape (concepts,)
        The row of each concept of ``mine``, and the column of each of ``theirs``.
    """

    def __init__(
        self, mine: Sequence[Ints], theirs: Sequence[Ints], concepts: Concepts
    ) -> None:
        used, places = [], []
        for side in (mine, theirs):
            is_used = occurring(
                np.concatenate([slots.ravel() for slots in side]), len(concepts)
            )
            used.append(np.flatnonzero(is_used))
            places.append(np.cumsum(is_used) - 1)
        self.row_of, self.column_of = places
        self._used, self._shape = used, (len(used[0]), len(used[1]))
        self._features = concepts.features
        self._n_pairs, self._pairs = concepts.similar_pairs(used[0], used[1])

    @cached_property
    def table(self) -> Bools:
        """Whether the concepts of a row and of a column are similar."""
        table = np.zeros(self._shape, np.bool_)
        for pairs in self._pairs:
            table[pairs] = True
        return table

    def are_similar(self, ones: Ints, others: Ints) -> Bools:
        """Return whether the concepts of each pair are similar."""
        rows, columns = self.row_of[ones], self.column_of[others]
        if self._n_pairs <= _PAIRS and self._shape[0] * self._shape[1] <= _CELLS:
            return np.asarray(self.table[rows, columns])
        keys, codes = np.unique(rows * self._shape[1] + columns, return_inverse=True)
        (mine, theirs), features = self._used, self._features
        row, column = np.divmod(keys, self._shape[1])
        near = [
            not features[one].isdisjoint(features[other])
            for one, other in zip(
                mine[row].tolist(), theirs[column].tolist(), strict=True
            )
        ]
        return np.array(near, np.bool_)[codes]


def _pairs_of_slots(
    mine: Ints, theirs: Ints, similar: Bools, sparse: Any
) -> Iterator[Ints]:
    """Yield pairs of tuples of one length that are similar in each slot.

    A tuple of ``mine`` is compared with those of ``theirs`` that are similar in one slot: the slot
    in which the fewest are.
    """
    near = sparse.csr_matrix(similar)
    found = []
    for slot in range(len(mine)):
        n = theirs.shape[1]
        cells = np.ones(n, np.int8), (theirs[slot], np.arange(n))
        members = sparse.csr_matrix(cells, shape=(similar.shape[1], n))
        found.append(near @ members)  # concepts of mine x tuples of theirs
    counts = np.array(
        [ragged.lengths(one.indptr)[mine[slot]] for slot, one in enumerate(found)]
    )
    chosen = counts.argmin(axis=0)
    for slot, one in enumerate(found):
        numbers = np.flatnonzero(chosen == slot)
        for run in ragged.runs_within(
            ragged.offsets(counts[slot][numbers]), _TUPLE_BLOCK
        ):
            some = numbers[run]
            indptr, places = ragged.take_rows(
                one.indptr.astype(np.int64), mine[slot][some]
            )
            first, second = some[ragged.row_numbers(indptr)], one.indices[places]
            both = np.ones(len(first), np.bool_)
            for other in set(range(len(mine))) - {slot}:
                both &= similar[mine[other][first], theirs[other][second]]
            yield np.stack([first[both], second[both]])


PARSER_OPTIONS = (
    one_of(
        "parser",
        " ".join(PARSERS),
        "what makes the scene graphs: SPICE's own program, which "
        "needs Java and 'semmetrics spice setup' (official), the parser that comes with "
        "semmetrics (offline), or tuples= (--tuples FILE) (given)",
    ),
    one_of(
        "captions",
        "tokens written",
        "what is parsed: the tokens of the tokenizer, as "
        "pycocoevalcap does, or captions as they are written",
    ),
)
SPICE = caption_steps.caption_measure(
    "SPICE",
    caption_steps.CaptionMeans(_item_values),
    "F of the tuples of the candidate's scene graph against those of the references.",
    "F of |G(c) ⊗ G(S)| / |G(c)| and |G(c) ⊗ G(S)| / |G(S)|",
    "Anderson et al. 2016, equations 4 to 6",
    cite=("anderson2016",),
    options=(
        one_of(
            "category", " ".join(map(str.lower, CATEGORIES)), "the tuples that count"
        ),
        *PARSER_OPTIONS,
        NO_REFERENCE,
        policy_option(
            "undefined", "undef", "skip", "references without tuples of a category"
        ),
    ),
    bounds=(0.0, 2.0),  # one tuple of the references may match several of the candidate
    needs=frozenset({"java", "synonyms"}),
    extra={"pairs": SpicePairs, "show": show_tuples, "percent": True},
    order_invariant=False,  # the order of references decides how they are merged
)
SPIDEr = caption_steps.caption_measure(
    "SPIDEr",
    caption_steps.CaptionMeans(_spider_values),
    "Mean of SPICE and CIDEr-D.",
    "(SPICE + CIDEr-D) / 2",
    "Liu et al. 2017, section 3.4",
    cite=("liu2017",),
    options=(*PARSER_OPTIONS, *CIDErD.options),
    bounds=(0.0, 6.0),
    needs=frozenset({"java", "synonyms", "document_frequencies"}),
    extra={"show": show_tuples, "percent": True},
    order_invariant=False,  # the order of references decides how they are merged
)
