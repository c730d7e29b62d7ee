"""The program in this process, and small files for it."""

import json
import shlex
import signal
import sys
from pathlib import Path

import pytest
from cli.data import CAPTIONS, GT, REFERENCES, A, B
from cli.processes import reset_signals, write_inputs
from click.testing import CliRunner, Result

from semmetrics.cli import app, studies
from semmetrics.cli.app import program

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run():
    """Return a function that runs a command.

    It takes the command as one line and further arguments, and returns the result, which has
    ``exit_code``, ``stdout`` and ``stderr``.
    """

    def run_command(
        line: str, *arguments: object, stdin: str | bytes | None = None
    ) -> Result:
        words = [*shlex.split(line), *map(str, arguments)]
        return CliRunner().invoke(program, words, input=stdin)

    return run_command


@pytest.fixture
def ok(run):
    """Return a function that runs a command, which must succeed, and returns its output."""

    def run_command(
        line: str, *arguments: object, stdin: str | bytes | None = None
    ) -> str:
        result = run(line, *arguments, stdin=stdin)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return run_command


@pytest.fixture
def scores(ok):
    """Return a function that runs a command of scores, and returns its scores."""

    def run_command(line: str, *arguments: object, **options: object) -> list[dict]:
        text = ok(line, *arguments, "--format", "json", **options)
        return json.loads(text)["scores"]

    return run_command


class Refusal(str):
    """The text on standard error, with the code and the place of the error."""

    code: str
    where: str


@pytest.fixture
def refused(run, monkeypatch):
    """Return a function that runs a command, which must fail, and returns its error."""
    errors = []
    show = app.complain

    def complain(text):
        errors.append(sys.exc_info()[1])
        show(text)

    def run_command(
        line: str, *arguments: object, stdin: str | bytes | None = None
    ) -> Refusal:
        with monkeypatch.context() as patched:
            patched.setattr(app, "complain", complain)
            patched.setattr(studies, "complain", complain)
            result = run(line, *arguments, stdin=stdin)
        assert result.exit_code == 2, result.stdout + result.stderr
        assert result.stdout == ""
        assert "semmetrics: error: " in result.stderr
        assert "Traceback" not in result.stderr
        refusal = Refusal(result.stderr)
        refusal.code = getattr(errors[-1], "code", type(errors[-1]).__name__)
        refusal.where = getattr(errors[-1], "where", "")
        return refusal

    return run_command


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in a folder with small files."""
    monkeypatch.chdir(tmp_path)
    write_json(gt=GT, a=A, b=B, captions=CAPTIONS, references=REFERENCES)
    Path("classes.txt").write_text("cat\ndog\nbird\ncow\n", encoding="utf-8")
    return tmp_path


def write_json(**values: object) -> None:
    """Write JSON files into the working directory, by their names without the extension."""
    for name, value in values.items():
        Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def example():
    """Return the predictions and the ground truth of an example of the repository."""
    folder = ROOT / "examples" / "kubany2020_table2"
    return sorted((folder / "predictions").glob("*.json")), folder / "ground_truth.json"


@pytest.fixture(scope="session")
def many_images(tmp_path_factory):
    """Return a folder with files of 400 images."""
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture
def default_signals():
    """Let signals end the process during a test."""
    handlers = reset_signals()
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
