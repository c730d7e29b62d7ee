"""Score partitions of data that Spark, Dask, Fugue or Ray Data hand out.

Conventions
-----------
`partial_scores` takes Arrow record batches with one row per item, which has both sides:
columns "id", "preds" and "gts", and optionally "scores" (of the predictions) and
"weights". The result of a partition is one row with one binary column, "state", as
`Scorer.save` writes it. An id must occur in only one partition.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import hash_ids
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import InputError, format_place
from semmetrics.options import COLUMNS
from semmetrics.scale.cluster_tasks import save_state
from semmetrics.scale.stream import SeenIds
from semmetrics.scoring.scorer import Scorer

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from semmetrics.options import Options

_PLACE = "a partition"
_REQUIRED_ROLES = ("id", "preds", "gts")
ROLES = (*_REQUIRED_ROLES, "scores", "weights")
"""The columns of a partition."""


@takes_options()
def partial_scores(
    batches: Iterable[Any],
    *,
    columns: Mapping[str, str] | None = None,
    **options: Unpack[Options],
) -> Iterator[Any]:
    """Sum the items of record batches.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
    columns : mapping from role to column, optional
        For columns with other names than "id", "preds", "gts", "scores" and "weights".
    **options

    Yields
    ------
    pyarrow.RecordBatch
        A single batch, for `merge_states`.

    Raises
    ------
    InputError
        If an id occurs twice, a column is missing, or neither the measures nor ``task``
        determine the kind of data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> items = {"id": ["a"], "preds": [["cat"]], "gts": [["cat", "dog"]]}
    >>> batches = [pa.record_batch(items)]
    >>> parts = list(partial_scores(batches, measures="Recall", task="labels"))
    >>> merge_states(parts).compute()["Recall"].value
    0.5
    """
    import pyarrow as pa

    named_columns = dict(columns or {})
    for role in named_columns:
        check_choice("columns", role, ROLES)
    column_of_role = {role: role for role in ROLES} | named_columns
    required_roles = {*_REQUIRED_ROLES, *named_columns}
    settings: dict[str, Any] = {}
    for name, value in options.items():
        if value is not None:
            settings[name] = value
    settings["keep_rows"] = False
    scorer = Scorer(**settings)
    if scorer.kind is None:
        raise InputError("needs-option", what="a table", name="task")
    noun = _find_noun(scorer.kind)

    seen = SeenIds()
    for batch in batches:
        table = pa.table(batch)
        items = _find_columns(table, column_of_role, required_roles)
        ids = list(map(str, items["id"].to_pylist()))
        repeated = seen.add(hash_ids(ids))
        if len(repeated):
            raise InputError("rows-apart", format_place(_PLACE, "", ids[repeated[0]]))
        _update_scorer(scorer, items, ids, noun)
    state = pa.array([save_state(scorer)], pa.binary())
    yield pa.record_batch({"state": state})


def _find_noun(kind: str) -> str:
    """Return the name of the column of entries, such as "label" or "caption"."""
    for noun, kinds in COLUMNS.items():
        if kind in kinds and noun != "score":
            return noun
    raise KeyError(kind)


def _find_columns(
    table: pa.Table, column_of_role: Mapping[str, str], required_roles: Set[str]
) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a table by role. Optional ones may be absent."""
    columns = {}
    for role, name in column_of_role.items():
        if name in table.column_names:
            columns[role] = table.column(name)
        elif role in required_roles:
            raise InputError(
                "missing-column",
                _PLACE,
                role=role,
                wanted=repr(name),
                found=table.column_names,
                flag="columns",
            )
    return columns


def _update_scorer(
    scorer: Scorer, items: Mapping[str, pa.ChunkedArray], ids: Sequence[str], noun: str
) -> None:
    """Add items to a scorer.

    Parameters
    ----------
    scorer : Scorer
    items : mapping from role to column
    ids : sequence of str
    noun : str
        The name of the column of entries.
    """
    import pyarrow as pa

    preds = {"id": items["id"], noun: items["preds"]}
    if "scores" in items:
        preds["score"] = items["scores"]
    gts = {"id": items["id"], noun: items["gts"]}
    weights = None
    if "weights" in items:
        weights = dict(zip(ids, items["weights"].to_pylist(), strict=True))
    scorer.update(pa.table(preds), pa.table(gts), weights=weights)


def merge_states(parts: Iterable[Any]) -> Scorer:
    """Return the scorer of all partitions.

    Parameters
    ----------
    parts : iterable of pyarrow.RecordBatch, pyarrow.Table or bytes
        The results of `partial_scores`, or their column "state".

    Raises
    ------
    InputError
        If all partitions are missing, or they do not belong together.
    """
    states: list[bytes] = []
    for part in parts:
        if hasattr(part, "column"):
            states += map(bytes, part.column("state").to_pylist())
        else:
            states.append(bytes(part))
    if not states:
        raise InputError("nothing-given", what="partitions", remedy="give at least one")
    return Scorer.load(*map(io.BytesIO, states))
