"""Classes: six images and four classes, seen and unseen, by every form, by Python and command."""

from __future__ import annotations

from typing import Any

import numpy as np
from golden.harness import Case, cli, scored
from golden.inputs import ANIMALS, CLASS_SCORES, SHOWN

_SIDES = {"classes": ANIMALS, "seen": ANIMALS[:2], "unseen": ANIMALS[2:]}
_NAMED = {"task": "classes", **_SIDES}
_EVERY = "PerClassAccuracy@1,2 Accuracy SeenAccuracy UnseenAccuracy@2 H H@2 AUSUC BestH"
_TABLE = np.array(CLASS_SCORES)
_LABELS = [ANIMALS[code] for code in _TABLE.argmax(axis=1)]
_NUMBERS = {
    "populations": {"zebra": 240, "llama": 90},
    "hops": {"zebra": 1, "llama": 2},
}


def _case(name: str, preds: Any = _TABLE, gts: Any = SHOWN, **options: Any) -> Case:
    options = {"measures": _EVERY, **_NAMED, **options}
    return Case(f"classes, {name}", lambda: scored(preds, gts, **options))


_SCORED = [
    _case("all measures"),
    _case("default measures", measures=None),
    _case("labels", _LABELS, measures=None),
    _case("protocol", protocol="xian2018", measures=None),
    _case("protocol at cutoffs", protocol="xian2018", measures=None, top_k="1,2"),
    _case(
        "protocol without lists",
        protocol="xian2018",
        measures=None,
        seen=None,
        unseen=None,
    ),
    _case("places", gts=[ANIMALS.index(one) for one in SHOWN]),
    _case("half precision and ties", (_TABLE * 2).round().astype(np.float16) / 2),
    _case("pessimistic", (_TABLE * 2).round() / 2, ties="pessimistic"),
    _case("intervals", ci=True, resamples=50),
    _case("weights", weights=[1, 2, 1, 1, 0, 3]),
    _case(
        "lists",
        measures="PerClassAccuracy(labels=M1) PerClassAccuracy(labels=1H) "
        "PerClassAccuracy(labels=mine,candidates=mine)",
        class_lists={"mine": ["horse", "llama"]},
        **_NUMBERS,
    ),
    _case("pre-training", pretraining=["zebra", "mule"]),
    _case("the rest is unseen", unseen=None),
    _case("seen and unseen", unseen=ANIMALS[1:]),
    _case("outside the class list", gts=[*SHOWN[:5], "mule"]),
    _case("no task", task=None, measures=None),
    _case("not finite", np.where(_TABLE > 0.8, np.nan, _TABLE)),
]
_FILES = "--classes animals.txt --seen seen.txt --unseen unseen.txt class_scores.npy shown.txt"
_COMMANDS = [
    cli(f"score --protocol xian2018 --show-signatures {_FILES}"),
    cli(f"score --task classes --worst 2 --ci {_FILES}"),
    cli(
        f"score -m 'AUSUC PerClassAccuracy' --curve curve.csv --confusion confusion.csv {_FILES}"
    ),
    cli(
        f"score -m 'PerClassAccuracy(labels=mine)' --class-list mine=seen.txt {_FILES}"
    ),
    cli(f"score -m PerClassAccuracy --class-list seen.txt {_FILES}"),
    cli("score class_scores.npy shown.txt"),
    cli("validate --task classes class_scores.npy shown.txt"),
    cli("explain PerClassAccuracy H AUSUC xian2018"),
    cli("cite xian2018 AUSUC BestH"),
]
GROUPS = {"classes": [*_SCORED, *_COMMANDS]}
