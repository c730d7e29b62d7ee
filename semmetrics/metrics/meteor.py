"""METEOR: words of a candidate matched with those of a reference, and the order they stand in.

Conventions
-----------
``METEOR`` is METEOR 1.5 for English, with the program's own normalisation. The program, its tables
and the way to call it are those of the package pycocoevalcap 1.2. It reads one line a segment,
references before the candidate, and answers with one line of counts (``COUNTS``). "|||" separates
the parts of a line and is taken out of captions; pycocoevalcap takes it out of candidates, and cuts
a reference in two there. The value of several captions is the formula on their summed counts, not
the mean of their values. A caption whose words all match in one chunk adds no chunk to the sum.

``METEOR-nltk`` is another measure: nltk has the formula of 2007, matches greedily (equal, then
equal stems, then synonyms of WordNet), weighs all words the same, and has no paraphrases. The value
of an item is the largest over its references; that of several is their mean.

Values lie in [0, 1]; higher is better. Items without a reference have no value and add nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.tasks import CaptionTask, kept
from semmetrics.errors import InputError, require
from semmetrics.messages import brief, counted
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, SKIP_OR_NAN, CaptionBlock
from semmetrics.metrics.definition import Measure, Option, Statistic, one_of
from semmetrics.metrics.families import SumFormulas
from semmetrics.text.java import ENGLISH, JavaProgram, why_not
from semmetrics.text.tokenizers import one_line

WEIGHTS = {"exact": 1.0, "stem": 0.6, "synonym": 0.8, "paraphrase": 0.6}
COUNTS = (
    *("n_pred", "n_ref", "function_pred", "function_ref"),
    *map("_".join, product(WEIGHTS, ("content", "function"), ("pred", "ref"))),
    *("chunks", "matched_pred", "matched_ref"),
)

_JAR = "meteor-1.5.jar"
METEOR_PROGRAM = JavaProgram("METEOR", "meteor", (_JAR, "data/paraphrase-en.gz"))
_ARGUMENTS = ("-Xmx2G", "-jar", _JAR, "-", "-", "-stdio", "-l", "en", "-norm")
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75


def segment_counts(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Ints:
    """Return the counts of each segment, against the reference that gives it the highest score.

    Parameters
    ----------
    candidates : sequence of str
        Tokens with blanks between them.
    references : sequence of sequences of str
        Those of each candidate, at least one.

    Returns
    -------
    int64 array, shape (segments, 23)
        Columns are ``COUNTS``.

    Raises
    ------
    InputError
        If there is no Java, or the program fails; names the candidate that it did not accept.
    MissingDependencyError
        If pycocoevalcap is not installed.
    """
    lines: dict[str, int] = {}
    places: Ints = np.zeros(len(candidates), np.int64)
    for place, (candidate, several) in enumerate(zip(candidates, references, strict=True)):
        cleaned = (one_line(text).replace("|||", "").replace("  ", " ")
                   for text in (*several, candidate))  # fmt: skip
        places[place] = lines.setdefault(" ||| ".join(("SCORE", *cleaned)), len(lines))
    counts = np.zeros((len(lines), len(COUNTS)), np.int64)
    for row, (line, answer) in enumerate(zip(lines, _ask(lines) if lines else (), strict=True)):
        try:
            counts[row] = [int(float(part)) for _, part in zip(COUNTS, answer.split(), strict=True)]
        except ValueError as error:
            why = f"its answer to {brief(line)} is {brief(answer)}"
            raise InputError("meteor-failed", why=why) from error
    return counts[places]


def _ask(lines: Collection[str]) -> list[str]:
    """Run the program once for all segments, as it takes seconds to read its tables."""
    java, folder = METEOR_PROGRAM.locate()
    try:
        text = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        command = [java, *ENGLISH, *_ARGUMENTS]
        done = subprocess.run(command, input=text, capture_output=True, cwd=folder, check=False)
    except OSError as error:
        raise METEOR_PROGRAM.not_started(error) from error
    answers = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or len(answers) != len(lines):
        problems = done.stderr.decode("utf-8", "replace").strip().splitlines()
        stopped = f"code {done.returncode} after {len(answers)} of {counted(lines, 'segment')}"
        raise InputError("meteor-failed", why=": ".join([stopped, *problems[:1]]))
    return answers


class MeteorCounts(Statistic):
    """A step: the counts of each item, from one run of the program for the whole task."""

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns ``COUNTS``, and "cause"."""
        counts = np.ascontiguousarray(_task_counts(block.task)[block.start : block.stop].T)
        columns: dict[str, Any] = dict(zip(COUNTS, map(Dense, counts), strict=True))
        n_refs = caption_steps.items_of(block).n_refs
        return {**columns, "cause": caption_steps.cause_column(n_refs)}


def lacking(task: CaptionTask) -> str:
    """Return why a task has no METEOR here, with the remedy; "" if it has, and the counts are kept.

    Only the program itself tells whether it runs.
    """
    return METEOR_PROGRAM.missing() or why_not(lambda: _task_counts(task))


@kept
def _task_counts(task: CaptionTask) -> Ints:
    """Return the counts of all items of a task, zeros without a reference."""
    texts = caption_steps.joined_tokens(task)
    indptr, references = task.pairs(0, len(task))
    some = np.flatnonzero(np.diff(indptr))
    counts = np.zeros((len(task), len(COUNTS)), np.int64)
    counts[some] = segment_counts(
        [texts[code] for code in task.candidates[some].tolist()],
        [[texts[one] for one in references[indptr[i] : indptr[i + 1]]] for i in some.tolist()],
    )
    count = dict(zip(COUNTS, counts.T, strict=True))
    # the words of a segment all match, on both sides, in one chunk
    whole = count["matched_pred"] == count["n_pred"]
    whole &= (count["matched_ref"] == count["n_ref"]) & (count["chunks"] == 1)
    count["chunks"][whole] = 0
    return counts


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
    precision, recall = (_share(counts, side) for side in ("pred", "ref"))
    both = ALPHA * precision + (1 - ALPHA) * recall
    mean = precision * recall / np.where(both > 0, both, 1.0)
    words = (counts["matched_pred"] + counts["matched_ref"]) / 2
    parts = counts["chunks"] / np.where(words > 0, words, 1.0)
    return np.asarray(mean * (1 - GAMMA * parts**BETA))


def _share(counts: Any, side: str) -> Floats:
    """Return weighted matches over weighted words of one side, 0 without words."""
    function = counts[f"function_{side}"]
    words = DELTA * (counts[f"n_{side}"] - function) + (1 - DELTA) * function
    matches: Any = 0
    for stage, weight in WEIGHTS.items():
        content, function = (counts[f"{stage}_{name}_{side}"] for name in ("content", "function"))
        matches = matches + weight * (DELTA * content + (1 - DELTA) * function)
    return np.asarray(matches / np.where(words > 0, words, 1.0))


class MeteorFamily(SumFormulas):
    """METEOR of summed counts; of an item, the program's segment score."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that asks the program."""
        return MeteorCounts()

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return METEOR of counts."""
        return meteor_value(numbers)


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
_RELEASE = one_of("release", "1.5", "release of the program, with its English parameters and -norm")
METEOR = caption_steps.caption_measure(
    "METEOR",
    MeteorFamily(),
    "Harmonic mean of weighted precision and recall of matched words, less a penalty for chunks.",
    "(1 - .6 (chunks/matches)^.2) P R / (.85 P + .15 R), on summed counts",
    "METEOR 1.5 for English as pycocoevalcap 1.2 runs it (Denkowski and Lavie 2014)",
    cite=("denkowski2014", "banerjee2005"),
    options=(_RELEASE, SKIP_OR_NAN),
    order_invariant=False,
    needs=frozenset({"java"}),
    extra={"lacking": lacking},
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
        Option("beta", "beta", 3.0, kind=float, within=(0, 1e154), help="power of the penalty"),
        Option("gamma", "gamma", 0.5, kind=float, within=(0, 1), help=_PENALTY),
        NO_REFERENCE,
    ),
    order_invariant=False,
)
