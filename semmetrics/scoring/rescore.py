"""Compute a value again from its signature.

A signature does not contain inputs such as a class list. The user must give them again. The result
lists the differences from the signature, one per line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semmetrics.core.hashing import UNVERSIONED
from semmetrics.data.lists import gather
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import InputError
from semmetrics.kinds.embeddings import by_name, read_embedding
from semmetrics.metrics.definition import DEFAULT_EMBEDDING
from semmetrics.options import OPTIONS, Data, Options, is_set, split_names
from semmetrics.scoring.evaluation import join_systems
from semmetrics.scoring.score import system_name, table_of, warn_of_scores
from semmetrics.scoring.signature import (
    Signed,
    current_signature,
    part_key,
    read_signature,
)
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SIGNED = tuple(name for name, option in OPTIONS.items() if option.signed)
_DIFFERENCES = {
    "own": "the source code of the measure differs",
    "n": "the number of items differs",
    "data": "the ground truth differs",
    "classes": "the class list differs",
    "seen": "the seen classes differ",
    "unseen": "the unseen classes differ",
    "lists": "a list of classes differs",
    "gallery": "the gallery differs",
    "emb": "the embedding differs",
    "matrix": "phi differs",
    "lookup": "the lookup rule differs",
    "oov": "the value of unknown labels differs",
    "taxonomy": "the taxonomy differs",
    "fit:df": "the document frequencies differ",
    "fit:parser": "the parser of scene graphs differs",
    "weights": "the sample weights differ",
    "L": "the number of averaged labels differs",
    "v": "the version differs",
}
_FITTED_PARTS = ("fit", "cal")
"""Parts of a signature that name a fitted threshold. A rescored measure has the threshold itself."""


@takes_options(_SIGNED)
def rescore(
    signature: str,
    preds: Data,
    gts: Data,
    *,
    system: str | None = None,
    **options: Unpack[Options],
) -> ScoreTable:
    """Compute the value of a signature again, on these predictions and this ground truth.

    Parameters
    ----------
    signature : str
    preds, gts
        As for ``score``.
    system : str, optional
    **options

    Returns
    -------
    ScoreTable
        Its ``differences`` list how the scores differ from the signature. Empty if they agree.

    Raises
    ------
    InputError
        If the signature is wrong, an option contradicts it, or its class list, weights or embedding
        are not given again.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures=["F1(average=micro)"])
    >>> again = rescore(table["F1(average=micro)"].signature, [["cat"]], [["cat", "dog"]])
    >>> round(again.scores[0].value, 4), again.differences
    (0.6667, [])
    """
    systems = {system or system_name(preds): preds}
    return rescore_systems(signature, systems, gts, **options)


def rescore_systems(
    signature: str, systems: Mapping[str, Any], gts: Any, **options: Unpack[Options]
) -> ScoreTable:
    """Compute the value of a signature again, for several systems. See ``rescore``."""
    score_options = _options_of(read_signature(signature), options)
    evaluation = join_systems(systems, gts, score_options)
    warn_of_scores(evaluation)
    table = table_of(evaluation)
    differences = _differences(current_signature(signature), table)
    for part in _parts(signature).values():
        if UNVERSIONED in part:
            unknown = "is a function without a version, so it may have changed"
            differences.append(f"{part} {unknown}")
    return replace(table, differences=differences)


# ---- options of a signature ---------------------------------------------------------------------


def _options_of(signed: Signed, user_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a signature, together with the options that the user sets.

    Raises
    ------
    InputError
        If the user sets an option of the signature, or does not set one that it cannot contain.
    """
    _check_options(signed, user_options)
    options: dict[str, Any] = dict(user_options)
    options.update(_data_options(signed))
    options["lookup"] = signed.models.get("lookup")
    options["oov"] = signed.models.get("oov")
    if user_options.get("captions") is not None:
        for name, value in _options_of_phi(signed).items():
            if user_options.get(name) is None:
                options[name] = value
    if signed.measure["embedding"] is not None:
        options["embedding"] = _embeddings(signed, user_options.get("embedding"))
    options["measures"] = [signed.measure]
    options["ci"] = False
    # The user may omit the interval of the signature.
    if user_options.get("ci") is not False and signed.bootstrap is not None:
        options["ci"] = signed.bootstrap
    options["task"] = user_options.get("task") or signed.measure.definition.kind
    return options


def _check_options(signed: Signed, user_options: Mapping[str, Any]) -> None:
    """Raise an error for an option that the signature sets, or a missing input that it names."""
    for name in _SIGNED:
        if is_set(name, user_options.get(name)):
            raise InputError("in-signature", name=name)
    for name in ("classes", "seen", "unseen", "weights"):
        if name in signed.settings and user_options.get(name) is None:
            raise InputError("signed-input", name=name, was=signed.settings[name])


def _options_of_phi(signed: Signed) -> Mapping[str, Any]:
    """Return the options with which a matrix of phi is computed from captions."""
    from semmetrics.data.rankings import options_of_computed_phi

    matrix = signed.models.get("matrix", "")
    return options_of_computed_phi(matrix, str(signed.measure["phi"]))


def _data_options(signed: Signed) -> dict[str, Any]:
    """Return the options of the data in a signature. Options that it does not contain are None."""
    options: dict[str, Any] = {}
    for name in _SIGNED:
        option = OPTIONS[name]
        if not option.key:
            continue
        text = signed.settings.get(option.key)
        options[name] = None if text is None else option.read(text)
    ignored = split_names(signed.settings.get("ignore", ""))
    if "kubany2020" in (options["normalize"] or "").split("+"):
        # This normalisation splits synonyms at commas.
        ignored = [name.replace(" | ", ",") for name in ignored]
    options["ignore"] = ignored
    if signed.settings.get("cand") == "references":
        options["score_references"] = True
    return options


def _embeddings(signed: Signed, embedding: Any) -> dict[str, Any]:
    """Return embeddings by name, including the embedding of the measure.

    A single embedding without a name gets the name that the measure uses.

    Raises
    ------
    InputError
        If the embedding of the signature is not given again. Models that are part of the package
        need not be given.
    """
    name = str(signed.measure["embedding"])
    identity = signed.models.get("emb")
    embeddings = by_name(read_embedding(embedding))
    if name not in embeddings and list(embeddings) == [DEFAULT_EMBEDDING]:
        embeddings = {name: embeddings[DEFAULT_EMBEDDING]}
    if name in embeddings:
        return embeddings
    shipped: str | None = signed.measure.definition.own_embedding
    if identity is not None:
        from semmetrics.embed.open import find_shipped

        shipped = find_shipped(identity)
    if shipped is None:
        signed_embedding = str(identity)
        if name != DEFAULT_EMBEDDING:
            signed_embedding = f"{name}={identity}"
        raise InputError("signed-input", name="embedding", was=signed_embedding)
    return {name: shipped, **embeddings}


# ---- differences --------------------------------------------------------------------------------


def _differences(text: str, table: ScoreTable) -> list[str]:
    """Describe the differences between a signature and scores computed from it, one per line."""
    signed_parts = _parts(text)
    lines_and_systems = []
    for score in table:
        for line in _compare(signed_parts, _parts(score.signature)):
            lines_and_systems.append((line, score.system))
    lines = []
    for line, systems in gather(lines_and_systems).items():
        if len(systems) < len(table.systems):
            line = f"{', '.join(systems)}: {line}"
        lines.append(line)
    return lines


def _parts(text: str) -> dict[str, str]:
    """Return the parts of a signature by their keys, without a threshold that was fitted."""
    parts = {}
    for part in text.split("|")[1:]:
        key = part_key(part)
        if key not in _FITTED_PARTS:
            parts[key] = part
    return parts


def _compare_shared(
    signed: Mapping[str, str], computed: Mapping[str, str]
) -> list[str]:
    """Return the differences between parts that both signatures have."""
    lines = []
    for key in dict.fromkeys((*_DIFFERENCES, *signed)):
        if key not in signed or key not in computed or signed[key] == computed[key]:
            continue
        difference = f"{key} differs from the signature"
        if key in _DIFFERENCES:
            difference = f"{_DIFFERENCES[key]} from the signature's"
        lines.append(f"{difference}: {computed[key]} instead of {signed[key]}")
    return lines


def _compare(signed: Mapping[str, str], computed: Mapping[str, str]) -> list[str]:
    """Return the differences between the parts of two signatures."""
    lines = _compare_shared(signed, computed)
    unsigned = [key for key in computed if key not in signed]
    if unsigned:
        parts = "|".join(computed[key] for key in unsigned)
        names = ", ".join(unsigned)
        lines.append(f"the signature does not contain {names}, computed with {parts}")
    not_computed = [part for key, part in signed.items() if key not in computed]
    if not_computed:
        parts = "|".join(not_computed)
        lines.append(f"the signature contains {parts}, which the scores do not")
    return lines
