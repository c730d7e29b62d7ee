"""Tables in files, for tests of what reads them."""

from __future__ import annotations

import json

import pandas as pd


def write_table(path, rows):
    """Write rows in the format of the file's name, and return the path."""
    if path.suffix in (".csv", ".tsv"):
        pd.DataFrame(rows).to_csv(
            path, index=False, sep="\t" if path.suffix == ".tsv" else ","
        )
    else:
        lines = "\n".join(map(json.dumps, rows))
        path.write_text(
            lines if path.suffix == ".jsonl" else json.dumps(rows), encoding="utf-8"
        )
    return path
