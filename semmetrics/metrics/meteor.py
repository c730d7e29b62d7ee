"""METEOR: words of a candidate matched with those of a reference, and the order they stand in.

Conventions
-----------
``METEOR`` is METEOR 1.5 for English, with the program's own normalisation. Its counts of a pair of
captions (``COUNTS``) are computed here (`semmetrics.text.meteor`), or by the program of the package
pycocoevalcap, which needs Java and is called as there: "|||", which separates the parts of its
lines, is taken out of captions; pycocoevalcap cuts a reference in two there. Of several references
that with the highest value counts, of equal ones the first. The value of several captions is the
formula on their summed counts, not the mean of their values. A caption whose words all match in one
chunk adds no chunk to the sum.

``METEOR-nltk`` is another measure: nltk has the formula of 2007, matches greedily (equal, then
equal stems, then synonyms of WordNet), weighs all words the same, and has no paraphrases. The value
of an item is the largest over its references; that of several is their mean.

Values lie in [0, 1]; higher is better. Items without a reference have no value and add nothing.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.data.tasks import CaptionTask, kept
from semmetrics.errors import InputError, require
from semmetrics.messages import brief, counted
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, SKIP_OR_NAN, CaptionBlock
from semmetrics.metrics.definition import Measure, Option, Statistic, one_of
from semmetrics.metrics.families import SumFormulas
from semmetrics.metrics.formulas import divide
from semmetrics.store.downloads import Progress
from semmetrics.text.java import ENGLISH, METEOR_FILES
from semmetrics.text.meteor import STAGES, Sentences, read_list
from semmetrics.text.paraphrases import open_paraphrases
from semmetrics.text.tokenizers import one_line

WEIGHTS = dict(zip(STAGES, (1.0, 0.6, 0.8, 0.6), strict=True))
COUNTS = (
    *("n_pred", "n_ref", "function_pred", "function_ref"),
    *map("_".join, product(WEIGHTS, ("content", "function"), ("pred", "ref"))),
    *("chunks", "matched_pred", "matched_ref"),
)
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
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
    alternative="score METEOR, which needs none",
)


def java_counts(
    texts: Sequence[str], candidates: Ints, references: Ints, paraphrases: str = "true"
) -> Ints:
    """Return the program's counts of pairs of captions; it takes seconds to read its tables.

    Parameters
    ----------
    texts : sequence of str
        Tokens with blanks between them.
    candidates, references : int arrays, shape (pairs,)
        The numbers of texts.
    paraphrases : {"true", "false"}

    Returns
    -------
    int64 array, shape (pairs, 23)
        Columns are ``COUNTS``.

    Raises
    ------
    InputError
        If there is no Java, or the program fails; names the captions that it did not accept.
    MissingDependencyError
        If pycocoevalcap is not installed.
    """
    cleaned = [one_line(text).replace("|||", "") for text in texts]
    lines = [
        f"SCORE ||| {cleaned[reference]} ||| {cleaned[candidate]}"
        for candidate, reference in zip(
            *map(np.ndarray.tolist, (candidates, references)), strict=True
        )
    ]
    counts = np.zeros((len(lines), len(COUNTS)), np.int64)
    stages = () if paraphrases == "true" else ("-m", " ".join(STAGES[:-1]))
    for row, (line, answer) in enumerate(
        zip(lines, _run(lines, stages) if lines else (), strict=True)
    ):
        try:
            counts[row] = [
                int(float(part)) for _, part in zip(COUNTS, answer.split(), strict=True)
            ]
        except ValueError as error:
            why = f"its answer to {brief(line)} is {brief(answer)}"
            raise InputError("meteor-failed", why=why) from error
    return counts


def _run(lines: Collection[str], stages: Sequence[str]) -> list[str]:
    java, folder = _PROGRAM.locate()
    try:
        text = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        command = [java, *ENGLISH, *_ARGUMENTS, *stages]
        done = subprocess.run(
            command, input=text, capture_output=True, cwd=folder, check=False
        )
    except OSError as error:
        raise _PROGRAM.not_started(error) from error
    answers = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or len(answers) != len(lines):
        problems = done.stderr.decode("utf-8", "replace").strip().splitlines()
        stopped = f"code {done.returncode} after {len(answers)} of {counted(lines, 'segment')}"
        raise InputError("meteor-failed", why=": ".join([stopped, *problems[:1]]))
    return answers


def open_data(measure: Measure, progress: Progress | None = None) -> None:
    """Open what a measure needs before items are scored.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If its files are damaged, or not those of METEOR 1.5; or if Java is asked for and not there.
    """
    if measure["program"] == "java":
        _PROGRAM.locate()
        return
    read_list("function/english.words")
    if measure["paraphrases"] == "true":
        open_paraphrases(progress)


@kept
def _sentences(task: CaptionTask, paraphrases: str) -> Sentences:
    table = open_paraphrases() if paraphrases == "true" else None
    return Sentences(caption_steps.joined_tokens(task), table)


def _pair_counts(
    task: CaptionTask,
    program: str,
    paraphrases: str,
    candidates: Ints,
    references: Ints,
) -> Ints:
    """Return the counts of pairs; without the chunk of those whose words all match in one."""
    if program == "java":
        texts = caption_steps.joined_tokens(task)
        counts = java_counts(texts, candidates, references, paraphrases)
    else:
        counts = _sentences(task, paraphrases).counts(candidates, references)
    count = _by_name(counts)
    whole = (count["matched_pred"] == count["n_pred"]) & (count["chunks"] == 1)
    count["chunks"][whole & (count["matched_ref"] == count["n_ref"])] = 0
    return counts


@kept
def _task_counts(
    task: CaptionTask, program: str, paraphrases: str
) -> tuple[Ints, Ints]:
    """Return the counts of all items, zeros without a reference, and each one's best reference.

    That is its place among the captions of all references; -1 without one.
    """
    indptr, places = take_rows(task.indptr, task.images)
    row, n = row_numbers(indptr), len(task.texts)
    pairs, pair = np.unique(
        task.candidates[row] * n + task.references[places], return_inverse=True
    )
    counts = _pair_counts(task, program, paraphrases, *np.divmod(pairs, n))
    values = meteor_value(_by_name(counts))[pair]
    some = lengths(indptr) > 0
    best = np.lexsort((-values, row))[indptr[:-1][some]]
    found, chosen = np.zeros((len(task), len(COUNTS)), np.int64), np.full(len(task), -1)
    found[some], chosen[some] = counts[pair[best]], places[best]
    return found, chosen


def _by_name(counts: Ints) -> dict[str, Ints]:
    return dict(zip(COUNTS, counts.T, strict=True))


@dataclass(frozen=True, repr=False)
class MeteorCounts(Statistic):
    """A step: the counts of each item, from one call for the whole task."""

    program: str
    paraphrases: str

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns ``COUNTS``, and "cause"."""
        counts, _ = _task_counts(block.task, self.program, self.paraphrases)
        rows = np.ascontiguousarray(counts[block.start : block.stop].T)
        columns: dict[str, Any] = dict(zip(COUNTS, map(Dense, rows), strict=True))
        n_refs = caption_steps.items_of(block).n_refs
        return {**columns, "cause": caption_steps.cause_column(n_refs)}


def meteor_value(counts: Any) -> Floats:
    r"""Return METEOR 1.5 for English of counts, or of sums of counts.

    ``(1 - gamma (chunks / matches)^beta) P R / (alpha P + (1 - alpha) R)``. In precision P and
    recall R a content word weighs ``delta`` and a function word ``1 - delta``, and a match the
    weight of its stage; ``matches`` is the mean of the matched words of both sides.

    Parameters
    ----------
    counts : mapping from name to float arrays of one shape
        The names are ``COUNTS``.

    Returns
    -------
    float array of that shape
        In [0, 1]; 0 where nothing matches.

    References
    ----------
    Denkowski and Lavie 2014, section 2, with the program's parameters for English; Banerjee and
    Lavie 2005 for chunks.

    Examples
    --------
    Four words in one chunk, of five and six, all of them content words:

    >>> counts = dict.fromkeys(COUNTS, np.array(0.0))
    >>> counts |= {"n_pred": np.array(5.0), "n_ref": np.array(6.0), "chunks": np.array(1.0)}
    >>> counts |= dict.fromkeys(("matched_pred", "matched_ref"), np.array(4.0))
    >>> counts |= dict.fromkeys(("exact_content_pred", "exact_content_ref"), np.array(4.0))
    >>> round(float(meteor_value(counts)), 4)
    0.3728
    """
    precision = _share(counts, "pred")
    recall = _share(counts, "ref")
    some = (precision > 0) & (recall > 0)
    precision = np.where(some, precision, 1.0)
    recall = np.where(some, recall, 1.0)
    mean = np.where(some, 1 / ((1 - ALPHA) / precision + ALPHA / recall), 0.0)
    words = (counts["matched_pred"] + counts["matched_ref"]) / 2
    parts = counts["chunks"] / np.where(words > 0, words, 1.0)
    return np.asarray(mean * (1 - GAMMA * _power(parts, BETA)))


def _power(base: Floats, exponent: float) -> Floats:
    """Raise to a power with the C library, since NumPy's own last bit depends on the processor."""
    values, places = np.unique(base, return_inverse=True)
    powers = np.array([math.pow(value, exponent) for value in values.tolist()])
    return np.asarray(powers[places].reshape(np.shape(base)))


def _share(counts: Any, side: str) -> Floats:
    """Return weighted matches over weighted words of one side, 0 without words.

    The order of the sum is the program's. Another order can change the last bit, and with it which
    of two equal references has the highest value.
    """
    function = counts[f"function_{side}"]
    words = DELTA * (counts[f"n_{side}"] - function) + (1 - DELTA) * function
    matches: Any = 0
    for stage, weight in WEIGHTS.items():
        matches = matches + weight * DELTA * counts[f"{stage}_content_{side}"]
    for stage, weight in WEIGHTS.items():
        matches = matches + weight * (1 - DELTA) * counts[f"{stage}_function_{side}"]
    return np.asarray(matches / np.where(words > 0, words, 1.0))


def _fragmentation(counts: Any) -> Floats:
    """Return chunks over matches, the mean of the matched words of both sides; 1 without any."""
    return divide(
        2 * counts["chunks"], counts["matched_pred"] + counts["matched_ref"], 1.0
    )


def _stage_share(counts: Any, stage: str) -> Floats:
    """Return the share of all words, of both sides together, that match at a stage."""
    names = product((stage,), ("content", "function"), ("pred", "ref"))
    matched = sum(counts["_".join(one)] for one in names)
    return divide(matched, counts["n_pred"] + counts["n_ref"], 0.0)


_PARTS: dict[str, Callable[[Any], Floats]] = {
    "score": meteor_value,
    "precision": partial(_share, side="pred"),
    "recall": partial(_share, side="ref"),
    "fragmentation": _fragmentation,
    **{stage: partial(_stage_share, stage=stage) for stage in STAGES},
}


class MeteorFamily(SumFormulas):
    """METEOR of summed counts; of an item, the program's segment score."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that counts matches."""
        return MeteorCounts(str(measure["program"]), str(measure["paraphrases"]))

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return METEOR of counts, or the part of it that is asked for."""
        return _PARTS[str(measure["part"])](numbers)


class MeteorPairs:
    """METEOR of every caption for every image, in blocks of images.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images; rows are images.
    measure : Measure
    """

    def __init__(self, task: CaptionTask, measure: Measure) -> None:
        self.n_rows, self.n_columns = len(task.indptr) - 1, len(task.candidates)
        self._task, self._options = (
            task,
            (str(measure["program"]), str(measure["paraphrases"])),
        )
        self._value = _PARTS[str(measure["part"])]
        self._texts, self._column = np.unique(task.candidates, return_inverse=True)

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the values of the rows start to stop, shape (stop - start, columns)."""
        values = np.zeros((stop - start, self.n_columns)) if out is None else out
        indptr, n = self._task.indptr, len(self._texts)
        for row in range(start, stop):
            references = self._task.references[indptr[row] : indptr[row + 1]]
            pairs = np.tile(self._texts, len(references)), np.repeat(references, n)
            counts = _by_name(_pair_counts(self._task, *self._options, *pairs))
            best, found = (
                of(counts).reshape(len(references), n)
                for of in (meteor_value, self._value)
            )
            values[row - start] = found[best.argmax(axis=0), np.arange(n)][self._column]
        return values


_MATCH = (
    "id",
    "start",
    "prediction",
    "number",
    "reference_start",
    "reference",
    "stage",
)


def match_rows(
    task: CaptionTask, measure: Measure, items: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the words and phrases that are aligned, and the words of either side that are not.

    Parameters
    ----------
    task : CaptionTask
    measure : Measure
    items : sequence of int, optional
        All by default.

    Yields
    ------
    dict
        "id"; "prediction", words of the candidate, and "start", their place (from 1); "reference",
        words of the best reference, "number" (of that reference, from 1) and "reference_start";
        "stage". None where there is nothing.
    """
    paraphrases = str(measure["paraphrases"])
    sentences, (_, best) = (
        _sentences(task, paraphrases),
        _task_counts(task, "python", paraphrases),
    )
    rows = np.arange(len(task)) if items is None else np.array(items)
    rows = rows[best[rows] >= 0]
    for run in sentences.runs(task.candidates[rows], task.references[best[rows]]):
        some = rows[run]
        texts = task.candidates[some], task.references[best[some]]
        chosen = sentences.align(*texts)
        bounds = np.searchsorted(chosen.pairs, np.arange(len(some) + 1))
        for row, item in enumerate(some.tolist()):
            mine, theirs = (sentences.words[side[row]] for side in texts)
            number = int(best[item] - task.indptr[task.images[item]]) + 1
            left = [dict(enumerate(mine, 1)), dict(enumerate(theirs, 1))]
            lines: list[tuple[Any, ...]] = []
            matches = chosen.take(slice(bounds[row], bounds[row + 1]))
            for _, ref, cand, n_ref, n_cand, stage in np.stack(
                matches, axis=1
            ).tolist():
                own, other = (
                    " ".join(side.pop(first + place) for place in range(1, 1 + n))
                    for side, first, n in zip(
                        left, (cand, ref), (n_cand, n_ref), strict=True
                    )
                )
                lines.append((cand + 1, own, ref + 1, other, STAGES[stage]))
            lines += [
                (place, word, None, None, None) for place, word in left[0].items()
            ]
            lines.sort(key=itemgetter(0))
            lines += [
                (None, None, place, word, None) for place, word in left[1].items()
            ]
            for start, prediction, *reference in lines:
                line = str(task.ids[item]), start, prediction, number, *reference
                yield dict(zip(_MATCH, line, strict=True))


def show_matches(
    task: CaptionTask, row: int, measure: Measure
) -> dict[str, list[list[str]]]:
    """Return the words of an item that are aligned, with their stage, and those that are not."""
    shown: dict[str, list[list[str]]] = {"aligned": [], "unmatched": [], "missing": []}
    for one in match_rows(task, measure, [row]):
        names = "prediction", "reference", "stage"
        words = [one[name] for name in names if one[name] is not None]
        missing = "missing" if one["prediction"] is None else "unmatched"
        shown["aligned" if one["stage"] else missing].append(words)
    return shown


def _nltk_score() -> Any:
    """Return the function of nltk, if its data is there."""
    try:
        require("nltk.corpus", "METEOR-nltk", extra="wordnet").wordnet.ensure_loaded()
    except (LookupError, OSError):
        raise InputError("no-wordnet", instead="") from None
    found = require("nltk.translate.meteor_score", "METEOR-nltk", extra="wordnet")
    return found.meteor_score


def _nltk_values(block: CaptionBlock, **options: float) -> Floats:
    """Return nltk's METEOR of each candidate; nan without references."""
    score, captions = _nltk_score(), caption_steps.items_of(block)
    tokens = caption_steps.task_tokens(block.task).lists
    bounds, references = captions.indptr.tolist(), captions.references.tolist()
    values: Floats = np.full(len(block), np.nan)
    for row, code in enumerate(captions.candidates.tolist()):
        several = [tokens[one] for one in references[bounds[row] : bounds[row + 1]]]
        if several:
            values[row] = score(several, tokens[code], **options)
    return values


_RECALL = "how much recall counts in the mean of precision and recall"
_PENALTY = "the largest penalty for chunks"
_RELEASE = one_of(
    "release", "1.5", "release of the program, with its English parameters and -norm"
)
_COUNTED_BY = one_of(
    "program",
    "python java",
    "what counts: this library, or the program itself, "
    "which needs Java and gives the same counts",
)
_PARAPHRASES = one_of(
    "paraphrases", "true false", "whether paraphrases match", short="par"
)
_PART = one_of(
    "part",
    " ".join(_PARTS),
    "METEOR itself, a factor of it (of fragmentation, chunks "
    "over matches, lower is better), or the share of words that match at a stage",
)
METEOR = caption_steps.caption_measure(
    "METEOR",
    MeteorFamily(),
    "Harmonic mean of weighted precision and recall of matched words, less a penalty for chunks.",
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
METEOR_NLTK = caption_steps.caption_measure(
    "METEOR-nltk",
    caption_steps.CaptionMeans(_nltk_values),
    "nltk's METEOR: mean over items of the largest value over references.",
    "(1 - gamma (chunks/matches)^beta) P R / (alpha P + (1 - alpha) R)",
    "nltk.translate.meteor_score (Lavie and Agarwal 2007)",
    cite=("lavie2007",),
    options=(
        Option("alpha", "alpha", 0.9, kind=float, within=(0, 1), help=_RECALL),
        Option(
            "beta",
            "beta",
            3.0,
            kind=float,
            within=(0, 1e154),
            help="power of the penalty",
        ),
        Option("gamma", "gamma", 0.5, kind=float, within=(0, 1), help=_PENALTY),
        NO_REFERENCE,
    ),
    order_invariant=False,
)
