"""Records of JSON documents: their places in messages, their ids and their required keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from semmetrics.errors import InputError
from semmetrics.schema import as_id


def numbered_records(section: Any, name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the place of each record of a section, and the record, which must be an object."""
    for position, record in enumerate(section):
        where = f"{name}[{position}]"
        if not isinstance(record, dict):
            raise InputError("wrong-type", where, value=record, wanted="an object")
        yield where, record


def record_id(
    record: dict[str, Any],
    key: str,
    where: str,
    listed: Collection[str] | None = None,
    used: Collection[str] = (),
) -> str:
    """Return the id under a key, which must be there.

    Parameters
    ----------
    record : dict
    key : str
    where : str
        The place of the record.
    listed : collection of str, optional
        The ids that are allowed. Default: all.
    used : collection of str
        The ids that are not allowed, because other records have them.
    """
    if key not in record:
        is_caption = key == "category_id" and "caption" in record
        code = "captions-file" if is_caption else "missing-key"
        raise InputError(code, where, key=key)
    id_ = as_id(record[key], where=f"{where}, {key}")
    if listed is not None:
        check_listed(id_, key, where, listed)
    if id_ in used:
        raise InputError("duplicate-id", where, value=id_)
    return id_


def check_listed(id_: str, key: str, where: str, listed: Collection[str]) -> None:
    """Raise an error if the images or categories of a document do not have an id."""
    if id_ not in listed:
        what = "images" if key == "image_id" else "categories"
        raise InputError("unlisted-id", where, key=key, value=id_, what=what)


def require_key(record: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """Return the value of a key, which must be there and of this type."""
    if key not in record:
        raise InputError("missing-key", where, key=key)
    if not isinstance(record[key], kind):
        type_name = "a list" if kind is list else "a text"
        wanted = f"{type_name} for {key!r}"
        raise InputError("wrong-type", where, value=record[key], wanted=wanted)
    return record[key]
