"""What a sweep of thresholds refuses; the golden cases have its values."""

import pytest
from refusals import refused

from semmetrics import sweep


@pytest.mark.parametrize(
    ("options", "code"),
    [
        *[
            ({"thresholds": one}, "bad-thresholds")
            for one in ("", "0:1", "0:1:0.00001", "0,x", "0:nan:1", [], [True], [None])
        ],
        *[({"measures": name}, "no-threshold") for name in ("SoftF1", "WMD")],
        ({"treshold": 0.4}, "unknown-name"),
        ({"protocol": "kubany2020"}, "not-applicable"),
    ],
)
def test_what_cannot_be_swept(options, code):
    with refused(code):
        sweep([["bike"]], [["bicycle"]], **options)
