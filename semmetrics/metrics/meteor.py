"""METEOR: matched words of a candidate and a reference, and how they are ordered.

Conventions
-----------
``METEOR`` is METEOR 1.5 for English, with the program's own normalisation. The counts of
a pair of captions are computed here (`semmetrics.text.meteor`), or by the program in
the package pycocoevalcap, which needs Java. The program is called as
pycocoevalcap calls it, with one difference: "|||", which separates the fields of its
lines, is removed from captions, whereas pycocoevalcap splits a reference there.

Of several references, the one with the highest value counts, and the first one if values
are equal. The value of several captions is the formula on their summed counts, and not
the mean of their values. A caption whose words all match in one chunk adds no chunk to
the sum.

``METEOR-nltk`` is a different measure. nltk implements the formula of 2007, matches
greedily (equal words, then equal stems, then WordNet synonyms), weights all words the
same, and has no paraphrases. The value of an item is the largest over its references.
The value of several items is the mean.

Values are in [0, 1], and higher is better. Items without a reference have no value and
add nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.alignment import Matches
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import InputError, require
from semmetrics.messages import brief, counted
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    SKIP_OR_NAN,
    CaptionBlock,
    CaptionMeans,
    caption_measure,
    captions_of,
    cause_column,
    joined_tokens,
    task_tokens,
)
from semmetrics.metrics.definition import Measure, Statistic
from semmetrics.metrics.families import SumFormulas
from semmetrics.metrics.measure_options import MeasureOption, choice_option
from semmetrics.metrics.meteor_formula import COUNTS, PARTS, meteor_value
from semmetrics.store.downloads import Progress
from semmetrics.text.captions import one_line
from semmetrics.text.java import ENGLISH, METEOR_FILES
from semmetrics.text.meteor import STAGES, Sentences
from semmetrics.text.meteor_words import read_list
from semmetrics.text.paraphrases import open_paraphrases

# ---- the Java program ----------------------------------------------------------------

_ARGUMENTS = (
    "-Xmx2G",
    "-jar",
    METEOR_FILES.files[0],
    "-",
    "-",
    "-stdio",
    "-l",
    "en",
    "-norm",
)
_PROGRAM = replace(
    METEOR_FILES,
    purpose="METEOR(program=java)",
    alternative="score METEOR, which does not need it",
)


def java_counts(
    texts: Sequence[str], candidates: Ints, references: Ints, paraphrases: str = "true"
) -> Ints:
    """Return the program's counts of pairs of captions.

    The program takes seconds to read its tables.

    Parameters
    ----------
    texts : sequence of str
        Captions, as tokens joined by spaces.
    candidates, references : int arrays, shape (pairs,)
        Indices into ``texts``.
    paraphrases : {"true", "false"}

    Returns
    -------
    int64 array, shape (pairs, 23)
        Columns are ``COUNTS``.

    Raises
    ------
    InputError
        If Java is missing, or the program fails. The message names a caption that the
        program did not accept.
    MissingDependencyError
        If pycocoevalcap is not installed.
    """
    cleaned = [one_line(text).replace("|||", "") for text in texts]
    lines = []
    pairs = zip(candidates.tolist(), references.tolist(), strict=True)
    for candidate, reference in pairs:
        lines.append(f"SCORE ||| {cleaned[reference]} ||| {cleaned[candidate]}")
    counts = np.zeros((len(lines), len(COUNTS)), np.int64)
    if not lines:
        return counts
    stage_arguments: tuple[str, ...] = ()
    if paraphrases != "true":
        stage_arguments = ("-m", " ".join(STAGES[:-1]))
    answers = _run_java(lines, stage_arguments)
    for row, (line, answer) in enumerate(zip(lines, answers, strict=True)):
        try:
            counts[row] = _parse_counts(answer)
        except ValueError as error:
            why = f"its answer to {brief(line)} is {brief(answer)}"
            raise InputError("meteor-failed", why=why) from error
    return counts


def _parse_counts(answer: str) -> list[int]:
    """Parse the counts in a line that the program printed."""
    numbers = answer.split()
    if len(numbers) != len(COUNTS):
        raise ValueError(answer)
    return [int(float(number)) for number in numbers]


def _run_java(lines: Collection[str], stage_arguments: Sequence[str]) -> list[str]:
    """Return the program's answer to each line."""
    java, folder = _PROGRAM.locate()
    text = "".join(f"{line}\n" for line in lines)
    command = [java, *ENGLISH, *_ARGUMENTS, *stage_arguments]
    try:
        process = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            cwd=folder,
            check=False,
        )
    except OSError as error:
        raise _PROGRAM.not_started(error) from error
    answers = process.stdout.decode("utf-8", "replace").splitlines()
    if process.returncode or len(answers) != len(lines):
        n_answers = len(answers)
        n_lines = counted(lines, "segment")
        reasons = [f"code {process.returncode} after {n_answers} of {n_lines}"]
        problems = process.stderr.decode("utf-8", "replace").strip().splitlines()
        reasons += problems[:1]
        raise InputError("meteor-failed", why=": ".join(reasons))
    return answers


# ---- counts of a task ----------------------------------------------------------------


def open_data(measure: Measure, progress: Progress | None = None) -> None:
    """Open the data of a measure before items are scored.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If its files are damaged or not from METEOR 1.5, or Java is requested and not
        found.
    """
    if measure["program"] == "java":
        _PROGRAM.locate()
        return
    read_list("function/english.words")
    if measure["paraphrases"] == "true":
        open_paraphrases(progress)


@memoised
def _open_sentences(task: CaptionTask, paraphrases: str) -> Sentences:
    """Return the captions of a task as sentences that can be aligned."""
    table = None
    if paraphrases == "true":
        table = open_paraphrases()
    return Sentences(joined_tokens(task), table)


def _count_pairs(
    task: CaptionTask,
    program: str,
    paraphrases: str,
    candidates: Ints,
    references: Ints,
) -> Ints:
    """Return the counts of pairs of captions, shape (pairs, 23).

    A pair whose words all match in one chunk has no chunk.
    """
    if program == "java":
        texts = joined_tokens(task)
        counts = java_counts(texts, candidates, references, paraphrases)
    else:
        sentences = _open_sentences(task, paraphrases)
        counts = sentences.counts(candidates, references)
    columns = _columns_by_name(counts)
    all_match = columns["matched_pred"] == columns["n_pred"]
    all_match &= columns["matched_ref"] == columns["n_ref"]
    columns["chunks"][all_match & (columns["chunks"] == 1)] = 0
    return counts


def _columns_by_name(counts: Ints) -> dict[str, Ints]:
    """Return views of the columns of counts."""
    return dict(zip(COUNTS, counts.T, strict=True))


class _TaskCounts(NamedTuple):
    """The counts of the items of a task.

    Attributes
    ----------
    counts : int array, shape (items, 23)
        Counts of the best reference, zeros without a reference.
    best : int array, shape (items,)
        The best reference, as its place in ``task.references``, or -1.
    """

    counts: Ints
    best: Ints


@memoised
def _count_task(task: CaptionTask, program: str, paraphrases: str) -> _TaskCounts:
    """Count the matches of each item with its best reference."""
    # An item is paired with each reference of its image.
    indptr, places = take_rows(task.indptr, task.images)
    item_of_pair = row_numbers(indptr)
    # Count each distinct pair of captions once.
    n_texts = len(task.texts)
    keys = task.candidates[item_of_pair] * n_texts + task.references[places]
    distinct_keys, key_of_pair = np.unique(keys, return_inverse=True)
    candidates, references = np.divmod(distinct_keys, n_texts)
    pair_counts = _count_pairs(task, program, paraphrases, candidates, references)
    values = meteor_value(_columns_by_name(pair_counts))[key_of_pair]

    n_items = len(task)
    counts = np.zeros((n_items, len(COUNTS)), np.int64)
    best = np.full(n_items, -1)
    has_reference = lengths(indptr) > 0
    starts = indptr[:-1][has_reference]
    # In this order, the best pair of an item comes first.
    pairs_by_value = np.lexsort((-values, item_of_pair))
    best_pairs = pairs_by_value[starts]
    counts[has_reference] = pair_counts[key_of_pair[best_pairs]]
    best[has_reference] = places[best_pairs]
    return _TaskCounts(counts, best)


@dataclass(frozen=True, repr=False)
class MeteorCounts(Statistic):
    """A step: the counts of each item, computed for the whole task at once."""

    program: str
    paraphrases: str

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns ``COUNTS``, and "cause"."""
        counts = _count_task(block.task, self.program, self.paraphrases).counts
        rows = np.ascontiguousarray(counts[block.start : block.stop].T)
        columns: dict[str, Any] = dict(zip(COUNTS, map(Dense, rows), strict=True))
        n_refs = captions_of(block).n_refs
        columns["cause"] = cause_column(n_refs)
        return columns


class MeteorFamily(SumFormulas):
    """METEOR of summed counts. For one item, it is the program's segment score."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that counts matches."""
        return MeteorCounts(str(measure["program"]), str(measure["paraphrases"]))

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return METEOR of counts, or the part of it that the measure names."""
        compute_part = PARTS[str(measure["part"])]
        return compute_part(numbers)


class MeteorPairs:
    """METEOR of every caption for every image, in blocks of images.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images. Rows are
        images.
    measure : Measure
    """

    def __init__(self, task: CaptionTask, measure: Measure) -> None:
        self.n_rows = len(task.indptr) - 1
        self.n_columns = len(task.candidates)
        self._task = task
        self._program = str(measure["program"])
        self._paraphrases = str(measure["paraphrases"])
        self._compute_part = PARTS[str(measure["part"])]
        self._texts, self._text_of_column = np.unique(
            task.candidates, return_inverse=True
        )

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the values of rows start to stop, shape (stop - start, columns)."""
        values = out
        if values is None:
            values = np.zeros((stop - start, self.n_columns))
        for image in range(start, stop):
            values[image - start] = self._score_image(image)[self._text_of_column]
        return values

    def _score_image(self, image: int) -> Floats:
        """Return the value of each distinct caption for an image."""
        indptr = self._task.indptr
        references = self._task.references[indptr[image] : indptr[image + 1]]
        n_refs = len(references)
        n_texts = len(self._texts)
        counts = _count_pairs(
            self._task,
            self._program,
            self._paraphrases,
            np.tile(self._texts, n_refs),
            np.repeat(references, n_texts),
        )
        columns = _columns_by_name(counts)
        scores = meteor_value(columns).reshape(n_refs, n_texts)
        parts = self._compute_part(columns).reshape(n_refs, n_texts)
        best_reference = scores.argmax(axis=0)
        values: Floats = parts[best_reference, np.arange(n_texts)]
        return values


# ---- aligned words -------------------------------------------------------------------


def match_rows(
    task: CaptionTask, measure: Measure, items: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the words and phrases that are aligned, and the words that are not.

    Parameters
    ----------
    task : CaptionTask
    measure : Measure
    items : sequence of int, optional
        All by default.

    Yields
    ------
    dict
        The "id" of the item. The "prediction", which is a word or a phrase of the
        candidate, and its "start". The "reference", which is a word or a phrase of the
        best reference, and its "reference_start". The "number" of that reference among
        the references. The "stage" of the match. Positions and numbers count from 1. A
        word without a match has None for the stage and the other side.
    """
    paraphrases = str(measure["paraphrases"])
    sentences = _open_sentences(task, paraphrases)
    best = _count_task(task, "python", paraphrases).best
    rows = np.arange(len(task))
    if items is not None:
        rows = np.array(items)
    rows = rows[best[rows] >= 0]
    candidates = task.candidates[rows]
    references = task.references[best[rows]]
    alignments = _align_pairs(sentences, candidates, references)
    for item, lines in zip(rows.tolist(), alignments, strict=True):
        first_reference = task.indptr[task.images[item]]
        number = int(best[item] - first_reference) + 1
        for line in lines:
            yield {
                "id": str(task.ids[item]),
                "start": line.start,
                "prediction": line.prediction,
                "number": number,
                "reference_start": line.reference_start,
                "reference": line.reference,
                "stage": line.stage,
            }


class _AlignedWords(NamedTuple):
    """A phrase of the candidate and one of the reference, or a word without a match.

    Positions count from 1. Fields of a side without words are None.
    """

    start: int | None = None
    prediction: str | None = None
    reference_start: int | None = None
    reference: str | None = None
    stage: str | None = None


def _align_pairs(
    sentences: Sentences, candidates: Ints, references: Ints
) -> Iterator[list[_AlignedWords]]:
    """Yield the aligned words of each pair of captions."""
    for run in sentences.runs(candidates, references):
        matches = sentences.align(candidates[run], references[run])
        pairs = zip(candidates[run].tolist(), references[run].tolist(), strict=True)
        n_pairs = len(candidates[run])
        bounds = np.searchsorted(matches.pairs, np.arange(n_pairs + 1))
        for number, (candidate, reference) in enumerate(pairs):
            matches_of_pair = matches.take(slice(bounds[number], bounds[number + 1]))
            yield _list_alignment(
                sentences.words[candidate], sentences.words[reference], matches_of_pair
            )


def _list_alignment(
    candidate: Sequence[str], reference: Sequence[str], matches: Matches
) -> list[_AlignedWords]:
    """Return the aligned phrases of two captions, and their words without a match.

    The lines are in the order of the candidate's words. Unmatched words of the reference
    follow.
    """
    # Words without a match, by their position from 1.
    unmatched = dict(enumerate(candidate, 1))
    missing = dict(enumerate(reference, 1))
    lines = []
    rows = np.stack(matches, axis=1).tolist()  # one row per match
    for _, ref, cand, n_ref, n_cand, stage in rows:
        start = cand + 1
        reference_start = ref + 1
        candidate_phrase = _take_words(unmatched, start, n_cand)
        reference_phrase = _take_words(missing, reference_start, n_ref)
        line = _AlignedWords(
            start, candidate_phrase, reference_start, reference_phrase, STAGES[stage]
        )
        lines.append(line)
    for position, word in unmatched.items():
        lines.append(_AlignedWords(start=position, prediction=word))
    lines.sort(key=_start_in_candidate)
    for position, word in missing.items():
        lines.append(_AlignedWords(reference_start=position, reference=word))
    return lines


def _take_words(words: dict[int, str], start: int, number: int) -> str:
    """Remove words by their positions, and return them joined by spaces."""
    phrase = [words.pop(position) for position in range(start, start + number)]
    return " ".join(phrase)


def _start_in_candidate(line: _AlignedWords) -> int:
    return line.start or 0


def show_matches(
    task: CaptionTask, row: int, measure: Measure
) -> dict[str, list[list[str]]]:
    """Return the aligned words of an item with their stage, and those that are not."""
    shown: dict[str, list[list[str]]] = {"aligned": [], "unmatched": [], "missing": []}
    for line in match_rows(task, measure, [row]):
        values = (line["prediction"], line["reference"], line["stage"])
        words = [value for value in values if value is not None]
        if line["stage"]:
            shown["aligned"].append(words)
        elif line["prediction"] is None:
            shown["missing"].append(words)
        else:
            shown["unmatched"].append(words)
    return shown


# ---- nltk ----------------------------------------------------------------------------


def import_nltk_score() -> Any:
    """Return nltk's function, after a check that its data is there."""
    try:
        require("nltk.corpus", "METEOR-nltk", extra="wordnet").wordnet.ensure_loaded()
    except (LookupError, OSError):
        raise InputError("no-wordnet", instead="") from None
    module = require("nltk.translate.meteor_score", "METEOR-nltk", extra="wordnet")
    return module.meteor_score


def _nltk_values(block: CaptionBlock, **options: float) -> Floats:
    """Return nltk's METEOR of each candidate, nan without references."""
    score = import_nltk_score()
    captions = captions_of(block)
    tokens = task_tokens(block.task).lists
    bounds = captions.indptr.tolist()
    references = captions.references.tolist()
    values: Floats = np.full(len(block), np.nan)
    for item, candidate in enumerate(captions.candidates.tolist()):
        own_references = references[bounds[item] : bounds[item + 1]]
        if own_references:
            reference_tokens = [tokens[text] for text in own_references]
            values[item] = score(reference_tokens, tokens[candidate], **options)
    return values


# ---- definitions ---------------------------------------------------------------------

_RECALL = "the weight of recall in the mean of precision and recall"
_PENALTY = "the largest fragmentation penalty"
_RELEASE = choice_option(
    "release",
    "1.5",
    "the release of the program, with its English parameters and -norm",
)
_COUNTED_BY = choice_option(
    "program",
    "python java",
    "what computes the counts: this library, or the original program. It needs "
    "Java and gives the same counts",
)
_PARAPHRASES = choice_option(
    "paraphrases", "true false", "whether paraphrases match", short="par"
)
_PART = choice_option(
    "part",
    " ".join(PARTS),
    "METEOR itself, one of its factors (for fragmentation, chunks divided by "
    "matches, lower is better), or the share of words that match at one stage",
)
METEOR = caption_measure(
    "METEOR",
    MeteorFamily(),
    "Harmonic mean of the weighted precision and recall of matched words, with "
    "a fragmentation penalty.",
    "(1 - .6 (chunks/matches)^.2) P R / (.85 P + .15 R), on summed counts",
    "METEOR 1.5 for English as pycocoevalcap 1.2 runs it (Denkowski and Lavie 2014)",
    cite=("denkowski2014", "banerjee2005"),
    options=(_RELEASE, _COUNTED_BY, _PARAPHRASES, _PART, SKIP_OR_NAN),
    order_invariant=False,
    needs=frozenset({"meteor"}),
    extra={
        "open": open_data,
        "pairs": MeteorPairs,
        "show": show_matches,
        "matches": match_rows,
        "lower": ("fragmentation",),
    },
)
METEOR_NLTK = caption_measure(
    "METEOR-nltk",
    CaptionMeans(_nltk_values),
    "METEOR as nltk computes it: mean over items of the highest value over the "
    "references.",
    "(1 - gamma (chunks/matches)^beta) P R / (alpha P + (1 - alpha) R)",
    "nltk.translate.meteor_score (Lavie and Agarwal 2007)",
    cite=("lavie2007",),
    options=(
        MeasureOption("alpha", "alpha", 0.9, kind=float, within=(0, 1), help=_RECALL),
        MeasureOption(
            "beta",
            "beta",
            3.0,
            kind=float,
            within=(0, 1e154),
            help="power of the penalty",
        ),
        MeasureOption("gamma", "gamma", 0.5, kind=float, within=(0, 1), help=_PENALTY),
        NO_REFERENCE,
    ),
    order_invariant=False,
)
