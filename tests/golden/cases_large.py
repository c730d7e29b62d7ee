"""More items and words than one block or one table of similarities takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from golden.harness import LOOSE, Case, normal, number, row
from golden.names import spelled

import semmetrics

_ITEMS, _EACH, _WIDTH = 2000, 3, 16


def _word(place: int) -> str:
    return f"word{place}"


def _lists(start: int) -> dict[str, list[str]]:
    """Lists of words that all differ from each other, but for every seventh."""
    return {
        str(item): [
            _word((0 if item % 7 == 0 else start) + _EACH * item + place)
            for place in range(_EACH)
        ]
        for item in range(_ITEMS)
    }


def _vectors(texts: list[str]) -> Any:
    """A vector with one 1, or with four halves: where, the number of the word says."""
    made = np.zeros((len(texts), _WIDTH), np.float32)
    for vector, text in zip(made, texts, strict=True):
        digits = "".join(filter(str.isdigit, text))
        place = int(digits or 0) ** 2 % 9973 * 7 // 5
        if place % 3:
            vector[place % _WIDTH] = 1
        else:
            vector[[(place + step) % _WIDTH for step in (0, 1, 3, 6)]] = 0.5
    return made


_PREDS, _GT = _lists(0), _lists(_ITEMS * _EACH)
_GT["5"] = _PREDS["0"]  # the first label of all is a reference that nothing equals
_SYNONYMS = {
    id_: [
        [label, f"other {label}"] if place == 1 else label
        for place, label in enumerate(labels)
    ]
    for id_, labels in _GT.items()
}


def _scored(measures: str, preds: Any, gts: Any, **options: Any) -> dict[str, Any]:
    table = semmetrics.score(preds, gts, measures=spelled(measures).split(), **options)
    scores = {
        str(score.measure): [
            number(score.value),
            "no items" if score.items is None else row(score.items[::97]),
            normal(score.signature),
        ]
        for score in table
    }
    return {"scores": scores, "notes": [normal(note) for note in table.notes]}


def _captions(places: range, width: int) -> dict[str, str]:
    return {
        str(item): " ".join(
            _word(item * step % 50) for step in range(1, width + item % 4)
        )
        for item in places
    }


_SEMANTIC = (
    "SemF1(threshold=0.4) SemF1(match=total,threshold=0.4) SemAP(threshold=0.4) SoftF1 "
    "SoftF1(match=total) SemRecall(match=optimal,threshold=0.4) SemF1(match=any,threshold=0.4)@2"
)
_SETS = "F1 MacroF1 MicroF1 AP@2 F1(average=weighted,labels=union) HammingLoss"
_RANKED = {
    id_: list(zip(x, (0.75, 0.5, 0.25), strict=True)) for id_, x in _PREDS.items()
}

GROUPS = {
    "large": [
        Case("sets", lambda: _scored(_SETS, _PREDS, _GT)),
        Case("intervals", lambda: _scored(_SETS, _PREDS, _GT, ci=True, resamples=5)),
        Case(
            "ranked",
            lambda: _scored("LRAP mAP F1(decode=threshold:best)", _RANKED, _GT),
        ),
        Case(
            "meanings",
            lambda: _scored(_SEMANTIC, _PREDS, _GT, embedding=_vectors),
            LOOSE,
        ),
        Case(
            "meanings of synonyms",
            lambda: _scored(_SEMANTIC, _PREDS, _SYNONYMS, embedding=_vectors),
            LOOSE,
        ),
        Case(
            "captions",
            lambda: _scored(
                "BLEU-4 CIDEr-D CIDEr ROUGE-L NGSM Vocabulary",
                _captions(range(400), 5),
                {
                    i: [x, f"{x} word1 word2"]
                    for i, x in _captions(range(400), 7).items()
                },
                tokenizer="whitespace",
            ),
        ),
    ],
}
