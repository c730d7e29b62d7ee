"""Agreement of caption measures with the experts of Flickr8k: what the page says is what comes out.

Sources: tau-c of the released code and of the published rows of SPICE (Hessel et al. 2021).
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from reference_data import coco_test_captions

import semmetrics

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures" / "agreement.md"
PUBLISHED = {
    "CIDEr-D(df=rows)": 43.891,
    "CIDEr-D": 43.829,
    "ROUGE-L": 32.314,
    "BLEU-1": 32.324,
    "BLEU-4": 30.776,
    "SPICE(parser=given,captions=written)": 44.771,
}


@pytest.fixture(scope="module")
def page():
    """The cells of the table of the page, by measure."""
    text = PAGE.read_text("utf-8")
    rows = re.findall(r"^\| `(.*?)` \| (\d.*) \|$", text, re.MULTILINE)
    table = {}
    for name, cells in rows:
        table[name] = [cell.strip() for cell in cells.split(" | ")]
    return table


def test_the_page_has_the_published_figures(page):
    figures = {name: float(page[name][0].split()[0]) for name in PUBLISHED}
    assert figures == PUBLISHED
    assert len(page) == 15


def test_every_measure_agrees_with_people_as_the_page_says(reference_dir, page):
    measures = list(page)
    if not find_spec("pycocoevalcap"):  # The package has the synonyms.
        families = ("METEOR", "SPICE", "SPIDEr")
        measures = [name for name in page if not name.startswith(families)]

    results = semmetrics.meta(
        reference_dir / "flickr8k" / "flickr8k_expert.json",
        protocol="flickr8k-expert",
        measures=measures,
        baseline="CIDEr-D",
        tuples=reference_dir / "spice" / "raw_tuples_flickr8k.jsonl.gz",
    )

    for result in results:
        value = f"{100 * result.value:.3f}"
        interval = f"[{100 * result.low:.2f}, {100 * result.high:.2f}]"
        cells = page[result.heading]
        assert cells[0] == f"{value} {interval}"
        if result.heading != "CIDEr-D":
            difference = f"{100 * result.difference:+.2f}"
            low = f"{100 * result.difference_low:+.2f}"
            high = f"{100 * result.difference_high:+.2f}"
            assert cells[1] == f"{difference} [{low}, {high}]"
            assert cells[2] == f"{result.p:.4f}"


def test_cxc_has_the_published_number_of_rated_pairs(reference_dir):
    """Parekh et al. 2021, table 1: all pairs, and those of each sampling method."""
    captions = coco_test_captions(reference_dir)

    results = semmetrics.meta(
        reference_dir / "cxc" / "sits_test.csv",
        captions.by_sentence,
        captions.by_image,
        protocol="cxc-sits",
        measures="ROUGE-L",
        resamples=2,
    )

    assert {result.group: result.n for result in results} == {
        "all": 44_833,
        "c2i_intrasim": 19_833,
        "c2i_original": 25_000,
    }
    assert {result.statistic for result in results} == {"pearson", "spearman"}
