"""The record of captions: how they are read, joined, prepared, scored and shown."""

from __future__ import annotations

import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import offsets, row_numbers
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.lists import Lists
from semmetrics.data.source import no_collection
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import Fact, InputError, first_of_each
from semmetrics.kinds import (
    Defaults,
    Facts,
    Kind,
    Measures,
    Notes,
    Options,
    Tasks,
    common,
    each_task,
)
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.task import count_words, join_captions, leave_one_out
from semmetrics.messages import pluralize
from semmetrics.metrics.cider import DocumentFrequencies, frequency_notes, task_frequencies
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse
from semmetrics.text.tokenizers import CachingTokenizer, open_tokenizer

if TYPE_CHECKING:
    from semmetrics.text.graphs import Graphs

HUMAN = "human"
"""The system whose candidates are references, each against the others of its image."""
FILES = "captions.json references.json"  # of an example

_DEFAULTS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")
_OTHER_FORM = {
    "tokens": ("written", "captions as they are written"),
    "written": ("tokens", "tokens"),
}
_TAKEN = ("references", "given")  # document frequencies that doc_freq takes the place of
_LONGEST = 40  # letters of a caption among others
_LONGEST_ITEM = 500  # letters of a caption on a line of its own


def read_beside(options: Options) -> Options:
    """Open the tokenizer, and read weights, document frequencies and tuples from paths."""
    given = options["doc_freq"]
    if given is not None and options["protocol"] is not None:
        raise InputError("not-applicable", name="doc_freq", what=f"protocol {options['protocol']}")
    files = options["read"] or ReadOptions()
    return options.replace(
        tokenizer=CachingTokenizer(open_tokenizer(options["tokenizer"])),
        weights=common.read_weights(options["weights"], files.beside()),
        doc_freq=None if given is None else read_frequencies(given, files.max_bytes),
        embedding=common.read_embedding(options["embedding"]),
        tuples=OpenGraphs(open_tuples(options["tuples"], files.max_bytes), options["progress"]),
    )


def read_frequencies(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> DocumentFrequencies:
    """Return document frequencies from themselves or from a path."""
    if isinstance(given, DocumentFrequencies):
        return given
    return DocumentFrequencies.load(given, max_bytes=max_bytes)


def read(data: Any, source: str, options: Options) -> Lists:
    """Read one side."""
    return as_captions(data, source=source, options=options["read"])


def make_tasks(preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
    """Make the task of each system; with ``score_references`` also that of the references."""
    shared = {name: options[name] for name in ("tokenizer", "weights")}
    tasks = {
        name: {"": join_captions(pred, ref, missing=options["missing"], **shared)}
        for name, pred in preds.items()
    }
    if options["score_references"] and HUMAN in tasks:
        raise InputError("duplicate", role="the system", value=HUMAN)
    if options["score_references"]:
        tasks[HUMAN] = {"": leave_one_out(ref, **shared)}
    return tasks


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return the measures that need nothing beside the library."""
    return Defaults(_DEFAULTS)


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Name what a measure lacks that runs a program, or takes scene graphs."""
    (measure,), graphs = parse(text), options["tuples"]
    if measure["parser"] is not None:
        try:  # only parsing tells whether all captions have a graph; the parses are kept
            graphs[str(measure["parser"])]  # what may be missing comes before captions are parsed
            parse_captions(tasks, [measure], graphs)
        except InputError as error:
            return text, str(error)
    elif lacking := measure.definition.extra.get("lacking"):
        return text, next(filter(None, (lacking(task) for _, task in each_task(tasks))), "")
    return text, ""


def prepare(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Hand over scene graphs, embeddings and document frequencies, given or of the first system.

    References score each other with the weights of all references, as the systems do.
    """
    graphs = graph_fits(measures, options["tuples"])
    models = common.open_text_models(measures, options)
    parse_captions(tasks, measures, options["tuples"])
    fits, chosen = {}, list(tasks)
    if options["doc_freq"] is not None:
        fits = {"df": options["doc_freq"]}
    elif options["score_references"]:
        first, chosen = tasks[chosen[0]][""], [HUMAN]
        counted = sorted({(str(m["df"]), str(m["stem"])) for m in measures})
        fits = {
            f"{source}/{stem}": task_frequencies(first, source, stem)
            for source, stem in counted
            if source in ("references", "rows")
        }
    prepared = {}
    for name, parts in tasks.items():
        more = fits if name in chosen else {}
        task = replace(parts[""], fits={**graphs, **more}, models=models)
        task.shared.update(parts[""].shared)  # what tells whether a program runs is not done again
        prepared[name] = {"": task}
    return prepared


# ---- scene graphs -------------------------------------------------------------------------------


def open_tuples(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return the tuples of a file or a mapping, or the parser that a function is."""
    if given is None:
        return None
    from semmetrics.text.parses import FunctionParser, TupleTable, read_tuples

    if isinstance(given, (TupleTable, FunctionParser)):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_tuples(given, max_bytes)
    return TupleTable.of(given) if isinstance(given, Mapping) else FunctionParser(given)


class OpenGraphs:
    """Scene graphs by the name of their parser, each parser opened at its first use.

    Parameters
    ----------
    given : TupleTable, FunctionParser or None
        What the parser "given" is.
    progress : callable, optional
        Called with captions parsed and captions to parse.
    """

    def __init__(self, given: Any, progress: Callable[[int, int], None] | None = None) -> None:
        self.given, self._progress = given, progress
        self._open: dict[str, Graphs] = {}

    def __getitem__(self, name: str) -> Graphs:
        """Return the graphs of a parser."""
        if name not in self._open:
            from semmetrics.text.graphs import Graphs
            from semmetrics.text.parses import open_parser

            self._open[name] = Graphs(open_parser(name, self.given, self._progress))
        return self._open[name]

    @property
    def troubles(self) -> Facts:
        """What is wrong with the files in which parses are kept."""
        found = [graphs.trouble for graphs in self._open.values()]
        return list(dict.fromkeys(one for one in found if one))


def graph_fits(measures: Measures, graphs: OpenGraphs) -> dict[str, Graphs]:
    """Return what the steps of measures take their scene graphs from."""
    names = {str(m["parser"]) for m in measures if m["parser"] is not None}
    return {f"parser/{name}": graphs[name] for name in sorted(names)}


def parse_captions(tasks: Tasks, measures: Measures, graphs: OpenGraphs) -> None:
    """Parse what measures take of all systems at once, as a parser takes seconds to start.

    Synonyms are opened first: without them the parses of measures that need them are in vain.
    """
    from semmetrics.metrics.spice import parsed_groups, parsed_texts, tied_captions
    from semmetrics.text.graphs import category_words

    takers = dict.fromkeys(
        (str(m["parser"]), str(m["captions"]), "synonyms" in m.definition.needs)
        for m in measures
        if m["parser"] is not None
    )
    for parser, _, merges in takers:
        if merges:
            _ = graphs[parser].concepts, category_words()
    several = [task for _, task in each_task(tasks)]
    for parser, captions, merges in takers:
        by = graphs[parser].parser.identity
        explain = partial(_explain, tasks=tasks, captions=captions, given=graphs.given, by=by)
        if merges:
            sides = (side for task in several for side in parsed_groups(task, captions))
            graphs[parser].prepare(chain.from_iterable(sides), explain)
            texts = [tied_captions(task, captions, graphs[parser]) for task in several]
        else:
            with no_collection():
                texts = [parsed_texts(task, captions) for task in several]
        graphs[parser].parser.tuples(list(chain(*texts)), explain)


def _explain(text: str, *, tasks: Tasks, captions: str, given: Any, by: str) -> tuple[str, str]:
    """Return where a caption without tuples is, and a remedy if tuples of its other form are given.

    Only tuples by the parser count; ``by`` is its identity. A task without a name, as that of all
    pairs, has no ids of its own.
    """
    from semmetrics.metrics.spice import parsed_texts
    from semmetrics.text.parses import TupleTable

    for name, task in each_task(tasks):
        texts = parsed_texts(task, captions)
        if text not in texts:
            continue
        code = texts.index(text)
        other, form = _OTHER_FORM[captions]
        known: Mapping[str, Any] = {}
        if isinstance(given, TupleTable):
            known = given.tuples if by == given.identity else given.of_parser(by)
        remedy = ""
        if parsed_texts(task, other)[code] in known:
            remedy = f"tuples are given of {form}: write captions={other} in the measure"
        row, whose = np.flatnonzero(task.candidates == code), name
        if not len(row):
            (place,) = np.flatnonzero(task.references == code)[:1]
            image = np.searchsorted(task.indptr, place, side="right") - 1
            row, whose = np.flatnonzero(task.images == image), "the references"
        return f"{whose}, id {task.ids[row[0]]!r}" if name else "", remedy
    return "", ""


# ---- facts --------------------------------------------------------------------------------------


def caption_facts(
    tasks: Tasks, measures: Measures, options: Options, noted: Notes, inputs: Sequence[Any]
) -> Facts:
    """Note what was odd in the captions, and which options have no effect."""
    facts: Facts = []
    odd_ones: Facts = []
    own = [str(m) for m in measures if m["df"] == "rows"]
    if options["doc_freq"] is not None and not any(m["df"] in _TAKEN for m in measures):
        facts.append(common.no_effect("doc_freq", "no measure here takes document frequencies"))
    elif options["doc_freq"] is not None and own:
        facts.append(Fact("no-effect-on", values={"option": "doc_freq", "on": ", ".join(own)}))
    for name, task in each_task(tasks):
        counted = [m for m in measures if m["df"] != "references" or "df" not in task.fits]
        facts += common.count_facts(name, task)
        facts += [replace(fact, where=name) for fact in frequency_notes(task, counted)]
        facts += _text_facts(name, task, noted.get(name, {}))
        odd = noted.get(name, task.odd)
        odd_ones += common.word_facts("single-words", odd, "pred", "candidates")
        odd_ones += common.word_facts("single-words", odd, "ref", "references")
        odd_ones += common.swapped_facts(odd)
    facts += first_of_each(odd_ones) + common.unused_weights(options["weights"], inputs)
    facts += _graph_facts(tasks, measures, options, noted)
    facts += common.unused_embeddings(measures, options["embedding"])
    facts += common.unused_rules(measures, options, "Soft-SPICE")
    facts += common.cache_facts(options.opened.get("models", {}).values(), options["cache"])
    apart = [HUMAN] if options["score_references"] else []
    return facts + common.different_items(tasks, apart)


def _text_facts(where: str, task: CaptionTask, noted: Mapping[Any, Any]) -> Facts:
    """Note which phrases or captions embeddings do not know, or read in part."""
    if not task.models:
        return []
    from semmetrics.metrics import caption_similarity as noting

    facts: Facts = []
    for name, model in task.models.items():
        unknown = sorted(noted.get((noting.UNKNOWN_PHRASES, name), ()))
        n = {"unknown": len(unknown)}
        facts += common.model_facts(where, model, n, "phrase", {"unknown": unknown})
        codes = {"unknown": noting.UNKNOWN_CAPTIONS, "truncated": noting.CUT_CAPTIONS}
        n = {key: noted.get((what, name), 0) for key, what in codes.items()}
        facts += common.model_facts(where, model, n, "caption")
    return facts


def _graph_facts(tasks: Tasks, measures: Measures, options: Options, noted: Notes) -> Facts:
    """Note what is wrong with kept parses, what has no effect, and what ties leave open."""
    graphs: OpenGraphs = options["tuples"]
    takers = [m for m in measures if m["parser"] is not None]
    facts: Facts = [*graphs.troubles]
    if graphs.given is not None and not takers and options["protocol"] is None:
        facts.append(common.no_effect("tuples", "no measure here takes scene graphs"))
    if not takers:
        return facts
    from semmetrics.metrics.spice import HITS, NO_TUPLES, TIED

    facts += idle_tuples(takers, graphs)
    for name, task in each_task(tasks):
        found = noted.get(name, {})
        for side in ("candidates", "references"):
            items = sorted(found.get((NO_TUPLES, side), ()))
            facts += common.counted("without-tuples", len(items), items[:1], name, side=side)
        if found.get(HITS) == 0:
            facts.append(Fact("no-tuple-matches", where=name))
        facts += _tie_facts(name, task, sorted(map(json.loads, found.get(TIED, ()))))
    return facts


def idle_tuples(takers: Sequence[Measure], graphs: OpenGraphs) -> Facts:
    """Note that the given tuples are not of a parser that measures name."""
    names = {str(m["parser"]) for m in takers}
    if graphs.given is None or "given" in names or any(graphs[n].parser.n_given for n in names):
        return []
    wanted = sorted(graphs[name].parser.identity for name in names)
    own = getattr(graphs.given, "makers", graphs.given.identity)
    return [Fact("idle-tuples", values={"wanted": wanted, "own": own})]


def _tie_facts(where: str, task: CaptionTask, items: Sequence[Any]) -> Facts:
    """Note items whose F depends on ties in merging graphs: [id, lowest, F, highest, all ways]."""
    if not items:
        return []
    name, low, _, high, _ = items[0]
    some = sum(not every for *_, every in items)
    untried = f"; not all ways were tried for {pluralize(some, 'item')}" if some else ""
    values = {"low": low, "high": high, "untried": untried}
    if task.weights is not None:
        return [Fact("tied-graphs", len(items), (name,), where, values)]
    n = np.count_nonzero(np.diff(task.indptr)[task.images])
    less, more = (abs(float(sum(one[place] - one[2] for one in items) / n)) for place in (1, 3))
    values |= {"less": less, "more": more}
    return [Fact("tied-graphs-of-mean", len(items), (name,), where, values)]


# ---- what is shown of captions ------------------------------------------------------------------


def describe(captions: Lists) -> dict[str, Any]:
    """Describe captions.

    Words are separated by blanks; punctuation is a part of them.

    Returns
    -------
    dict
        Plain values, None for what is undefined: how the input was understood, numbers of items,
        captions and words, the captions that occur more than once, and what is odd.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> found = describe(as_captions({"a": ["a cat", "a cat sleeps"], "b": ["a cat"]}))
    >>> found["captions"], found["distinct"], found["words"]["max"], found["repeated"]
    (3, 2, 3, [{'caption': 'a cat', 'count': 2}])
    """
    texts = captions.values()
    counts, split = Counter(texts), [text.split() for text in texts]
    sizes = np.fromiter(map(len, split), np.int64, len(split))
    spread: dict[str, Any] = common.describe_sizes(offsets(sizes)) if len(sizes) else {}
    return common.describe_input(
        captions,
        _find_odd(captions),
        captions=len(texts),
        distinct=len(counts),
        cardinality=common.describe_sizes(captions.side.indptr),
        words={
            "total": int(sizes.sum()),
            "distinct": len({word for words in split for word in words}),
            **{name: spread.get(name) for name in ("mean", "std", "min", "max")},
        },
        repeated=[
            {"caption": text, "count": times} for text, times in counts.most_common() if times > 1
        ],
    )


def _find_odd(captions: Lists) -> Facts:
    """Note what is accepted and yet probably not meant."""
    item, texts = row_numbers(captions.side.indptr), captions.values()
    blank = [place for place, text in enumerate(texts) if not text.strip()]
    first: dict[str, int] = {}
    shared: dict[str, None] = {}
    for row, text in zip(item.tolist(), texts, strict=True):
        if text.strip() and first.setdefault(text, row) != row:
            shared[text] = None
    controls = {letter for letter in set().union(*texts) if unicodedata.category(letter) == "Cc"}
    distinct = dict.fromkeys(texts)
    found = {
        "shared-captions": shared,
        "padded-texts": [text for text in distinct if text != text.strip() and text.strip()],
        "hidden-characters": [text for text in distinct if controls & set(text)] * bool(controls),
    }
    rows = np.unique(item[blank]) if blank else item[:0]
    facts = common.find_gaps(captions)
    facts += common.of_items("blank-captions", captions, rows, captions=len(blank))
    for code, some in found.items():
        facts += common.named(code, map(_shorten, some), noun="caption")
    words, number = count_words(captions, captions.side.codes)
    if number:
        values = {"side": "captions", "mean": words / number}
        facts.append(Fact("single-words", values=values))
    return facts + common.find_odd_ids(captions.ids)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    words = record["words"]
    repeated = [(repr(_shorten(one["caption"])), one["count"]) for one in record["repeated"]]
    return {
        "items": common.format_known(record),
        "captions": f"{pluralize(record['captions'], 'caption')}, {record['distinct']:,} distinct",
        "captions an item": common.format_spread(record["cardinality"]),
        "words": f"{pluralize(words['total'], 'word')}, {words['distinct']:,} distinct",
        "words a caption": common.format_spread(words) if record["captions"] else "",
        "most frequent": common.format_counts(repeated),
    }


def show_item(task: CaptionTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show one item: its "caption", its "references", and what else the measure looks at."""
    _, references = task.pairs(row, row + 1)
    more = measure.definition.extra.get("show", lambda *item: {})
    return {
        "caption": task.texts[task.candidates[row]],
        "references": [task.texts[code] for code in references.tolist()],
        **more(task, row, measure),
    }


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the caption, a line for each reference, tuples and phrases."""
    lines = [("caption", record["caption"]), *(("reference", one) for one in record["references"])]
    for name in ("matched", "unmatched", "missing"):
        if record.get(name):  # the slots of a tuple in the order of words
            ordered = ([t[0], t[2], t[1]] if len(t) == 3 else t for t in record[name])
            lines.append((name, ", ".join(map("-".join, ordered))))
    if record.get("nearest"):
        pairs = (f"{one} ~ {other} {value:.2f}" for one, other, value in record["nearest"])
        lines.append(("nearest", ", ".join(pairs)))
    shown = []
    for name, text in lines:
        line, more = common.on_one_line(text[: 2 * _LONGEST_ITEM]), len(text) - _LONGEST_ITEM
        line = f"{line[:_LONGEST_ITEM]} ... and {more:,} more letters" if more > 0 else line
        shown.append(f"{name:<9}  {line}")
    return shown


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return nothing: captions have no cutoff, and the traits of labels do not apply to them."""
    return {}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, and what it leaves out."""
    absent = "; ".join(f"{heading} {reason}" for heading, reason in protocol.absent.items())
    return {"predictions": "one caption an image, or several", "not computed": absent}


KIND = Kind("captions", read_beside, read, make_tasks, defaults, fill_entry, prepare, caption_facts)
