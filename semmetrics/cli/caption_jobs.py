"""What ``semmetrics df`` and ``semmetrics matrix`` do: read, compute, write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import click

from semmetrics.cli.files import check_inputs, check_outputs, written
from semmetrics.cli.messages import complain
from semmetrics.cli.progress import progress_on
from semmetrics.cli.reading import Reading, count, understood
from semmetrics.data.captions import Captions
from semmetrics.errors import InputError
from semmetrics.metrics.captions.documents import fit_frequencies
from semmetrics.metrics.captions.frequencies import DocumentFrequencies
from semmetrics.scoring.caption_matrix import caption_matrix, caption_top_k

__all__ = ["run_df", "run_matrix"]


def run_df(
    *,
    references: str,
    reading: Reading,
    tokenizer: str | None,
    stem: str | None,
    convert: bool,
    documents: int | None,
    output: str,
    quiet: bool,
) -> None:
    """Count or convert document frequencies, and save them.

    Raises
    ------
    InputError
        If the input or an option is wrong; nothing is written then.
    """
    check_outputs({"-o": output}, [references])
    if convert and (tokenizer or stem):
        raise InputError(
            "--tokenizer and --stem mean nothing for frequencies that are counted already",
            remedy="leave them out, or leave --convert out",
        )
    if documents is not None and not convert:
        raise InputError("--documents means nothing without --convert", remedy="leave it out")
    if convert:
        found = DocumentFrequencies.load(references, documents=documents)
    else:
        captions = reading.captions(references)
        _say([f"read {line}" for line in understood([captions])], quiet=quiet)
        found = fit_frequencies(_lists(captions), tokenizer, stem or "none")
    found.save(output)
    of = (
        "an unknown number of documents"
        if found.documents is None
        else count(found.documents, "document")
    )
    click.echo(f"{output}: {count(len(found), 'n-gram')} of {of}, df@{found.hash}")


def run_matrix(
    *,
    captions: str,
    references: str,
    reading: Reading,
    measure: str,
    tokenizer: str | None,
    df: str | None,
    top_k: int | None,
    axis: str | None,
    output: str,
    dtype: Any,
    quiet: bool,
) -> None:
    """Compute the matrix or its largest entries, and write them.

    Raises
    ------
    InputError
        If the input or an option is wrong.
    """
    check_inputs([captions, references])
    ids = f"{output}.ids.json" if top_k is None else None
    check_outputs(
        {"-o": output, "-o .ids.json": ids}, [captions, references, *([df] if df else [])]
    )
    if axis is not None and top_k is None:
        raise InputError("--axis means nothing without --top-k", remedy="leave it out")
    mine, theirs = reading.captions(captions), reading.captions(references)
    _say([f"read {line}" for line in understood([mine, theirs])], quiet=quiet)
    shared: dict[str, Any] = {"measure": measure, "df": df, "tokenizer": tokenizer or "ptb"}
    if top_k is not None:
        chosen: Any = axis or "captions"
        found = caption_top_k(_lists(theirs), mine.texts, top_k, axis=chosen, **shared)
        with written(output) as out:
            out.writelines(_best(chosen, mine, theirs, *found))
        return
    with progress_on(quiet=quiet) as progress:
        made = caption_matrix(
            _lists(theirs), mine.texts, out=output, dtype=dtype, progress=progress, **shared
        )
    with written(str(ids)) as out:
        named = {"images": list(map(str, theirs.ids)), "captions": _caption_ids(mine)}
        out.write(json.dumps(named, indent=1, ensure_ascii=False) + "\n")
    click.echo(f"{output}: {' x '.join(map(str, made.shape))}, {made.dtype}")


def _lists(captions: Captions) -> list[Sequence[str]]:
    """The captions of each image."""
    return [captions.texts[a:b] for a, b in pairwise(captions.indptr.tolist())]


def _caption_ids(captions: Captions) -> list[str]:
    """The id of each caption: that of its item, with a number where it has several."""
    return [
        str(name) if b - a == 1 else f"{name}#{number}"
        for name, (a, b) in zip(captions.ids, pairwise(captions.indptr.tolist()), strict=True)
        for number in range(1, b - a + 1)
    ]


def _best(axis: str, mine: Captions, theirs: Captions, values: Any, places: Any) -> Iterator[str]:
    """A line for each image with its best captions, or the other way round."""
    images, captions = list(map(str, theirs.ids)), _caption_ids(mine)
    rows, columns = (images, captions) if axis == "captions" else (captions, images)
    row_name, column_name = ("image", "captions") if axis == "captions" else ("caption", "images")
    for name, some, where in zip(rows, values.tolist(), places.tolist(), strict=True):
        best = [{"id": columns[p], "value": v} for v, p in zip(some, where, strict=True)]
        yield json.dumps({row_name: name, column_name: best}, ensure_ascii=False) + "\n"


def _say(lines: Sequence[str], *, quiet: bool) -> None:
    for line in () if quiet else lines:
        complain(line)
