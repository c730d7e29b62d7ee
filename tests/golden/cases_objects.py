"""Measures, tables, errors, embeddings of one's own: what Python hands over or takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from golden.harness import (
    Case,
    attempt,
    call,
    normal,
    plain,
    row,
    scored,
    table_of,
    with_files,
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
from golden.names import spelled

import semmetrics
from semmetrics.metrics.registry import find, forget


def _measure(text: str) -> Any:
    found = attempt(semmetrics.parse, spelled(text))
    if isinstance(found, dict):
        return found
    return [
        {
            "name": str(one),
            "k": one.k,
            "options": plain(dict(one.options)),
            "signature": [normal(part) for part in one.signature()],
            "again": semmetrics.parse(str(one)) == [one],
        }
        for one in found
    ]


def _own() -> Any:
    @semmetrics.measure(
        equation="|P ∩ R| / max(|P|, |R|)", source="here", averages=("example",)
    )
    def own_overlap(hit: Any, n_pred: Any, n_ref: Any, *, extra: float = 0.0) -> Any:
        """Labels on both sides over those of the larger."""
        return hit / np.maximum(np.maximum(n_pred, n_ref), 1) + extra

    try:
        return scored(PREDS, GT, measures=[own_overlap, own_overlap(extra=0.5), "F1"])
    finally:
        forget(find("own_overlap")[0])


def _own_wrong() -> Any:
    return {"gives": attempt(semmetrics.measure(), lambda counts: 0)}


def _with(name: str, **options: Any) -> Any:
    found = attempt(semmetrics.parse(name)[0].with_options, **options)
    return found if isinstance(found, dict) else str(found)


def _table() -> Any:
    table = semmetrics.score_systems(
        {"a": PREDS, "b": OTHER}, GT, measures=["F1", "MacroF1", "CardinalityError"]
    )
    one = semmetrics.score(PREDS, GT, measures=["Recall", "F1@2"])
    frame = table.to_pandas()
    return {
        "text": str(table).splitlines(),
        "two digits": table.to_text(digits=2, scale=100).splitlines(),
        "markdown": table.to_markdown(digits=1).splitlines(),
        "latex": table.to_latex(scale=100).splitlines(),
        "csv": normal(table.to_csv()).splitlines(),
        "json": normal(one.to_json()).splitlines(),
        "render": [
            table.render(form, digits=2).splitlines()[-1][:80]
            for form in ("table", "csv", "markdown", "latex")
        ],
        "no such form": attempt(table.render, "xml"),
        "frame": [list(frame.columns), list(frame.shape), row(frame["value"])],
        "systems": table.systems,
        "headings": table.headings,
        "length": len(table),
        "by name": [table["b", "F1"].value, one["Recall"].value, float(one["F1@2"])],
        "no such name": attempt(lambda: table["a", "F2"]),
        "no such system": attempt(lambda: table["c", "F1"]),
        "of several": attempt(lambda: table["F1"]),
        "ids": row(one["Recall"].ids),
        "units": [s.unit for s in one],
        "a score": plain(one["Recall"].to_dict()),
    }


def _progress() -> Any:
    seen: list[Any] = []
    semmetrics.score(
        PREDS, GT, measures=["F1"], progress=lambda *done: seen.append(list(done))
    )
    more: list[Any] = []
    semmetrics.score(
        PREDS,
        GT,
        measures=["F1"],
        ci=True,
        resamples=10,
        progress=lambda *done: more.append(list(done)),
    )
    return {"of items": seen, "with intervals": more}


def _errors() -> Any:
    error = semmetrics.InputError(
        "empty", "a.json, id '7'", role="it", remedy="correct it"
    )
    lacking = semmetrics.MissingDependencyError(
        "pyarrow", "reading Parquet files", extra="parquet"
    )
    import pickle

    return {
        "text": str(error),
        "parts": [error.problem, error.where, error.remedy],
        "is": [kind.__name__ for kind in type(error).__mro__],
        "lacking": str(lacking),
        "lacking is": [kind.__name__ for kind in type(lacking).__mro__],
        "pickled": [str(pickle.loads(pickle.dumps(one))) for one in (error, lacking)],
        "plain": str(semmetrics.InputError("empty-id")),
    }


def _letters(texts: list[str]) -> Any:
    """A vector with one 1: where, the length of the text says."""
    return [[float(len(text) % 4 == place) for place in range(4)] for text in texts]


class _Embedder:
    """An embedding of one's own, which says its threshold."""

    identity, dimension, threshold = "own-16@0123456789ab", 16, 0.4

    def embed(self, texts: Any) -> Any:
        import types

        known = np.array([text in VECTORS for text in texts], bool)
        vectors = np.array(
            [VECTORS.get(text, [0.0] * 16) for text in texts], np.float32
        )
        return types.SimpleNamespace(vectors=vectors, known=known, truncated=0)


def _cached() -> Any:
    calls: list[Any] = []

    def lengths(texts: list[str]) -> Any:
        calls.append(len(texts))
        return _letters(texts)

    vars(lengths)["version"] = "1"  # without one nothing is kept
    options: dict[str, Any] = {"measures": "SemF1(threshold=0.5)", "embedding": lengths}
    first = scored(PREDS, GT, cache="vectors.sqlite", **options)
    asked = list(calls)
    again = scored(PREDS, GT, cache="vectors.sqlite", **options)
    made = {
        "first": first,
        "the same": first == again,
        "fewer asked": sum(calls) - sum(asked) < sum(asked),
        "files": sorted(path.name for path in Path().glob("vectors*")),
        "damaged": None,
        "named": scored(PREDS, GT, cache="", **options),
    }
    for path in Path().glob("vectors*"):
        path.unlink()
    Path("vectors.sqlite").write_bytes(b"no database at all" * 100)
    made["damaged"] = scored(PREDS, GT, cache="vectors.sqlite", **options)
    Path("vectors.sqlite").unlink()
    home = scored(PREDS, GT, cache=True, **options)
    made["in the cache folder"] = [
        home == first,
        [p.name for p in Path("home").rglob("*.sqlite")],
    ]
    return made


def _matrices() -> Any:
    np.save("own.npy", np.array(list(VECTORS.values()), np.float32))
    Path("own.txt").write_text(
        "".join(f"{word}\n" for word in VECTORS), encoding="utf-8"
    )
    options: dict[str, Any] = {"measures": ["SemF1(threshold=0.4)", "MeanSim"]}
    made = {"npy": scored(PREDS, GT, embedding="own.npy", **options)}
    Path("own.txt").write_text("cat\n", encoding="utf-8")
    made["too few names"] = scored(PREDS, GT, embedding="own.npy", **options)
    return {"runs": made}


def _from_many(systems: Any, **options: Any) -> Any:
    return table_of(attempt(semmetrics.score_systems, systems, GT, **options))


def _without_home() -> Any:
    made = with_files(_cached)
    return {name: one for name, one in made.items() if name != "files"} | {
        "kept": sorted(Path(name).name for name in made["files"])
        if isinstance(made.get("files"), dict)
        else made.get("files")
    }


_OBJECTS = [
    *(
        Case(f"measure {text}", lambda t=text: {"parsed": _measure(t)})
        for text in [
            "F1",
            "F1@1,3",
            "MacroF1@2",
            "F1(average=macro, labels=union)@3",
            "O-F1",
            "C-F1",
            "SemF1(threshold=0.40)",
            "AP(normalize=hits)",
            "BLEU-4(reflen=shortest)",
            "CIDEr-D(sigma=6.0)",
            "CIDEr-D(sigma=6)",
            "hF(root=include)",
            "mAP(ties=ordered)",
            "F1(decode=threshold:0.50)",
            "F1(decode=cumulative:0.5,{kept}=2)",
            "WMD",
            "NGSM(order=2)",
            "F1(empty=skip,no_prediction=nan)",
            "BalancedAccuracy(q=20)",
            " F1 ",
            "F1 AP",
            "",
        ]
    ),
    *(
        Case(
            f"{name} with {options}", lambda n=name, o=options: {"gives": _with(n, **o)}
        )
        for name, options in [
            ("F1", {"average": "macro"}),
            ("F1", {"averages": "macro"}),
            ("F1", {"average": "x"}),
            ("SemF1@2", {"threshold": 0.3}),
            ("SemF1", {"threshold": "auto"}),
            ("F1", {"empty": 0}),
            ("CIDEr-D", {"sigma": 2}),
            ("MacroF1", {"average": "micro"}),
        ]
    ),
    Case("a measure of one's own", _own),
    Case("a measure of one's own of no count", _own_wrong),
    Case("a table", _table, needs=("pandas",)),
    Case("progress", _progress),
    Case("errors", _errors),
    Case("no systems", lambda: _from_many({})),
    Case(
        "several systems",
        lambda: _from_many(
            {"a": PREDS, "b": OTHER},
            measures=["F1(average=macro,labels=union)", "MicroF1"],
        ),
    ),
    Case(
        "systems of other kinds",
        lambda: _from_many({"a": PREDS, "b": RANKED}, measures=["F1@2"]),
    ),
    Case(
        "systems on other items",
        lambda: _from_many(
            {"a": PREDS, "b": {"1": ["cat"]}}, measures=["F1"], missing="skip"
        ),
    ),
    Case(
        "set sizes of each",
        lambda: table_of(
            attempt(
                semmetrics.score_systems,
                {"a": SCORES, "b": SCORES[::-1]},
                TRUTH,
                measures=[spelled("F1(decode={by_size})")],
                set_size_probs={"a": SIZES, "b": SIZES[::-1]},
            )
        ),
    ),
    Case(
        "captions of several",
        lambda: table_of(
            attempt(
                semmetrics.score_systems,
                {"a": CANDIDATES, "b": OTHERS},
                REFERENCES,
                measures=["BLEU-2", "CIDEr-D"],
                score_references=True,
            )
        ),
    ),
    Case(
        "a system called human",
        lambda: table_of(
            attempt(
                semmetrics.score_systems,
                {"human": CANDIDATES},
                REFERENCES,
                measures=["BLEU-2"],
                score_references=True,
            )
        ),
    ),
    Case(
        "a measure object", lambda: scored(PREDS, GT, measures=semmetrics.parse("F1@2"))
    ),
    Case(
        "a Bootstrap",
        lambda: scored(PREDS, GT, measures="F1", ci=semmetrics.Bootstrap(0.9, 20, 3)),
    ),
    *(
        call(f"Bootstrap {args}", semmetrics.Bootstrap, *args)
        for args in [(), (2,), (0.9, 1), (0.9, 10, -1), (0.9, 10.5), ("x",)]
    ),
    Case(
        "as_labels",
        lambda: {
            "number": len(semmetrics.as_labels(PREDS)),
            "of a number": attempt(semmetrics.as_labels, 7, source="mine"),
            "of a file": len(semmetrics.as_labels("long.csv")),
            "of classes": scored(
                semmetrics.as_labels(SCORES, classes=CLASSES),
                semmetrics.as_labels(TRUTH, classes=CLASSES),
                measures="mAP",
            ),
            "source": attempt(semmetrics.as_labels, {"a": [""]}, source="mine"),
            "source by default": attempt(semmetrics.as_labels, {"a": [""]}),
        },
    ),
    Case(
        "as_captions",
        lambda: {
            "texts": semmetrics.as_captions(REFERENCES).values()[:3],
            "number": len(semmetrics.as_captions("references.json")),
            "of a number": attempt(semmetrics.as_captions, 7, source="mine"),
            "source": attempt(semmetrics.as_captions, {"a": 3}, source="mine"),
            "source by default": attempt(semmetrics.as_captions, {"a": 3}),
        },
    ),
    Case(
        "no such name",
        lambda: {
            "there": hasattr(semmetrics, "scores"),
            "listed": sorted(dir(semmetrics)),
        },
    ),
    Case(
        "a function for an embedding",
        lambda: scored(
            PREDS,
            GT,
            measures=["SemF1(threshold=0.5)", "SoftF1", "BagSim"],
            embedding=_letters,
        ),
    ),
    Case(
        "an embedding of one's own",
        lambda: scored(PREDS, GT, measures=["SemF1", "SoftF1"], embedding=_Embedder()),
    ),
    Case(
        "a device for a function",
        lambda: scored(PREDS, GT, measures="SemF1", embedding=_letters, device="cpu"),
    ),
    Case(
        "a function that gives too few",
        lambda: scored(PREDS, GT, measures="SemF1", embedding=lambda texts: [[1.0]]),
    ),
    Case(
        "a function that gives nan",
        lambda: scored(
            PREDS,
            GT,
            measures="SemF1",
            embedding=lambda texts: [[float("nan")] for _ in texts],
        ),
    ),
    Case("cached", _without_home),
    Case("matrices of vectors", lambda: {**with_files(_matrices), "files": None}),
    Case(
        "a taxonomy of pairs",
        lambda: scored(
            {"1": ["cat"]},
            {"1": ["dog"]},
            measures="hF",
            taxonomy=[(c, p) for c, p in TAXONOMY.items() if isinstance(p, str)],
        ),
    ),
]

GROUPS = {"objects": _OBJECTS}
