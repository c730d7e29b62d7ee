"""What labels are compared with: embeddings and a taxonomy, from the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure

if TYPE_CHECKING:
    from semmetrics.cli.job import Request
    from semmetrics.scoring.signature import Signed

__all__ = ["asked_models", "embeddings", "signed_models", "unused", "vector_files"]

_DEFAULT = "default"
_NAME = re.compile(r"[\w.+-]+")


def embeddings(texts: Iterable[str]) -> dict[str, str] | None:
    """Embeddings by name; None where none is given.

    Raises
    ------
    InputError
        If a name cannot be that of an embedding, or is given twice.

    Examples
    --------
    >>> embeddings(["words.bin", "bert=sbert:all-MiniLM-L6-v2"])
    {'default': 'words.bin', 'bert': 'sbert:all-MiniLM-L6-v2'}
    >>> embeddings(["./a=b.bin"])
    {'default': './a=b.bin'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, spec = _parted(text)
        if name in found:
            raise InputError(
                "the default embedding is given twice"
                if name == _DEFAULT
                else f"the embedding {name!r} is given twice",
                where=f"--embedding {text}",
                remedy="give each a name: --embedding NAME=SPEC, and -m 'SemF1(embedding=NAME)'",
            )
        found[name] = spec
    return found or None


def _parted(text: str) -> tuple[str, str]:
    name, sign, spec = text.partition("=")
    if not sign or any(mark in name for mark in "/\\:"):  # a path or kind:PATH that has the sign
        name, spec = _DEFAULT, text
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name of an embedding",
            where=f"--embedding {text}",
            remedy="use letters, digits and . _ + - before the sign =; write ./a=b.bin for a file "
            "that has the sign in its name",
        )
    if not spec.strip():
        raise InputError(
            "nothing is named",
            where=f"--embedding {text}",
            remedy="write --embedding [NAME=]SPEC with a name, a path, kind:NAME or kind:PATH",
        )
    return name, spec


def vector_files(texts: Iterable[str]) -> list[str]:
    """The files that embeddings may be, so that no output is written over them."""
    specs = [_parted(text)[1] for text in texts]
    return [path for spec in specs for path in (spec, spec.partition(":")[2]) if path]


def asked_models(request: Request) -> dict[str, Any]:
    """The options of ``score_systems`` about meaning."""
    return {
        "embedding": embeddings(request.embedding),
        "lookup": request.lookup,
        "oov": request.oov,
        "calibration": request.calibration or None,
        **_opening(request),
    }


def _opening(request: Request) -> dict[str, Any]:
    """How embeddings are opened, which no signature says."""
    return {"device": request.device, "limit": request.limit, "cache": request.cache}


def signed_models(request: Request, signed: Signed) -> dict[str, Any]:
    """The same where a signature says how labels were looked up.

    Raises
    ------
    InputError
        If it was computed with an embedding that is not given again; the one that ships with the
        package need not be.
    """
    given = embeddings(request.embedding) or {}
    name, identity = signed.measure["embedding"], signed.models.get("emb")
    if name is not None:
        if str(name) not in given and len(given) == 1 and _DEFAULT in given:
            given = {str(name): given[_DEFAULT]}
        if str(name) not in given:
            _check_static(str(name), identity)
            given[str(name)] = "static"
    return {
        "embedding": given or None,
        "lookup": signed.models.get("lookup"),
        "oov": signed.models.get("oov"),
        **_opening(request),
    }


def _check_static(name: str, identity: str | None) -> None:
    from semmetrics.embed.open import open_embedding

    if identity is None:
        return
    # another version of the static model is a difference that is said, and no reason to refuse
    if identity.rpartition("@")[0] != open_embedding("static").identity.rpartition("@")[0]:
        before = "" if name == _DEFAULT else f"{name}="
        raise InputError(
            f"the signature was computed with the embedding {identity}",
            remedy=f"give it again: --embedding {before}SPEC",
        )


def unused(request: Request, measures: Sequence[Measure]) -> list[str]:
    """What is said of options that no measure takes up."""
    used = {str(m["embedding"]) for m in measures if m["embedding"] is not None}
    lines = []
    if not used:
        names = ("lookup", "oov", "device", "limit")
        said = [f"--{name}" for name in names if getattr(request, name)]
        why = "no measure here compares meanings (-m SemF1 does)"
        lines += [f"{option} has no effect: {why}" for option in said]
    placed = [m for m in measures if "taxonomy" in m.definition.needs]
    if request.taxonomy is not None and not placed:
        lines.append("--taxonomy has no effect: no measure here counts ancestors (-m hF does)")
    return lines
