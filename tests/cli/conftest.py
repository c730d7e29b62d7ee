"""The program in this process, and small files for it."""

import json
import sys
from pathlib import Path

import pytest
from cli.data import CAPTIONS, GT, REFERENCES, A, B
from click.testing import CliRunner, Result

from semmetrics.cli import app, studies
from semmetrics.cli.app import program

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run():
    """Run ``semmetrics`` with those arguments; has exit_code, stdout and stderr."""

    def call(*args: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(program, [str(arg) for arg in args], input=stdin)

    return call


@pytest.fixture
def ok(run):
    """Run ``semmetrics``, which must succeed; gives what is on standard output."""

    def call(*args: object, stdin: str | bytes | None = None) -> str:
        result = run(*args, stdin=stdin)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return call


class Refusal(str):
    """What is on standard error, with the code and the place of the error."""

    code: str
    where: str


@pytest.fixture
def refused(run, monkeypatch):
    """Run ``semmetrics``, which must refuse its input; gives what is on standard error."""

    def call(*args: object, stdin: str | bytes | None = None) -> Refusal:
        errors = []
        show = app.complain

        def complain(text):
            errors.append(sys.exc_info()[1])
            show(text)

        with monkeypatch.context() as patched:
            for module in (app, studies):
                patched.setattr(module, "complain", complain)
            result = run(*args, stdin=stdin)
        assert result.exit_code == 2, result.stdout + result.stderr
        assert result.stdout == ""
        assert "semmetrics: error: " in result.stderr
        assert "Traceback" not in result.stderr
        text = Refusal(result.stderr)
        text.code = getattr(errors[-1], "code", type(errors[-1]).__name__)
        text.where = getattr(errors[-1], "where", "")
        return text

    return call


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with small files, made the working directory."""
    monkeypatch.chdir(tmp_path)
    named = {"gt": GT, "a": A, "b": B, "captions": CAPTIONS, "references": REFERENCES}
    for name, content in named.items():
        Path(f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    Path("classes.txt").write_text("cat\ndog\nbird\ncow\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def example():
    """The example that ships with the repository: predictions, and the ground truth."""
    folder = ROOT / "examples" / "kubany2020_table2"
    return sorted((folder / "predictions").glob("*.json")), folder / "ground_truth.json"
