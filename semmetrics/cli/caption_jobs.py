"""What ``semmetrics df`` and ``semmetrics matrix`` do: read, compute, write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import click

from semmetrics.cli.files import check_inputs, check_outputs, open_output
from semmetrics.cli.messages import complain, show_progress
from semmetrics.cli.reading import Reading, understood
from semmetrics.core.ragged import lengths
from semmetrics.data.caption_task import item_ids
from semmetrics.data.captions import Captions
from semmetrics.data.readers.options import DEFAULTS
from semmetrics.errors import InputError, amount
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
    _check_ending(output, (".npz", ".json"), "document frequencies")
    _check_how(reading, tokenizer, stem, documents, convert=convert)
    if convert:
        found = DocumentFrequencies.load(references, documents=documents)
    else:
        captions = reading.captions(references)
        _say([captions], quiet=quiet)
        found = fit_frequencies(_lists(captions), tokenizer, stem or "none")
    found.save(output)
    of = (
        "an unknown number of documents"
        if found.documents is None
        else amount(found.documents, "document")
    )
    click.echo(f"{output}: {amount(len(found), 'n-gram')} of {of}, df@{found.hash}")


def _check_how(
    reading: Reading,
    tokenizer: str | None,
    stem: str | None,
    documents: int | None,
    *,
    convert: bool,
) -> None:
    """Refuse options that mean nothing beside the others."""
    if documents is not None and not convert:
        raise InputError("--documents means nothing without --convert", remedy="leave it out")
    if not convert:
        return
    if tokenizer or stem:
        raise InputError(
            "--tokenizer and --stem mean nothing for frequencies that are counted already",
            remedy="leave them out, or leave --convert out",
        )
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in vars(reading).items()
        if value not in (None, getattr(DEFAULTS, name, None))
    ]
    if given:
        raise InputError(
            f"with --convert no captions are read: {', '.join(given)} would have no effect",
            remedy="leave that out, or leave --convert out",
        )


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
    overwrite: bool,
    quiet: bool,
) -> None:
    """Compute the matrix or its largest entries, and write them.

    Raises
    ------
    InputError
        If the input or an option is wrong.
    """
    files = [captions, references, *([df] if df else [])]
    beside = {"--dtype": dtype, "--overwrite": overwrite}
    _check_matrix(files, output, top_k, axis, [name for name, value in beside.items() if value])
    mine, theirs = reading.captions(captions), reading.captions(references)
    _say([mine, theirs], quiet=quiet)
    images, names = list(map(str, theirs.ids)), _caption_ids(mine)
    shared: dict[str, Any] = {"measure": measure, "df": df, "tokenizer": tokenizer or "ptb"}
    if top_k is not None:
        chosen: Any = axis or "captions"
        found = caption_top_k(_lists(theirs), mine.texts, top_k, axis=chosen, **shared)
        _write_lines(output, _best(chosen, images, names, *found))
        return
    with show_progress(quiet=quiet) as progress:
        made = caption_matrix(
            _lists(theirs),
            mine.texts,
            out=output,
            dtype=dtype or "float64",
            resume=not overwrite,
            progress=progress,
            **shared,
        )
    with open_output(f"{output}.ids.json") as out:
        named = {"images": images, "captions": names}
        out.write(json.dumps(named, indent=1, ensure_ascii=False) + "\n")
    click.echo(f"{output}: {' x '.join(map(str, made.shape))}, {made.dtype}")


def _check_matrix(
    files: Sequence[str], output: str, top_k: int | None, axis: str | None, given: Sequence[str]
) -> None:
    """Refuse files that are in each other's way, and options that mean nothing."""
    check_inputs(files)
    beside = ("", ".ids.json", ".blocks") if top_k is None and output != "-" else ("",)
    check_outputs({f"-o {end}".strip(): f"{output}{end}" for end in beside}, files)
    if top_k is None:
        _check_ending(output, (".npy",), "a matrix")
        if axis is not None:
            raise InputError("--axis means nothing without --top-k", remedy="leave it out")
        return
    if output != "-":
        _check_ending(output, (".jsonl",), "the best alone (--top-k)")
    if given:
        raise InputError(
            f"{' and '.join(given)}: this means nothing with --top-k", remedy="leave it out"
        )


def _check_ending(output: str, endings: tuple[str, ...], what: str) -> None:
    """Refuse names that say another format, and standard output for what is no text."""
    if output == "-":
        raise InputError(
            f"{what} cannot be written to standard output",
            where="-o -",
            remedy=f"name a file that ends in {' or '.join(endings)}",
        )
    if not output.lower().endswith(endings):
        raise InputError(
            f"{what} cannot be written in another format",
            where=f"-o {output}",
            remedy=f"name a file that ends in {' or '.join(endings)}",
        )


def _write_lines(output: str, lines: Iterator[str]) -> None:
    if output == "-":
        for line in lines:
            click.echo(line, nl=False)
        return
    with open_output(output) as out:
        out.writelines(lines)


def _lists(captions: Captions) -> list[Sequence[str]]:
    """The captions of each image."""
    return [captions.texts[a:b] for a, b in pairwise(captions.indptr.tolist())]


def _caption_ids(captions: Captions) -> list[str]:
    """The id of each caption: that of its item, with a number where it has several."""
    return list(map(str, item_ids(captions.ids, lengths(captions.indptr))))


def _best(
    axis: str, images: list[str], captions: list[str], values: Any, places: Any
) -> Iterator[str]:
    """A line for each image with its best captions, or the other way round."""
    rows, columns = (images, captions) if axis == "captions" else (captions, images)
    row_name, column_name = ("image", "captions") if axis == "captions" else ("caption", "images")
    for name, some, where in zip(rows, values.tolist(), places.tolist(), strict=True):
        best = [{"id": columns[p], "value": v} for v, p in zip(some, where, strict=True)]
        yield json.dumps({row_name: name, column_name: best}, ensure_ascii=False) + "\n"


def _say(inputs: Sequence[Captions], *, quiet: bool) -> None:
    """How the files were read, and which options had no effect."""
    lines = [f"read {line}" for line in understood(inputs)]
    lines += [f"{one.source}: {note}" for one in inputs for note in one.notes]
    for line in () if quiet else lines:
        complain(line)
