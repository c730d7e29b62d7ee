"""``semmetrics list``, ``explain`` and ``cite``."""

import json
import re
import shlex

import numpy as np
import pytest
from stand_ins import meteor_programs

from semmetrics.kinds.labels.normalization import NORMALIZATIONS
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.registry import aliases, all_definitions, kinds_of
from semmetrics.options import AGREEMENT, FORMATS
from semmetrics.scoring.protocols import AGREEMENT_PROTOCOLS, PROTOCOLS
from semmetrics.studies.explain import bibliography
from semmetrics.text.official_parser import OfficialParser

DEFINITIONS = {definition.name: definition for definition in all_definitions()}
SPICE = ("SPICE", "SPIDEr", "Soft-SPICE")


def unwrap(text):
    """Return a text with single spaces instead of line breaks."""
    return " ".join(text.split())


def test_list_shows_every_name(ok):
    text = ok("list")

    for name in [*DEFINITIONS, *aliases(), *PROTOCOLS, *NORMALIZATIONS, *FORMATS]:
        assert f"  {name} " in text
    for definition in DEFINITIONS.values():
        assert definition.summary in text


@pytest.mark.parametrize(
    "topic", ["measures", "protocols", "normalizations", "formats"]
)
def test_a_topic_is_a_part_of_the_list(ok, topic):
    part = ok("list", topic)

    assert part in ok("list")
    assert ("kubany2020" in part) == (topic in ("protocols", "normalizations"))


@pytest.mark.parametrize(
    "definition",
    all_definitions(),
    ids=lambda definition: f"{definition.kind} {definition.name}",
)
@pytest.mark.sampled(30)
def test_the_explanation_of_a_measure_has_its_equation_source_and_options(
    ok, definition
):
    text = ok("explain", definition.name)

    start = text.index(f"{definition.name}: {definition.summary}\n")
    section = text[start:].partition(f"\n\n{definition.name}: ")[0]
    for part in (definition.equation, definition.source, *definition.averages):
        assert unwrap(part) in unwrap(section)
    for option in definition.options:
        is_fixed_policy = len(option.choices) == 1 and option.choices[0] in POLICIES
        assert (f"\n  {option.name} " in section) != is_fixed_policy
    assert "better" in section


@pytest.fixture
def shipped(example, tmp_path):
    """Return a path for each file that the examples of explanations name."""
    (preds, *_), gt = example
    folder = gt.parents[1]
    predicted = json.loads(preds.read_text(encoding="utf-8"))["1.jpg"]
    true = json.loads(gt.read_text(encoding="utf-8"))["1.jpg"]
    names = sorted({*predicted, *true})
    scored = [[label, 1 / rank] for rank, label in enumerate(predicted, 1)]
    texts = {
        "scores.json": json.dumps({"1.jpg": scored}),
        "taxonomy.json": json.dumps(dict.fromkeys(names, "thing")),
        "classes.txt": "\n".join(names),
        "truth.txt": "\n".join(names),
        "seen.txt": "\n".join(names[1:]),
        "unseen.txt": names[0],
        "positives.json": json.dumps([[row, row + 1] for row in range(0, 10, 2)]),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    similarities = np.random.default_rng(1).random((5, 10))
    np.save(tmp_path / "sims.npy", similarities)
    np.save(tmp_path / "phi.npy", similarities)
    np.save(tmp_path / "scores.npy", np.eye(len(names)))
    paths = {path.name: path for path in tmp_path.iterdir()}
    return paths | {
        "preds.json": preds,
        "gt.json": gt,
        "captions.json": folder / "captions" / "model_a.json",
        "references.json": folder / "captions" / "references.json",
    }


@pytest.mark.parametrize("name", [*DEFINITIONS, *aliases(), *PROTOCOLS])
@pytest.mark.sampled(40)
def test_the_command_in_an_explanation_can_be_run(ok, shipped, name):
    reason = OfficialParser().missing() if name in SPICE else ""
    if reason:
        pytest.skip(reason)

    text = ok("explain", name)

    commands = re.findall(r"^  semmetrics (score .*)$", text, re.MULTILINE)
    assert len(commands) == max(1, len(kinds_of(name)))
    for command in commands:
        words = [shipped.get(word, word) for word in shlex.split(command)]
        with meteor_programs():
            assert json.loads(ok(*words, "--format", "json"))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_explanation_of_a_protocol_has_its_measures(ok, name):
    text = ok("explain", name)

    for heading in PROTOCOLS[name].entries:
        assert f"\n  {heading} " in text


@pytest.mark.parametrize("name", AGREEMENT_PROTOCOLS)
def test_the_explanation_of_a_protocol_of_agreement_has_its_statistics(ok, name):
    protocol = AGREEMENT_PROTOCOLS[name]

    text = unwrap(ok("explain", name))

    assert text.startswith(f"{name}: {protocol.title} source {protocol.source}")
    for statistic in protocol.statistics:
        assert AGREEMENT[statistic] in text
    for role, column in protocol.columns.items():
        assert f"{role}={column}" in text
    assert f"semmetrics meta --protocol {name} " in text
    assert text.endswith(protocol.files)


@pytest.mark.parametrize("command", ["explain", "cite"])
def test_one_error_lists_all_unknown_names(refused, command):
    refusal = refused(command, "F1@x", "F2", "F1", "kubany")

    assert "3 measures are not valid" in refusal
    assert "FBeta" in refusal
    assert "Did you mean kubany2020?" in refusal


def test_a_publication_is_cited_once(ok):
    text = ok("cite F1 Precision kubany2020")

    assert text.count("@article{kubany2020,") == 1
    assert text.count("@inproceedings{godbole2004,") == 1


def test_options_do_not_change_the_citation(ok):
    assert ok("cite F1(average=macro)@3") == ok("cite F1")


@pytest.mark.parametrize("name", [*DEFINITIONS, *PROTOCOLS, *AGREEMENT_PROTOCOLS])
@pytest.mark.sampled(40)
def test_every_measure_and_protocol_can_be_cited(run, name):
    result = run("cite", name)

    if name in DEFINITIONS and not DEFINITIONS[name].cite:
        assert f"{name} cites no publication" in result.stderr
    else:
        assert result.stdout.startswith("@")


@pytest.mark.parametrize("key", bibliography())
@pytest.mark.sampled(30)
def test_an_entry_of_the_bibliography_is_complete_bibtex(key):
    entry = bibliography()[key]

    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    body = f"{{{key},\n" + ",\n".join(lines) + "\n}"
    assert re.fullmatch(r"@[a-z]+", entry.removesuffix(body))
    assert {"author", "title", "year"} <= set(fields)
    assert fields["year"] == key[-4:]
