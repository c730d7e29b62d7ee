"""The chart of README.md shows what benchmarks/RESULTS.md records."""

import pytest

chart = pytest.importorskip("benchmarks.chart")


def test_the_chart_is_up_to_date():
    drawn = chart.draw(chart.RESULTS.read_text(encoding="utf-8"))

    assert chart.CHART.read_text(encoding="utf-8") == drawn, "run benchmarks.chart"


@pytest.mark.parametrize(
    "rows",
    [
        "| F1 | 1 ms | 2 ms | 2.0x |\n| F1 | 1 ms | 3 ms | 3.0x |",
        "| F1 | 1 ms |",
        "",
    ],
)
def test_a_bar_needs_exactly_one_row_of_the_results(rows):
    bar = chart.Bar("section", "F1", "F1", "F1", "peer")

    with pytest.raises(LookupError, match="rows"):
        chart.read_ratio(f"## section\n\n{rows}\n", bar)
