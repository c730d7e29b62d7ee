"""One data set in every format that carries it, by all measures.

The first case of a group is on record in full; of the others only what is not as in it.
"""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from golden.harness import (
    EXACT,
    LOOSE,
    Case,
    attempt,
    differences,
    normal,
    plain_score,
    run_program,
)
from golden.inputs import (
    CANDIDATES,
    CLASSES,
    GT,
    PREDS,
    RANKED,
    REFERENCES,
    SCORES,
    TRUTH,
)
from golden.names import spelled

import semmetrics

_LABELS = (
    "Precision Recall F1 Jaccard SubsetAccuracy HammingLoss AP BalancedAccuracy(q=20) O-F1 I-F1 "
    "CardinalityError C-F1(labels=reference) MacroF1 MicroF1 F1@2 SemPrecision SemRecall SemF1 "
    "SemJaccard SemAP SoftPrecision SoftRecall SoftF1 WMD RWMD MeanSim hP(unknown=own) "
    "hR(unknown=own) hF(unknown=own) LCADistance(unknown=own) F1({repeats}={each})"
)
_BESIDE = "--embedding words.vec --taxonomy taxonomy.json"
_RANKED = _LABELS + " LRAP RankingLoss CoverageError mAP AP@2 F1(decode=threshold:0.5)"
_MATRIX = (
    "LRAP RankingLoss CoverageError mAP AP@3 F1@2 F1(decode=threshold:0.5) HammingLoss(decode="
    "threshold:0.5) MacroF1(decode=threshold:best) SemF1(decode=threshold:0.5)"
)
_NUMBERS = " ".join(name for name in _MATRIX.split() if not name.startswith("Sem"))
_CAPTIONS = (
    "BLEU-1 BLEU-2 BLEU-3 BLEU-4 CIDEr-D CIDEr DuplicatedCaption CaptionLength LengthRatio "
    "ReferenceCount Vocabulary UniqueCaptions NGSM ROUGE-L"
)
Result = dict[str, Any]


def _scores(entries: list[Mapping[str, Any]]) -> Result:
    return {entry["measure"]: plain_score(entry) for entry in entries}


def _file(command: str, measures: str, stdin: str = "") -> Callable[[], Result]:
    """What the program says of files."""

    def run() -> Result:
        named = ["-m", spelled(measures), "--format", "json", *shlex.split(command)]
        given = Path(stdin).read_bytes() if stdin else b""
        code, out, err = run_program(["score", *named], given)
        # a table of what the scores have, too
        notes = err.partition("semmetrics: undefined ")[0]
        made: Result = {"exit": code, "notes": notes.splitlines()}
        return (
            {**made, "scores": _scores(json.loads(out)["scores"])}
            if code == 0
            else made
        )

    return run


def _objects(
    preds: Callable[[], Any], gts: Callable[[], Any], measures: str, **options: Any
) -> Callable[[], Result]:
    """What Python says of objects."""

    def run() -> Result:
        table = attempt(
            semmetrics.score,
            preds(),
            gts(),
            measures=spelled(measures).split(),
            **options,
        )
        if isinstance(table, dict):
            return table
        notes = [normal(note) for note in table.notes]
        return {"exit": 0, "notes": notes, "scores": _scores(table.to_dicts())}

    return run


def _less(result: Result, base: Result, tolerance: float) -> Result:
    """A result without the scores that are those of another."""
    if "scores" not in result:
        return result
    others, same = {}, 0
    for name, values in result["scores"].items():
        known = base["scores"].get(name)
        if differences(known, values, tolerance):
            others[name] = [*values[:3], _rest(values[3], known[3] if known else "")]
        else:
            same += 1
    return {**result, "scores": {"as in the first": same, **others}}


def _rest(signature: str, known: str) -> str:
    """The parts of a signature that another has not."""
    parts = known.split("|")
    return "|".join(part for part in signature.split("|") if part not in parts)


def _group(
    runs: Mapping[str, Callable[[], Result]],
    tolerance: float = EXACT,
    needs: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Case]:
    known: dict[str, Result] = {}
    needed = defaultdict(tuple, needs or {})
    first, *others = runs

    def base() -> Result:
        if not known:
            known.update(runs[first]())
        return known

    def other(name: str) -> Callable[[], Result]:
        return lambda: _less(runs[name](), base(), tolerance)

    cases = [Case(first, base, tolerance)]
    return cases + [Case(name, other(name), tolerance, needed[name]) for name in others]


def _files(
    commands: str, measures: str, **stdin: str
) -> dict[str, Callable[[], Result]]:
    lines = [line.strip() for line in commands.strip().splitlines()]
    return {line: _file(line, measures) for line in lines}


def _needing(names: list[str]) -> dict[str, tuple[str, ...]]:
    """Those that are Parquet or of pandas or scipy, by their names."""
    packages = {
        "parquet": "pyarrow",
        "pandas": "pandas",
        "DataFrame": "pandas",
        "Series": "pandas",
    }
    return {
        name: tuple({package for word, package in packages.items() if word in name})
        for name in names
    }


def _series(data: Any) -> Any:
    import pandas as pd

    return pd.Series(data)


def _frame(values: Any, ids: Any, columns: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(values, index=ids, columns=columns)


def _sparse(values: Any, form: str = "csr_matrix") -> Any:
    import scipy.sparse

    return getattr(scipy.sparse, form)(values)


def _array(lists: Any) -> Any:
    made = np.empty(len(lists), object)
    made[:] = [list(one) for one in lists]
    return made


_PLAIN_FILES = _files(
    f"""
    {_BESIDE} a.json gt.json
    {_BESIDE} records.json gt.json
    {_BESIDE} image_ids.json gt.json
    {_BESIDE} --id-column photo --label-column seen own_keys.json gt.json
    {_BESIDE} --id-column photo --label-column seen own_keys.json gt.csv
    {_BESIDE} lines.jsonl gt.json
    {_BESIDE} lines.ndjson gt.json
    {_BESIDE} blank_lines.jsonl gt.json
    {_BESIDE} long.csv gt.csv
    {_BESIDE} long.csv gt.json
    {_BESIDE} bom.csv gt.json
    {_BESIDE} more.csv gt.json
    {_BESIDE} --id-column photo --label-column seen own_names.csv gt.json
    {_BESIDE} --delimiter | bars.csv gt.json
    {_BESIDE} long.tsv gt.json
    {_BESIDE} long.tab gt.json
    {_BESIDE} --label-delimiter ; wide.csv gt.json
    {_BESIDE} --label-delimiter ; wide.tsv gt.json
    {_BESIDE} a.json.gz gt.json
    {_BESIDE} lines.jsonl.gz gt.json
    {_BESIDE} long.csv.gz gt.json
    {_BESIDE} bom.json gt.json
    {_BESIDE} --input-format json a.dat gt.json
    {_BESIDE} a.dat gt.json
    {_BESIDE} coco_gt.json coco_gt.json
    {_BESIDE} numbered.json coco_gt.json
    {_BESIDE} coco_a.json gt_numbered.json
    {_BESIDE} --input-format coco coco_a.json coco_gt.json
    {_BESIDE} coco_a.json gt.json
    {_BESIDE} long.parquet gt.json
    {_BESIDE} lists.parquet gt.json
    {_BESIDE} positions.json gt_positions.json
    {_BESIDE} positions.json gt.json
    {_BESIDE} b.json gt.json
    {_BESIDE} a.json synonyms.json
    """.replace(" ; ", " ';' ").replace(" | ", " '|' "),
    _LABELS,
)
_BESIDE_OBJECTS: dict[str, Any] = {
    "embedding": "words.vec",
    "taxonomy": "taxonomy.json",
}
_PLAIN_OBJECTS = {
    name: _objects(preds, gts, _LABELS, **_BESIDE_OBJECTS)
    for name, preds, gts in [
        ("mappings", lambda: PREDS, lambda: GT),
        (
            "mappings of tuples",
            lambda: {i: tuple(x) for i, x in PREDS.items()},
            lambda: GT,
        ),
        ("mappings of sets", lambda: {i: set(x) for i, x in PREDS.items()}, lambda: GT),
        (
            "mappings with whole numbers for ids",
            lambda: {1: ["cat"]},
            lambda: {"1": ["dog"]},
        ),
        (
            "mappings with equal ids",
            lambda: {1: ["cat"], "1": ["dog"]},
            lambda: {"1": ["dog"]},
        ),
        ("paths", lambda: Path("a.json"), lambda: "gt.json"),
        (
            "what as_labels gives",
            lambda: semmetrics.as_labels(PREDS),
            lambda: semmetrics.as_labels("gt.json"),
        ),
        ("lists", lambda: list(PREDS.values()), lambda: list(GT.values())),
        ("a list and a mapping", lambda: list(PREDS.values()), lambda: GT),
        (
            "lists of other lengths",
            lambda: list(PREDS.values()),
            lambda: list(GT.values())[1:],
        ),
        ("object arrays", lambda: _array(PREDS.values()), lambda: _array(GT.values())),
        ("Series", lambda: _series(PREDS), lambda: _series(GT)),
        (
            "Series by position",
            lambda: _series(list(PREDS.values())),
            lambda: _series(list(GT.values())),
        ),
        (
            "Series with an id twice",
            lambda: _series(PREDS).iloc[[0, 0]],
            lambda: _series(GT),
        ),
        ("a dict of one label", lambda: {"a": "cat"}, lambda: {"a": ["cat"]}),
        ("an empty mapping", dict, dict),
        ("an empty list", list, list),
        ("a generator", lambda: iter([["cat"]]), lambda: [["cat"]]),
        ("a number", lambda: 7, lambda: GT),
        ("bytes", lambda: b"cat", lambda: GT),
        ("None", lambda: None, lambda: GT),
        ("numbers for labels", lambda: [[1]], lambda: [[1]]),
        ("empty labels", lambda: [[""]], lambda: [["a"]]),
        ("None for labels", lambda: {"a": None}, lambda: {"a": ["cat"]}),
        ("None for a label", lambda: {"a": [None]}, lambda: {"a": ["cat"]}),
        ("NaN for a label", lambda: {"a": [float("nan")]}, lambda: {"a": ["cat"]}),
        ("half a surrogate", lambda: {"a": ["\ud800"]}, lambda: {"a": ["cat"]}),
    ]
}

_RANKED_FILES = _files(
    f"""
    {_BESIDE} ranked.json gt.json
    {_BESIDE} ranked_pairs.json gt.json
    {_BESIDE} ranked_map.json gt.json
    {_BESIDE} ranked_records.json gt.json
    {_BESIDE} ranked_apart.json gt.json
    {_BESIDE} ranked.jsonl gt.json
    {_BESIDE} ranked.csv gt.csv
    {_BESIDE} ranked.tsv gt.json
    {_BESIDE} --label-delimiter ; ranked_wide.csv gt.json
    {_BESIDE} --id-column photo --label-column seen --score-column sure ranked_own.csv gt.json
    {_BESIDE} ranked.parquet gt.json
    {_BESIDE} ranked_lists.parquet gt.json
    """.replace(" ; ", " ';' "),
    _RANKED,
)
_RANKED_OBJECTS = {
    name: _objects(preds, lambda: GT, _RANKED, **_BESIDE_OBJECTS)
    for name, preds in [
        ("mappings of pairs", lambda: RANKED),
        ("mappings of mappings", lambda: {i: dict(x) for i, x in RANKED.items()}),
        ("Series of pairs", lambda: _series(RANKED)),
        ("some without scores", lambda: {**RANKED, "1": ["cat"]}),
        ("an infinite score", lambda: {**RANKED, "1": [("cat", float("inf"))]}),
        (
            "a score that is a text",
            lambda: {**RANKED, "1": [{"label": "cat", "score": "1"}]},
        ),
    ]
}

_MATRIX_FILES = _files(
    """
    --embedding words.vec --classes classes.txt scores.npy truth.npy
    --embedding words.vec --classes classes.json scores.npy truth.npy
    --embedding words.vec --classes classes.txt scores.npz truth.npz
    --embedding words.vec --classes classes.txt scores32.npy truth_bool.npy
    --embedding words.vec --classes classes.txt scores.npz truth.npy
    --embedding words.vec named.npz named_truth.npz
    --embedding words.vec --classes classes.txt named.npz named_truth.npz
    --classes dictionary.txt named.npz named_truth.npz
    --embedding words.vec --classes classes.txt scores.npy csr_matrix.npz
    --embedding words.vec --classes classes.txt scores.npy csc_matrix.npz
    --embedding words.vec --classes classes.txt scores.npy coo_matrix.npz
    --embedding words.vec --classes classes.txt sparse_scores.npz truth.npy
    --embedding words.vec --classes classes.txt scores.npy sparse_twos.npz
    --embedding words.vec --classes classes.txt scores.npy more.npz
    --embedding words.vec --classes classes.txt more.npz more.npz
    --classes classes.txt scores.npy two.npz
    --classes classes.txt scores.npy few_classes.npz
    --classes classes.txt scores.npy twice.npz
    --classes classes.txt scores.npy few_ids.npz
    --classes classes.txt scores.npy float_ids.npz
    scores.npy few_classes.npz
    --embedding words.vec scores.npy truth.npy
    --classes dictionary.txt scores.npy truth.npy
    --classes classes.txt scores.npy gt_positions.json
    """,
    _MATRIX,
)
_MATRIX_OBJECTS = {
    name: _objects(preds, gts, _MATRIX, **({"embedding": "words.vec"} | options))
    for name, preds, gts, options in [
        ("arrays", lambda: SCORES, lambda: TRUTH, {"classes": CLASSES}),
        (
            "arrays in the other order of memory",
            lambda: np.asfortranarray(SCORES),
            lambda: np.asfortranarray(TRUTH),
            {"classes": CLASSES},
        ),
        (
            "arrays of other types",
            lambda: SCORES.astype(np.float16),
            lambda: TRUTH.astype(np.uint8),
            {"classes": CLASSES},
        ),
        (
            "sparse",
            lambda: _sparse(SCORES),
            lambda: _sparse(TRUTH),
            {"classes": CLASSES},
        ),
        (
            "sparse by columns",
            lambda: _sparse(SCORES, "csc_matrix"),
            lambda: _sparse(TRUTH, "coo_array"),
            {"classes": CLASSES},
        ),
        (
            "DataFrames",
            lambda: _frame(SCORES, range(10), CLASSES),
            lambda: _frame(TRUTH, range(10), CLASSES),
            {},
        ),
        (
            "DataFrames with ids",
            lambda: _frame(SCORES, [f"i{n}" for n in range(10)], CLASSES),
            lambda: _frame(TRUTH, [f"i{n}" for n in range(10)], CLASSES)[::-1],
            {},
        ),
        ("NaN", lambda: np.where(SCORES > 0.9, np.nan, SCORES), lambda: TRUTH, {}),
        ("one dimension", lambda: SCORES[0], lambda: TRUTH, {}),
        ("three dimensions", lambda: SCORES[None], lambda: TRUTH, {}),
        ("other widths", lambda: SCORES[:, :4], lambda: TRUTH, {}),
        ("other lengths", lambda: SCORES[:4], lambda: TRUTH, {}),
        ("too few classes", lambda: SCORES, lambda: TRUTH, {"classes": CLASSES[:4]}),
        ("a truth of scores", lambda: SCORES, lambda: SCORES, {"classes": CLASSES}),
        ("complex numbers", lambda: SCORES + 1j, lambda: TRUTH, {}),
        ("texts", lambda: SCORES.astype(str), lambda: TRUTH, {}),
        ("nothing", lambda: np.zeros((0, 4)), lambda: np.zeros((0, 4)), {}),
    ]
}
_NUMBER_OBJECTS = {
    f"{name}, by numbers": _objects(preds, gts, _NUMBERS)
    for name, preds, gts in [
        ("arrays", lambda: SCORES, lambda: TRUTH),
        ("sparse", lambda: _sparse(SCORES), lambda: _sparse(TRUTH)),
        ("two matrices of 0/1", lambda: TRUTH[::-1], lambda: TRUTH),
        ("two matrices of bool", lambda: TRUTH[::-1] > 0, lambda: TRUTH > 0),
        ("a matrix and lists", lambda: SCORES, lambda: [["0"], ["1"]] * 5),
    ]
}

_CAPTION_FILES = _files(
    """
    captions.json references.json
    results.json references.json
    captions.jsonl references.jsonl
    captions.csv references.csv
    captions.tsv references.csv
    --id-column photo --caption-column said captions_own.csv references.json
    captions.parquet references.parquet
    captions.json references.jsonl.gz
    captions.json coco_references.json
    captions.txt references.txt
    caption_positions.json reference_positions.json
    captions.txt references.json
    captions_b.json references.json
    """,
    _CAPTIONS,
)
_CAPTION_OBJECTS = {
    name: _objects(preds, gts, _CAPTIONS)
    for name, preds, gts in [
        ("mappings", lambda: CANDIDATES, lambda: REFERENCES),
        (
            "mappings of lists",
            lambda: {i: [x] for i, x in CANDIDATES.items()},
            lambda: REFERENCES,
        ),
        (
            "what as_captions gives",
            lambda: semmetrics.as_captions(CANDIDATES),
            lambda: semmetrics.as_captions("references.json"),
        ),
        (
            "records",
            lambda: [{"image_id": i, "caption": x} for i, x in CANDIDATES.items()],
            lambda: [{"id": i, "captions": x} for i, x in REFERENCES.items()],
        ),
        ("lists", lambda: list(CANDIDATES.values()), lambda: list(REFERENCES.values())),
        ("Series", lambda: _series(CANDIDATES), lambda: _series(REFERENCES)),
        (
            "Series with ids that repeat",
            lambda: _series(CANDIDATES),
            lambda: _frame(
                [x for every in REFERENCES.values() for x in every],
                [i for i, every in REFERENCES.items() for _ in every],
                ["caption"],
            )["caption"],
        ),
        (
            "object arrays",
            lambda: np.array(list(CANDIDATES.values()), object),
            lambda: _array(REFERENCES.values()),
        ),
        ("numbers", lambda: {"7": 3}, lambda: {"7": ["a cat"]}),
        ("None", lambda: {"7": None}, lambda: {"7": ["a cat"]}),
        ("an image without references", lambda: {"7": "a cat"}, lambda: {"7": []}),
        ("half a surrogate", lambda: {"7": "\ud800 a"}, lambda: {"7": ["a cat"]}),
        (
            "a DataFrame",
            lambda: _frame([["a cat"]], ["7"], ["caption"]),
            lambda: {"7": ["a cat"]},
        ),
    ]
}


def _both(files: Any, objects: Any, tolerance: float = EXACT) -> list[Case]:
    runs = {**files, **objects}
    return _group(runs, tolerance, _needing(list(runs)))


GROUPS = {
    "formats_labels": _both(_PLAIN_FILES, _PLAIN_OBJECTS, LOOSE),
    "formats_ranked": _both(_RANKED_FILES, _RANKED_OBJECTS, LOOSE),
    "formats_matrix": _both(_MATRIX_FILES, _MATRIX_OBJECTS),
    "formats_matrix_numbers": _both({}, _NUMBER_OBJECTS),
    "formats_captions": _both(_CAPTION_FILES, _CAPTION_OBJECTS),
}
