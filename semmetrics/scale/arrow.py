"""Partial scores from Arrow record batches: what Spark, Dask, Fugue and Ray all take.

Conventions
-----------
A row is an item, with both sides in it: columns "id", "preds" and "gts", and if there are any
"scores" (of the predictions) and "weights". The result of a partition is one row with one binary
column, "state", as `Scorer.save` writes it. An id stands in one partition alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import hash_ids
from semmetrics.data.form import takes_options
from semmetrics.errors import InputError, at
from semmetrics.options import COLUMNS
from semmetrics.scale.stream import Seen
from semmetrics.scoring.scorer import Scorer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

ROLES = ("id", "preds", "gts", "scores", "weights")


@takes_options()
def partial_scores(
    batches: Iterable[Any], *, columns: Mapping[str, str] | None = None, **options: Unpack[Options]
) -> Iterator[Any]:
    """Sum the items of some record batches.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
    columns : mapping from role to column, optional
        For columns with other names than "id", "preds", "gts", "scores" and "weights".
    **options

    Yields
    ------
    pyarrow.RecordBatch
        One, for `merge_states`.

    Raises
    ------
    InputError
        If an id comes twice, a column is missing, or neither the measures nor ``task`` say what is
        evaluated.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"id": ["a"], "preds": [["cat"]], "gts": [["cat", "dog"]]})
    >>> parts = [part for part in partial_scores([batch], measures="Recall", task="labels")]
    >>> merge_states(parts).compute()["Recall"].value
    0.5
    """
    import pyarrow as pa

    for role in columns or ():
        check_choice("columns", role, ROLES)
    named = {role: role for role in ROLES} | dict(columns or {})
    given: Any = {name: value for name, value in options.items() if value is not None}
    scorer, seen = Scorer(**{**given, "keep_rows": False}), Seen()
    if scorer.kind is None:
        raise InputError("needs-option", what="a table", name="task")
    noun = next(n for n, kinds in COLUMNS.items() if scorer.kind in kinds and n != "score")
    for batch in batches:
        table = pa.table(batch)
        for role, name in named.items():
            if role in (*ROLES[:3], *(columns or ())) and name not in table.column_names:
                raise InputError("missing-column", "a partition", role=role, wanted=repr(name),
                                 found=table.column_names, flag="columns")  # fmt: skip
        found = {role: table.column(name) for role, name in named.items()
                 if name in table.column_names}  # fmt: skip
        ids = [str(one) for one in found["id"].to_pylist()]
        if len(again := seen.add(hash_ids(ids))):
            raise InputError("rows-apart", at("a partition", "", ids[again[0]]))
        pred, gt = ({"id": found["id"], noun: found[side]} for side in ROLES[1:3])
        pred |= {"score": found["scores"]} if "scores" in found else {}
        weights = found.get("weights") and dict(zip(ids, found["weights"].to_pylist(), strict=True))
        scorer.update(pa.table(pred), pa.table(gt), weights=weights)
    state = io.BytesIO()
    scorer.save(state)
    yield pa.record_batch({"state": pa.array([state.getvalue()], pa.binary())})


def merge_states(parts: Iterable[Any]) -> Scorer:
    """Return the scorer of all partitions.

    Parameters
    ----------
    parts : iterable of pyarrow.RecordBatch, pyarrow.Table or bytes
        What `partial_scores` yields, or its column "state".

    Raises
    ------
    InputError
        If there is none, or they do not belong together.
    """
    columns = (
        one.column("state").to_pylist() if hasattr(one, "column") else [one] for one in parts
    )
    states = [bytes(state) for column in columns for state in column]
    if not states:
        raise InputError("nothing-given", what="partitions", remedy="give at least one")
    return Scorer.load(*map(io.BytesIO, states))
