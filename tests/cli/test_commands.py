"""The commands beside ``score``."""

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
from semmetrics.scoring.protocols import AGREEMENT_PROTOCOLS, OWN_REFERENCES, PROTOCOLS
from semmetrics.studies.explain import bibliography
from semmetrics.text.official_parser import OfficialParser

DEFINITIONS = {definition.name: definition for definition in all_definitions()}


# ---- validate ---------------------------------------------------------------------------------


def test_the_order_of_each_pair_of_labels(ok, refused, tmp_path):
    path = tmp_path / "lists.json"
    path.write_text(
        json.dumps([["a", "b", "c"], ["b", "a"], ["a", "b"]]), encoding="utf-8"
    )
    ok("validate", "--order", tmp_path / "pairs.csv", path)
    text = (tmp_path / "pairs.csv").read_text(encoding="utf-8")
    assert text == (
        "first,second,before,after,order\na,c,1,0,1.0\nb,c,1,0,1.0\na,b,2,1,0.6666666666666666\n"
    )
    two = ("--order", tmp_path / "pairs.csv", path, path)
    assert refused("validate", *two).code == "not-applicable"


def test_positives_of_images_of_the_same_classes(ok, refused, tmp_path):
    names = {
        "classes": {"1": ["cat"], "2": ["cat"], "3": ["cat", "dog"], "4": []},
        "own": {"1": ["a"], "2": ["b", "c"], "3": ["d"], "4": ["e"]},
    }
    paths = {name: tmp_path / f"{name}.json" for name in names}
    for name, path in paths.items():
        path.write_text(json.dumps(names[name]), encoding="utf-8")
    out = tmp_path / "out.json"
    assert (
        ok("positives", "-o", out, *paths.values()) == f"{out}: positives of 3 images\n"
    )
    assert json.loads(out.read_text(encoding="utf-8")) == {
        "1": ["a", "b", "c"],
        "2": ["a", "b", "c"],
        "3": ["d"],
    }
    run = tmp_path / "run.json"
    run.write_text(
        json.dumps({"1": ["a", "d"], "2": ["d", "b"], "3": ["a", "d"]}),
        encoding="utf-8",
    )
    assert "PMRP" in ok("score", "-q", "-m", "PMRP", run, out)


# ---- list, explain, cite ----------------------------------------------------------------------


def test_list(ok):
    text = ok("list")
    for name in [*DEFINITIONS, *aliases(), *PROTOCOLS, *NORMALIZATIONS, *FORMATS]:
        assert f"  {name} " in text
    for definition in DEFINITIONS.values():
        assert definition.summary in text
    measures = ok("list", "measures")
    assert "kubany2020" not in measures
    assert measures in text
    for topic in ("protocols", "normalizations", "formats"):
        assert ok("list", topic) in text


@pytest.mark.parametrize(
    "definition", all_definitions(), ids=lambda one: f"{one.kind} {one.name}"
)
def test_explain_measures(ok, definition):
    name, text = definition.name, ok("explain", definition.name)
    assert text.startswith(f"{name}: ")
    text = text[text.index(f"{name}: {definition.summary}\n") :]
    text = text.partition(f"\n\n{name}: ")[0]  # of another kind
    flat = " ".join(text.split())
    for part in (definition.equation, definition.source, *definition.averages):
        assert " ".join(part.split()) in flat
    for option in definition.options:  # a policy without a choice is not shown
        settled = len(option.choices) == 1 and option.choices[0] in POLICIES
        assert (f"\n  {option.name} " in text) != settled
    assert "better" in text
    assert "semmetrics score -m " in text


NUMBERS = ("sims.npy", "phi.npy", "positives.json", "scores.npy")


@pytest.fixture
def shipped(example, tmp_path):
    """For each file that examples name, one that is shipped, or made of those that are."""
    (preds, *_), gt = example
    lists = {
        path: json.loads(path.read_text(encoding="utf-8"))["1.jpg"]
        for path in (preds, gt)
    }
    names = sorted({label for labels in lists.values() for label in labels})
    scored = {
        "1.jpg": [[label, 1 / rank] for rank, label in enumerate(lists[preds], 1)]
    }
    made = {
        "scores.json": json.dumps(scored),
        "taxonomy.json": json.dumps(dict.fromkeys(names, "thing")),
        "classes.txt": "\n".join(names),
        "truth.txt": "\n".join(names),
        "seen.txt": "\n".join(names[1:]),
        "unseen.txt": names[0],
    }
    for name, text in made.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    captions, retrieval = (gt.parents[1] / name for name in ("captions", "retrieval"))
    rows = json.loads((retrieval / "similarities.json").read_text(encoding="utf-8"))
    positives = [[row, row + 1] for row in range(0, 2 * len(rows), 2)]
    five = np.vstack([rows, rows[:2]])  # rows, as many as there are folds
    wide = np.hstack([five, five[:, :4]])
    np.save(tmp_path / "sims.npy", wide)
    np.save(tmp_path / "scores.npy", np.eye(len(names)))
    np.save(tmp_path / "phi.npy", np.maximum(0, wide - wide.mean()))
    positives += [[6, 7], [8, 9]]
    (tmp_path / "positives.json").write_text(json.dumps(positives), encoding="utf-8")
    return {
        **{name: tmp_path / name for name in NUMBERS},
        **{name: tmp_path / name for name in made},
        "preds.json": preds,
        "gt.json": gt,
        "captions.json": captions / "model_a.json",
        "references.json": captions / "references.json",
    }


@pytest.mark.parametrize("name", [*DEFINITIONS, *aliases(), *PROTOCOLS])
def test_examples_run_on_the_shipped_files(ok, shipped, name):
    if name in ("SPICE", "SPIDEr", "Soft-SPICE") and (
        reason := OfficialParser().missing()
    ):
        pytest.skip(reason)
    text = ok("explain", name)
    commands = [
        line for line in text.split("\n") if line.startswith("  semmetrics score ")
    ]
    assert len(commands) == max(1, len(kinds_of(name)))
    for command in commands:
        arguments = [str(shipped.get(word, word)) for word in shlex.split(command)[1:]]
        with meteor_programs():
            assert json.loads(ok(*arguments, "--format", "json"))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_explain_protocols(ok, name):
    text = ok("explain", name)
    for heading in PROTOCOLS[name].entries:
        assert f"\n  {heading} " in text


@pytest.mark.parametrize(
    "protocol", AGREEMENT_PROTOCOLS.values(), ids=AGREEMENT_PROTOCOLS
)
def test_explain_protocols_of_agreement(ok, protocol):
    text = " ".join(ok("explain", protocol.name).split())
    assert text.startswith(
        f"{protocol.name}: {protocol.title} source {protocol.source}"
    )
    for said in (
        *(AGREEMENT[name] for name in protocol.statistics),
        *(f"{role}={name}" for role, name in protocol.columns.items()),
        f"{'preferences' if protocol.preferences else 'ratings'}",
        f"{protocol.expected:,} in papers" if protocol.expected else "",
        OWN_REFERENCES[protocol.own_references],
        protocol.group_by or "",
        protocol.ids or "",
        f"semmetrics meta --protocol {protocol.name} ",
    ):
        assert said in text
    assert text.endswith(protocol.files)


def test_unknown_names_are_told_together(refused):
    for command in ("explain", "cite"):
        message = refused(command, "F1@x", "F2", "F1", "kubany")
        assert "3 measures are not valid" in message
        assert "FBeta" in message
        assert "Did you mean kubany2020?" in message


def test_cite(ok):
    text = ok("cite", "F1", "Precision", "kubany2020")
    assert text.count("@article{kubany2020,") == 1
    assert text.count("@inproceedings{godbole2004,") == 1
    assert ok("cite", "F1(average=macro)@3") == ok("cite", "F1")
    assert ok("cite", "HammingLoss").count("Mining Multi-label Data") == 1


@pytest.mark.parametrize("name", [*DEFINITIONS, *PROTOCOLS, *AGREEMENT_PROTOCOLS])
def test_everything_can_be_cited(ok, run, name):
    # of no publication that has a name
    if name in DEFINITIONS and not DEFINITIONS[name].cite:
        assert f"{name} cites no publication" in run("cite", name).stderr
        return
    text = ok("cite", name)
    assert text.startswith("@")
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("key", bibliography())
def test_entries_are_complete(key):
    found = bibliography()[key]
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", found, re.M))
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    assert re.fullmatch(r"@[a-z]+", found.removesuffix(f"{{{key},\n{lines}\n}}"))
    assert {"author", "title", "year"} <= set(fields)
    assert fields["year"] == key[-4:]


# ---- completion -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {"score", "validate", "completion"}),
        ("score --protocol k", {"kubany2020"}),
        ("score --normalize ", {"none", "lower", "kubany2020"}),
        ("score --format ma", {"markdown"}),
        ("score --input-format j", {"json", "jsonl"}),
        ("score --decode thr", {"threshold:0.5", "threshold:best"}),
        ("explain flickr", {"flickr8k-expert", "flickr8k-cf"}),
        ("rank -m O", {"O-F1"}),
        ("list ", {"measures", "formats"}),
        ("completion z", {"zsh"}),
        ("score --help c", {"captions", "classes"}),
    ],
)
def test_completion(words, expected):
    from click.shell_completion import ShellComplete

    from semmetrics.cli.app import program

    *before, incomplete = words.split(" ")
    found = ShellComplete(
        program, {}, "semmetrics", "_SEMMETRICS_COMPLETE"
    ).get_completions(before, incomplete)
    assert expected <= {item.value for item in found}
    assert all(i.value.lower().startswith(incomplete.lower()) for i in found)
