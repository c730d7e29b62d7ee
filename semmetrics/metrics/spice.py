"""SPICE: matches between the scene graph tuples of a candidate and of its references.

Conventions
-----------
The reference captions of one image are merged into one scene graph, and so is the
candidate (`semmetrics.text.graphs`). Their tuples are matched and scored by
`semmetrics.metrics.tuple_matching`. If the references have no tuple of a category, "All"
is 0, as in the official program, and a category has no value.

Captions are parsed as their tokens joined by spaces, as pycocoevalcap does, or as they
are written. The value of several items is the mean of their F.

Source: Anderson et al., 2016, ECCV, sections 3.1 to 3.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import FROM_0, ITEM
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CaptionBlock,
    CaptionMeans,
    caption_measure,
    captions_of,
    joined_tokens,
)
from semmetrics.metrics.cider import CIDErD, cider_values
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import policy_option
from semmetrics.metrics.measure_options import choice_option
from semmetrics.metrics.spice_pairs import SpicePairs
from semmetrics.metrics.tuple_matching import (
    CATEGORIES,
    TUPLE_KINDS,
    TupleFlags,
    TupleMatches,
    index_of_kind,
    spice_range,
)
from semmetrics.text.concepts import Concepts
from semmetrics.text.graphs import Graphs, Group
from semmetrics.text.parses import PARSERS
from semmetrics.text.raw_tuples import RawTuple, check_tuples
from semmetrics.text.scene_graphs import GraphTable, merge_captions
from semmetrics.text.synonyms import open_synonyms

MATCHING_TUPLES = "tuples that match"
"""Name of the note with the number of hits over all categories, if there are tuples."""
NO_TUPLES = "without tuples"
"""Name of the notes, with "candidates" or "references", on the ids of items that have
captions on that side but no tuples."""
TIED_SCENE_GRAPHS = "tied scene graphs"
"""Name of the note on items whose F depends on ties: [id, lowest, F, highest, whether all
ways were tried], as JSON."""

Captions: TypeAlias = Sequence[Sequence[RawTuple]]


def spice_scores(
    candidates: Sequence[Sequence[RawTuple]], references: Sequence[Captions]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return SPICE of items whose captions are parsed.

    Parameters
    ----------
    candidates : sequence of lists of raw tuples
        The candidate of each item: ``(object,)``, ``(object, attribute)`` or ``(subject,
        object, relation)``, in the order in which the parser gives them.
    references : sequence of lists of lists of raw tuples
        For each item one list per reference caption.

    Returns
    -------
    dict
        Keys are "All", "Object", "Attribute", "Relation", "Color", "Cardinality" and
        "Size". Each value is a dict of the float arrays "f", "precision", "recall",
        "tp", "fp" and "fn", shape (items,).

    Raises
    ------
    InputError
        If something is not a tuple. The message says where.
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
    items = zip(candidates, references, strict=True)
    for item, (candidate, references_of_item) in enumerate(items):
        check_tuples(candidate, f"candidate of {ITEM.format(item)}")
        for number, caption in enumerate(references_of_item):
            check_tuples(caption, f"item {item}, reference {number}{FROM_0}")
    concepts = Concepts(open_synonyms())
    candidate_graphs = [merge_captions([caption], concepts) for caption in candidates]
    candidate_table = GraphTable.of(candidate_graphs)
    reference_graphs = [merge_captions(captions, concepts) for captions in references]
    reference_table = GraphTable.of(reference_graphs)
    matches = TupleMatches(candidate_table, reference_table, concepts)
    return {category: matches.scores(category) for category in CATEGORIES}


# ---- captions of a task --------------------------------------------------------------


def parsed_texts(task: CaptionTask, captions: str) -> list[str]:
    """Return the string that is parsed for each distinct caption of a task.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
        Tokens joined by spaces, or captions as they are written without surrounding
        white space.
    """
    if captions == "written":
        return [text.strip() for text in task.texts]
    return joined_tokens(task)


class CaptionGroups(NamedTuple):
    """The captions that are merged into each graph.

    Attributes
    ----------
    candidates : list of tuples of str
        The caption of each item.
    references : list of tuples of str
        All reference captions of each image.
    """

    candidates: list[Group]
    references: list[Group]


@memoised
def parsed_groups(task: CaptionTask, captions: str) -> CaptionGroups:
    """Return the captions of the graphs of a task.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
        As for `parsed_texts`.
    """
    texts = parsed_texts(task, captions)
    candidates: list[Group] = [(texts[code],) for code in task.candidates.tolist()]
    references = [texts[code] for code in task.references.tolist()]
    bounds = pairwise(task.indptr.tolist())
    groups = [tuple(references[start:stop]) for start, stop in bounds]
    return CaptionGroups(candidates, groups)


def tied_captions(task: CaptionTask, captions: str, graphs: Graphs) -> list[str]:
    """Return the captions of items with ties.

    The range of such an item needs parses, even if its graphs are cached.

    Parameters
    ----------
    task : CaptionTask
    captions : {"tokens", "written"}
        As for `parsed_texts`.
    graphs : Graphs
    """
    if not graphs.has_ties:
        return []
    groups = parsed_groups(task, captions)
    candidate_ties = graphs.take(groups.candidates).ties
    image_ties = graphs.take(groups.references).ties
    n_ties = candidate_ties + image_ties[task.images]
    texts: list[str] = []
    for item in np.flatnonzero(n_ties).tolist():
        texts.extend(groups.candidates[item])
        texts.extend(groups.references[task.images[item]])
    return texts


def _open_graphs(task: CaptionTask, parser: object) -> Graphs:
    """Return the scene graphs that a parser makes of a task's captions."""
    graphs: Graphs = task.fits[f"parser/{parser}"]
    return graphs


@memoised
def _match_tuples(block: CaptionBlock, parser: str, captions: str) -> TupleMatches:
    """Match the tuples of each item.

    The block gets notes on the parser, on hits, and on captions without tuples or with
    ties.
    """
    graphs = _open_graphs(block.task, parser)
    block.observations.require(f"parser={parser}", graphs.parser.identity)
    groups = _groups_of_block(block, captions)
    candidates = graphs.take(groups.candidates)
    references = graphs.take(groups.references)
    matches = TupleMatches(candidates, references, graphs.concepts)
    if (candidates.n_tuples * references.n_tuples).any():
        block.observations.count(
            MATCHING_TUPLES, int(matches.counts("All")[:, 0].sum())
        )
    items = captions_of(block)
    one_candidate_each = np.arange(len(block) + 1)
    _note_without_tuples(
        block, "candidates", candidates, one_candidate_each, items.candidates
    )
    _note_without_tuples(
        block, "references", references, items.indptr, items.references
    )
    tied_items = np.flatnonzero(candidates.ties + references.ties)
    values = matches.scores("All")["f"]
    _note_ties(block, graphs, groups, tied_items.tolist(), values)
    return matches


def _groups_of_block(block: CaptionBlock, captions: str) -> CaptionGroups:
    """Return the candidate and the references of each item of a block."""
    groups = parsed_groups(block.task, captions)
    images = block.task.images[block.start : block.stop].tolist()
    references = [groups.references[image] for image in images]
    return CaptionGroups(groups.candidates[block.start : block.stop], references)


def _note_without_tuples(
    block: CaptionBlock, side: str, graphs: GraphTable, indptr: Ints, texts: Ints
) -> None:
    """Note the ids of items that have captions on a side, but no tuples.

    Parameters
    ----------
    block : Block
    side : {"candidates", "references"}
    graphs : GraphTable
        The graph of each item.
    indptr, texts : int arrays
        The captions of each item.
    """
    task = block.task
    ids = set()
    for item in np.flatnonzero(graphs.n_tuples == 0).tolist():
        texts_of_item = texts[indptr[item] : indptr[item + 1]]
        if any(task.texts[text].strip() for text in texts_of_item):
            ids.add(str(task.ids[block.start + item]))
    block.observations.add_names(NO_TUPLES, ids, side)


def _note_ties(
    block: CaptionBlock,
    graphs: Graphs,
    groups: CaptionGroups,
    tied_items: Iterable[int],
    values: Floats,
) -> None:
    """Note the items whose F depends on how ties in merging are decided."""
    notes = []
    for item in tied_items:
        (candidate,) = graphs.parser.tuples(groups.candidates[item])
        references = graphs.parser.tuples(groups.references[item])
        low, high, is_complete = spice_range(candidate, references, graphs.concepts)
        if low < high or not is_complete:
            item_id = str(block.task.ids[block.start + item])
            note = [item_id, low, float(values[item]), high, is_complete]
            notes.append(json.dumps(note))
    block.observations.add_names(TIED_SCENE_GRAPHS, notes)


def show_tuples(
    task: CaptionTask, row: int, measure: Measure
) -> dict[str, list[list[str]]]:
    """Return the tuples of an item that match, and the unmatched ones of either side.

    The words of a slot are joined by slashes. A relation is subject, object, relation.
    """
    graphs = _open_graphs(task, measure["parser"])
    groups = parsed_groups(task, str(measure["captions"]))
    candidate = graphs.take([groups.candidates[row]])
    reference = graphs.take([groups.references[task.images[row]]])
    matches = TupleMatches(candidate, reference, graphs.concepts)
    category = str(measure["category"] or "all").capitalize()
    categories: Sequence[str] = [category]
    if category == "All":
        categories = TUPLE_KINDS
    shown: dict[str, list[list[str]]] = {"matched": [], "unmatched": [], "missing": []}
    for name in categories:
        kind = index_of_kind(name)
        candidate_flags, reference_flags = matches.flags(name)
        candidate_slots = candidate.slots[kind]
        reference_slots = reference.slots[kind]
        tuples = {
            "matched": candidate_slots[candidate_flags.matched],
            "unmatched": candidate_slots[_unmatched(candidate_flags)],
            "missing": reference_slots[_unmatched(reference_flags)],
        }
        for key, slots in tuples.items():
            for concepts in slots.tolist():
                shown[key].append(list(map(graphs.concepts.name, concepts)))
    return shown


def _unmatched(flags: TupleFlags) -> Bools:
    """Return which tuples are in the category but do not match."""
    return flags.in_category & ~flags.matched


# ---- values --------------------------------------------------------------------------


def _spice_values(
    block: CaptionBlock, *, category: str, parser: str, captions: str
) -> Floats:
    """Return F of each candidate in a category, nan without references."""
    matches = _match_tuples(block, parser, captions)
    f = matches.scores(category.capitalize())["f"]
    return np.where(captions_of(block).n_refs > 0, f, np.nan)


def _spider_values(
    block: CaptionBlock, *, parser: str, captions: str, **cider_options: Any
) -> Floats:
    """Return the mean of SPICE and CIDEr-D of each candidate."""
    spice = _spice_values(block, category="all", parser=parser, captions=captions)
    return (spice + cider_values(block, **cider_options)) / 2


def spice_pairs(task: CaptionTask, measure: Measure) -> SpicePairs:
    """Return SPICE of every caption for every image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images. Rows are
        images.
    measure : Measure
        SPICE over all categories. Many graphs have no tuples of a single category.
    """
    graphs = _open_graphs(task, measure["parser"])
    groups = parsed_groups(task, str(measure["captions"]))
    candidates = graphs.take(groups.candidates)
    images = graphs.take(groups.references)
    return SpicePairs(candidates, images, graphs.concepts)


# ---- definitions ---------------------------------------------------------------------

PARSER_OPTIONS = (
    choice_option(
        "parser",
        " ".join(PARSERS),
        "the source of the scene graphs: official is the program of SPICE, which "
        "needs Java and 'semmetrics spice setup'; offline is the parser of "
        "semmetrics; given is tuples= (--tuples FILE)",
    ),
    choice_option(
        "captions",
        "tokens written",
        "the input of the parser: the tokens of the tokenizer, as in "
        "pycocoevalcap, or the captions as written",
    ),
)
SPICE = caption_measure(
    "SPICE",
    CaptionMeans(_spice_values),
    "F-measure of the tuples of the candidate's scene graph against the tuples "
    "of the references.",
    "F of |G(c) ⊗ G(S)| / |G(c)| and |G(c) ⊗ G(S)| / |G(S)|",
    "Anderson et al. 2016, equations 4 to 6",
    cite=("anderson2016",),
    options=(
        choice_option(
            "category", " ".join(map(str.lower, CATEGORIES)), "the tuples that count"
        ),
        *PARSER_OPTIONS,
        NO_REFERENCE,
        policy_option(
            "undefined", "undef", "skip", "references without tuples of the category"
        ),
    ),
    bounds=(0.0, 2.0),  # one tuple of the references may match several of the candidate
    needs=frozenset({"java", "synonyms"}),
    extra={"pairs": spice_pairs, "show": show_tuples, "percent": True},
    order_invariant=False,  # the order of references decides how they are merged
)
SPIDEr = caption_measure(
    "SPIDEr",
    CaptionMeans(_spider_values),
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
