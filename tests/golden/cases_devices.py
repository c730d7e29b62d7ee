"""The device that is asked for, and the one by default, as they reach a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from golden.harness import Case, attempt, plain, run_program, scored, with_files
from golden.names import spelled
from golden.stubs import stub_models

import semmetrics


def _calibration(found: Any) -> Any:
    return found if isinstance(found, dict) else plain(found.to_dict())


def _on(gpus: int, run: Callable[[], Any]) -> Any:
    with stub_models(gpus) as seen:
        result = run()
    return {"reached": seen, "result": result}


def _asked(spec: str, device: Any, gpus: int, **options: Any) -> Callable[[], Any]:
    said = {} if device is None else {"device": device}
    measures = "SemF1(threshold=0.5)"
    return lambda: _on(
        gpus,
        lambda: scored(
            {"1": ["cat", "big dog"], "2": [""[:0] or "a b c d e"]},
            {"1": ["dog"], "2": ["cats"]},
            measures=measures,
            embedding=spec,
            **said,
            **options,
        ),
    )


def _program(command: str, gpus: int = 1) -> Case:
    def run() -> Any:
        return _on(gpus, lambda: list(run_program(spelled(command).split())))

    return Case(command, lambda: with_files(run))


def _reached(spec: str, device: str) -> Any:
    """The device that a model is put on; what the stub's tensors make of it does not count."""
    found = _asked(spec, device, 2)()
    return [one for one in found["reached"] if one[0] in ("SentenceTransformer", "to")]


def _traced(said: str) -> Any:
    """Whether a fault comes with its traceback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMMETRICS_TRACEBACK", said)
        words = [
            "score",
            "-m",
            "SemF1",
            "--embedding",
            "sbert:faulty",
            "few.json",
            "few.json",
        ]
        found = _on(0, lambda: run_program(words))
    return {"exit": found["result"][0], "traceback": "Traceback" in found["result"][2]}


_DEVICES = [
    *(
        Case(f"{spec}, device={device}, {gpus} GPUs", _asked(spec, device, gpus))
        for spec in ("sbert:stub", "transformers:first:stub", "transformers:mean:stub")
        for device, gpus in [
            (None, 0),
            (None, 2),
            ("cpu", 2),
            ("cuda:1", 1),
            ("cuda", 0),
            ("mps", 0),
            ("gpu", 1),
        ]
    ),
    Case(
        "two models",
        lambda: _on(
            1,
            lambda: scored(
                {"1": ["cat"]},
                {"1": ["dog"]},
                device="cpu",
                measures=["SemF1(threshold=0.5)", "SemF1(embedding=b,threshold=0.5)"],
                embedding={"default": "sbert:one", "b": "transformers:first:two"},
            ),
        ),
    ),
    Case(
        "a model and words",
        lambda: _on(
            1,
            lambda: scored(
                {"1": ["cat"]},
                {"1": ["dog"]},
                device="cpu",
                measures=["SemF1(threshold=0.5)", "SemF1(embedding=b,threshold=0.5)"],
                embedding={"default": "words.vec", "b": "sbert:two"},
            ),
        ),
    ),
    Case(
        "pairs",
        lambda: _on(
            1,
            lambda: _calibration(
                attempt(
                    semmetrics.calibrate_threshold_on_pairs,
                    [("a", "b", 1), ("a", "bb", 0)],
                    "sbert:stub",
                    device="cpu",
                )
            ),
        ),
    ),
    Case(
        "pairs by default",
        lambda: _on(
            1,
            lambda: _calibration(
                attempt(
                    semmetrics.calibrate_threshold_on_pairs,
                    [("a", "b", 1), ("a", "bb", 0)],
                    "sbert:stub",
                )
            ),
        ),
    ),
    Case(
        "contrast",
        lambda: _on(
            1,
            lambda: _calibration(
                attempt(
                    semmetrics.calibrate_threshold,
                    {"a": ["a"], "b": ["bb"]},
                    {"a": ["c"], "b": ["dd"]},
                    holdout=1,
                    thresholds=[0.5],
                    embedding="sbert:stub",
                    device="cpu",
                )
            ),
        ),
    ),
    Case(
        "sweep",
        lambda: _on(
            1,
            lambda: plain(
                attempt(
                    semmetrics.sweep,
                    {"a": ["a"]},
                    {"a": ["c"]},
                    thresholds=[0.5],
                    embedding="sbert:stub",
                    device="cpu",
                ).values
            ),
        ),
    ),
    _program("score -m SemF1(threshold=0.5) --embedding sbert:stub few.json few.json"),
    _program(
        "score -m SemF1(threshold=0.5) --embedding sbert:stub --device cpu few.json gt.json"
        " --missing skip"
    ),
    _program("score -m F1 --embedding sbert:stub --device cpu few.json few.json"),
    _program(
        "sweep --thresholds 0.5 --embedding transformers:mean:stub --device cpu "
        "few.json few.json"
    ),
    _program("calibrate --pairs pairs.csv --embedding sbert:stub --device cpu"),
    _program("{coverage} --embedding sbert:stub --device cpu few.json"),
    _program("{coverage} --embedding sbert:stub few.json"),
    _program("embed info sbert:stub"),
    *(
        Case(f"{spec} is put on {device}", lambda s=spec, d=device: _reached(s, d))
        for spec in ("sbert:stub", "transformers:first:stub", "transformers:mean:stub")
        for device in ("cuda", "cuda:1")
    ),
    *(
        Case(f"a fault, traceback {said!r}", lambda s=said: _traced(s))
        for said in ("", "0", "1")
    ),
    _program(
        "score -m SemF1(threshold=0.5) --embedding sbert:interrupted few.json few.json"
    ),
    _program(
        "score -m SemF1(threshold=0.5) --embedding sbert:faulty few.json few.json"
    ),
]

GROUPS = {"devices": _DEVICES}
