"""Every command with its options and formats: output, notes, exit code, files written."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from pathlib import Path
from typing import Any

from golden.harness import LOOSE, Case, cli, run_program, with_files
from golden.inputs import PREDS
from golden.names import spelled

_COMMANDS = (
    "score",
    "sweep",
    "calibrate",
    "{fit}",
    "{pairs}",
    "validate",
    "list",
    "explain",
    "embed",
    "embed convert",
    "embed fetch",
    "embed info",
    "embed list",
    "{coverage}",
    "cite",
    "rank",
    "completion",
    "compare",
    "correlate",
)
_FACTS = re.compile(r"  (-., )?--[a-z-]+|[\[{}\] ]*\".*|[\[{}\] ]+$")
"""The flags of help, and lines of JSON: the rest is prose."""
_WORDS = "--embedding words.vec"


def _lines(name: str, **options: Any) -> list[Case]:
    """A case a line of a file of commands."""
    text = (Path(__file__).parent / "commands" / f"{name}.txt").read_text(
        encoding="utf-8"
    )
    return [cli(line, **options) for line in text.splitlines()]


_STDIN = [
    cli("score -m F1 --input-format json - gt.json", stdin=json.dumps(PREDS).encode()),
    cli("score -m F1 - gt.json", stdin=json.dumps(PREDS).encode()),
    cli("score -m F1 --input-format csv - gt.json", stdin=b"id,label\n1,cat\n"),
    cli("score -m F1 - -", stdin=b"{}"),
    cli(
        "score -m F1 --missing skip - gt.json",
        stdin=b'{"id": "1", "labels": ["cat"]}\n',
        name="score -m F1 --missing skip - gt.json, a record",
    ),
    cli(
        "score -m F1 --missing skip --input-format jsonl - gt.json",
        stdin=b'{"id": "1", "labels": ["cat"]}\n',
    ),
    cli("score -m F1 - gt.json", stdin=b"", name="score -m F1 - gt.json, nothing"),
    cli("validate -", stdin=json.dumps(PREDS).encode()),
]


def _again(command: str, then: str, change: str = "", into: str = "") -> Case:
    """The signature of a first run, given to a second one."""

    def run() -> Any:
        code, out, err = run_program(
            shlex.split(spelled(f"score --format json {command}"))
        )
        if code:
            return {"first": err.splitlines()}
        signature = json.loads(out)["scores"][0]["signature"]
        assert change in signature
        given = signature.replace(change, into) if change else signature
        given = given.replace("v:VERSION", _version())
        again = shlex.split(spelled(f"score {{again}} X {then}"))
        code, out, err = run_program([given if word == "X" else word for word in again])
        return {"exit": code, "stdout": out.splitlines(), "stderr": err.splitlines()}

    name = f"{command}, again: {then}" + (f", {change!r} as {into!r}" if change else "")
    return Case(name, lambda: with_files(run))


def _version() -> str:
    import semmetrics

    return f"v:{semmetrics.__version__}"


_AGAIN = [
    _again("-m F1 a.json gt.json", "a.json gt.json"),
    _again("-m F1 a.json gt.json", "b.json gt.json"),
    _again("-m F1 a.json gt.json", "a.json b.json gt.json"),
    _again("-m F1 a.json gt.json", "--format json a.json gt.json"),
    _again("-m F1 a.json gt.json", "few.json gt.json"),
    _again("-m F1 a.json gt.json", "-m Recall a.json gt.json"),
    _again("-m F1 a.json gt.json", "--normalize lower a.json gt.json"),
    _again("-m F1 a.json gt.json", "--top-k 2 a.json gt.json"),
    _again("-m F1 a.json gt.json", "a.json gt.json", "|n:10", "|n:11"),
    _again("-m F1 a.json gt.json", "a.json gt.json", "v:VERSION", "v:0.0.1"),
    _again("-m F1 a.json gt.json", "a.json gt.json", "norm:none", "norm:magic"),
    _again("-m F1 a.json gt.json", "a.json gt.json", "norm:none", "what:ever"),
    _again("-m F1@2 --normalize lower {empty} skip a.json gt.json", "a.json gt.json"),
    _again("-m 'Recall(average=macro,labels=union)' a.json gt.json", "a.json gt.json"),
    _again("-m F1 --missing skip few.json gt.json", "few.json gt.json"),
    _again("-m F1 --ci --resamples 20 --seed 5 a.json gt.json", "a.json gt.json"),
    _again(
        "-m 'SemF1(threshold=0.4)' --embedding words.vec a.json gt.json",
        "--embedding words.vec a.json gt.json",
    ),
    _again(
        "-m 'SemF1(threshold=0.4)' --embedding words.vec a.json gt.json",
        "a.json gt.json",
    ),
    _again("-m SemF1 --oov skip a.json gt.json", "a.json gt.json"),
    _again("-m F1 --threshold 0.5 ranked.json gt.json", "ranked.json gt.json"),
    _again("-m F1 --threshold best ranked.json gt.json", "ranked.json gt.json"),
    _again(
        "-m 'hF(unknown=own)' --taxonomy taxonomy.csv a.json gt.json",
        "--taxonomy taxonomy.json a.json gt.json",
    ),
    _again(
        "-m CIDEr-D --tokenizer 13a captions.json references.json",
        "captions.json references.json",
    ),
    _again(
        "-m CIDEr-D {frequencies} frequencies.json captions.json references.json",
        "captions.json references.json",
    ),
    _again(
        "-m CIDEr-D {frequencies} frequencies.json captions.json references.json",
        "{frequencies} frequencies.json captions.json references.json",
    ),
    _again(
        "-m CIDEr-D {frequencies} frequencies.json captions.json references.json",
        "{frequencies} frequencies_b.json captions.json references.json",
    ),
    _again(
        "-m F1 --classes dictionary.txt --ignore lion few.json few.json",
        "--ignore lion few.json few.json",
    ),
    _again(
        "-m F1 --weights weights.json a.json gt.json",
        "--weights weights.csv a.json gt.json",
    ),
    _again("-m F1 --weights weights.json a.json gt.json", "a.json gt.json"),
]


def _then(name: str, *commands: str, **options: Any) -> Case:
    """Several commands, of which the later take up what the earlier wrote."""

    def run() -> Any:
        results = []
        for command in commands:
            code, out, err = run_program(shlex.split(spelled(command)))
            results.append(
                {"exit": code, "stdout": out.splitlines(), "stderr": err.splitlines()}
            )
        return {"runs": results}

    def all_of_them() -> Any:
        made = with_files(run)
        if options.get("last"):
            made["runs"] = made["runs"][-1:]
            made.pop("files", None)
        return made

    return Case(name, all_of_them)


_FIND = "calibrate {share} 1 --thresholds 0:0.9:0.1 --embedding words.vec -o cal.json a.json gt.json"
_SEQUENCES = [
    _then(
        "calibrated",
        _FIND,
        "score -m 'SemF1 SemRecall(threshold=0.3)' --calibration cal.json "
        f"{_WORDS} a.json gt.json",
        last=True,
    ),
    _then(
        "calibrated on pairs",
        f"calibrate --pairs pairs.csv {_WORDS} -o cal.json",
        f"score -m SemF1 --calibration cal.json {{show_signatures}} {_WORDS} a.json gt.json",
        last=True,
    ),
    _then(
        "calibrated on a part",
        f"calibrate {{share}} 0.6 --thresholds 0.1,0.4 --seed 1 {_WORDS} -o cal.json "
        "a.json gt.json",
        f"score -m SemF1 --calibration cal.json {_WORDS} a.json b.json gt.json",
        last=True,
    ),
    _then(
        "calibrated for another",
        _FIND,
        "score -m SemF1 --calibration cal.json a.json gt.json",
        last=True,
    ),
    _then(
        "calibrated for no measure",
        _FIND,
        "score -m F1 --calibration cal.json a.json gt.json",
        last=True,
    ),
    _then(
        "calibrated twice",
        _FIND,
        f"score -m SemF1 --calibration cal.json --calibration cal.json {_WORDS} a.json gt.json",
        last=True,
    ),
    _then(
        "frequencies as npz",
        "{fit} -o df.npz references.json",
        "score -m 'CIDEr-D CIDEr' {frequencies} df.npz captions.json references.json",
        last=True,
    ),
    _then(
        "frequencies of stems",
        "{fit} --stem porter -o df.npz references.json",
        "score -m 'CIDEr-D(stem=porter)' {frequencies} df.npz captions.json references.json",
        last=True,
    ),
    _then(
        "frequencies of stems for words",
        "{fit} --stem porter -o df.npz references.json",
        "score -m CIDEr-D {frequencies} df.npz captions.json references.json",
        last=True,
    ),
    _then(
        "frequencies of other tokens",
        "{fit} --tokenizer 13a -o df.json references.json",
        "{pairs} {frequencies} df.json -o phi.npy captions.json references.json",
        last=True,
    ),
    _then(
        "a matrix that is there",
        "{pairs} -q -o phi.npy captions.json references.json",
        "{pairs} -o phi.npy captions.json references.json",
        last=True,
    ),
    _then(
        "a matrix of others",
        "{pairs} -q -o phi.npy captions.json references.json",
        "{pairs} -o phi.npy captions_b.json references.json",
        last=True,
    ),
    _then(
        "a matrix written over",
        "{pairs} -q -o phi.npy captions.json references.json",
        "{pairs} --overwrite -o phi.npy captions_b.json references.json",
    ),
    _then(
        "converted words",
        "embed convert words.vec new",
        "embed info new",
        "embed info --verify --format json new",
        "embed convert words.vec new",
        "score -m 'SemF1(threshold=0.4)' --embedding new a.json gt.json",
        "score -m SemF1 --embedding converted:new {most_words} 4 a.json gt.json",
    ),
    *(
        _then(
            f"ranks {options}",
            "score -q -m 'O-F1 F1' --format json -o one.json a.json b.json gt.json",
            "score -q -m 'O-F1 F1' --format json -o two.json b.json gt.json",
            f"rank {options} one.json two.json",
            last=True,
        )
        for options in (
            "",
            "-m F1",
            "--format json",
            "--format csv",
            "--format markdown",
            "--format latex",
            "--digits 2",
            "-o out.txt",
            "-m Recall",
            "--by rank",
            "--by rank --format csv",
            "--by mean",
            "--level 0.9",
            "--differences one two",
            "--differences one three",
            "--differences one two --format json",
            "--diagram ranks.svg",
            "--diagram ranks.png",
        )
    ),
    _then(
        "ranks of one",
        "score -q -m O-F1 --format json -o one.json a.json b.json gt.json",
        "rank one.json",
        last=True,
    ),
    _then(
        "ranks of one twice",
        "score -q -m O-F1 --format json -o one.json a.json b.json gt.json",
        "rank one.json one.json",
        last=True,
    ),
    _then(
        "items by name",
        "score -q -m F1 --per-item items.jsonl --format json a.json gt.json",
    ),
    _then(
        "an output that is there",
        "score -q -m F1 -o out.txt a.json gt.json",
        "score -m Recall -o out.txt a.json gt.json",
    ),
]


def _completion(shell: str) -> Case:
    """That there is a script; its text is that of click."""

    def run() -> Any:
        code, out, err = run_program(["completion", shell])
        return {"exit": code, "stderr": err, "named": "_SEMMETRICS_COMPLETE" in out}

    return Case(f"completion {shell}", run)


def _bare(command: str) -> Case:
    """A command without arguments: a usage error, or its help on standard error."""

    def run() -> Any:
        words = spelled(command).split()
        code, _, err = run_program(words)
        return {"exit": code, "stderr": err.splitlines()}

    return Case(f"{command} alone", run)


def _gone(command: str) -> Case:
    """A command whose reader went away."""
    return Case(
        f"{command}, nobody reads",
        lambda: list(run_program(command.split(), gone=True)),
    )


def _module() -> Any:
    """The program as a process of its own."""
    import os
    import subprocess
    import sys

    run = subprocess.run(
        [sys.executable, "-m", "semmetrics", "score", "-m", "F1", "a.json", "gt.json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_package_home())},
    )
    return {
        "exit": run.returncode,
        "stdout": run.stdout.replace(_version(), "v:VERSION").splitlines(),
        "stderr": run.stderr.splitlines(),
    }


def _package_home() -> list[str]:
    import semmetrics

    return [str(Path(semmetrics.__file__).parents[1])]


_OF_CLICK = (
    "list --help",
    "list nothing",
    "score --speed a.json gt.json",
    "--nothing",
    "explain --format json F1",
    "list measures protocols",
)


def _needing(cases: list[Case]) -> list[Case]:
    """Cases with what they need: Parquet, or a click that words its own messages as today's."""
    made = []
    for case in cases:
        needs = case.needs + (("pyarrow",) if "parquet" in case.name else ())
        of_click = case.name in _OF_CLICK or case.name.endswith(" alone")
        needs += ("click>=8.2",) if of_click else ()
        made.append(dataclasses.replace(case, needs=needs))
    return made


_MEASURES = """
Precision Recall F1 Jaccard SubsetAccuracy HammingLoss AP BalancedAccuracy CardinalityError O-F1
C-F1 I-F1 SemPrecision SemRecall SemF1 SemJaccard SemAP SoftPrecision SoftRecall SoftF1 WMD RWMD
BagSim MeanSim LRAP RankingLoss CoverageError mAP hP hR hF LCADistance BLEU-1 BLEU-2 BLEU-3 BLEU-4
CIDEr-D CIDEr DuplicatedCaption CaptionLength LengthRatio ReferenceCount Vocabulary UniqueCaptions
METEOR METEOR-nltk NGSM ROUGE-L
"""

GROUPS = {
    "help": [cli(f"{name} --help", keep=_FACTS) for name in ("", *_COMMANDS)],
    "explain": [cli(f"explain {name}", keep=_FACTS) for name in _MEASURES.split()],
    "score": _needing(_lines("score", tolerance=LOOSE))
    + _STDIN
    + [Case("python -m semmetrics", _module)],
    "meanings": _lines("meanings", tolerance=LOOSE),
    "captions": _lines("captions"),
    "compare": _lines("compare", tolerance=LOOSE),
    "look": _needing(_lines("look", keep=_FACTS))
    + [_completion(shell) for shell in ("bash", "zsh", "fish")],
    "usage": _needing(
        [*_lines("usage", keep=_FACTS), *(_bare(name) for name in ("", *_COMMANDS))]
    ),
    "gone": [_gone("list"), _gone("score -m F1 a.json gt.json")],
    "again": _AGAIN,
    "sequences": _SEQUENCES,
}
