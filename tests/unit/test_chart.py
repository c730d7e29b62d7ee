"""The chart of README.md shows what benchmarks/RESULTS.md records."""

from __future__ import annotations

import pytest

chart = pytest.importorskip("benchmarks.chart")


def test_the_chart_is_up_to_date():
    results = chart.RESULTS.read_text(encoding="utf-8")
    assert chart.CHART.read_text(encoding="utf-8") == chart.draw(results), (
        "run benchmarks.chart"
    )


def test_a_bar_that_fits_no_row_or_several():
    two_rows = "| F1 | 1 ms | 2 ms | 2.0x |\n| F1 | 1 ms | 3 ms | 3.0x |"
    results = f"## a\n\n{two_rows}\n\n## b\n\n| F1 | 1 ms |\n"
    for section in ("a", "b", "c"):
        with pytest.raises(LookupError, match="rows"):
            chart.read_ratio(results, chart.Bar(section, "F1", "F1", "F1", "peer"))
