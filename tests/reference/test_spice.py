"""SPICE compared bit for bit with the official program."""

import math
import random
import shutil
import subprocess
from dataclasses import replace
from subprocess import DEVNULL, PIPE
from typing import NamedTuple

import numpy as np
import pytest
from reference_data import raw_tuples, read_json, read_json_lines

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


class Example(NamedTuple):
    """The example of the COCO caption code.

    Attributes
    ----------
    candidates, references : dict of list of str
        Captions by image.
    tuples : dict of list
        By caption.
    official : dict of dict
        The scores of the official program by image.
    """

    candidates: dict
    references: dict
    tuples: dict
    official: dict


@pytest.fixture
def example(reference_dir, fakecap):
    references, candidates = fakecap
    tuples = raw_tuples(reference_dir, "fakecap")
    official = read_json(reference_dir / "spice" / "official_fakecap_scores.json.gz")
    return Example(candidates, references, tuples, official)


FAKECAP_SPICE = 0.1328946160377789


def example_graphs(example):
    """Return the tuples of the candidate and of the references of each image."""
    candidates = []
    references = []
    for image, captions in example.references.items():
        (candidate,) = example.candidates[image]
        candidates.append(example.tuples[candidate])
        references.append([example.tuples[caption] for caption in captions])
    return candidates, references


def test_the_example_has_the_official_scores(example):
    candidates, references = example_graphs(example)

    f = spice_scores(candidates, references)["All"]["f"].tolist()

    assert f == [example.official[image]["All"]["f"] for image in example.references]
    assert math.fsum(f) / 1000 == pytest.approx(FAKECAP_SPICE, abs=1e-16)


def test_the_official_mean_is_within_the_range_of_ties(example):
    concepts = Concepts(open_synonyms())

    lows = []
    highs = []
    for candidate, references in zip(*example_graphs(example), strict=True):
        low, high, is_complete = spice_range(candidate, references, concepts)
        assert is_complete
        lows.append(low)
        highs.append(high)

    assert math.fsum(lows) / 1000 == pytest.approx(0.13288891803208092, abs=1e-15)
    assert math.fsum(highs) / 1000 == pytest.approx(FAKECAP_SPICE, abs=1e-15)


def test_the_adapter_has_the_official_scores(example, monkeypatch, tmp_path):
    def parse(parser, captions):
        return (example.tuples[caption] for caption in captions)

    monkeypatch.setattr(OfficialParser, "parse", parse)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))  # an empty cache

    value, items = Spice().compute_score(example.references, example.candidates)

    assert value == pytest.approx(FAKECAP_SPICE, abs=1e-15)
    for image, item in zip(sorted(example.references), items, strict=True):
        official = example.official[image]["All"]
        assert {name: item["All"][name] for name in official} == official


def test_flickr8k_has_the_published_rows(reference_dir):
    tuples = raw_tuples(reference_dir, "flickr8k")
    judged = read_json(reference_dir / "flickr8k" / "flickr8k_expert.json")
    published = read_json(reference_dir / "spice" / "flickr8k_SPICE_test_out.json")
    candidates = []
    references = []
    for image in judged.values():
        graphs = [tuples[text.strip()] for text in image["ground_truth"]]
        for rating in image["human_judgement"]:
            candidates.append(tuples[rating["caption"].strip()])
            references.append(graphs)

    scores = spice_scores(candidates, references)["All"]

    assert len(published) == 16_992
    for official_name in ("f", "pr", "re", "tp"):
        column = OFFICIAL_COLUMNS[official_name]
        expected = [row["scores"]["All"][official_name] for row in published]
        assert scores[column].tolist() == expected


# ---- the measure --------------------------------------------------------------------------------


def test_the_measure_has_the_official_value_and_notes_ties(reference_dir, example):
    table = semmetrics.score(
        example.candidates,
        example.references,
        measures="SPICE(parser=given)",
        tokenizer="whitespace",
        tuples=reference_dir / "spice" / "raw_tuples_fakecap.jsonl.gz",
    )

    assert table[0].value == pytest.approx(FAKECAP_SPICE, abs=1e-15)
    (note,) = [note for note in table.notes if "ties" in note]
    assert "SPICE of 1 item depends on ties" in note
    assert "may print 5.7e-06 less to 0 more" in note


def tau_with_experts(reference_dir, **options):
    """Return Kendall's tau-c of items and the experts' ratings, in percent."""
    table = semmetrics.meta(
        reference_dir / "flickr8k" / "flickr8k_expert.json",
        protocol="flickr8k-expert",
        resamples=2,
        **options,
    )
    assert table[0].statistic == "kendall-c"
    assert table[0].n == 16_992
    return 100 * table[0].value


def test_the_correlation_with_the_experts_of_flickr8k(reference_dir):
    tau = tau_with_experts(
        reference_dir,
        measures="SPICE(parser=given,captions=written)",
        tuples=reference_dir / "spice" / "raw_tuples_flickr8k.jsonl.gz",
    )

    assert tau == pytest.approx(44.7706, abs=5e-5)


# ---- the parser ---------------------------------------------------------------------------------


@pytest.fixture
def parser(own_home, tmp_path, monkeypatch):
    """The official parser, if it is installed."""
    (tmp_path / jar_folder().name).symlink_to(own_home / jar_folder().name)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    official_parser = OfficialParser(processors=2)
    reason = official_parser.missing()
    if reason:
        pytest.skip(reason)
    return official_parser


LONG_CAPTION = "the man with a hat in the park near the house that was built by " * 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        ({"memory": "300M"}, "it needs more memory than Java may take"),
        ({"seconds": 15}, "it takes longer than 15 seconds"),
    ],
)
def test_a_caption_that_exceeds_a_limit_does_not_affect_others(parser, limit, problem):
    """CoreNLP continues without a parse if memory runs out."""
    captions = ["a dog runs", LONG_CAPTION, "a cat sits"]
    limited_parser = replace(parser, processors=1, **limit)

    first, long, last = limited_parser.parse(captions)

    assert first == [["dog", "run"], ["dog"]]
    assert problem in str(long)
    assert last == [["cat", "sit"], ["cat"]]


def test_the_program_ends_if_its_output_is_closed(parser):
    with subprocess.Popen(
        parser.command(), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    ) as process:
        process.stdin.write(b"a dog\n" * 10_000)
        process.stdin.close()
        assert process.stdout.readline() == b'{"tuples": [["dog"]]}\n'

        process.stdout.close()

        assert process.wait(60) == 0


@pytest.mark.slow
def test_the_correlation_with_the_experts_of_flickr8k_from_captions(
    reference_dir, parser, own_home, tmp_path
):
    for path in own_home.glob("parses.sqlite*"):  # Captions are parsed only once.
        shutil.copy(path, tmp_path)

    assert tau_with_experts(reference_dir, measures="SPICE") == pytest.approx(
        44.888, abs=5e-4
    )


def test_parses_do_not_depend_on_the_users_language(parser, monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=tr -Dfile.encoding=UTF-16")

    (tuples,) = parser.parse(
        ["a man dressed as an Indian , speaking into a microphone"]
    )

    assert tuples == [
        ["man", "indian", "dress as"],
        ["microphone"],
        ["indian"],
        ["man"],
    ]


@pytest.mark.parametrize("name", ["fakecap", "coco_test5k", "flickr8k"])
def test_a_sample_of_captions_has_the_tuples_of_the_reference_data(
    reference_dir, parser, name
):
    tuples = raw_tuples(reference_dir, name)
    captions = random.Random(0).sample(sorted(tuples), 150)

    parsed = list(parser.parse(captions))

    assert parsed == [tuples[caption] for caption in captions]
