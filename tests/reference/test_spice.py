"""SPICE against the official program, bit for bit."""

import gzip
import json
import math
import random
import shutil
import subprocess
from dataclasses import replace
from subprocess import DEVNULL, PIPE

import numpy as np
import pytest
from reference_data import raw_tuples, read_json_lines

import semmetrics
from semmetrics.adapters.pycocoevalcap import Spice
from semmetrics.metrics.spice import spice_scores
from semmetrics.metrics.tuple_matching import CATEGORIES, spice_range
from semmetrics.text.concepts import Concepts
from semmetrics.text.java import jar_folder
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.synonyms import open_synonyms

pytest.importorskip("pycocoevalcap")

OFFICIAL_COLUMNS = {
    "f": "f",
    "pr": "precision",
    "re": "recall",
    "tp": "tp",
    "fp": "fp",
    "fn": "fn",
}


@pytest.mark.parametrize("name", ["official_cases", "official_flickr_tuples"])
def test_items_have_the_official_scores(reference_dir, name):
    items = read_json_lines(reference_dir / "spice" / f"{name}.jsonl.gz")
    candidates = [item["test"] for item in items]
    references = [item["refs"] for item in items]

    scores = spice_scores(candidates, references)

    for category in CATEGORIES:
        for official_name, column in OFFICIAL_COLUMNS.items():
            expected = []
            for item in items:
                value = item["scores"][category][official_name]
                expected.append(math.nan if value is None else value)
            np.testing.assert_array_equal(scores[category][column], expected)


@pytest.fixture
def scored(reference_dir, fakecap):
    """Candidates and references by image, the tuples of captions, and the official scores."""
    gts, res = fakecap
    scores = (reference_dir / "spice" / "official_fakecap_scores.json.gz").read_bytes()
    return (
        res,
        gts,
        raw_tuples(reference_dir, "fakecap"),
        json.loads(gzip.decompress(scores)),
    )


def test_fakecap(scored):
    res, gts, tuples, official = scored
    candidates = [tuples[res[image][0]] for image in gts]
    references = [[tuples[text] for text in texts] for texts in gts.values()]
    found = spice_scores(candidates, references)["All"]
    assert found["f"].tolist() == [official[image]["All"]["f"] for image in gts]
    assert math.fsum(found["f"]) / 1000 == pytest.approx(0.1328946160377789, abs=1e-16)

    concepts = Concepts(open_synonyms())
    ranges = [
        spice_range(*pair, concepts)
        for pair in zip(candidates, references, strict=True)
    ]
    assert all(complete for *_, complete in ranges)
    low, high = (
        math.fsum(values) / 1000 for values in list(zip(*ranges, strict=True))[:2]
    )
    assert low == pytest.approx(0.13288891803208092, abs=1e-15)
    assert high == pytest.approx(0.1328946160377789, abs=1e-15)


def test_fakecap_by_the_adapter(scored, monkeypatch, tmp_path):
    # what it keeps is for it alone
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    res, gts, tuples, official = scored
    monkeypatch.setattr(
        OfficialParser,
        "parse",
        lambda self, captions: (tuples[one] for one in captions),
    )
    value, items = Spice().compute_score(gts, res)
    assert value == pytest.approx(0.1328946160377789, abs=1e-15)
    for image, one in zip(sorted(gts), items, strict=True):
        assert {key: one["All"][key] for key in official[image]["All"]} == official[
            image
        ]["All"]


def test_the_published_rows_of_flickr8k(reference_dir):
    tuples = raw_tuples(reference_dir, "flickr8k")
    expert = json.loads(
        (reference_dir / "flickr8k" / "flickr8k_expert.json").read_text()
    )
    published = json.loads(
        (reference_dir / "spice" / "flickr8k_SPICE_test_out.json").read_text()
    )
    candidates, references = [], []
    for image in expert.values():
        several = [tuples[text.strip()] for text in image["ground_truth"]]
        for judged in image["human_judgement"]:
            candidates.append(tuples[judged["caption"].strip()])
            references.append(several)
    found = spice_scores(candidates, references)["All"]
    assert len(published) == 16_992
    for key, ours in (("f", "f"), ("pr", "precision"), ("re", "recall"), ("tp", "tp")):
        assert found[ours].tolist() == [row["scores"]["All"][key] for row in published]


# ---- the measure --------------------------------------------------------------------------------


def test_fakecap_as_a_measure(reference_dir, scored):
    tuples = reference_dir / "spice" / "raw_tuples_fakecap.jsonl.gz"
    options = {"tokenizer": "whitespace", "tuples": tuples}
    table = semmetrics.score(*scored[:2], measures="SPICE(parser=given)", **options)
    assert table[0].value == pytest.approx(0.1328946160377789, abs=1e-15)
    (note,) = (note for note in table.notes if "ties" in note)
    assert "SPICE of 1 item depends on ties" in note
    assert "may print 5.7e-06 less to 0 more" in note


def tau_with_experts(reference_dir, **options):
    """Kendall's tau-c of items with the experts' ratings, in percent."""
    table = semmetrics.meta(
        reference_dir / "flickr8k" / "flickr8k_expert.json",
        protocol="flickr8k-expert",
        resamples=2,
        **options,
    )
    assert (table[0].statistic, table[0].n) == ("kendall-c", 16_992)
    return 100 * table[0].value


def test_the_experts_of_flickr8k(reference_dir):
    found = tau_with_experts(
        reference_dir,
        measures="SPICE(parser=given,captions=written)",
        tuples=reference_dir / "spice" / "raw_tuples_flickr8k.jsonl.gz",
    )
    assert round(found, 4) == 44.7706


# ---- the parser ---------------------------------------------------------------------------------


@pytest.fixture
def parser(own_home, tmp_path, monkeypatch):
    """The official parser, where it was set up."""
    (tmp_path / jar_folder().name).symlink_to(own_home / jar_folder().name)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    found = OfficialParser(processors=2)
    if reason := found.missing():
        pytest.skip(reason)
    return found


LONG = " ".join(
    ["the man with a hat in the park near the house that was built by"] * 20
)


@pytest.mark.slow
def test_captions_that_take_too_much(parser):
    """CoreNLP goes on without a parse where memory runs out, which is no parse of the caption."""
    captions = ["a dog runs", LONG, "a cat sits"]
    for limits, problem in (
        ({"memory": "300M"}, "it needs more memory than Java may take"),
        ({"seconds": 15}, "it takes longer than 15 seconds"),
    ):
        first, long, last = replace(parser, processors=1, **limits).parse(captions)
        assert first == [["dog", "run"], ["dog"]]
        assert last == [["cat", "sit"], ["cat"]]
        assert problem in str(long)


def test_the_program_ends_when_nobody_reads(parser):
    process = subprocess.Popen(
        parser._command(), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    process.stdin.write(b"a dog\n" * 10_000)
    process.stdin.close()
    assert process.stdout.readline() == b'{"tuples": [["dog"]]}\n'
    process.stdout.close()
    assert process.wait(60) == 0


@pytest.mark.slow
def test_the_experts_of_flickr8k_in_tokens(reference_dir, parser, own_home, tmp_path):
    # what was parsed before is not parsed again
    for path in own_home.glob("parses.sqlite*"):
        shutil.copy(path, tmp_path)
    assert round(tau_with_experts(reference_dir, measures="SPICE"), 3) == 44.888


def test_parses_do_not_depend_on_the_users_language(parser, monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=tr -Dfile.encoding=UTF-16")
    found = list(
        parser.parse(["a man dressed as an Indian , speaking into a microphone"])
    )
    assert found == [
        [["man", "indian", "dress as"], ["microphone"], ["indian"], ["man"]]
    ]


@pytest.mark.parametrize("name", ["fakecap", "coco_test5k", "flickr8k"])
def test_the_official_parser(reference_dir, parser, name):
    tuples = raw_tuples(reference_dir, name)
    captions = random.Random(0).sample(sorted(tuples), 150)
    assert list(parser.parse(captions)) == [tuples[caption] for caption in captions]
