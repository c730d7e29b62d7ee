"""Each command, with the options that change its output: output, exit code and files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from golden.harness import FLOAT32, Case, command, run_command, run_program, with_files
from golden.inputs import PREDS

import semmetrics


def steps(name: str, *lines: str, tolerance: float = FLOAT32) -> Case:
    """Return the case of the last of several commands, which reads the files of the others."""
    return Case(name, lambda: run_steps(lines), tolerance)


def run_steps(lines: tuple[str, ...]) -> dict[str, Any]:
    """Run commands, and return the result of the last one."""

    def run() -> dict[str, Any]:
        *first, last = lines
        for line in first:
            code, _, errors = run_command_parts(line)
            assert code == 0, errors
        code, output, errors = run_command_parts(last)
        return {"runs": [{"exit": code, "stdout": output, "stderr": errors}]}

    result = with_files(run)
    result.pop("files", None)
    return result


def run_command_parts(line: str) -> tuple[int, list[str], list[str]]:
    """Run a command, and return its exit code, the lines of its output and its errors."""
    result = run_command(line)
    return result["exit"], result.get("stdout", []), result.get("stderr", [])


def rescored(options: str, files: str = "a.json gt.json") -> Case:
    """Return the case of a signature that is given to a second run."""

    def run() -> dict[str, Any]:
        first = run_command(f"score --format json {options} {files}")
        report = json.loads("\n".join(first["stdout"]))
        signature = report["scores"][0]["signature"]
        signature = signature.replace("v:VERSION", f"v:{semmetrics.__version__}")
        line = f"score --rescore '{signature}' {files}"
        code, output, errors = run_command_parts(line)
        return {"exit": code, "stdout": output, "stderr": errors}

    return Case(f"score --rescore, after score {options}", lambda: with_files(run))


def completion(shell: str) -> Case:
    """Return the case of a completion script, whose text is click's."""

    def run() -> dict[str, Any]:
        code, output, errors = run_program(["completion", shell])
        named = "_SEMMETRICS_COMPLETE" in output
        return {"exit": code, "stderr": "\n".join(errors), "named": named}

    return Case(f"completion {shell}", run)


def run_module() -> dict[str, Any]:
    """Run ``python -m semmetrics`` as a process."""
    arguments = ["score", "-m", "F1", "a.json", "gt.json"]
    package = Path(semmetrics.__file__).parents[1]
    process = subprocess.run(
        [sys.executable, "-m", "semmetrics", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(package)},
    )
    output = process.stdout.replace(f"v:{semmetrics.__version__}", "v:VERSION")
    return {
        "exit": process.returncode,
        "stdout": output.splitlines(),
        "stderr": process.stderr.splitlines(),
    }


def closed_pipe(line: str) -> Case:
    """Return the case of a command whose reader has exited."""
    return Case(
        f"{line}, whose reader has exited",
        lambda: run_program(line.split(), closed_stdout=True)[0],
    )


SCORE = [
    "score a.json gt.json",
    "score a.json b.json gt.json",
    "score -m 'F1 MacroF1 Recall(no_reference=nan)' --format json a.json gt.json",
    "score -m 'F1 MacroF1 CardinalityError' --format csv a.json b.json gt.json",
    "score -m 'F1 MacroF1' --format markdown a.json b.json gt.json",
    "score -m F1 --format latex --ci --resamples 50 a.json gt.json",
    "score -m F1 --percent --digits 1 a.json gt.json",
    "score -m 'F1 MacroF1' -o out.txt a.json gt.json",
    "score -m 'F1 MacroF1 MicroF1' --show-signatures a.json b.json gt.json",
    "score -m F1 --threshold 0.25,0.5,best ranked.json gt.json",
    "score -m F1 --decode cardinality --decode cardinality+scores --set-size-probs sizes.npy "
    "scores.npy truth.npy",
    "score --ignore @ignored.txt -m F1 a.json gt.json",
    "score --protocol kubany2020 --top-k 1,3 --format markdown a.json b.json gt.json",
    "score --runs -m 'F1 MacroF1' a.json b.json gt.json",
    "score --runs -m F1 --format json a.json b.json gt.json",
    "score --runs -m F1 --format csv a.json b.json gt.json",
    "score -m 'F1 MacroF1 AP' --per-item items.csv a.json b.json gt.json",
    "score -m 'F1 MacroF1 AP' --per-item items.jsonl a.json gt.json",
    "score -m 'MacroF1 MicroF1' --per-label labels.json a.json gt.json",
    "score -m F1 --worst 2 a.json b.json gt.json",
    "score -m BLEU-1 --worst 2 captions.json references.json",
    "score -m 'SemF1(threshold=0.4)' --embedding words.vec --matches matches.csv a.json gt.json",
    "score -m 'BLEU-4 CIDEr-D' --score-references captions.json captions_b.json "
    "references.json",
]
STUDIES = [
    "compare -m F1 a.json b.json gt.json",
    "compare -q -m 'F1 MacroF1' --resamples 200 --test randomization a.json b.json gt.json",
    "compare -q -m 'F1 CardinalityError' --test t a.json b.json gt.json",
    "compare -q -m F1 --test wilcoxon --correction none a.json b.json gt.json",
    "compare -q -m 'F1 Recall' --resamples 100 --correction bonferroni --format json a.json "
    "b.json gt.json",
    "compare -q -m F1 --resamples 100 --ranks --differing 2 a.json b.json gt.json",
    "sweep --thresholds 0:1:0.25 --format csv --embedding words.vec a.json gt.json",
    "calibrate --pairs pairs.csv --embedding words.vec",
    "calibrate --holdout 0.6 --seed 1 --thresholds 0.1,0.4,0.6 --embedding words.vec -o found.json "
    "a.json gt.json",
]
OTHERS = [
    "doc-freq -o new.json --tokenizer whitespace --stem porter references.json",
    "doc-freq -o new.json --convert frequencies.json --documents 40",
    "pairs -o phi.npy captions.json references.json",
    "pairs --top-k 2 -o best.jsonl captions.json references.json",
    "embed info words.vec",
    "embed convert --max-words 3 --name few --licence 'CC0' words.vec new",
    "embed list",
    "embed coverage --embedding words.vec a.json gt.json",
    "score --task retrieval --queries images.txt --gallery texts.txt similarities.json "
    "positives.json",
    "score --protocol xian2018 --show-signatures --classes animals.txt --seen seen.txt "
    "--unseen unseen.txt class_scores.npy shown.txt",
]
SYSTEMS_ON_TWO_DATASETS = (
    "score -q -m 'O-F1 F1' --format json -o one.json a.json b.json gt.json",
    "score -q -m 'O-F1 F1' --format json -o two.json b.json gt.json",
)
CALIBRATED = (
    "calibrate --holdout 0.6 --thresholds 0.1,0.4 --seed 1 --embedding words.vec -o cal.json "
    "a.json gt.json"
)

GROUPS = {
    "commands": [
        *(command(line, tolerance=FLOAT32) for line in SCORE + STUDIES + OTHERS),
        command("score -m F1 - gt.json", stdin=json.dumps(PREDS).encode()),
        Case("python -m semmetrics", run_module),
        rescored("-m F1"),
        rescored("-m 'Recall(average=macro,labels=union)'"),
        rescored("-m CIDEr-D --tokenizer 13a", "captions.json references.json"),
        steps(
            "score with a calibration of some items",
            CALIBRATED,
            "score -m SemF1 --calibration cal.json --embedding words.vec a.json b.json "
            "gt.json",
        ),
        steps(
            "score with document frequencies of stems",
            "doc-freq --stem porter -o df.npz references.json",
            "score -m 'CIDEr-D(stem=porter)' --doc-freq df.npz captions.json references.json",
        ),
        steps(
            "rank --format json",
            *SYSTEMS_ON_TWO_DATASETS,
            "rank --format json one.json two.json",
        ),
        steps(
            "rank --format csv",
            *SYSTEMS_ON_TWO_DATASETS,
            "rank --format csv one.json two.json",
        ),
        completion("bash"),
        completion("zsh"),
        closed_pipe("list"),
        closed_pipe("score -m F1 a.json gt.json"),
    ]
}
