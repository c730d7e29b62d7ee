"""From the words of the command line to the options of the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from semmetrics.cli.meaning import asked_models, signed_models
from semmetrics.data.beside import read_class_list
from semmetrics.errors import InputError
from semmetrics.kinds.labels.normalize import normalization
from semmetrics.metrics.families import check_decode
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.parse import cutoffs, parse_all
from semmetrics.scoring.protocols import find_protocol
from semmetrics.scoring.signature import Signed

if TYPE_CHECKING:
    from semmetrics.cli.job import Request

__all__ = ["asked", "rules", "words"]

_SIGNED = (
    "measures", "protocol", "top_k", "threshold", "decode", "min_labels", "normalize", "missing",
    "unpredicted", "ignore", "lookup", "oov", "calibration", "tokenizer", "ci", "seed", "resamples",
    "level",
)  # fmt: skip


def asked(request: Request, signed: Signed | None) -> dict[str, Any]:
    """The options of ``score_systems``; no file is read but those of --ignore.

    Raises
    ------
    InputError
        If a measure, rule, cutoff or name is wrong; all wrong measures are told together.
    """
    if signed is not None:
        return _of_signature(request, signed)
    texts = [word for text in request.measures for word in words(text)]
    if request.measures and not texts:
        raise InputError("-m names no measure", remedy="write -m F1")
    if texts and request.protocol is not None:
        raise InputError(
            "both measures and a protocol are given", remedy="give -m or --protocol, not both"
        )
    if request.protocol is not None:
        find_protocol(request.protocol)
    if request.normalize is not None:
        normalization(request.normalize)
    chosen = rules(request.decode, request.threshold)
    return {
        "measures": parse_all(texts) if texts else None,
        "protocol": request.protocol,
        "top_k": None if request.top_k is None else cutoffs(request.top_k),
        "decode": chosen or None,
        "min_labels": request.min_labels or 0,
        "normalize": request.normalize,
        "missing": request.missing,
        "unpredicted": request.unpredicted,
        "ignore": _ignored(request),
        "ci": _bootstrap(request),
        "tokenizer": request.tokenizer,
        "df": request.df,
        "human": request.human,
        **asked_models(request),
    }


def words(text: str) -> list[str]:
    """Measures between blanks that stand outside parentheses.

    Examples
    --------
    >>> words("F1 Recall@5 F1(average=macro, labels=union)")
    ['F1', 'Recall@5', 'F1(average=macro, labels=union)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter.isspace() and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def rules(decode: Iterable[str], threshold: str | None) -> list[str]:
    """Decoding rules: those written out, then one for each threshold.

    Examples
    --------
    >>> rules(["cumulative:0.5"], "0.1,best")
    ['cumulative:0.5', 'threshold:0.1', 'threshold:best']
    """
    points = [] if threshold is None else [point.strip() for point in threshold.split(",")]
    every = [*decode, *(f"threshold:{point}" for point in points)]
    for rule in every:
        check_decode(rule)
    return list(dict.fromkeys(every))


def _ignored(request: Request) -> list[str]:
    labels: list[str] = []
    for entry in request.ignore:
        if entry.startswith("@"):
            labels += read_class_list(entry[1:], request.reading.beside())
        else:
            labels += [label for label in entry.split(",") if label]
    return labels


def _bootstrap(request: Request) -> Bootstrap | bool:
    said = {"level": request.level, "resamples": request.resamples, "seed": request.seed}
    bootstrap = Bootstrap(**{name: v for name, v in said.items() if v is not None})  # type: ignore[arg-type]
    return bootstrap if request.ci else False


def _of_signature(request: Request, signed: Signed) -> dict[str, Any]:
    _check_signature(request, signed)
    settings = signed.settings
    norm = settings.get("norm")
    return {
        "measures": [signed.measure],
        "normalize": norm,
        "missing": settings.get("missing"),
        "unpredicted": settings.get("unpredicted"),
        "ignore": _ignored_before(settings.get("ignore", ""), norm),
        "ci": signed.bootstrap or False,
        "tokenizer": settings.get("tok"),
        "df": request.df,
        "human": request.human or settings.get("cand") == "references",
        **signed_models(request, signed),
    }


def _check_signature(request: Request, signed: Signed) -> None:
    said = [name for name in _SIGNED if getattr(request, name) not in (None, False, ())]
    if said:
        options = ", ".join(
            f"--{name.replace('_', '-')}".replace("measures", "measure") for name in said
        )
        raise InputError(
            f"the signature says what is computed, and {options} as well",
            remedy="leave that out, or leave out --signature",
        )
    for key, option, given in (
        ("classes", "--classes FILE", request.reading.classes),
        ("weights", "--weights FILE", request.weights),
    ):
        if key in signed.settings and given is None:
            raise InputError(
                f"the signature was computed with {key}:{signed.settings[key]}",
                remedy=f"give them again: {option}",
            )


def _ignored_before(text: str, norm: str | None) -> list[str]:
    """The labels that a signature says were ignored, as they can be given again."""
    names = [name for name in text.split(",") if name]
    if norm == "kubany2020":  # it parts synonyms at commas
        return [name.replace(" | ", ",") for name in names]
    return names
