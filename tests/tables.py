"""Tables in files."""

from __future__ import annotations

import json

import pandas as pd

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def write_table(path, rows):
    """Write rows in the format of the extension, and return the path."""
    if path.suffix in _DELIMITERS:
        pd.DataFrame(rows).to_csv(path, index=False, sep=_DELIMITERS[path.suffix])
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    else:
        path.write_text(json.dumps(rows), encoding="utf-8")
    return path
