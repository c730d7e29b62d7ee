"""Whether what a signature says was computed is what has been computed now."""

from __future__ import annotations

from semmetrics.reports.table import ScoreTable

__all__ = ["differences"]

_WHAT = {
    "n": "the number of items differs from the signature's",
    "data": "the ground truth differs from the signature's",
    "classes": "the class list differs from the signature's",
    "emb": "the embedding differs from the signature's",
    "lookup": "the rule of lookup differs from the signature's",
    "oov": "what stands for unknown labels differs from the signature's",
    "taxonomy": "the taxonomy differs from the signature's",
    "fit": "the document frequencies differ from the signature's",
    "weights": "the sample weights differ from the signature's",
    "L": "the number of labels averaged over differs from the signature's",
    "v": "the version differs from the signature's",
}
_FITTED = ("fit", "cal")  # a threshold that was fitted then is now given


def differences(text: str, table: ScoreTable) -> list[str]:
    """What differs between a signature and the scores computed from it, one line each.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat"]], measures=["F1"])
    >>> differences(table["F1"].signature, table)
    []
    """
    lines: dict[str, list[str]] = {}
    for score in table:
        for line in _lines(_parts(text), _parts(score.signature)):
            lines.setdefault(line, []).append(score.system)
    every = len(table.systems)
    return [
        line if len(systems) == every else f"{', '.join(systems)}: {line}"
        for line, systems in lines.items()
    ]


def _parts(text: str) -> dict[str, str]:
    parts = dict(part.partition(":")[::2] for part in text.split("|")[1:])
    return {
        name: value
        for name, value in parts.items()
        if name not in _FITTED or value.startswith("df@")
    }


def _lines(then: dict[str, str], now: dict[str, str]) -> list[str]:
    order = {key: place for place, key in enumerate(_WHAT)}
    different = [key for key in then if key in now and then[key] != now[key]]
    lines = [
        f"{_WHAT.get(key, f'{key} differs from the signature')}: "
        f"{key}:{now[key]} instead of {key}:{then[key]}"
        for key in sorted(different, key=lambda key: order.get(key, len(order)))
    ]
    unsaid = [key for key in now if key not in then]
    if unsaid:
        taken = "|".join(f"{key}:{now[key]}" for key in unsaid)
        lines.append(f"the signature does not say {', '.join(unsaid)}; computed with {taken}")
    lost = [f"{key}:{value}" for key, value in then.items() if key not in now]
    if lost:
        lines.append(f"the signature says {'|'.join(lost)}, which was not computed so")
    return lines
