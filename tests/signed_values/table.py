"""The table of signed values, and the rule that a value cannot change under its signature."""

from __future__ import annotations

import json
import math
from pathlib import Path

from signed_values.calls import SignedValue

TABLE = Path(__file__).parent / "values.json"
_TOLERANCE = 1e-9  # products of real vectors differ in the last digits between machines


def read_table() -> dict[str, SignedValue]:
    """Read the values on record."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))
    return {name: SignedValue(*row) for name, row in rows.items()}


def differs(before: SignedValue, after: SignedValue) -> bool:
    """Return whether a value changed although its version and its signature did not."""
    if (before.version, before.signature) != (after.version, after.signature):
        return False
    if before.value is None or after.value is None:
        return before.value is not after.value
    return not math.isclose(
        before.value, after.value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE
    )
