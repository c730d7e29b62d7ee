"""Objects that Python code creates, saves, adds and passes to ``score``."""

from __future__ import annotations

import pickle
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from golden.cases_settings import labels, setting
from golden.harness import (
    FLOAT32,
    Case,
    call,
    describe_table,
    normal,
    plain,
    row,
    scored,
)
from golden.inputs import (
    CANDIDATES,
    CLASSES,
    GT,
    OTHER,
    OTHERS,
    PREDS,
    RANKED,
    REFERENCES,
    SCORES,
    SIZES,
    TAXONOMY,
    TRUTH,
    VECTORS,
)

import semmetrics
from semmetrics import DocumentFrequencies
from semmetrics.metrics.registry import find, forget

TENTHS = "0:0.9:0.1"
WORDS = "words.vec"
SENTENCES = list(CANDIDATES.values())
SENTENCE_REFERENCES = list(REFERENCES.values())
PAIRS = [
    ("cat", "kitten", 1),
    ("dog", "puppy", True),
    ("car", "bus", 0),
    ("sofa", "couch", 1),
    ("cat", "dog", False),
    ("tree", "car", 0),
    ("zebra", "cat", 0),
]


# ---- measures ------------------------------------------------------------------------------------


def parsed(text: str) -> Case:
    """Return the case of a measure that is parsed and printed."""
    return Case(f"measure {text}", lambda: {"parsed": parse(text)})


def parse(text: str) -> list[dict[str, Any]]:
    """Parse measures, and describe them."""
    return [describe_measure(measure) for measure in semmetrics.parse(text)]


def describe_measure(measure: semmetrics.Measure) -> dict[str, Any]:
    """Return all that a measure says of itself."""
    name = str(measure)
    options = plain(dict(measure.options))
    signature = [normal(part) for part in measure.signature()]
    return {
        "name": name,
        "k": measure.k,
        "options": options,
        "signature": signature,
        "again": semmetrics.parse(name) == [measure],
    }


def changed(name: str, **options: Any) -> Case:
    """Return the case of a measure with other options."""

    def run() -> dict[str, Any]:
        (measure,) = semmetrics.parse(name)
        return {"gives": str(measure.with_options(**options))}

    return Case(f"{name} with {options}", run)


def score_own_measure() -> dict[str, Any]:
    """Register a measure, score it and forget it.

    The recorded signature has a digest of the function.
    """

    @semmetrics.measure(
        equation="|P ∩ R| / max(|P|, |R|)", source="here", averages=("example",)
    )
    def own_overlap(hit: Any, n_pred: Any, n_ref: Any, *, extra: float = 0.0) -> Any:
        """Count the labels on both sides, divided by the labels of the larger side."""
        return hit / np.maximum(np.maximum(n_pred, n_ref), 1) + extra

    try:
        return scored(PREDS, GT, measures=[own_overlap, own_overlap(extra=0.5), "F1"])
    finally:
        forget(find("own_overlap")[0])


MEASURES = [
    parsed("F1@1,3"),
    parsed("MacroF1@2"),
    parsed("F1(average=macro, labels=union)@3"),
    parsed("SemF1(threshold=0.40)"),
    parsed("F1(decode=cumulative:0.5,keep_at_least=2)"),
    changed("F1", average="macro"),
    changed("SemF1@2", threshold=0.3),
    Case("a registered measure", score_own_measure),
]


# ---- tables --------------------------------------------------------------------------------------


def systems(name: str, preds: dict[str, Any], gts: Any = GT, **options: Any) -> Case:
    """Return the case of several systems."""

    def run() -> dict[str, Any]:
        return describe_table(semmetrics.score_systems(preds, gts, **options))

    return Case(name, run)


def write_table() -> dict[str, Any]:
    """Return a table of scores in every format."""
    table = semmetrics.score_systems(
        {"a": PREDS, "b": OTHER}, GT, measures=["F1", "MacroF1", "CardinalityError"]
    )
    single = semmetrics.score(PREDS, GT, measures=["Recall", "F1@2"])
    texts = {
        "text": str(table),
        "two digits": table.to_text(digits=2, scale=100),
        "markdown": table.to_markdown(digits=1),
        "latex": table.to_latex(scale=100),
        "csv": normal(table.to_csv()),
        "json": normal(single.to_json()),
    }
    result: dict[str, Any] = {name: text.splitlines() for name, text in texts.items()}
    frame = table.to_pandas()
    result["frame"] = [list(frame.columns), list(frame.shape), row(frame["value"])]
    result["a score"] = plain(single["Recall"].to_dict())
    return result


def report_progress() -> dict[str, Any]:
    """Return the arguments of the calls of ``progress``."""
    of_items = progress_of_score()
    with_intervals = progress_of_score(ci=True, resamples=10)
    return {"of items": of_items, "with intervals": with_intervals}


def progress_of_score(**options: Any) -> Any:
    """Return the arguments of the calls of ``progress`` of one call of ``score``."""
    calls: list[tuple[int, int]] = []

    def progress(*done: Any) -> None:
        calls.append(done)

    semmetrics.score(PREDS, GT, measures=["F1"], progress=progress, **options)
    return plain(calls)


PAIRS_OF_TAXONOMY = []
for child, parent in TAXONOMY.items():
    if isinstance(parent, str):
        PAIRS_OF_TAXONOMY.append((child, parent))


TABLES = [
    Case("a table", write_table, needs=("pandas",)),
    Case("progress", report_progress),
    systems(
        "several systems",
        {"a": PREDS, "b": OTHER},
        measures=["F1(average=macro,labels=union)", "MicroF1"],
    ),
    systems(
        "systems with and without scores", {"a": PREDS, "b": RANKED}, measures=["F1@2"]
    ),
    systems(
        "set sizes of each system",
        {"a": SCORES, "b": SCORES[::-1]},
        TRUTH,
        measures=["F1(decode=cardinality)"],
        set_size_probs={"a": SIZES, "b": SIZES[::-1]},
    ),
    systems(
        "captions of several systems",
        {"a": CANDIDATES, "b": OTHERS},
        REFERENCES,
        measures=["BLEU-2", "CIDEr-D"],
        score_references=True,
    ),
    labels("a Bootstrap", measures="F1", ci=semmetrics.Bootstrap(0.9, 20, 3)),
    setting(
        "a taxonomy of pairs",
        {"1": ["cat"]},
        {"1": ["dog"]},
        measures="hF",
        taxonomy=PAIRS_OF_TAXONOMY,
    ),
]


# ---- embeddings ----------------------------------------------------------------------------------


def embed_by_length(texts: list[str]) -> Any:
    """Return a vector with a 1 at the length of the text, modulo 4."""
    vectors = np.zeros((len(texts), 4))
    for vector, text in zip(vectors, texts, strict=True):
        vector[len(text) % 4] = 1
    return vectors.tolist()


class OwnEmbedding:
    """An embedding class, which has a threshold."""

    identity = "own-16@0123456789ab"
    dimension = 16
    threshold = 0.4

    def embed(self, texts: list[str]) -> Any:
        """Return vectors, and which texts are known."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        known = np.zeros(len(texts), bool)
        for place, text in enumerate(texts):
            if text in VECTORS:
                vectors[place] = VECTORS[text]
                known[place] = True
        return types.SimpleNamespace(vectors=vectors, known=known, truncated=0)


EMBEDDINGS = [
    labels(
        "an embedding function",
        measures=["SemF1(threshold=0.5)", "SoftF1", "BagSim"],
        embedding=embed_by_length,
    ),
    labels(
        "an embedding class", measures=["SemF1", "SoftF1"], embedding=OwnEmbedding()
    ),
]


# ---- thresholds ----------------------------------------------------------------------------------


def swept(name: str, **options: Any) -> Case:
    """Return the case of a sweep of thresholds."""

    def run() -> dict[str, Any]:
        sweep = semmetrics.sweep(PREDS, GT, embedding=WORDS, **options)
        return describe_sweep(sweep)

    return Case(f"sweep {name}", run, FLOAT32)


def describe_sweep(sweep: semmetrics.ThresholdSweep) -> dict[str, Any]:
    """Return all that is in a sweep."""
    values = {}
    best = {}
    signatures = {}
    for name, scores in sweep.scores.items():
        values[name] = row(sweep.values[name])
        best[name] = plain(sweep.best[name])
        signatures[name] = normal(scores[0].signature)
    return {
        "points": row(sweep.points),
        "values": values,
        "best": best,
        "notes": list(map(str, sweep.notes)),
        "signatures": signatures,
        "text": sweep.render("table").splitlines(),
        "digits": sweep.to_text(digits=2).splitlines(),
        "csv": sweep.to_csv().splitlines(),
        "json": plain(sweep.to_dict()),
    }


def calibrated(name: str, **options: Any) -> Case:
    """Return the case of a calibration on predictions and references."""

    def run() -> dict[str, Any]:
        calibration = semmetrics.calibrate_threshold(
            PREDS, GT, thresholds=TENTHS, embedding=WORDS, **options
        )
        return describe_calibration(calibration)

    return Case(f"calibration {name}", run, FLOAT32)


def calibrated_on_pairs(name: str, pairs: Any = PAIRS, **options: Any) -> Case:
    """Return the case of a calibration on pairs of terms."""

    def run() -> dict[str, Any]:
        calibration = semmetrics.calibrate_threshold_on_pairs(pairs, WORDS, **options)
        return describe_calibration(calibration)

    return Case(f"calibration {name}", run, FLOAT32)


def describe_calibration(calibration: semmetrics.Calibration) -> dict[str, Any]:
    """Return all that is in a calibration."""
    used = None
    if calibration.method == "contrast":
        used = row(calibration.used(list(GT)))
    return {
        "says": plain(calibration.to_dict()),
        "notes": list(map(str, calibration.notes)),
        "used": used,
    }


def save_calibration() -> dict[str, Any]:
    """Score with a calibration that was saved and loaded."""
    calibration = semmetrics.calibrate_threshold(
        PREDS, GT, thresholds=TENTHS, holdout=0.6, seed=1, embedding=WORDS
    )
    calibration.save("calibration.json")
    loaded = semmetrics.Calibration.load("calibration.json")
    Path("calibration.json").unlink()
    measures = ["SemF1", "SemF1(threshold=0.4)", "F1"]
    same_items = scored(
        PREDS, GT, measures=measures, calibration=loaded, embedding=WORDS
    )
    cats = {"1": ["cat"]}
    other_items = scored(
        cats, cats, measures="SemF1", calibration=[loaded], embedding=WORDS
    )
    return {
        "same": calibration.to_dict() == loaded.to_dict(),
        "digest": loaded.digest == calibration.digest,
        "scored": same_items,
        "others": other_items,
    }


THRESHOLDS = [
    swept("of three thresholds", thresholds=[0.25, 0.5, 0.75]),
    swept(
        "of two measures",
        measures=["SemF1", "SemRecall(match=optimal)@2"],
        thresholds=[0.2, 0.6],
    ),
    swept("with intervals", thresholds=[0.2], ci=True, resamples=10),
    calibrated("on all items", holdout=1),
    calibrated("on some items", holdout=0.6, seed=1),
    calibrated("of another measure", holdout=1, measure="SemRecall@2"),
    calibrated_on_pairs("on pairs"),
    calibrated_on_pairs("on pairs by Youden's index", criterion="youden"),
    calibrated_on_pairs("on pairs by accuracy", criterion="accuracy"),
    calibrated_on_pairs("on pairs in a file", "pairs.json"),
    Case("a saved calibration", save_calibration),
]


# ---- captions ------------------------------------------------------------------------------------


def frequencies(name: str, fit: Callable[[], DocumentFrequencies]) -> Case:
    """Return the case of document frequencies."""
    return Case(f"frequencies {name}", lambda: describe_frequencies(fit()))


def fit(*arguments: Any) -> DocumentFrequencies:
    """Count the document frequencies of the references."""
    return semmetrics.fit_document_frequencies(SENTENCE_REFERENCES, *arguments)


def describe_frequencies(frequencies: DocumentFrequencies) -> dict[str, Any]:
    """Return all that is in document frequencies, with the first n-grams."""
    counts = {}
    for gram, count in sorted(frequencies.as_dict().items())[:40]:
        counts[" ".join(gram)] = count
    return {
        "documents": frequencies.documents,
        "log": frequencies.log_documents,
        "made": [frequencies.tokenizer, frequencies.stem],
        "hash": frequencies.hash,
        "number": len(frequencies),
        "counts": counts,
    }


def count_two_grams() -> DocumentFrequencies:
    """Return document frequencies of counts."""
    return DocumentFrequencies.from_counts({("a",): 2, ("a", "b"): 1}, documents=3)


def save_frequencies(name: str) -> DocumentFrequencies:
    """Return document frequencies that were saved and loaded."""
    fit("13a", "porter").save(name)
    loaded = DocumentFrequencies.load(name)
    Path(name).unlink()
    return loaded


def unpickle_frequencies() -> DocumentFrequencies:
    """Return document frequencies of a pickle as the code of CIDEr has them."""
    counts = {("a",): 3.0, ("a", "man"): 2.0, ("café",): 1.0}
    content = {"document_frequency": counts, "ref_len": 9.0}
    Path("frequencies.p").write_bytes(pickle.dumps(content, 2))
    loaded = DocumentFrequencies.load("frequencies.p")
    Path("frequencies.p").unlink()
    return loaded


def matrix(name: str, **options: Any) -> Case:
    """Return the case of a matrix of captions."""
    return call(
        f"matrix {name}",
        semmetrics.caption_matrix,
        SENTENCE_REFERENCES,
        SENTENCES,
        **options,
    )


def best_captions(name: str, k: int, **options: Any) -> Case:
    """Return the case of the best captions of a matrix."""
    return call(
        f"best {name}",
        semmetrics.caption_top_k,
        SENTENCE_REFERENCES,
        SENTENCES,
        k,
        **options,
    )


def compute_blocks() -> list[Any]:
    """Return the first row and the values of each block of a matrix."""
    blocks = semmetrics.caption_blocks(
        SENTENCE_REFERENCES, SENTENCES, memory=16 * 6 * 4
    )
    return [[start, plain(block)] for start, block in blocks]


CAPTIONS = [
    frequencies("with the default tokenizer", fit),
    frequencies("of stems", lambda: fit("ptb", "porter")),
    frequencies("in an archive", lambda: save_frequencies("df.npz")),
    frequencies("in JSON", lambda: save_frequencies("df.json")),
    frequencies("in a pickle", unpickle_frequencies),
    frequencies("of counts", count_two_grams),
    matrix("by default"),
    matrix("of CIDEr", measure="CIDEr"),
    matrix("in float32", dtype="float32", tokenizer="whitespace"),
    matrix("with document frequencies", doc_freq="frequencies.json"),
    Case("blocks of a matrix", compute_blocks),
    best_captions("two captions", 2),
    best_captions("two images", 2, axis="images"),
]


# ---- data ----------------------------------------------------------------------------------------


def read_labels() -> dict[str, Any]:
    """Score matrices that were read before."""
    preds = semmetrics.as_labels(SCORES, classes=CLASSES)
    gts = semmetrics.as_labels(TRUTH, classes=CLASSES)
    return scored(preds, gts, measures="mAP")


GROUPS = {
    "objects": [
        *MEASURES,
        *TABLES,
        *EMBEDDINGS,
        *THRESHOLDS,
        *CAPTIONS,
        Case("labels that were read before", read_labels),
    ]
}
