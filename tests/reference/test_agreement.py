"""Agreement of caption measures with the experts of Flickr8k: what the page says is what comes out.

Sources: tau-c of the released code and of the published rows of SPICE (Hessel et al. 2021).
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

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
    rows = re.findall(
        r"^\| `(.*?)` \| (\d.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {name: [cell.strip() for cell in cells.split(" | ")] for name, cells in rows}


def test_the_page_has_the_published_figures(page):
    found = {name: float(page[name][0].split()[0]) for name in PUBLISHED}
    assert found == PUBLISHED
    assert len(page) == 15


def test_every_measure_of_captions_agrees_as_the_page_says(reference_dir, page):
    measures = list(page)
    if not find_spec("pycocoevalcap"):  # it has the synonyms
        measures = [
            name for name in page if not name.startswith(("METEOR", "SPICE", "SPIDEr"))
        ]
    found = semmetrics.meta(
        reference_dir / "flickr8k" / "flickr8k_expert.json",
        protocol="flickr8k-expert",
        measures=measures,
        baseline="CIDEr-D",
        tuples=reference_dir / "spice" / "raw_tuples_flickr8k.jsonl.gz",
    )
    for one in found:
        value = f"{100 * one.value:.3f} [{100 * one.low:.2f}, {100 * one.high:.2f}]"
        assert value == page[one.heading][0]
        if one.heading != "CIDEr-D":
            ends = (one.difference, one.difference_low, one.difference_high)
            text = "{:+.2f} [{:+.2f}, {:+.2f}]".format(*(100 * end for end in ends))
            assert text == page[one.heading][1]
            assert f"{one.p:.4f}" == page[one.heading][2]


def test_ratings_of_pairs_of_cxc(reference_dir):
    """The number of rated pairs, and those by way of sampling (Parekh et al. 2021, table 1)."""
    captions, references = {}, {}
    lines = (
        (reference_dir / "coco" / "coco_karpathy_test5k.tsv")
        .read_text("utf-8")
        .splitlines()
    )
    for image, sentence, text in (line.split("\t") for line in lines[1:]):
        captions[sentence] = text
        references.setdefault(image, []).append(text)
    found = semmetrics.meta(
        reference_dir / "cxc" / "sits_test.csv",
        captions,
        references,
        protocol="cxc-sits",
        measures="ROUGE-L",
        resamples=2,
    )
    assert {one.group: one.n for one in found} == {
        "all": 44_833,
        "c2i_intrasim": 19_833,
        "c2i_original": 25_000,
    }
    assert {one.statistic for one in found} == {"pearson", "spearman"}
