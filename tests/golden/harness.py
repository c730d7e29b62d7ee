"""Run a case, and compare its result with the recorded one.

A result is a JSON value. Floats may differ by the tolerance of the case, also inside strings, so
that a sum may be computed in another order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import semmetrics
from semmetrics.cli import app, main
from semmetrics.errors import Fact, InputError

EXACT = 1e-12
FLOAT32 = 2e-6
STUDENT_T = 1e-10
"""SciPy 1.15 and newer versions agree in ten digits of the quantiles of Student's t."""
DATA = Path(__file__).parent / "data"
_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
_PACKAGES_OF_JAVA = ("pycocoevalcap", "nltk")


class Case(NamedTuple):
    """A call with a recorded result."""

    name: str
    run: Callable[[], Any]
    tolerance: float = EXACT
    """Relative, and absolute for values below 1."""
    needs: tuple[str, ...] = ()
    """Packages without which the case is skipped."""


# ---- the command line ----------------------------------------------------------------------------


class _ClosedPipe(io.BytesIO):
    """A standard output whose reader has exited."""

    def write(self, data: Any) -> int:
        raise BrokenPipeError


def run_program(
    arguments: list[str], stdin: bytes = b"", *, closed_stdout: bool = False
) -> tuple[int, str, list[str]]:
    """Return the exit code, the standard output and the errors of ``semmetrics``.

    Errors are described by type and place, since their wording may change.
    """
    errors: list[str] = []

    def record_error(message: str) -> None:
        errors.append(describe_error(sys.exc_info()[1]))

    stdout = io.TextIOWrapper(_ClosedPipe() if closed_stdout else io.BytesIO(), "utf-8")
    code = 0
    with (
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(io.StringIO()),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        patch.setattr(app, "complain", record_error)
        try:
            main(arguments)
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
    with contextlib.suppress(BrokenPipeError):
        stdout.flush()
    return code, normal(stdout.buffer.getvalue().decode()), errors


def command(line: str, *, stdin: bytes = b"", **options: Any) -> Case:
    """Return the case of a command: its exit code, output, errors and files."""
    return Case(line, lambda: with_files(run_command, line, stdin), **options)


def run_command(line: str, stdin: bytes = b"") -> dict[str, Any]:
    """Run a command, and return its exit code, output and errors."""
    code, stdout, errors = run_program(shlex.split(line), stdin)
    result: dict[str, Any] = {"exit": code}
    if stdout:
        result["stdout"] = stdout.splitlines()
    if errors:
        result["stderr"] = errors
    return result


def with_files(run: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Return the result of a call and the files that it wrote, which are removed."""
    before = set(Path().rglob("*"))
    result = run(*arguments)
    paths = sorted(set(Path().rglob("*")) - before, reverse=True)
    files = {}
    for path in paths:
        if path.is_file():
            files[path.as_posix()] = _read_file(path)
            path.unlink()
        else:
            path.rmdir()
    if files:
        result["files"] = dict(sorted(files.items()))
    return result


def _read_file(path: Path) -> Any:
    if path.suffix == ".npy":
        return {"array": _array(np.load(path))}
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return {name: _array(array) for name, array in archive.items()}
    try:
        return normal(path.read_bytes().decode()).splitlines()
    except UnicodeDecodeError:
        return "binary"


def _array(array: Any) -> list[Any]:
    return [str(array.dtype), array.tolist()]


# ---- Python --------------------------------------------------------------------------------------


def describe_error(error: BaseException | None) -> str:
    """Return the type of an error and its place."""
    name = type(error).__name__
    place = getattr(error, "where", "")
    return f"{name} at {place}" if place else name


def attempt(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the result of a function, or its error."""
    try:
        return function(*arguments, **options)
    except InputError as error:
        return {"error": describe_error(error)}


def scored(preds: Any, gts: Any, **options: Any) -> dict[str, Any]:
    """Return all that ``score`` reports."""
    return describe_table(attempt(semmetrics.score, preds, gts, **options))


def describe_table(table: Any) -> dict[str, Any]:
    """Return all that is in a table of scores."""
    if isinstance(table, dict):
        return table
    result: dict[str, Any] = {"scores": [_describe_score(score) for score in table]}
    facts = [[fact.code, fact.n] for fact in table.facts if isinstance(fact, Fact)]
    if facts:
        result["facts"] = facts
    if table.not_computed:
        result["not computed"] = [measure.heading for measure in table.not_computed]
    return result


def _describe_score(score: Any) -> dict[str, Any]:
    measure = str(score.measure)
    if score.heading != measure:
        measure = f"{score.heading} = {measure}"
    result: dict[str, Any] = {
        "system": score.system,
        "measure": measure,
        "value": _number(score.value),
        "n": f"{score.n} {score.unit}",
        "signature": normal(score.signature),
    }
    if score.undefined:
        result["undefined"] = score.undefined
    if score.ci is not None:
        result["ci"] = score.to_dict()["ci"]
    items = attempt(lambda: score.items)
    if items is not None:
        result["items"] = items if isinstance(items, dict) else row(items)
    if score.per_label is not None:
        columns = score.per_label.items()
        result["per label"] = {name: row(column) for name, column in columns}
    return result


def row(values: Any) -> str:
    """Write numbers or strings in one line, with all their digits."""
    return " ".join(str(_number(value)) for value in np.asarray(values).tolist())


def _number(value: Any) -> Any:
    """Return a number as JSON has it, and nan as a string."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def plain(value: Any) -> Any:
    """Return a result of any type as a JSON value."""
    if value is None or isinstance(value, bool | int | float | np.generic):
        return _number(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}: {row(value.ravel())}"
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    fields = _fields(value)
    if fields is not None:
        return {str(name): plain(entry) for name, entry in fields.items()}
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    return normal(str(value))


def _fields(value: Any) -> Mapping[Any, Any] | None:
    """Return the fields of a mapping, a named tuple or a dataclass."""
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "_asdict"):
        return value._asdict()
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names}
    return None


def call(
    name: str, function: Callable[..., Any], *arguments: Any, **options: Any
) -> Case:
    """Return the case of a function and its arguments."""
    return Case(
        name, lambda: {"gives": plain(attempt(function, *arguments, **options))}
    )


def normal(text: str) -> str:
    """Return a text without the working folder, addresses, the version and digests of files."""
    if text == semmetrics.__version__:
        return "VERSION"
    version = re.escape(semmetrics.__version__)
    text = text.replace(str(Path.cwd()), "FOLDER")
    text = re.sub(r"(<function \w+) at 0x[0-9a-f]+>", r"\1>", text)
    text = re.sub(rf"(v:|semmetrics |['\"]){version}\b", r"\1VERSION", text)
    return re.sub(r"\b(cal:[^|@]*@)[0-9a-f]{12}", r"\1DIGEST", text)


# ---- records -------------------------------------------------------------------------------------


def load(group: str) -> dict[str, Any]:
    """Read the recorded results of a group of cases."""
    path = DATA / f"{group}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(group: str, results: Mapping[str, Any]) -> None:
    """Write the results of a group of cases."""
    text = json.dumps(results, indent=1, ensure_ascii=True, allow_nan=False)
    (DATA / f"{group}.json").write_text(text + "\n", encoding="utf-8")


def differences(
    expected: Any, actual: Any, tolerance: float, at: str = ""
) -> list[str]:
    """Return one line for each difference of two JSON values."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        pairs = [(key, expected.get(key), actual.get(key)) for key in expected | actual]
        same_shape = list(expected) == list(actual)
    elif isinstance(expected, list) and isinstance(actual, list):
        pairs = list(zip(range(len(expected)), expected, actual, strict=False))
        same_shape = len(expected) == len(actual)
    else:
        if _is_close(expected, actual, tolerance):
            return []
        return [f"{at}: expected {expected!r}, got {actual!r}"]
    lines = []
    for key, expected_part, actual_part in pairs:
        lines += differences(expected_part, actual_part, tolerance, f"{at}/{key}")
    if not same_shape and not lines:
        lines.append(f"{at}: expected {expected!r}, got {actual!r}")
    return lines


def _is_close(expected: Any, actual: Any, tolerance: float) -> bool:
    if isinstance(expected, str) and isinstance(actual, str):
        return _is_close_text(expected, actual, tolerance)
    if isinstance(expected, float) and isinstance(actual, int | float):
        return abs(expected - actual) <= tolerance * max(1.0, abs(expected))
    return type(expected) is type(actual) and expected == actual


def _is_close_text(expected: str, actual: str, tolerance: float) -> bool:
    """Return whether two strings differ only in close floats."""
    if _FLOAT.sub("#", expected) != _FLOAT.sub("#", actual):
        return False
    pairs = zip(_FLOAT.findall(expected), _FLOAT.findall(actual), strict=True)
    return all(_is_close(float(a), float(b), tolerance) for a, b in pairs)


@contextlib.contextmanager
def folder_of_inputs(folder: Path, write: Callable[[], None]) -> Iterator[None]:
    """Work in a folder with the input files, as on a machine without Java and its packages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("SEMMETRICS_HOME", str(folder / "home"))
        patch.setenv("SEMMETRICS_TRACEBACK", "")
        patch.setenv("PATH", str(folder / "no programs"))
        for module in [*_PACKAGES_OF_JAVA, *sys.modules]:
            if module.partition(".")[0] in _PACKAGES_OF_JAVA:
                patch.setitem(sys.modules, module, None)
        patch.chdir(folder)
        write()
        yield
