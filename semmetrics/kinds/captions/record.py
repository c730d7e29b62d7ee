"""The record of captions: how they are read, joined, prepared, scored and shown.

Conventions
-----------
An item is a candidate, in the order of the references. Where an image has several candidates they
are called "id#1", "id#2", and share its references. An image without a caption on one side, whether
its id or its captions are missing, is an error, is left out ("skip"), or is taken as it is
("empty"): its candidate is then an empty caption, or its references are none.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import (
    Codes,
    Floats,
    Ints,
    lengths,
    offsets,
    row_numbers,
    take_rows,
)
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.join import Joined, aligned_weights, join
from semmetrics.data.lists import Ids, Lists, in_order
from semmetrics.data.source import no_collection
from semmetrics.data.swapped import check_captions
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import Fact, InputError, first_of_each, why_not
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
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.oddities import (
    find_joined,
    find_marks,
    joined_facts,
    mark_facts,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.caption_similarity import KNOWN_TEXTS
from semmetrics.metrics.cider import (
    KNOWN_WORDS,
    DocumentFrequencies,
    frequency_notes,
    task_frequencies,
)
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse
from semmetrics.text.tokenizers import CachingTokenizer, open_tokenizer

if TYPE_CHECKING:
    from semmetrics.text.graphs import Graphs

Weights = Mapping[str, float] | Sequence[float] | Floats

HUMAN = "human"
"""The system whose candidates are references, each against the others of its image."""
FILES = "captions.json references.json"  # of an example

_DEFAULTS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")
_OTHER_FORM = {
    "tokens": ("written", "captions as they are written"),
    "written": ("tokens", "tokens"),
}
# document frequencies that doc_freq takes the place of
_TAKEN = (
    "references",
    "given",
)
_SINGLE = 1.5  # mean words of a caption below which captions look like labels
_BLOCK = 256  # captions whose words are counted at a time
_LONGEST = 40  # letters of a caption among others
_LONGEST_ITEM = 500  # letters of a caption on a line of its own


def read_beside(options: Options) -> Options:
    """Open the tokenizer, and read weights, document frequencies and tuples from paths."""
    given = options["doc_freq"]
    if given is not None and options["protocol"] is not None:
        raise InputError(
            "not-applicable", name="doc_freq", what=f"protocol {options['protocol']}"
        )
    files = options["read"] or ReadOptions()
    return options.replace(
        tokenizer=CachingTokenizer(open_tokenizer(options["tokenizer"])),
        weights=common.read_weights(options["weights"], files.beside()),
        doc_freq=read_frequencies(given, files.max_bytes),
        embedding=common.read_embedding(options["embedding"]),
        tuples=OpenGraphs(
            open_tuples(options["tuples"], files.max_bytes), options["progress"]
        ),
    )


def read_frequencies(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return document frequencies from themselves or from a path; or by what was counted."""
    if given is None or isinstance(given, (DocumentFrequencies, Mapping)):
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
    """Name what a measure lacks that reads data of a package, or takes scene graphs."""
    (measure,), graphs = parse(text), options["tuples"]
    if measure["parser"] is not None:
        try:  # only parsing tells whether all captions have a graph; the parses are kept
            # what may be missing comes before captions are parsed
            graphs[str(measure["parser"])]
            parse_captions(tasks, [measure], graphs)
        except InputError as error:
            return text, str(error)
    elif open_data := measure.definition.extra.get("open"):
        return text, why_not(lambda: open_data(measure, options["progress"]))
    return text, ""


def prepare(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Hand over scene graphs, embeddings and document frequencies, given or of the first system.

    References score each other with the weights of all references, as the systems do.
    """
    parsers = {str(m["parser"]) for m in measures if m["parser"] is not None}
    graphs = {f"parser/{name}": options["tuples"][name] for name in sorted(parsers)}
    models = common.open_text_models(measures, options)
    parse_captions(tasks, measures, options["tuples"])
    for measure in measures:
        if open_data := measure.definition.extra.get("open"):
            open_data(measure, options["progress"])
    fits, chosen = {}, list(tasks)
    if options["doc_freq"] is not None:
        given = options["doc_freq"]
        fits = dict(given) if isinstance(given, Mapping) else {"df": given}
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
        # what told whether a measure can be is not done again
        task.shared.update(parts[""].shared)
        prepared[name] = {"": task}
    return prepared


# ---- tasks --------------------------------------------------------------------------------------


def join_captions(
    candidates: Lists,
    references: Lists,
    *,
    tokenizer: Any,
    missing: str = "error",
    weights: Weights | None = None,
) -> CaptionTask:
    """Make the task of comparing candidates with the references of the same images.

    Parameters
    ----------
    candidates, references : Lists
    tokenizer : Tokenizer
        With ``name`` and ``tokens(captions)``.
    missing : {"error", "skip", "empty"}
        For images without a caption on one side.
    weights : mapping from id, or array of shape (items of the references,), optional
        The weight of an image, finite and not negative; each of its candidates has it.

    Returns
    -------
    CaptionTask
        ``counts`` has the images without captions ("missing_prediction", "missing_reference"),
        those with several candidates ("several_candidates"), and captions that are empty but for
        blanks ("empty_candidates", "empty_references").

    Raises
    ------
    InputError
        If ids or lengths do not match, or a weight is bad.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> mine = as_captions({"a": ["a cat", "the cat"], "b": ["a dog"]})
    >>> task = join_captions(mine, as_captions({"b": ["dog"], "a": ["cat"]}), tokenizer=Blanks)
    >>> task.ids, task.texts
    (['b', 'a#1', 'a#2'], ('a dog', 'a cat', 'the cat', 'dog', 'cat'))
    """
    check_captions(candidates, references)
    joined = join(candidates, references, missing=missing, noun="caption", gaps=True)
    found = joined.pred.sizes
    sizes = np.maximum(found, 1)
    table: dict[Any, int] = {}
    mine, theirs = (
        np.fromiter(
            (table.setdefault(text, len(table)) for text in lists.vocabulary), np.int64
        )
        for lists in (candidates, references)
    )
    filled = np.full(int(sizes.sum()), table.setdefault("", len(table)))
    filled[np.repeat(found > 0, sizes)] = mine[joined.pred.codes]
    counts = joined.counts | {
        "several_candidates": int((found > 1).sum()),
        "empty_candidates": _count_blank(candidates, joined.pred.codes),
        "empty_references": _count_blank(references, joined.ref.codes),
    }
    sides = (
        list(table),
        np.concatenate([filled, theirs[joined.ref.codes]]),
        joined.ref.indptr,
    )
    of = references, joined.ids, sizes
    task = _make_task(*of, sides, weights, tokenizer, counts, {"missing": missing})
    return replace(task, odd=find_oddities(candidates, references, joined))


def _make_task(
    lists: Lists,
    ids: Ids,
    sizes: Ints,
    sides: tuple[Sequence[Any], Ints, Ints],
    weights: Weights | None,
    tokenizer: Any,
    counts: Mapping[str, int],
    settings: Mapping[str, str],
) -> CaptionTask:
    """Make the task of captions, their codes (candidates, then references) and references' offsets.

    The captions that codes name are kept, in order of first appearance; a candidate has the weight
    of its image.
    """
    texts, codes, indptr = sides
    ordered, places = in_order(texts, codes)
    candidates, references = np.split(places.astype(np.int64), [int(sizes.sum())])
    given: dict[str, str] = {} if weights is None else {"weights": "given"}
    values = None if weights is None else aligned_weights(weights, lists, ids)
    return CaptionTask.of_images(
        ids,
        sizes,
        texts=tuple(ordered),
        candidates=candidates,
        indptr=indptr,
        references=references,
        tokenizer=tokenizer,
        counts={name: number for name, number in counts.items() if number},
        settings={"tok": str(tokenizer.name), **settings, **given},
        weights=None if values is None else np.repeat(values, sizes),
    )


def _count_blank(lists: Lists, codes: Codes) -> int:
    """Count the captions that hold nothing but blanks."""
    blank = np.array([not str(text).strip() for text in lists.vocabulary], np.bool_)
    return int(blank[codes].sum())


def leave_one_out(
    references: Lists, *, tokenizer: Any, weights: Weights | None = None
) -> CaptionTask:
    """Make the task of comparing each reference with the other references of its image.

    Parameters
    ----------
    references : Lists
    tokenizer : Tokenizer
    weights : mapping from id, or array of shape (items of the references,), optional

    Returns
    -------
    CaptionTask
        The items of an image are called "id#1", "id#2", and each has references of its own.
        Images with fewer than two references are left out, and counted ("single_reference").

    Raises
    ------
    InputError
        If no image has two references, or a weight is bad.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> class Blanks:
    ...     name = "blanks"
    >>> task = leave_one_out(as_captions({"a": ["x", "y", "z"], "b": ["x"]}), tokenizer=Blanks)
    >>> task.ids, task.references.tolist(), task.counts
    (['a#1', 'a#2', 'a#3'], [1, 2, 0, 2, 0, 1], {'single_reference': 1})
    """
    chosen = np.flatnonzero(references.side.sizes > 1)
    if not len(chosen):
        raise InputError("single-references", references.source)
    kept, flat = take_rows(references.side.indptr, chosen)
    sizes = lengths(kept)
    ids = [str(references.ids[i]) for i in chosen.tolist()]
    written = references.side.codes[flat]
    every, others = take_rows(kept, row_numbers(kept))
    others = others[others != row_numbers(every)]
    counts = {
        "single_reference": len(references) - len(chosen),
        "empty_references": _count_blank(references, written),
    }
    codes = np.concatenate([written, written[others]])
    sides = list(references.vocabulary), codes, offsets(lengths(every) - 1)
    own = {"cand": "references"}
    task = _make_task(references, ids, sizes, sides, weights, tokenizer, counts, own)
    return replace(task, images=np.arange(len(task)))  # each has references of its own


def find_oddities(
    candidates: Lists, references: Lists, joined: Joined
) -> dict[Hashable, Any]:
    """Find what is probably a mistake in both sides: labels, and sides that are swapped."""
    found: dict[Hashable, Any] = dict(common.swapped_sides(candidates, references))
    for name, lists, side in (
        ("pred", candidates, joined.pred),
        ("ref", references, joined.ref),
    ):
        words, captions = count_words(lists, side.codes)
        found |= common.note_words(name, words, captions) if words else {}
        found |= find_marks(name, lists, side.codes)
    found |= find_joined(references, joined.ref.codes)
    mine, theirs = (side.sizes for side in (joined.pred, joined.ref))
    if len(mine) and mine.min() > 1 and theirs.max() == 1:
        found[common.SWAPPED, "several"] = 1
    return found


def count_words(lists: Lists, codes: Codes) -> tuple[int, int]:
    """Count the words and the captions of occurrences if they look like labels, else (0, 0).

    Empty captions are not counted. Of others only as many are read as it takes to know.
    """
    times = np.bincount(codes, minlength=len(lists.vocabulary))
    words = captions = 0
    for start in range(0, len(times), _BLOCK):
        some = slice(start, start + _BLOCK)
        each = np.array(
            [len(str(text).split()) for text in lists.vocabulary[some]], np.int64
        )
        words += int(each @ times[some])
        captions += int((each > 0) @ times[some])
        if words >= _SINGLE * len(codes):
            return 0, 0
    return (words, captions) if words < _SINGLE * captions else (0, 0)


# ---- scene graphs -------------------------------------------------------------------------------


def open_tuples(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return the tuples of a file or a mapping, or the parser that a function is."""
    if given is None:
        return None
    from semmetrics.text.parses import FunctionParser
    from semmetrics.text.tuple_tables import TupleTable, read_tuples

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

    def __init__(
        self, given: Any, progress: Callable[[int, int], None] | None = None
    ) -> None:
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
    def troubles(self) -> list[Fact]:
        """What is wrong with the files in which parses are kept."""
        found = [graphs.trouble for graphs in self._open.values()]
        return list(dict.fromkeys(one for one in found if one))


def parse_captions(tasks: Tasks, measures: Measures, graphs: OpenGraphs) -> None:
    """Parse what measures take of all systems at once, as a parser takes seconds to start.

    Synonyms are opened first: without them the parses of measures that need them are in vain.
    """
    from semmetrics.metrics.spice import parsed_groups, parsed_texts, tied_captions
    from semmetrics.text.synonyms import category_words

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
        explain = partial(
            _explain, tasks=tasks, captions=captions, given=graphs.given, by=by
        )
        if merges:
            sides = (side for task in several for side in parsed_groups(task, captions))
            graphs[parser].prepare(chain.from_iterable(sides), explain)
            texts = [tied_captions(task, captions, graphs[parser]) for task in several]
        else:
            with no_collection():
                texts = [parsed_texts(task, captions) for task in several]
        graphs[parser].parser.tuples(list(chain(*texts)), explain)


def _explain(
    text: str, *, tasks: Tasks, captions: str, given: Any, by: str
) -> tuple[str, str]:
    """Return where a caption without tuples is, and a remedy if tuples of its other form are given.

    Only tuples by the parser count; ``by`` is its identity. A task without a name, as that of all
    pairs, has no ids of its own.
    """
    from semmetrics.metrics.spice import parsed_texts
    from semmetrics.text.tuple_tables import TupleTable

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
            remedy = (
                f"tuples are given of {form}: write captions={other} in the measure"
            )
        row, whose = np.flatnonzero(task.candidates == code), name
        if not len(row):
            (place,) = np.flatnonzero(task.references == code)[:1]
            image = np.searchsorted(task.indptr, place, side="right") - 1
            row, whose = np.flatnonzero(task.images == image), "the references"
        return f"{whose}, id {task.ids[row[0]]!r}" if name else "", remedy
    return "", ""


# ---- facts --------------------------------------------------------------------------------------


def caption_facts(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    noted: Notes,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Note what was odd in the captions, and which options have no effect."""
    facts: list[Fact] = []
    odd_ones: list[Fact] = []
    own = [str(m) for m in measures if m["df"] == "rows"]
    if options["doc_freq"] is not None and not any(m["df"] in _TAKEN for m in measures):
        facts.append(
            common.no_effect("doc_freq", "no measure here takes document frequencies")
        )
    elif options["doc_freq"] is not None and own:
        facts.append(
            Fact("no-effect-on", values={"option": "doc_freq", "on": ", ".join(own)})
        )
    if {"CIDEr"} == {m.definition.name for m in measures} & {"CIDEr", "CIDEr-D"}:
        facts.append(Fact("cider-of-coco"))
    for name, task in each_task(tasks):
        counted = [
            m for m in measures if m["df"] != "references" or "df" not in task.fits
        ]
        facts += common.count_facts(name, task)
        facts += [replace(fact, where=name) for fact in frequency_notes(task, counted)]
        facts += _text_facts(name, task, noted.get(name, {}))
        odd = noted.get(name, task.odd)
        odd_ones += common.word_facts("single-words", odd, "pred", "candidates")
        odd_ones += common.word_facts("single-words", odd, "ref", "references")
        odd_ones += common.swapped_facts(odd)
        odd_ones += mark_facts(odd, "pred", "candidates")
        odd_ones += mark_facts(odd, "ref", "references")
        odd_ones += joined_facts(odd)
    facts += first_of_each(odd_ones) + common.unused_weights(options["weights"], inputs)
    facts += _graph_facts(tasks, measures, options, noted)
    facts += common.unused_embeddings(measures, options["embedding"])
    facts += common.unused_rules(measures, options, "Soft-SPICE")
    facts += common.cache_facts(
        options.opened.get("models", {}).values(), options["cache"]
    )
    return facts + common.different_items(
        tasks, [HUMAN] if options["score_references"] else []
    )


def check_shared(
    noted: Iterable[Mapping[Any, Any]], options: Options, names: Sequence[str]
) -> None:
    """Raise if the captions have no word of the document frequencies or vectors that are given."""
    counts: Counter[str] = Counter()
    for one in noted:
        for key, found in one.items():
            if key == KNOWN_WORDS:
                counts["doc_freq"] += found
            elif isinstance(key, tuple) and key[0] == KNOWN_TEXTS:
                counts["embedding"] += found
    common.check_shared(counts, options, "caption", names)


def _text_facts(where: str, task: CaptionTask, noted: Mapping[Any, Any]) -> list[Fact]:
    """Note which phrases or captions embeddings do not know, or read in part."""
    if not task.models:
        return []
    from semmetrics.metrics import caption_similarity as noting

    facts: list[Fact] = []
    for name, model in task.models.items():
        unknown = sorted(noted.get((noting.UNKNOWN_PHRASES, name), ()))
        n = {"unknown": len(unknown)}
        facts += common.model_facts(where, model, n, "phrase", {"unknown": unknown})
        codes = {"unknown": noting.UNKNOWN_CAPTIONS, "truncated": noting.CUT_CAPTIONS}
        n = {key: noted.get((what, name), 0) for key, what in codes.items()}
        facts += common.model_facts(where, model, n, "caption")
    return facts


def _graph_facts(
    tasks: Tasks, measures: Measures, options: Options, noted: Notes
) -> list[Fact]:
    """Note what is wrong with kept parses, what has no effect, and what ties leave open."""
    graphs: OpenGraphs = options["tuples"]
    takers = [m for m in measures if m["parser"] is not None]
    facts: list[Fact] = [*graphs.troubles]
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
            facts += common.counted(
                "without-tuples", len(items), items[:1], name, side=side
            )
        if found.get(HITS) == 0:
            facts.append(Fact("no-tuple-matches", where=name))
        facts += _tie_facts(name, task, sorted(map(json.loads, found.get(TIED, ()))))
    return facts


def idle_tuples(takers: Sequence[Measure], graphs: OpenGraphs) -> list[Fact]:
    """Note that the given tuples are not of a parser that measures name."""
    names = {str(m["parser"]) for m in takers}
    if (
        graphs.given is None
        or "given" in names
        or any(graphs[n].parser.n_given for n in names)
    ):
        return []
    wanted = sorted(graphs[name].parser.identity for name in names)
    own = getattr(graphs.given, "makers", graphs.given.identity)
    return [Fact("idle-tuples", values={"wanted": wanted, "own": own})]


def _tie_facts(where: str, task: CaptionTask, items: Sequence[Any]) -> list[Fact]:
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
    less, more = (
        abs(float(sum(one[place] - one[2] for one in items) / n)) for place in (1, 3)
    )
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
            {"caption": text, "count": times}
            for text, times in counts.most_common()
            if times > 1
        ],
    )


def _find_odd(captions: Lists) -> list[Fact]:
    """Note what is accepted and yet probably not meant."""
    item, texts = row_numbers(captions.side.indptr), captions.values()
    blank = [place for place, text in enumerate(texts) if not text.strip()]
    first: dict[str, int] = {}
    shared: dict[str, None] = {}
    for row, text in zip(item.tolist(), texts, strict=True):
        if text.strip() and first.setdefault(text, row) != row:
            shared[text] = None
    controls = {
        letter for letter in set().union(*texts) if unicodedata.category(letter) == "Cc"
    }
    distinct = dict.fromkeys(texts)
    found = {
        "shared-captions": shared,
        "padded-texts": [
            text for text in distinct if text != text.strip() and text.strip()
        ],
        "hidden-characters": [text for text in distinct if controls & set(text)]
        * bool(controls),
    }
    rows = np.unique(item[blank]) if blank else item[:0]
    facts = common.find_gaps(captions)
    facts += common.of_items("blank-captions", captions, rows, captions=len(blank))
    for code, some in found.items():
        facts += common.named(code, map(_shorten, some), noun="caption")
    words, number = count_words(captions, captions.side.codes)
    if number:
        facts.append(
            Fact("single-words", values={"side": "captions", "mean": words / number})
        )
    return facts + common.find_odd_ids(captions.ids)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    words = record["words"]
    repeated = [
        (repr(_shorten(one["caption"])), one["count"]) for one in record["repeated"]
    ]
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
    lines = [
        ("caption", record["caption"]),
        *(("reference", one) for one in record["references"]),
    ]
    if record.get("aligned"):
        words = (
            mine if stage == "exact" else f"{mine} ~ {other} ({stage})"
            for mine, other, stage in record["aligned"]
        )
        lines.append(("aligned", ", ".join(words)))
    for name in ("matched", "unmatched", "missing"):
        if record.get(name):  # the slots of a tuple in the order of words
            ordered = ([t[0], t[2], t[1]] if len(t) == 3 else t for t in record[name])
            lines.append((name, ", ".join(map("-".join, ordered))))
    if record.get("nearest"):
        pairs = (
            f"{one} ~ {other} {value:.2f}" for one, other, value in record["nearest"]
        )
        lines.append(("nearest", ", ".join(pairs)))
    shown = []
    for name, text in lines:
        line, more = (
            common.on_one_line(text[: 2 * _LONGEST_ITEM]),
            len(text) - _LONGEST_ITEM,
        )
        line = (
            f"{line[:_LONGEST_ITEM]} ... and {more:,} more letters"
            if more > 0
            else line
        )
        shown.append(f"{name:<9}  {line}")
    return shown


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return nothing: captions have no cutoff, and the traits of labels do not apply to them."""
    return {}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, and what it leaves out."""
    absent = "; ".join(
        f"{heading} {reason}" for heading, reason in protocol.absent.items()
    )
    return {"predictions": "one caption an image, or several", "not computed": absent}


KIND = Kind(
    "captions",
    read_beside,
    read,
    make_tasks,
    defaults,
    fill_entry,
    prepare,
    caption_facts,
    check_shared,
)
