"""The commands beside ``score``."""

import csv
import importlib
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from refusals import is_refusal

import semmetrics
from semmetrics.kinds.labels.normalization import NORMALIZATIONS
from semmetrics.metrics.bibliography import SAME, bibliography, entry
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.meteor import METEOR_PROGRAM
from semmetrics.metrics.registry import aliases, all_definitions, kinds_of
from semmetrics.options import AGREEMENT, FORMATS
from semmetrics.scoring.protocols import AGREEMENT_PROTOCOLS, OWN_REFERENCES, PROTOCOLS
from semmetrics.text.java import OfficialParser

DEFINITIONS = {definition.name: definition for definition in all_definitions()}

COMMANDS = (
    "score",
    "compare",
    "validate",
    "list",
    "explain",
    "embed",
    "cite",
    "rank",
    "completion",
)

# ---- help -------------------------------------------------------------------------------------


def test_help_names_commands_and_exit_codes(ok):
    text = ok("--help")
    for name in COMMANDS:
        assert f"  {name} " in text
    assert "Exit codes: 0 done; 2 the input or an option is wrong" in text
    assert "semmetrics score preds.json gt.json" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_commands_has_examples(ok, name):
    text = ok(name, "--help")
    assert "Examples:\n  " in text
    assert f"semmetrics {name}" in text
    assert "Exit codes" in text


def test_help_groups_options(ok):
    text = ok("score", "--help")
    titles = ["What is computed:", "What the data are:", "How files are read:", "Output:"]
    places = [text.index(f"\n{title}\n") for title in titles]
    assert places == sorted(places)
    assert text.index("--protocol") < places[1]


def shown(ok, *command):
    """The options that a help shows, those of its examples left out."""
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", ok(*command, "--help"), re.MULTILINE))


def test_options_that_can_have_no_effect_are_left_out(ok, refused):
    labels = {"--classes", "--label-column", "--score-column", "--label-delimiter"}
    every = shown(ok, "score")
    for command in (("sweep",), ("calibrate",), ("embed", "coverage")):
        assert shown(ok, *command) >= labels
        assert "--caption-column" not in shown(ok, *command)
        assert refused(*command, "--caption-column", "x", "a", "b").code == "UsageError"
    for command in ("doc-freq", "pairs"):
        assert not labels & shown(ok, command)
        assert "--caption-column" in shown(ok, command)
        assert "npy, npz" not in ok(command, "--help")
        for name in sorted(labels):
            assert is_refusal(refused(command, name, "x", "a", "b"), name)
    assert labels | {"--caption-column"} <= every & shown(ok, "validate")


def test_help_names_the_formats(ok):
    listed = " ".join(ok("score", "--help").split())
    assert (
        f"{', '.join([*FORMATS][:-1])} or {[*FORMATS][-1]}. The default is told by the extension."
        in listed
    )
    assert "CSV or TSV with the columns child and parent, wordnet, or wordnet:FOLDER" in listed
    assert "JSON, CSV, TSV, or WordNet" in " ".join(ok("explain", "hF").split())


def test_version(ok):
    import semmetrics

    assert ok("--version") == f"semmetrics {semmetrics.__version__}\n"


def test_without_a_command(run):
    result = run()
    assert "Commands:" in result.stdout + result.stderr
    assert "semmetrics: error" not in result.stderr


def test_unknown_commands(refused, files):
    assert refused("scroe", "a.json", "gt.json").code == "UsageError"
    assert refused("a.json", "gt.json").code == "UsageError"
    assert refused("zzz").code == "UsageError"


# ---- validate ---------------------------------------------------------------------------------


def test_validate_says_what_was_read(ok, files):
    text = ok("validate", "a.json", "b.json")
    assert "a.json: JSON, {id: [labels]}\n" in text
    assert "4, known by id" in text
    assert "7 labels, 3 distinct" in text
    assert "1.75 (0.96) mean (std), from 1 to 3" in text
    assert "cat 3, dog 3, cow 1" in text
    assert "from 0.1 to 0.9" in text
    assert "1 of 4 items with a repeated label: '4'" in text
    assert "1 of 4 items not listed by falling score" in text


def test_validate_as_json(ok, files):
    Path("many.json").write_text(
        json.dumps({str(i): [f"label {j}" for j in range(i)] for i in range(30)}), encoding="utf-8"
    )
    (report,) = json.loads(ok("validate", "many.json", "--format", "json"))
    assert report["schema"] == "semmetrics.validation/1"
    assert report["error"] is None
    assert len(report["frequencies"]) == 29
    assert report["frequencies"][0] == {"label": "label 0", "count": 29}
    assert report["cardinality"]["histogram"] == [1] * 30
    assert report["cardinality"]["mean"] == 14.5
    assert report["order"] == {"mean": 1.0, "pairs": 29 * 28 // 2}
    assert any("in more than 95% of the items" in line for line in report["odd"])
    assert any("in one item alone" in line for line in report["odd"])


def test_validate_shows_what_the_function_gives(ok, files):
    for name in ("gt.json", "captions.json"):
        shown = json.loads(ok("validate", "--format", "json", name))
        assert shown == [semmetrics.validate(name)]


def test_validate_finds_what_is_odd(ok, files):
    content = {" 1": ["Cat", "cat", " dog", "a\tb"], "1": [], "3": [["Cat", "kitty"]]}
    Path("odd.json").write_text(json.dumps(content), encoding="utf-8")
    (report,) = json.loads(ok("validate", "odd.json", "--format", "json"))
    lines = "\n".join(report["odd"])
    for expected in (
        "1 of 3 items without labels: '1'",
        "1 label with blanks around: ' dog'",
        "1 id with blanks around: ' 1'",
        "1 group of labels differing only by case or white space: 'Cat', 'cat'",
        "1 group of ids differing only by case or white space: ' 1', '1'",
        "1 label with invisible characters: 'a\\tb'",
    ):
        assert expected in lines
    assert report["synonyms"] == 1


def test_validate_matrices(ok, files):
    import numpy as np

    np.save("s.npy", np.array([[2.0, -1.0, 0.5, 0.5]]))
    text = ok("validate", "s.npy", "--classes", "classes.txt")
    assert "1, known by position" in text
    assert "4 scores, 4 distinct" in text
    assert "2 of 4 scores not between 0 and 1" in text


def test_validate_reports_all_files_and_fails_if_one_is_bad(run, files):
    Path("bad.json").write_text('{"1": [""]}', encoding="utf-8")
    result = run("validate", "bad.json", "a.json", "none.json")
    assert result.exit_code == 2
    assert "a.json: JSON" in result.stdout
    assert "bad.json" not in result.stdout
    assert result.stderr.count("semmetrics: error: ") == 2
    result = run("validate", "bad.json", "a.json", "--format", "json")
    assert result.exit_code == 2
    assert [report["error"] is None for report in json.loads(result.stdout)] == [False, True]
    assert "bad.json" in result.stderr


def test_validate_standard_input(ok, refused):
    assert "standard input" not in refused("validate", "-", "-", stdin="{}").partition("error")[0]
    assert "3 labels" in ok("validate", "-", stdin='{"a": ["x", "y"], "b": ["x"]}')


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


@pytest.mark.parametrize("definition", all_definitions(), ids=lambda one: f"{one.kind} {one.name}")
def test_explain_measures(ok, definition):
    name, text = definition.name, ok("explain", definition.name)
    assert text.startswith(f"{name}: ")
    text = text[text.index(f"{name}: {definition.summary}\n") :]
    flat = " ".join(text.split())
    for part in (definition.equation, definition.source, *definition.averages):
        assert " ".join(part.split()) in flat
    for option in definition.options:  # a policy without a choice is not shown
        settled = len(option.choices) == 1 and option.choices[0] in POLICIES
        assert (f"\n  {option.name} " in text) != settled
    assert "better" in text
    assert "semmetrics score -m " in text


def nltk_missing():
    """Why nltk's METEOR cannot run here; empty where it can."""
    try:
        importlib.import_module("nltk.corpus").wordnet.ensure_loaded()
    except (ImportError, LookupError) as error:
        return str(error)
    return ""


NEEDS = {
    "METEOR": METEOR_PROGRAM.missing,
    "METEOR-nltk": nltk_missing,
    **dict.fromkeys(("SPICE", "SPIDEr", "Soft-SPICE"), OfficialParser().missing),
}


NUMBERS = ("sims.npy", "phi.npy", "positives.json", "scores.npy")


@pytest.fixture
def shipped(example, tmp_path):
    """For each file that examples name, one that is shipped, or made of those that are."""
    (preds, *_), gt = example
    lists = {path: json.loads(path.read_text(encoding="utf-8"))["1.jpg"] for path in (preds, gt)}
    names = sorted({label for labels in lists.values() for label in labels})
    scored = {"1.jpg": [[label, 1 / rank] for rank, label in enumerate(lists[preds], 1)]}
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
    if reason := NEEDS.get(name, str)():
        pytest.skip(reason)
    text = ok("explain", name)
    commands = [line for line in text.split("\n") if line.startswith("  semmetrics score ")]
    assert len(commands) == max(1, len(kinds_of(name)))
    for command in commands:
        arguments = [str(shipped.get(word, word)) for word in shlex.split(command)[1:]]
        assert json.loads(ok(*arguments, "--format", "json"))


def test_examples_name_the_files_that_a_measure_needs(ok):
    for name, files in (
        ("C-F1", "--classes classes.txt preds.json gt.json"),
        ("mAP", "scores.json gt.json"),
        ("hF", "--taxonomy taxonomy.json preds.json gt.json"),
    ):
        assert ok("explain", name).endswith(f" {files}\n")
    assert "predictions  labels with scores" in ok("explain", "LRAP")
    assert "labels with scores" not in ok("explain", "F1")


@pytest.mark.parametrize(
    ("group", "members"),
    [
        ("Sets of labels", {"F1", "CardinalityError", "O-F1"}),
        ("Meanings of labels", {"SemF1", "SoftF1"}),
        ("Bags of labels and transport", {"WMD", "MeanSim"}),
        ("Rankings of labels", {"mAP", "LRAP"}),
        ("Hierarchies of labels", {"hF", "LCADistance"}),
    ],
)
def test_measures_are_grouped(ok, group, members):
    _, _, rest = ok("list", "measures").partition(f"\n  {group}")
    listed = {line.split()[0] for line in rest.split("\n\n")[0].split("\n")[1:]}
    assert members <= listed
    assert len(listed & {"F1", "SemF1", "WMD", "mAP", "hF"}) == 1
    for name in members:
        (line,) = (line for line in ok("explain", name).split("\n") if line.startswith("  group "))
        assert group in line


def test_explain_says_what_meanings_come_from(ok):
    text = " ".join(ok("explain", "SemF1").split())
    assert "that comes with semmetrics, or that of embedding= (--embedding [NAME=]SPEC)" in text
    assert "auto is the embedding's own" in text
    assert "--taxonomy FILE" in ok("explain", "hF")
    assert "--embedding" not in ok("explain", "F1")


def test_explain_a_measure_with_options_and_aliases(ok):
    text = ok("explain", "F1(average=macro)@3")
    assert text.startswith("F1(average=macro)@3\n")
    assert "F1|avg:macro|" in text
    assert "short for it  MacroF1" in ok("explain", "MacroF1")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_explain_protocols(ok, name):
    text = ok("explain", name)
    for heading in PROTOCOLS[name].entries:
        assert f"\n  {heading} " in text


@pytest.mark.parametrize("protocol", AGREEMENT_PROTOCOLS.values(), ids=AGREEMENT_PROTOCOLS)
def test_explain_protocols_of_agreement(ok, protocol):
    text = " ".join(ok("explain", protocol.name).split())
    assert text.startswith(f"{protocol.name}: {protocol.title} source {protocol.source}")
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
        message = refused(command, "F2", "F1", "kubany", "F1@x")
        assert "3 measures are wrong" in message
        assert "F1?" in message
        assert "did you mean kubany2020?" in message


@pytest.mark.parametrize("command", ["explain", "cite"])
def test_names_are_given_as_for_score(ok, run, command):
    assert ok(command, "F1 kubany2020", "mAP") == ok(command, "F1", "kubany2020", "mAP")
    assert ok(command, "F1 (average=macro)") == ok(command, "MacroF1")
    for text, apart in (
        ("F1,Precision", "F1 Precision"),
        ("F1,kubany2020", "F1 kubany2020"),
        ("F1@1,3,Recall@5", "F1@1,3 Recall@5"),
    ):
        found = run(command, text)
        assert found.exit_code == 2
        assert f"use blanks: {apart!r}" in found.stderr
    assert "use blanks" in run(command, "F1, Precision").stderr


def test_cite(ok):
    text = ok("cite", "F1", "Precision", "kubany2020")
    assert text.count("@article{kubany2020,") == 1
    assert text.count("@inproceedings{godbole2004,") == 1
    assert ok("cite", "F1(average=macro)@3") == ok("cite", "F1")
    assert ok("cite", "HammingLoss").count("Mining Multi-label Data") == 1


@pytest.mark.parametrize("name", [*DEFINITIONS, *PROTOCOLS, *AGREEMENT_PROTOCOLS])
def test_everything_can_be_cited(ok, run, name):
    if name in DEFINITIONS and not DEFINITIONS[name].cite:  # of no publication that has a name
        assert f"{name} cites no publication" in run("cite", name).stderr
        return
    text = ok("cite", name)
    assert text.startswith("@")
    assert text.count("{") == text.count("}")


def test_every_key_that_is_cited_is_known():
    keys = {key for definition in DEFINITIONS.values() for key in definition.cite}
    keys |= {key for protocol in AGREEMENT_PROTOCOLS.values() for key in protocol.cite}
    for key in keys | set(PROTOCOLS):
        assert entry(key).key == SAME.get(key, key)


@pytest.mark.parametrize("key", bibliography())
def test_entries_are_complete(key):
    found = bibliography()[key]
    fields = found.fields
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    assert re.fullmatch(r"@[a-z]+", found.bibtex.removesuffix(f"{{{key},\n{lines}\n}}"))
    assert {"author", "title", "year"} <= set(fields)
    assert fields["year"] == key[-4:]


# ---- rank -------------------------------------------------------------------------------------


def written(name, values, measure="O-F1"):
    scores = [
        {"schema": "semmetrics.score/1", "system": system, "measure": measure, "heading": measure,
         "value": value}
        for system, value in values.items()
    ]  # fmt: skip
    Path(name).write_text(json.dumps(scores), encoding="utf-8")
    return name


@pytest.fixture
def datasets(files):
    return (
        written("voc.json", {"A": 0.8, "B": 0.9, "C": 0.1}),
        written("coco.json", {"A": 0.7, "B": 0.6, "C": None}),
    )


def test_rank(ok, datasets):
    found = json.loads(ok("rank", *datasets, "--format", "json"))
    assert [(entry["system"], entry["rank"]) for entry in found] == [
        ("A", 1),
        ("B", 2),
        ("C", None),
    ]
    assert found[0]["value"] == pytest.approx((0.8 / 0.9 + 1) / 2)
    assert found[0]["normalized"] == {"voc": 0.8 / 0.9, "coco": 1.0}
    assert found[2]["lacking"] == ["coco"]
    rows = list(csv.DictReader(io.StringIO(ok("rank", *datasets, "--format", "csv"))))
    assert float(rows[0]["normalized O-F1"]) == found[0]["value"]
    assert (rows[2]["rank"], rows[2]["coco"]) == ("", "")
    for form in ("table", "markdown", "latex"):
        assert "0.9444" in ok("rank", *datasets, "--format", form)
    assert "0.94\n" not in ok("rank", *datasets)
    assert "0.94 " in ok("rank", *datasets, "--digits", 2)
    ok("rank", *datasets, "-o", "ranks.txt")
    assert Path("ranks.txt").read_text(encoding="utf-8") == ok("rank", *datasets)


def test_rank_takes_what_score_writes(ok, files):
    systems = ("a.json", "b.json", "gt.json")
    ok("score", *systems, "-m", "O-F1 MacroF1", "--format", "json", "-o", "x.json")
    ok("score", *systems, "-m", "O-F1 MacroF1", "--top-k", 1, "--format", "json", "-o", "y.json")
    assert json.loads(ok("rank", "x.json", "--format", "json"))[0]["measure"] == "O-F1"
    assert "'O-F1@1'" in ok_error(ok, "rank", "x.json", "y.json")
    assert json.loads(ok("rank", "x.json", "-m", "MacroF1", "--format", "json"))


def ok_error(ok, *arguments):
    with pytest.raises(AssertionError) as caught:
        ok(*arguments)
    return str(caught.value)


def test_rank_refuses_what_it_cannot_rank(refused, datasets):
    assert refused("rank", "none.json").code == "missing-file"
    assert refused("rank", *datasets, "-m", "F1").code == "unknown-name"
    assert refused("rank", *datasets, "-m", "HammingLoss").code == "lower-is-better"
    assert refused("rank", "gt.json").code == "not-scores"
    assert refused("rank", "voc.json", "voc.json").code == "duplicate"
    assert refused("rank", *datasets, "-o", "voc.json").code == "output-is-input"
    zero = written("zero.json", {"A": 0.0})
    assert refused("rank", zero).code == "unrankable"


# ---- completion -------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(ok, shell):
    text = ok("completion", shell)
    assert "_SEMMETRICS_COMPLETE" in text
    assert f"{shell}_complete" in text


def test_completion_of_an_unknown_shell(refused):
    assert refused("completion", "tcsh").code == "BadParameter"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {"score", "validate", "completion"}),
        ("score -m Ma", {"MacroF1", "MacroRecall", "mAP"}),
        ("score --protocol k", {"kubany2020"}),
        ("score --normalize ", {"none", "lower", "kubany2020"}),
        ("score --format ma", {"markdown"}),
        ("score --input-format j", {"json", "jsonl"}),
        ("score --oov ", {"unknown", "skip", "zero", "error"}),
        ("score --lookup k", {"kubany2020"}),
        ("score -m Sem", {"SemF1", "SemAP"}),
        ("score --decode thr", {"threshold:0.5", "threshold:best"}),
        ("score --per-", {"--per-item", "--per-label"}),
        ("explain kub", {"kubany2020"}),
        ("explain flickr", {"flickr8k-expert", "flickr8k-cf"}),
        ("cite Sub", {"SubsetAccuracy"}),
        ("rank -m O", {"O-F1"}),
        ("list ", {"measures", "formats"}),
        ("completion z", {"zsh"}),
    ],
)
def test_completion(words, expected):
    from click.shell_completion import ShellComplete

    from semmetrics.cli.app import program

    *before, incomplete = words.split(" ")
    found = ShellComplete(program, {}, "semmetrics", "_SEMMETRICS_COMPLETE").get_completions(
        before, incomplete
    )
    assert expected <= {item.value for item in found}
    assert all(i.value.lower().startswith(incomplete.lower()) for i in found)
