"""Sweeps and calibrations, in Python."""

from __future__ import annotations

from typing import Any

from golden.harness import LOOSE, Case, attempt, normal, plain, row, scored, with_files
from golden.inputs import GT, PREDS

import semmetrics

_WORDS: dict[str, Any] = {"embedding": "words.vec"}


def _swept(**options: Any) -> Any:
    found = attempt(semmetrics.sweep, PREDS, GT, **options)
    if isinstance(found, dict):
        return found
    best = {}
    for name in found.scores:
        place = (
            found.best[name] if hasattr(found.best, "__getitem__") else found.best(name)
        )
        best[name] = plain(place)
    return {
        "points": row(found.points),
        "values": {name: row(values) for name, values in found.values.items()},
        "best": best,
        "notes": list(map(str, found.notes)),
        "signatures": {
            name: normal(some[0].signature) for name, some in found.scores.items()
        },
        "text": found.render("table").splitlines(),
        "digits": found.to_text(digits=2).splitlines(),
        "csv": found.to_csv().splitlines(),
        "json": plain(found.to_dict()),
    }


def _contrast(**options: Any) -> Any:
    return _found(attempt(semmetrics.calibrate_threshold, PREDS, GT, **options))


def _found(found: Any) -> Any:
    """Everything that a calibration says."""
    if isinstance(found, dict):
        return found
    return {
        "says": plain(found.to_dict()),
        "notes": list(map(str, found.notes)),
        "used": row(found.used(list(GT))) if found.method == "contrast" else None,
    }


_PAIRS = [
    ("cat", "kitten", 1),
    ("dog", "puppy", True),
    ("car", "bus", 0),
    ("sofa", "couch", 1),
    ("cat", "dog", False),
    ("tree", "car", 0),
    ("zebra", "cat", 0),
]
_TENTHS = "0:0.9:0.1"

_THRESHOLDS = [
    *(
        Case(f"sweep {name}", lambda o=options: _swept(**o), LOOSE)
        for name, options in {
            "of three": {"thresholds": [0.25, 0.5, 0.75], **_WORDS},
            "of a text": {"thresholds": "0.1:0.9:0.4", **_WORDS},
            "of several": {
                "measures": ["SemF1", "SemRecall(match=optimal)@2"],
                "thresholds": [0.2, 0.6],
                **_WORDS,
            },
            "top-k": {"top_k": [1, 2], "thresholds": [0.2, 0.6], **_WORDS},
            "of same": {"thresholds": [0.3, 0.5]},
            "and no such option": {"unpredict": "skip"},
            "and keep_rows": {"keep_rows": True},
            "and ci": {"ci": True, "resamples": 10, "thresholds": [0.2], **_WORDS},
            "of captions": {"measures": "BLEU-1"},
            "of labels for captions": {"task": "captions"},
            "a system": {"system": "mine", "thresholds": [0.2], **_WORDS},
        }.items()
    ),
    Case(
        "sweep by default",
        lambda: {
            "points": row(attempt(semmetrics.sweep, PREDS, GT, **_WORDS).points),
            "first": row(
                attempt(semmetrics.sweep, PREDS, GT, **_WORDS).values["SemF1"]
            ),
        },
    ),
    *(
        Case(f"contrast {name}", lambda o=options: _contrast(**o), LOOSE)
        for name, options in {
            "of all": {"holdout": 1, "thresholds": _TENTHS, **_WORDS},
            "of a part": {"holdout": 0.6, "seed": 1, "thresholds": _TENTHS, **_WORDS},
            "by default": _WORDS,
            "of recall": {
                "holdout": 1,
                "measure": "SemRecall@2",
                "thresholds": _TENTHS,
                **_WORDS,
            },
            "of another seed": {
                "holdout": 1,
                "seed": 3,
                "thresholds": _TENTHS,
                **_WORDS,
            },
            "of others": {
                "holdout": 1,
                "thresholds": _TENTHS,
                "oov": "skip",
                "empty_predictions": "skip",
                "lookup": "exact",
                **_WORDS,
            },
            "top-k": {"top_k": 1, **_WORDS},
            "of measures": {"measures": "SemF1", **_WORDS},
            "of no share": {"holdout": 0, **_WORDS},
            "of no measure": {"measure": "F1", **_WORDS},
            "no such option": {"parts": 1, **_WORDS},
        }.items()
    ),
    Case(
        "contrast of lists",
        lambda: _found(
            attempt(
                semmetrics.calibrate_threshold,
                list(PREDS.values()),
                list(GT.values()),
                holdout=1,
                thresholds=_TENTHS,
                **_WORDS,
            )
        ),
        LOOSE,
    ),
    Case(
        "contrast of nothing alike",
        lambda: _found(
            attempt(
                semmetrics.calibrate_threshold,
                {"a": ["cat"], "b": ["cat"]},
                {"a": ["bus"], "b": ["bus"]},
                holdout=1,
                thresholds=_TENTHS,
                **_WORDS,
            )
        ),
        LOOSE,
    ),
    *(
        Case(
            f"pairs {name}",
            lambda p=pairs, o=options: _found(
                attempt(semmetrics.calibrate_threshold_on_pairs, p, "words.vec", **o)
            ),
            LOOSE,
        )
        for name, pairs, options in [
            ("by default", _PAIRS, {}),
            ("by youden", _PAIRS, {"criterion": "youden"}),
            ("by accuracy", _PAIRS, {"criterion": "accuracy"}),
            ("by nothing", _PAIRS, {"criterion": "auc"}),
            ("skipped", _PAIRS, {"oov": "skip"}),
            ("of a file", "pairs.json", {}),
            ("of one kind", _PAIRS[:2], {}),
            ("of nothing", [], {}),
            ("of two", [("a", "b")], {}),
            ("of a mapping", {"a": "b"}, {}),
            ("with a text", [("a", "b", "yes")], {}),
            ("without a text", [("a", 3, 1)], {}),
            (
                "lower",
                [("CAT", "Kitten", 1), ("cat", "DOG", 0)],
                {"normalize": "lower"},
            ),
            ("cached", _PAIRS, {"cache": True}),
            ("on a device", _PAIRS, {"device": "cpu"}),
            ("of few words", _PAIRS, {"max_words": 4}),
        ]
    ),
    Case(
        "pairs of same",
        lambda: _found(attempt(semmetrics.calibrate_threshold_on_pairs, _PAIRS)),
        LOOSE,
    ),
    Case(
        "of a file",
        lambda: {
            "digest": semmetrics.Calibration.load("calibration.json").digest,
            "says": plain(semmetrics.Calibration.load("calibration.json").to_dict()),
            "not there": attempt(
                semmetrics.Calibration.load, "never_written_before.json"
            ),
        },
    ),
    Case("saved and loaded", lambda: with_files(_saved)),
]


def _saved() -> Any:
    found = semmetrics.calibrate_threshold(
        PREDS, GT, thresholds=_TENTHS, holdout=0.6, seed=1, **_WORDS
    )
    found.save("found.json")
    again = semmetrics.Calibration.load("found.json")
    measures = ["SemF1", "SemF1(threshold=0.4)", "F1"]
    return {
        "same": found.to_dict() == again.to_dict(),
        "digest": again.digest == found.digest,
        "scored": scored(PREDS, GT, measures=measures, calibration=again, **_WORDS),
        "by path": scored(
            PREDS, GT, measures="SemF1", calibration="found.json", **_WORDS
        ),
        "others": scored(
            {"1": ["cat"]},
            {"1": ["cat"]},
            measures="SemF1",
            calibration=[again],
            **_WORDS,
        ),
        "of no use": scored(PREDS, GT, measures="F1", calibration=again),
        "of another": scored(PREDS, GT, measures="SemF1", calibration=again),
        "twice": scored(
            PREDS, GT, measures="SemF1", calibration=[again, found], **_WORDS
        ),
        "otherwise looked up": scored(
            PREDS,
            GT,
            measures="SemF1",
            calibration=again,
            oov="skip",
            lookup="exact",
            **_WORDS,
        ),
    }


GROUPS = {"thresholds": _THRESHOLDS}
