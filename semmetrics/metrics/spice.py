"""SPICE: the tuples of a candidate's scene graph that match those of its references.

Conventions
-----------
The captions of one image's references are merged into one scene graph, and so is the candidate
(`semmetrics.text.scene_graphs`). A tuple of the candidate counts as a hit if any tuple of the
reference matches it; several may match the same one, so that ``fn`` may be negative and F above 1.
A category keeps the tuples of a kind on both sides: objects, attributes and relations by their
length, colours, numbers and sizes by lists of words. Where the references have no such tuple, "All"
is 0, as in the official program, and a category has no value.

Captions are parsed as tokens with blanks between them, as pycocoevalcap does, or as they are
written. The value of several items is the mean of their F.

Source: Anderson et al., 2016, ECCV, sections 3.1 to 3.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain, islice, pairwise, product
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.source import no_collection
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import FROM_0, ITEM, InputError, pluralize
from semmetrics.frozen import dataclass
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CaptionBlock,
    CaptionMeans,
    References,
    is_list,
    joined_tokens,
    name_type,
)
from semmetrics.metrics.cider import CIDErD, cider_values
from semmetrics.metrics.definition import Definition, Measure, Option
from semmetrics.metrics.families import policy_option
from semmetrics.metrics.registry import add
from semmetrics.metrics.spice_pairs import SpicePairs
from semmetrics.text.merged_graphs import Graphs, Group
from semmetrics.text.parses import PARSERS
from semmetrics.text.scene_graphs import (
    Concepts,
    Features,
    RawTuple,
    SceneGraph,
    check_tuples,
    every_merge,
    merge_captions,
)
from semmetrics.text.synonyms import category_words, open_synonyms

__all__ = [
    "CATEGORIES",
    "PARSER_OPTIONS",
    "TIED",
    "listed_counts",
    "match_counts",
    "parsed_groups",
    "parsed_texts",
    "show_tuples",
    "spice_pairs",
    "spice_range",
    "spice_scores",
    "spice_values",
    "tied_captions",
]

_WORK = 1 << 26  # pairs of tuples that are compared to find the range of an item
_BY_LENGTH = ("All", "Object", "Attribute", "Relation")
_LISTED = ("Color", "Cardinality", "Size")
CATEGORIES = _BY_LENGTH + _LISTED
TIED = "tied scene graphs"
"""What is noted of items whose F depends on ties: [id, lowest, F, highest, whether all ways were
tried], as JSON."""

Captions: TypeAlias = Sequence[Sequence[RawTuple]]
Counts: TypeAlias = tuple[int, int, int]


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
        If the sides have different lengths, or something is no tuple; says where.
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
    for name, side in (("candidates", candidates), ("references", references)):
        if not is_list(side):
            raise InputError(
                f"the {name} are {name_type(side)}", remedy="give a list, an item each"
            )
    if len(candidates) != len(references):
        raise InputError(
            f"{pluralize(len(candidates), 'candidate')} and "
            f"{pluralize(len(references), 'list')} of references are given",
            remedy="give a list of references for each candidate",
        )
    for item, (candidate, several) in enumerate(zip(candidates, references, strict=True)):
        check_tuples(candidate, f"candidate of {ITEM.format(item)}")
        if not is_list(several):
            raise InputError(f"the references of {ITEM.format(item)} are {name_type(several)}",
                             remedy="give a list of captions' tuples")  # fmt: skip
        for number, caption in enumerate(several):
            check_tuples(caption, f"item {item}, reference {number}{FROM_0}")
    concepts = Concepts(open_synonyms())
    counts = []
    for one, several in zip(candidates, references, strict=True):
        graphs = merge_captions([one], concepts), merge_captions(several, concepts)
        counts.append(match_counts(*graphs, concepts) + listed_counts(*graphs, concepts))
    table = np.array(counts, np.int64).reshape(len(candidates), len(CATEGORIES), 3)
    return {name: _scores(table[:, place], name) for place, name in enumerate(CATEGORIES)}


def match_counts(candidate: SceneGraph, reference: SceneGraph, concepts: Concepts) -> list[Counts]:
    """Count hits, tuples of the candidate and tuples of the reference.

    Parameters
    ----------
    candidate, reference : SceneGraph
        Of the same concepts.
    concepts : Concepts

    Returns
    -------
    list of (tp, number of candidate tuples, number of reference tuples)
        Of all tuples, and of objects, attributes and relations.
    """
    hits = list(map(sum, _matches(candidate, reference, concepts.features)))
    mine, theirs = ([len(slots) // n for n, slots in enumerate(graph[:3], 1)]
                    for graph in (candidate, reference))  # fmt: skip
    return [(sum(hits), sum(mine), sum(theirs)), *zip(hits, mine, theirs, strict=True)]


def listed_counts(candidate: SceneGraph, reference: SceneGraph, concepts: Concepts) -> list[Counts]:
    """Count, as `match_counts`, attributes that are colours, numbers and sizes."""
    counts = []
    for category in _LISTED:
        mine, theirs = (_only(graph, category, concepts) for graph in (candidate, reference))
        counts.append(match_counts(mine, theirs, concepts)[2])
    return counts


def _matches(
    candidate: SceneGraph, reference: SceneGraph, features: Mapping[int, Features]
) -> tuple[list[bool], list[bool], list[bool]]:
    """Return for each tuple of a candidate whether one of the reference is similar in each slot.

    The first slots of attributes, and the first two of relations, are objects of their graph.
    """
    near: dict[int, set[int]] = {}  # objects of the reference that are similar
    for one in candidate.objects:
        apart = features[one].isdisjoint
        near[one] = {other for other in reference.objects if not apart(features[other])}

    def similar(one: int, others: list[int]) -> bool:
        apart = features[one].isdisjoint
        return one in others or not all(apart(features[other]) for other in others)

    theirs = reference.of_length(2)
    attributes = [
        similar(one, [other for node, other in theirs if node in near[mine]])
        for mine, one in candidate.of_length(2)
    ]
    theirs = reference.of_length(3)
    relations = [
        similar(one, [other for s, o, other in theirs if s in near[subject] and o in near[object_]])
        for subject, object_, one in candidate.of_length(3)
    ]
    return [bool(near[one]) for one in candidate.objects], attributes, relations


def _only(graph: SceneGraph, category: str, concepts: Concepts) -> SceneGraph:
    """Return a graph with the attributes of a category that has a list of words."""
    words, names = category_words()[category], concepts.names
    kept = [pair for pair in graph.of_length(2) if names[pair[1]] in words]
    return graph._replace(attributes=tuple(chain(*kept)), relations=())


def _scores(counts: Ints, category: str) -> dict[str, Floats]:
    """Return the scores of items from their counts, shape (items, 3)."""
    tp, in_candidate, in_reference = counts.T.astype(np.float64)
    precision, recall, f = spice_values(tp, in_candidate, in_reference, category)
    return {"f": f, "precision": precision, "recall": recall,
            "tp": tp, "fp": in_candidate - tp, "fn": in_reference - tp}  # fmt: skip


def spice_values(
    tp: Floats, in_candidate: Floats, in_reference: Floats, category: str = "All"
) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F of counts of tuples.

    Without tuples in the reference they are 0 for "All" and nan for a category.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = tp / in_reference
        precision = np.where(in_candidate > 0, tp / in_candidate, 0.0)
        f = np.where(tp > 0, 2.0 * (precision * recall) / (precision + recall), 0.0)
    missing = in_reference == 0
    for values in (precision, recall, f):
        values[missing] = 0.0 if category == "All" else np.nan
    return precision, recall, f


def spice_range(
    candidate: Sequence[RawTuple], references: Captions, concepts: Concepts, most: int = 4096
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
    ways, every, left = list[list[SceneGraph]](), True, most
    for side, room in (([candidate], isqrt(most)), (references, most)):
        found = list(islice(every_merge(side, concepts), min(room, left) + 1))
        every &= len(found) <= min(room, left)
        ways.append(found[: min(room, left)])
        left //= len(ways[-1])
    counts = [match_counts(a, b, concepts)[0] for a, b in product(*ways)]
    values = spice_values(*np.array(counts, np.float64).T)[2]
    return float(values.min()), float(values.max()), every


# ---- captions of a task ----------------------------------------------------------------------


@dataclass(frozen=True)
class SpiceCounts:
    """A step: hits, and tuples of either side, of each item and category.

    An array of shape (items, categories, 3), of the categories that are lists of words
    (``listed``) or of the others.
    """

    parser: str
    captions: str
    listed: bool

    def compute(self, block: CaptionBlock) -> Ints:
        """Merge and match; note who parsed, and items whose F depends on ties."""
        graphs: Graphs = block.task.fits[f"parser/{self.parser}"]
        block.note(f"#parser={self.parser}", frozenset([graphs.parser.identity]))
        tied = block.get(_TiedItems(self.parser, self.captions))
        if tied:
            block.note(TIED, tied)
        count, names = (listed_counts, _LISTED) if self.listed else (match_counts, _BY_LENGTH)
        with no_collection():  # of small lists and tuples, none of which is a cycle
            counts = [
                count(graphs.of(candidate), graphs.of(references), graphs.concepts)
                for candidate, references in _sides(block, self.captions)
            ]
        return np.array(counts, np.int64).reshape(len(block), len(names), 3)


@dataclass(frozen=True)
class _TiedItems:
    """A step: what is noted of the items whose F, over all categories, depends on ties."""

    parser: str
    captions: str

    def compute(self, block: CaptionBlock) -> frozenset[str]:
        """Merge the captions of items with ties in all ways."""
        graphs: Graphs = block.task.fits[f"parser/{self.parser}"]
        found = []
        for row, both in enumerate(_sides(block, self.captions), block.start):
            if any(graphs.of(one).ties for one in both):
                low, value, high, every = _range_of(both, graphs)
                if low < high or not every:
                    name = str(block.task.ids[row])
                    found.append(json.dumps([name, low, value, high, every]))
        return frozenset(found)


def _sides(block: CaptionBlock, captions: str) -> list[tuple[Group, Group]]:
    """Return the candidate and the references of each item of a block."""
    candidates, references = parsed_groups(block.task, captions)
    images = block.task.images[block.start : block.stop].tolist()
    theirs = [references[image] for image in images]
    return list(zip(candidates[block.start : block.stop], theirs, strict=True))


def _range_of(sides: tuple[Group, Group], graphs: Graphs) -> tuple[float, float, float, bool]:
    """Return the smallest F of an item, its F, the largest, and whether all ways were tried."""
    (candidate,), references = map(graphs.parser.tuples, sides)
    low, high, every = spice_range(candidate, references, graphs.concepts)
    mine, theirs = map(graphs.of, sides)
    counts = np.array([match_counts(mine, theirs, graphs.concepts)[0]], np.float64)
    value = spice_values(counts[:, 0], counts[:, 1], counts[:, 2])[2]
    return low, float(value[0]), high, every


def parsed_texts(task: CaptionTask, captions: str) -> list[str]:
    """Return what is parsed of each distinct caption of a task; blanks at its ends are not.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
    """
    if captions == "written":
        return [text.strip() for text in task.texts]
    return joined_tokens(task)


def parsed_groups(task: CaptionTask, captions: str) -> tuple[list[Group], list[Group]]:
    """Return the captions of each graph: an item's candidate, and all references of an image.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
    """
    key = ("groups", captions)
    if key not in task.shared:
        texts, bounds = parsed_texts(task, captions), task.indptr.tolist()
        flat = [texts[code] for code in task.references.tolist()]
        task.shared[key] = (
            [(texts[code],) for code in task.candidates.tolist()],
            [tuple(flat[start:stop]) for start, stop in pairwise(bounds)],
        )
    groups: tuple[list[Group], list[Group]] = task.shared[key]
    return groups


def tied_captions(task: CaptionTask, captions: str, graphs: Graphs) -> list[str]:
    """Return the captions of items with ties, whose range takes parses where graphs are kept.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
    graphs : Graphs
    """
    candidates, references = parsed_groups(task, captions)
    sides = zip(candidates, [references[image] for image in task.images.tolist()], strict=True)
    return [text for pair in sides if any(graphs.of(one).ties for one in pair)
            for text in chain(*pair)]  # fmt: skip


def show_tuples(task: CaptionTask, row: int, measure: Measure) -> dict[str, list[list[str]]]:
    """Return the tuples of an item: those that match, and those of either side that do not.

    A slot's words are joined by slashes; a relation is subject, object, relation.
    """
    graphs: Graphs = task.fits[f"parser/{measure['parser']}"]
    concepts, category = graphs.concepts, str(measure["category"] or "all").capitalize()
    candidates, references = parsed_groups(task, str(measure["captions"]))
    mine, theirs = map(graphs.of, (candidates[row], references[task.images[row]]))
    lengths = [1, 2, 3] if category == "All" else [2]
    if category in _LISTED:
        mine, theirs = (_only(graph, category, concepts) for graph in (mine, theirs))
    elif category != "All":
        lengths = [_BY_LENGTH.index(category)]

    def written(one: SceneGraph, other: SceneGraph, *, met: bool) -> list[list[str]]:
        found = _matches(one, other, concepts.features)
        return [
            list(map(concepts.name, some))
            for length in lengths
            for some, matched in zip(one.of_length(length), found[length - 1], strict=True)
            if matched is met
        ]

    return {
        "matched": written(mine, theirs, met=True),
        "unmatched": written(mine, theirs, met=False),
        "missing": written(theirs, mine, met=False),
    }


def _item_values(block: CaptionBlock, *, category: str, parser: str, captions: str) -> Floats:
    """Return F of each candidate in a category; nan without references."""
    name = category.capitalize()
    listed = name in _LISTED
    column = (_LISTED if listed else _BY_LENGTH).index(name)
    counts = block.get(SpiceCounts(parser, captions, listed))[:, column].astype(np.float64)
    f = spice_values(counts[:, 0], counts[:, 1], counts[:, 2], name)[2]
    return np.where(block.get(References()).n_refs > 0, f, np.nan)


def spice_pairs(task: CaptionTask, measure: Measure) -> SpicePairs:
    """Return pairs whose entry (image, candidate) is SPICE of the candidate for the image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images; rows are images.
    measure : Measure
        Of SPICE, over all categories: of one of them many graphs have no tuples.
    """
    graphs: Graphs = task.fits[f"parser/{measure['parser']}"]
    candidates, references = parsed_groups(task, str(measure["captions"]))
    rows, columns = (list(map(graphs.of, groups)) for groups in (references, candidates))
    return SpicePairs(rows, columns, graphs.concepts)


def _spider_values(block: CaptionBlock, *, parser: str, captions: str, **options: Any) -> Floats:
    """Return the mean of SPICE and CIDEr-D of each candidate."""
    spice = _item_values(block, category="all", parser=parser, captions=captions)
    return (spice + cider_values(block, **options)) / 2


PARSER_OPTIONS = (
    Option(
        "parser",
        "parser",
        "official",
        PARSERS,
        help="what makes the scene graphs: SPICE's own program, which needs Java and 'semmetrics "
        "spice setup' (official), the parser that comes with semmetrics (offline), or tuples= "
        "(--tuples FILE) (given)",
    ),
    Option(
        "captions",
        "captions",
        "tokens",
        ("tokens", "written"),
        help="what is parsed: the tokens of the tokenizer, as pycocoevalcap does, or captions as "
        "they are written",
    ),
)
SPICE = add(
    Definition(
        name="SPICE",
        family=CaptionMeans(_item_values),
        summary="F of the tuples of the candidate's scene graph against those of the references.",
        equation="F of |G(c) ⊗ G(S)| / |G(c)| and |G(c) ⊗ G(S)| / |G(S)|",
        source="Anderson et al. 2016, equations 4 to 6",
        cite=("anderson2016",),
        options=(
            Option(
                "category",
                "category",
                "all",
                tuple(name.lower() for name in CATEGORIES),
                help="the tuples that count",
            ),
            *PARSER_OPTIONS,
            NO_REFERENCE,
            policy_option("undefined", "undef", "skip", "references without tuples of a category"),
        ),
        bounds=(0.0, 2.0),  # one tuple of the references may match several of the candidate
        order_invariant=False,  # the order of references decides how they are merged
        cutoff=False,
        kind="captions",
        needs=frozenset({"java", "synonyms"}),
        extra={"pairs": spice_pairs, "show": show_tuples, "percent": True},
    )
)
SPIDEr = add(
    Definition(
        name="SPIDEr",
        family=CaptionMeans(_spider_values),
        summary="Mean of SPICE and CIDEr-D.",
        equation="(SPICE + CIDEr-D) / 2",
        source="Liu et al. 2017, section 3.4",
        cite=("liu2017",),
        options=(*PARSER_OPTIONS, *CIDErD.options),
        bounds=(0.0, 6.0),
        order_invariant=False,
        cutoff=False,
        kind="captions",
        needs=frozenset({"java", "synonyms", "document_frequencies"}),
        extra={"show": show_tuples, "percent": True},
    )
)
