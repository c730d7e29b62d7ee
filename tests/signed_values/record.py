"""Put the values of all measures on record: ``python -m tests.signed_values.record``.

A value that changed under the same version and signature is not recorded. Raise the version of
semmetrics, or name the convention that changed in the signature.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from signed_values.calls import SignedValue, signed_values
from signed_values.table import TABLE, differs, read_table


def record() -> None:
    """Write the table, unless a value changed under its signature."""
    before = read_table() if TABLE.exists() else {}
    after = {}
    changed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, signed in signed_values():
            after[name] = signed
            if name in before and differs(before[name], signed):
                changed.append(name)
    if changed:
        sys.exit(f"values changed under the same signature: {', '.join(changed)}")
    write_table(after)


def write_table(values: dict[str, SignedValue]) -> None:
    """Write the table, one row per score."""
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(list(signed), ensure_ascii=False)}"
        for name, signed in values.items()
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
