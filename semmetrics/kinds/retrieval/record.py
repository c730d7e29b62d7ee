"""The record of retrieval: how runs and positives are read, joined, scored and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import PHI
from semmetrics.data.side_inputs import read_names
from semmetrics.data.tasks import UNRANKED, RetrievalTask
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import (
    Defaults,
    Kind,
    Measures,
    Notes,
    Options,
    Tasks,
    common,
    each_task,
)
from semmetrics.kinds.captions.record import open_tuples, read_frequencies
from semmetrics.kinds.retrieval import as_candidates, phi
from semmetrics.kinds.retrieval.relation import (
    EMBEDDINGS,
    LISTED,
    make_parts,
    read_embeddings,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import Derived, flat_terms
from semmetrics.metrics.registry import parse
from semmetrics.metrics.retrieval import HitRate, Recall, level_of
from semmetrics.options import OPTIONS

FILES = "--task retrieval sims.npy positives.json"  # of an example
_DEFAULTS = (
    "HitRate@1",
    "HitRate@5",
    "HitRate@10",
    "Recall@10",
    "MRR",
    "MedR",
    "R-Precision",
)
_FIRST = 5  # candidates that an item shows
_LONGEST = 200  # letters of a line
_LEAST_QUERIES = 10  # of which most rank their positives last
_MOSTLY = 0.9  # of the queries
_TIES = 1 << 20  # values that are looked at for ties


def read_beside(options: Options) -> Options:
    """Read the names of both sides, the positives of columns, and the weights."""
    files = options.read
    captions, reverse = phi.read_caption_texts(options), options.reverse_positives
    if reverse is not None:
        reverse = as_candidates(
            reverse, source="reverse_positives", options=options.read
        )
    return options.replace(
        queries=read_names(options.queries, files, "queries"),
        gallery=read_names(options.gallery, files, "gallery"),
        reverse_positives=reverse,
        captions=captions,
        doc_freq=read_frequencies(options.doc_freq, files.max_bytes),
        tuples=open_tuples(options.tuples, files.max_bytes),
        weights=common.read_weights(options.weights, files.beside()),
    )


def read(data: Any, source: str, options: Options) -> Any:
    """Read one side; without predictions the embeddings that the options name."""
    embedded = [name for name in EMBEDDINGS if options.value(name) is not None]
    if data is None and embedded:
        return read_embeddings(options)
    if embedded and source != "gts":
        raise InputError("conflicting-options", names=f"predictions and {embedded[0]}")
    return as_candidates(data, source=source, options=options.read)


def make_tasks(preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
    """Make the tasks of each system: one for each direction."""
    return {name: make_parts(run, ref, options) for name, run in preds.items()}


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return what papers print, and the recall that they do not."""
    return Defaults(_DEFAULTS + ("Rsum",) * (options.direction == "both"))


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Name the phi that is given, or why a measure lacks it."""
    (measure,) = parse(text, "retrieval")
    if not phi.phi_measures([measure]):
        return text, ""
    chosen, lacking = phi.chosen_phi(measure, tasks, options)
    return str(chosen), lacking


def retrieval_facts(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    noted: Notes,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Note the sizes and direction of each run, how many ties mattered, and what was left out."""
    facts: list[Fact] = []
    listed = False
    for name, task in each_task(tasks):
        found, gallery = noted.get(name, task.odd), task.settings["gallery"]
        listed |= gallery == LISTED
        how = [
            "ranked lists"
            if gallery == LISTED
            else f"a gallery of {task.scores.shape[1]:,}"
        ]
        how += [task.settings["direction"]]
        how += [
            f"ties by {task.ties}" if task.ties == "position" else f"{task.ties} ties"
        ]
        how += [] if task.folds is None else [f"{task.settings['folds']} folds"]
        queries, values = found.get("queries", len(task)), {"how": ", ".join(how)}
        facts += [
            *common.count_facts(name, task),
            Fact("run-size", queries, (), name, values),
        ]
        facts += common.counted("tied-ranks", _count_undecided(found), (), name)
        facts += _tied_phi(name, found)
        fewer = {
            (key[1], key[3]): n for key, n in found.items() if key[0] == "fewer" and n
        }
        for (k, left_out), n in sorted(fewer.items()):
            if not left_out or n != fewer.get((k, False)):
                values = {"k": str(k), "besides": " besides their positives" * left_out}
                facts.append(Fact("fewer-candidates", n, (), name, values))
        facts += common.counted("own-ids", found.get("own_ids", 0), (), name)
        facts += [Fact("numbered-positives", where=name)] * bool(found.get("numbered"))
        facts += [Fact("transposed", where=name)] * bool(found.get("transposed"))
        facts += [Fact("places-as-scores", where=name)] * bool(found.get("places"))
        facts += _last_positives(name, found)
        facts += common.counted("run-as-truth", found.get("run_as_truth", 0), (), name)
        facts += common.counted(
            "fractional-grades", found.get("fractional_grades", 0), (), name
        )
        if {Recall} == {m.definition for m in measures} & {Recall, HitRate}:
            facts += common.counted(
                "recall-of-several", found.get("several", 0), (), name
            )
    facts += common.unused_weights(options.weights, inputs[-1:])
    if "similarity" in options.set_by_user and options.value(EMBEDDINGS[0]) is None:
        facts.append(common.no_effect("similarity", "no embeddings are compared"))
    facts += phi.phi_facts(measures, options)
    every = [
        str(m) for m in measures if m.definition in (Recall, HitRate) and m.k is None
    ]
    facts += [
        Fact("counts-all", values={"measure": one}) for one in every if not listed
    ]
    return facts + common.different_items(tasks)


def _last_positives(name: str, noted: Mapping[Any, Any]) -> list[Fact]:
    """Note that nearly all queries rank their positives last, as by distances."""
    n_last = noted.get("last", 0)
    n_queries = noted.get("queries", 0) - noted.get("without_positives", 0)
    if n_queries < _LEAST_QUERIES or n_last < _MOSTLY * n_queries:
        return []
    return [Fact("positives-last", n_last, where=name, values={"total": n_queries})]


def _count_undecided(noted: Mapping[Any, Any]) -> int:
    """Return how many queries have a rank that ties decide: the most by any level of relevance."""
    counts: list[int] = [noted.get("undecided", 0)]
    for key, number in noted.items():
        if key[0] == "undecided":
            counts.append(number)
    return max(counts)


def prepare(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Check the levels of relevance of measures, and add the matrices phi that they need.

    Raises
    ------
    InputError
        If a measure has a level above 1, and the positives have no grades.
    """
    for measure in flat_terms(measures):
        level = level_of(measure)
        for _, task in each_task(tasks):
            if level is not None and level > 1 and task.grades is None:
                raise InputError("no-grades", measure=measure, level=level)
    return phi.with_phi(tasks, measures, options)


def _tied_phi(name: str, found: Mapping[Any, Any]) -> list[Fact]:
    """Note the measures of a run that depend on the order of items with equal phi."""
    tied = {}
    for key, n in found.items():
        if isinstance(key, tuple) and key[0] == "tied-phi" and n:
            tied[key[1]] = n
    if not tied:
        return []
    return [Fact("tied-phi", max(tied.values()), tuple(tied), name)]


# ---- what is shown of retrieval -----------------------------------------------------------------


def describe(found: Lists | Matrix) -> dict[str, Any]:
    """Describe a run, or the positives of queries.

    Returns
    -------
    dict
        Plain values, None for what is undefined. Of a matrix its "shape", "dtype" and "range"; of
        lists how many candidates each query has ("cardinality"), how many of grade 0 ("zeros"), and
        "distinct" candidates.

    Examples
    --------
    >>> found = describe(as_candidates({"q1": ["a", "b"], "q2": ["a"]}))
    >>> found["items"], found["candidates"], found["distinct"], found["cardinality"]["max"]
    (2, 3, 2, 2)
    """
    odd = common.find_odd_ids(found.ids)
    if isinstance(found, Matrix):
        for block in common.matrix_cells(found)[:1]:
            first = np.sort(block.reshape(-1)[:_TIES])
            same = int((first[1:] == first[:-1]).sum())
            if 2 * same > len(first):
                odd = [Fact("many-ties", same, values={"total": len(first)}), *odd]
        return common.describe_input(found, odd)
    scores = found.side.scores
    return common.describe_input(
        found,
        common.find_gaps(found) + odd,
        candidates=len(found.side.codes),
        distinct=int(found.occurring().sum()),
        cardinality=common.describe_sizes(found.side.indptr) if len(found) else None,
        zeros=None if scores is None else int((scores <= 0).sum()),
    )


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        return common.format_matrix(record, "queries", "values")
    number = pluralize(record["candidates"], "candidate")
    return {
        "queries": common.format_known(record),
        "candidates": f"{number}, {record['distinct']:,} distinct",
        "a query": common.format_spread(record["cardinality"]),
        "grade 0 or less": f"{record['zeros']:,}" if record["zeros"] else "",
    }


def show_item(task: RetrievalTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show a query: its "positives" with their "ranks" (None if not ranked), and "first" ones."""

    def names(codes: Any) -> list[Any]:
        found = [task.gallery[code] for code in codes.tolist()]
        return [name if isinstance(name, str) else int(name) for name in found]

    ranks = task.ranks(row, row + 1).ranks.tolist()
    return {
        "positives": names(task.positives[task.indptr[row] : task.indptr[row + 1]]),
        "ranks": [int(rank) if rank < UNRANKED else None for rank in ranks],
        "first": names(task.first(row, row + 1, _FIRST)[0]),
    }


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of a query: its positives, their ranks, and what was ranked first."""
    ranks = ["-" if rank is None else f"{rank:,}" for rank in record["ranks"]]
    parts = {"positives": record["positives"], "ranks": ranks, "first": record["first"]}
    lines = {
        name: common.on_one_line(", ".join(map(str, some)))
        for name, some in parts.items()
    }
    return [
        f"{name:<9}  {line if len(line) <= _LONGEST else f'{line[:_LONGEST]} ...'}"
        for name, line in lines.items()
    ]


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a cutoff means; the traits of labels do not apply to rankings."""
    both = isinstance(definition.family, Derived)  # of values of both directions
    return {
        "cutoff": "@k, the first k candidates" if definition.cutoff else "",
        "options": "--direction both " * both
        + "--phi phi.npy " * (PHI in definition.needs),
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, what phi is, and of how many queries it is."""
    queries = ", ".join(
        f"{number:,} in {part}" for part, number in protocol.sizes.items()
    )
    named = any("phi=" in text for text in protocol.entries.values())
    return {
        "predictions": "similarities of images (rows) and captions (columns), or embeddings",
        "phi": f"computed of {OPTIONS['captions'].both} as the measures say, unless "
        f"{OPTIONS['phi'].both} gives a matrix or another measure, such as CIDEr-D"
        if named
        else "",
        "queries": queries,
    }


KIND = Kind(
    "retrieval",
    read_beside,
    read,
    make_tasks,
    defaults,
    fill_entry,
    prepare,
    retrieval_facts,
)
