"""Label sets: F1 of a million examples beside scikit-learn and torchmetrics.

Every workload starts from what a user has: lists of label strings, or 0/1 arrays. The peers get
the same objects, and turning them into what a peer computes on is part of its time. Where both
give a value, the values must agree before a time is reported.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semmetrics
from benchmarks.timing import (
    ROOT,
    Row,
    Times,
    fresh,
    megabytes,
    ratio,
    seconds,
    take_turns,
)
from semmetrics import metrics

__all__ = ["WORKLOADS", "Scale"]

MEASURES = ["F1(average=macro)", "F1(average=micro)", "F1(average=example)"]
FLOAT32 = 1e-5  # torchmetrics divides its counts in float32
BATCH = 500
SIZES = 1 + 1.9  # mean number of labels of an example: one, and a Poisson number more


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    examples: int = 1_000_000
    labels: int = 80
    repeats: int = 5


@dataclass(frozen=True)
class LabelSets:
    """Label sets as codes: example ``i`` has ``codes[indptr[i]:indptr[i + 1]]``, all different."""

    codes: NDArray[np.int64]
    indptr: NDArray[np.int64]
    labels: int

    def lists(self) -> list[list[str]]:
        """Lists of label strings that share one object a label, as decoded classes do."""
        names = np.array([f"label {i}" for i in range(self.labels)], object)
        flat = names[self.codes].tolist()
        bounds = self.indptr.tolist()
        return [flat[a:b] for a, b in pairwise(bounds)]

    def matrix(self) -> NDArray[np.bool_]:
        """A matrix of examples x labels, true where an example has a label."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        table = np.zeros((len(self.indptr) - 1, self.labels), bool)
        table[rows, self.codes] = True
        return table


def make_sets(examples: int, labels: int, seed: int = 0) -> tuple[LabelSets, LabelSets]:
    """Predicted and reference label sets of the same sizes that share most of their labels.

    A set is a first label, frequent ones more often, and steps to the next, which are positive and
    short enough never to come round: so the sizes are the same for any number of labels.
    """
    rng = np.random.default_rng(seed)
    frequency = 1 / np.sqrt(np.arange(1, labels + 1))
    first = rng.choice(labels, examples, p=frequency / frequency.sum())
    sizes = 1 + np.minimum(rng.poisson(SIZES - 1, examples), 10)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    reference_steps = rng.integers(1, labels // 12 + 1, indptr[-1])
    changed = rng.random(indptr[-1]) < 0.2
    predicted_steps = np.where(
        changed, rng.integers(1, labels // 12 + 1, indptr[-1]), reference_steps
    )

    def walk(steps: NDArray[np.int64]) -> LabelSets:
        total = np.cumsum(steps)
        codes = (np.repeat(first - total[indptr[:-1]], sizes) + total) % labels
        return LabelSets(codes, indptr, labels)

    return walk(predicted_steps), walk(reference_steps)


def ours(
    preds: object, gts: object, measures: list[str] = MEASURES, **options: Any
) -> list[float]:
    """Give the values of the measures."""
    table = semmetrics.score(preds, gts, measures=measures, **options)
    return [score.value for score in table]


def scikit_learn(
    preds: list[list[str]], gts: list[list[str]], *, sparse: bool
) -> list[float]:
    """Compute the same by binarising both sides and asking for one average after the other."""
    from sklearn.metrics import f1_score
    from sklearn.preprocessing import MultiLabelBinarizer

    binarizer = MultiLabelBinarizer(sparse_output=sparse)
    reference = binarizer.fit_transform(gts)
    predicted = binarizer.transform(preds)
    return [
        f1_score(reference, predicted, average=average, zero_division=0)
        for average in ("macro", "micro", "samples")
    ]


def torchmetrics_macro(
    preds: Any, gts: Any, *, labels: int, validate: bool
) -> list[float]:
    """Compute macro F1 of 0/1 tensors as an epoch's end does."""
    from torchmetrics.classification import MultilabelF1Score

    metric = MultilabelF1Score(
        num_labels=labels, average="macro", validate_args=validate
    )
    metric.update(preds, gts)
    return [float(metric.compute())]


def agree(what: str, ours: list[float], peer: list[float], tolerance: float) -> None:
    """Stop where the contenders do not compute the same."""
    for mine, theirs in zip(ours, peer, strict=True):
        if not math.isclose(mine, theirs, rel_tol=0, abs_tol=tolerance):
            raise SystemExit(f"{what}: {ours} here and {peer} there")


def lists(scale: Scale) -> list[Row]:
    """Three averages of F1 from lists of label strings."""
    predicted, reference = (
        sets.lists() for sets in make_sets(scale.examples, scale.labels)
    )
    dense = partial(scikit_learn, predicted, reference, sparse=False)
    sparse = partial(scikit_learn, predicted, reference, sparse=True)
    agree("scikit-learn", ours(predicted, reference), sparse(), 1e-12)
    times = take_turns(
        {"ours": lambda: ours(predicted, reference), "dense": dense, "sparse": sparse},
        scale.repeats,
    )
    what = f"macro, micro and example F1 from lists, {_size(scale)}"
    return [
        _row(f"{what}; scikit-learn dense", times["ours"], times["dense"]),
        _row(f"{what}; scikit-learn sparse", times["ours"], times["sparse"]),
    ]


def memory(scale: Scale) -> list[Row]:
    """Peak memory of a process that makes the lists and scores them."""
    code = (
        "import sys; from benchmarks.labels import measure_memory;"
        "measure_memory(int(sys.argv[1]), int(sys.argv[2]))"
    )
    report = json.loads(fresh(code, str(scale.examples), str(scale.labels)))
    return [
        Row(
            f"peak memory of the same with its input, {_size(scale)}",
            f"{report['peak']:.0f} MB ({report['source']})",
            f"{report['input']:.0f} MB before scoring (the input and imports)",
        )
    ]


def measure_memory(examples: int, labels: int) -> None:
    """Print the peak before and after scoring; run in a process of its own."""
    predicted, reference = (sets.lists() for sets in make_sets(examples, labels))
    before, source = megabytes()
    ours(predicted, reference)
    peak, source = megabytes()
    sys.stdout.write(json.dumps({"input": before, "peak": peak, "source": source}))


def stream(scale: Scale) -> list[Row]:
    """The three averages from batches, beside one call and beside torchmetrics; the memory."""
    sets = make_sets(scale.examples, scale.labels)
    batches = range(0, scale.examples, BATCH)
    listed = [one.lists() for one in sets]
    whole = ours(*listed)
    agree("one call", stream_batches(*listed), whole, 0)
    agree("one call", stream_batches(*listed, keep_rows=False), whole, 0)
    contenders: dict[str, Callable[[], object]] = {
        "one call": lambda: ours(*listed),
        "items kept": lambda: stream_batches(*listed),
        "items let go": lambda: stream_batches(*listed, keep_rows=False),
    }
    what = _batches(scale)
    times = take_turns(contenders, scale.repeats)
    peer = times.pop("one call")
    rows = [
        _row(f"{what}, lists, {name}; one call", taken, peer)
        for name, taken in times.items()
    ]
    code = (
        "import sys; from benchmarks.labels import measure_stream;"
        "measure_stream(int(sys.argv[1]), int(sys.argv[2]))"
    )
    report = json.loads(fresh(code, str(scale.examples), str(scale.labels)))
    rows.append(
        Row(
            f"peak memory of a process that makes the {len(batches):,} batches one by one and lets "
            "their items go",
            f"{report['peak']:.1f} MB ({report['source']})",
            f"{report['tenth']:.1f} MB after a tenth of them",
        )
    )
    return rows + _stream_arrays(replace(scale, examples=scale.examples // 10))


def _batches(scale: Scale) -> str:
    number = len(range(0, scale.examples, BATCH))
    return f"the three averages in {number:,} batches of {BATCH}, {scale.labels} labels"


def _stream_arrays(scale: Scale) -> list[Row]:
    """Time batches of 0/1 arrays beside those of torchmetrics, where it is installed."""
    what = _batches(scale)
    tables = [one.matrix() for one in make_sets(scale.examples, scale.labels)]
    contenders: dict[str, Callable[[], object]] = {
        "ours": lambda: stream_batches(*tables, keep_rows=False)
    }
    try:
        import torch
        from torchmetrics import MetricCollection
        from torchmetrics.classification import MultilabelF1Score
    except ImportError as error:
        times = take_turns(contenders, scale.repeats)
        return [
            Row(
                f"{what}, 0/1 arrays, items let go",
                seconds(times["ours"]),
                f"skipped: {error}",
            )
        ]
    tensors = [torch.from_numpy(table).to(torch.int64) for table in tables]

    def theirs() -> list[float]:
        metrics = MetricCollection(
            {a: MultilabelF1Score(scale.labels, average=a) for a in ("macro", "micro")}
        )
        for start in range(0, scale.examples, BATCH):
            metrics.update(*(table[start : start + BATCH] for table in tensors))
        return [float(value) for value in metrics.compute().values()]

    agree(
        "torchmetrics", stream_batches(*tables, keep_rows=False)[:2], theirs(), FLOAT32
    )
    times = take_turns(contenders | {"theirs": theirs}, scale.repeats)
    peer = "torchmetrics, macro and micro alone"
    return [
        _row(
            f"{what}, 0/1 arrays, items let go; {peer}", times["ours"], times["theirs"]
        )
    ]


def stream_batches(
    predicted: Any, reference: Any, *, keep_rows: bool = True
) -> list[float]:
    """Compute the three averages from batches."""
    scorer = semmetrics.Scorer(measures=MEASURES, keep_rows=keep_rows)
    for start in range(0, len(predicted), BATCH):
        scorer.update(
            predicted[start : start + BATCH], reference[start : start + BATCH]
        )
    return [score.value for score in scorer.compute()]


def measure_stream(examples: int, labels: int) -> None:
    """Print the peak after a tenth of the batches and after all; run in a process of its own."""
    scorer = semmetrics.Scorer(measures=MEASURES, keep_rows=False)
    report: dict[str, Any] = {}
    for start in range(0, examples, BATCH):
        scorer.update(*(sets.lists() for sets in make_sets(BATCH, labels, seed=start)))
        if start >= examples // 10 and not report:
            report["tenth"], report["source"] = megabytes()
    scorer.compute()
    report["peak"], _ = megabytes()
    sys.stdout.write(json.dumps(report))


def arrays(scale: Scale) -> list[Row]:
    """Macro F1 from 0/1 arrays: the function on arrays, and the score with ids and signature."""
    what = f"macro F1 from 0/1 arrays, {_size(scale)}"
    predicted, reference = (
        sets.matrix() for sets in make_sets(scale.examples, scale.labels)
    )
    contenders: dict[str, Callable[[], object]] = {
        "metrics.f1": lambda: metrics.f1(predicted, reference, average="macro"),
        "score": partial(ours, predicted, reference, measures=MEASURES[:1]),
    }
    try:
        import torch
        import torchmetrics  # noqa: F401  (asked for here, used where the metric is made)
    except ImportError as error:
        times = take_turns(contenders, scale.repeats)
        skipped = f"skipped: {error}"
        return [
            Row(f"{what}; `{name}`", seconds(taken), skipped)
            for name, taken in times.items()
        ]
    labels = scale.labels
    # Integers with checks are what the peer gets by default; bytes without checks are its fastest.
    usual = [
        torch.from_numpy(table).to(torch.int64) for table in (predicted, reference)
    ]
    small = [
        torch.from_numpy(table).to(torch.uint8) for table in (predicted, reference)
    ]
    peers = {
        "int64, defaults": partial(
            torchmetrics_macro, *usual, labels=labels, validate=True
        ),
        "uint8, no checks": partial(
            torchmetrics_macro, *small, labels=labels, validate=False
        ),
    }
    theirs = peers["int64, defaults"]()
    agree("torchmetrics", ours(predicted, reference, MEASURES[:1]), theirs, FLOAT32)
    agree("torchmetrics", [float(contenders["metrics.f1"]())], theirs, FLOAT32)
    times = take_turns(contenders | peers, scale.repeats)
    return [
        _row(f"{what}; `{name}`; torchmetrics, {peer}", times[name], times[peer])
        for name in contenders
        for peer in peers
    ]


def resamples(scale: Scale) -> list[Row]:
    """Bootstrap intervals of the three averages."""
    predicted, reference = (
        sets.lists() for sets in make_sets(scale.examples, scale.labels)
    )
    repeats = max(1, scale.repeats // 2)
    times = take_turns({"ours": lambda: ours(predicted, reference, ci=True)}, repeats)
    what = f"the three averages with 1,000 resamples, {_size(scale)}"
    return [Row(f"{what}, {repeats} runs", seconds(times["ours"]))]


def report(scale: Scale) -> list[Row]:
    """The classification report, beside scikit-learn's on a 0/1 matrix that is made already."""
    from sklearn.metrics import classification_report

    sets = make_sets(scale.examples, scale.labels)
    predicted, reference = (one.lists() for one in sets)
    first, second = (one.matrix() for one in sets)

    def mine() -> dict[str, Any]:
        table = semmetrics.score(predicted, reference, measures="MacroF1")
        return {row["label"]: row for row in table.classification_report()}

    def theirs() -> dict[str, Any]:
        names = [f"label {i}" for i in range(scale.labels)]
        found: dict[str, Any] = classification_report(
            second, first, target_names=names, output_dict=True, zero_division=0
        )
        return found

    one, other = mine(), theirs()
    for name, row in other.items():
        if not math.isclose(one[name]["f1-score"], row["f1-score"], abs_tol=1e-12):
            raise RuntimeError(f"{name}: {one[name]} is not {row}")
    times = take_turns({"mine": mine, "theirs": theirs}, scale.repeats)
    what = f"classification report from lists, {_size(scale)}; scikit-learn on 0/1 matrices"
    return [
        Row(
            what,
            seconds(times["mine"]),
            seconds(times["theirs"]),
            ratio(times["theirs"], times["mine"]),
        )
    ]


def curves(scale: Scale) -> list[Row]:
    """The means over labels of average precision and of ROC-AUC, from matrices of scores."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    examples = max(1, scale.examples // 25)
    rng = np.random.default_rng(0)
    truth = rng.random((examples, scale.labels)) < 0.1
    scores = np.clip(truth * 0.3 + rng.random(truth.shape), 0, 1)
    classes = [f"label {i}" for i in range(scale.labels)]
    rows = []
    for measure, peer in (("mAP", average_precision_score), ("ROC-AUC", roc_auc_score)):
        mine = partial(ours, scores, truth, [measure], classes=classes)
        theirs = partial(peer, truth, scores, average="macro")
        agree(measure, mine(), [float(theirs())], 1e-9)
        times = take_turns({"mine": mine, "theirs": theirs}, scale.repeats)
        what = f"{measure} of {examples:,} x {scale.labels} matrices; `score`; scikit-learn"
        rows.append(_row(what, times["mine"], times["theirs"]))
    return rows


def small(scale: Scale) -> list[Row]:
    """One item, in a process that has computed the same before. A median of many calls."""
    label_sets = {"a": ["cat", "dog"]}, {"a": ["cat"]}
    captions = {"a": "a dog runs on the beach"}, {"a": ["a dog is running on a beach"]}
    contenders = {
        "F1 of one item": partial(ours, *label_sets, ["F1"]),
        "BLEU-4 of one caption, `ptb`": partial(ours, *captions, ["BLEU-4"]),
    }
    for run in contenders.values():
        run()
    times = take_turns(contenders, 40 * scale.repeats)
    return [Row(what, seconds(run_times)) for what, run_times in times.items()]


def vocabulary(scale: Scale) -> list[Row]:
    """Cost against the number of labels, the sizes of the sets unchanged."""
    contenders: dict[str, Callable[[], object]] = {}
    for factor in (1, 10, 100):
        labels = scale.labels * factor
        predicted, reference = (
            sets.lists() for sets in make_sets(scale.examples, labels)
        )
        contenders[f"{labels:,}"] = partial(ours, predicted, reference)
    times = take_turns(contenders, scale.repeats)
    base = next(iter(times.values()))
    return [
        Row(
            f"the three averages from lists, {scale.examples:,} examples x {labels} labels",
            seconds(taken),
            "",
            ""
            if taken is base
            else f"{taken.median / base.median:.2f} times the first",
        )
        for labels, taken in times.items()
    ]


def start(scale: Scale) -> list[Row]:
    """Time from a fresh interpreter to the package, and to the result of the example."""
    example = ROOT / "examples" / "kubany2020_table2"
    files = [
        *sorted((example / "predictions").glob("*.json")),
        example / "ground_truth.json",
    ]
    command = [str(path.relative_to(ROOT)) for path in files]
    program = "import sys; sys.argv[0] = 'semmetrics'; from semmetrics.cli import main; main()"
    # Files of compiled bytecode belong to an installed package: the first runs write them.
    _import("import semmetrics; semmetrics.score")
    fresh(program, "score", *command)
    # The package loads its parts at first use: what a program waits for in all is the second line.
    imports = {
        "import semmetrics": "import semmetrics",
        "import semmetrics; semmetrics.score": "import semmetrics; semmetrics.score",
        "numpy": "import numpy",
    }
    runs: dict[str, list[float]] = {name: [] for name in imports}
    for _ in range(max(scale.repeats, 5)):
        for name, statement in imports.items():
            runs[name].append(_import(statement))
    times = {name: Times(tuple(taken)) for name, taken in runs.items()}
    numpy = times.pop("numpy")
    processes = {
        f"the command line on the example, {len(files) - 1} systems": [
            program,
            "score",
            *command,
        ],
        "`score -m F1` of one of them": [
            program,
            "score",
            command[0],
            command[-1],
            "-m",
            "F1",
        ],
        "numpy": ["import numpy"],
    }
    whole = take_turns(
        {name: partial(fresh, *words) for name, words in processes.items()},
        max(scale.repeats, 15),
    )
    bare = whole.pop("numpy")
    return [
        *(
            _row(f"`{name}` in a fresh interpreter; `import numpy`", taken, numpy)
            for name, taken in times.items()
        ),
        *(
            _row(f"{name}, process included; `import numpy`", taken, bare)
            for name, taken in whole.items()
        ),
    ]


def _import(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return float(fresh(code))


def _row(workload: str, mine: Times, peer: Times) -> Row:
    return Row(workload, seconds(mine), seconds(peer), ratio(peer, mine))


def _size(scale: Scale) -> str:
    return f"{scale.examples:,} examples x {scale.labels} labels"


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "lists": lists,
    "memory": memory,
    "stream": stream,
    "arrays": arrays,
    "resamples": resamples,
    "report": report,
    "curves": curves,
    "small": small,
    "vocabulary": vocabulary,
    "start": start,
}
