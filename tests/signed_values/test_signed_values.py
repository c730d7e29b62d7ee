"""A value cannot change while its version and its signature stay the same."""

from __future__ import annotations

import pytest

from signed_values.calls import SignedValue, signed_values
from signed_values.table import differs, read_table

COMMAND = "python -m tests.signed_values.record"


@pytest.fixture(scope="module")
def computed():
    return dict(signed_values())


@pytest.mark.filterwarnings("ignore::semmetrics.InputWarning")
def test_no_value_changed_under_its_version_and_signature(computed):
    recorded = read_table()
    changed = {
        name: (recorded[name].value, signed.value)
        for name, signed in computed.items()
        if name in recorded and differs(recorded[name], signed)
    }
    assert not changed, "raise the version, or name the convention in the signature"


@pytest.mark.filterwarnings("ignore::semmetrics.InputWarning")
def test_the_table_is_up_to_date(computed):
    signatures = {name: signed.signature for name, signed in computed.items()}
    recorded = {name: signed.signature for name, signed in read_table().items()}
    assert signatures == recorded, COMMAND


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (SignedValue("1.0", "F1|v:1.0", 0.5), False),
        (SignedValue("1.0", "F1|v:1.0", 0.5 + 1e-6), True),
        (SignedValue("1.0", "F1|v:1.0", None), True),
        (SignedValue("1.1", "F1|v:1.1", 0.75), False),
        (SignedValue("1.0", "F1|empty:0|v:1.0", 0.75), False),
    ],
)
def test_a_value_may_change_only_with_the_version_or_the_signature(after, expected):
    before = SignedValue("1.0", "F1|v:1.0", 0.5)
    assert differs(before, after) is expected
