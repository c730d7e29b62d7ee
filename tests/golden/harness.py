"""What runs a case and what compares its result with the one on record.

A case gives a value of JSON: dicts, lists, texts and numbers. Texts and numbers are compared as
they are, but for numbers with a point, also inside of texts: these may differ by the case's
tolerance, so that a sum may be taken in another order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import io
import json
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden.names import spelled

import semmetrics
from semmetrics.cli import app, main
from semmetrics.errors import Fact

EXACT, LOOSE = 1e-12, 2e-6
"""Tolerances: of what is computed in float64, and of float32 products of real vectors."""
QUANTILE = 1e-10
"""Tolerance of limits of intervals that use a quantile of Student's t.

`scipy.special.stdtrit` of SciPy 1.15 and older agrees with that of newer ones in ten digits.
"""
DATA = Path(__file__).parent / "data"
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
_VERSION = re.escape(semmetrics.__version__)


@dataclasses.dataclass(frozen=True)
class Case:
    """One thing that must not change.

    Attributes
    ----------
    name : str
    run : callable
        Gives a value of JSON.
    tolerance : float
        Relative, and absolute below 1.
    needs : tuple of str
        Packages without which it is skipped, perhaps with the oldest version: ``click>=8.2``.
    """

    name: str
    run: Callable[[], Any]
    tolerance: float = EXACT
    needs: tuple[str, ...] = ()


# ---- the program --------------------------------------------------------------------------------


class _Gone(io.BytesIO):
    """A standard output whose reader went away."""

    def write(self, data: Any) -> int:
        raise BrokenPipeError


def run_program(
    arguments: list[str], stdin: bytes = b"", *, gone: bool = False
) -> tuple[int, str, str]:
    """Exit code, standard output and the errors of ``semmetrics``, run in this process.

    Errors are given by their type and place: their wording may change.
    """
    errors: list[str] = []
    out, err = (
        io.TextIOWrapper(held(), "utf-8", newline="")
        for held in (_Gone if gone else io.BytesIO, io.BytesIO)
    )
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    before = sys.stdin
    sys.stdin = given
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(app, "complain", lambda text: errors.append(_handled(text)))
            main(arguments)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    finally:
        sys.stdin = before
    texts = []
    for stream in (out, err):
        with contextlib.suppress(BrokenPipeError):
            stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return code, normal(texts[0]), normal("\n".join(errors))


def _handled(text: str) -> str:
    """The type and place of the error that a message is of."""
    error = sys.exc_info()[1]
    return type(error).__name__ + (
        f" at {where}" if (where := getattr(error, "where", "")) else ""
    )


def normal(text: str) -> str:
    """A text without the folder, the version and what other packages say in their own words."""
    text = text.replace(str(Path.cwd()), "FOLDER")
    text = re.sub(r"(<function \w+) at 0x[0-9a-f]+>", r"\1>", text)
    text = re.sub(rf"\bv:{_VERSION}", "v:VERSION", text)
    text = re.sub(rf"\bsemmetrics {_VERSION}", "semmetrics VERSION", text)
    text = re.sub(rf"(['\"]){_VERSION}(['\"])", r"\1VERSION\2", text)
    return re.sub(r"\b(cal:[^|@]*@)[0-9a-f]{12}", r"\1DIGEST", text)


def cli(
    command: str,
    *,
    stdin: bytes = b"",
    tolerance: float = EXACT,
    needs: tuple[str, ...] = (),
    name: str | None = None,
    keep: re.Pattern[str] = re.compile(".*"),
) -> Case:
    """A case of a command: what to keep of the lines it prints, its exit code and its files."""

    def run() -> Any:
        code, out, err = run_program(shlex.split(spelled(command)), stdin)
        result: dict[str, Any] = {"exit": code}
        if out:
            result["stdout"] = [
                kept[0] for line in out.splitlines() if (kept := keep.match(line))
            ]
        if err:
            result["stderr"] = err.splitlines()
        return result

    return Case(name or command, lambda: with_files(run), tolerance, needs)


def with_files(run: Callable[[], Any]) -> Any:
    """The result of a run and the files that it wrote, which are removed."""
    before, folders = _files()
    result = run()
    written = {}
    after, made = _files()
    for name, changed in sorted(after.items()):
        if name not in before:
            written[name] = _content(Path(name))
            Path(name).unlink()
        elif changed != before[name]:
            raise AssertionError(f"{name} was changed")
    for name in sorted(made - folders, reverse=True):
        Path(name).rmdir()
    if written:
        result = {**result, "files": written}
    return result


def _files(folder: str = "") -> tuple[dict[str, int], set[str]]:
    """The files below this folder, when each was last changed, and the folders."""
    files, folders = {}, set()
    with os.scandir(folder or ".") as entries:
        for entry in entries:
            name = folder + entry.name
            if entry.is_dir():
                inner = _files(f"{name}/")
                files |= inner[0]
                folders |= inner[1] | {name}
            else:
                files[name] = entry.stat().st_mtime_ns
    return files, folders


def _content(path: Path) -> Any:
    """What is in a file, as far as it is no machine's own."""
    if path.suffix in (".npy", ".npz"):
        with (
            contextlib.closing(np.load(path, allow_pickle=False))
            if path.suffix == ".npz"
            else (contextlib.nullcontext(np.load(path, allow_pickle=False))) as held
        ):
            arrays = dict(held) if path.suffix == ".npz" else {"array": held}
            return {
                name: [str(one.dtype), one.tolist()] for name, one in arrays.items()
            }
    try:
        return normal(path.read_bytes().decode()).splitlines()
    except UnicodeDecodeError:
        return "binary"


# ---- Python -------------------------------------------------------------------------------------


def attempt(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function gives, or its error."""
    try:
        return function(*args, **options)
    except semmetrics.InputError as error:
        return {"error": _handled(str(error))}
    except (
        Exception
    ) as error:  # in Python's own words, which differ between its versions
        return {"error": type(error).__name__}


def scored(preds: Any, gts: Any, **options: Any) -> Any:
    """Everything that ``score`` says."""
    return table_of(attempt(semmetrics.score, preds, gts, **options))


def table_of(table: Any) -> Any:
    """Everything in a table of scores."""
    if isinstance(table, dict):  # an error
        return table
    result: dict[str, Any] = {"scores": [_score(one) for one in table]}
    noted = [[fact.code, fact.n] for fact in table.facts if isinstance(fact, Fact)]
    if noted:
        result["facts"] = noted
    if table.not_computed:
        result["not computed"] = [one.heading for one in table.not_computed]
    return result


def _score(score: Any) -> dict[str, Any]:
    name = str(score.measure) if score.heading == str(score.measure) else None
    made: dict[str, Any] = {
        "system": score.system,
        "measure": name or f"{score.heading} = {score.measure}",
        "value": number(score.value),
        "n": f"{score.n} {score.unit}",
        "signature": normal(score.signature),
    }
    if score.undefined:
        made["undefined"] = score.undefined
    if score.ci is not None:
        ci = score.to_dict()["ci"]
        made["ci"] = ci
    items = attempt(lambda: score.items)
    if items is not None:
        made["items"] = items if isinstance(items, dict) else row(items)
    labels = score.per_label
    if labels is not None:
        made["per label"] = {name: row(column) for name, column in labels.items()}
    return made


def plain_score(score: Mapping[str, Any]) -> list[Any]:
    """What of a score of JSON tells one format from another."""
    return [
        score["value"],
        score["n"],
        ";".join(f"{cause}={n}" for cause, n in score["undefined"].items()),
        normal(score["signature"]),
    ]


def number(value: Any) -> Any:
    """A number, of which JSON knows no nan."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def row(values: Any) -> str:
    """Numbers or texts in one line, with all their digits."""
    return " ".join(str(number(value)) for value in np.asarray(values).tolist())


def plain(value: Any) -> Any:
    """A result of any kind as JSON has it."""
    if isinstance(value, str) and value == semmetrics.__version__:
        return "VERSION"
    if isinstance(value, np.ndarray):
        made: Any = f"{value.dtype} {value.shape}: {row(value.ravel())}"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = {
            f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)
        }
    elif isinstance(value, dict):
        made = {str(name): plain(one) for name, one in value.items()}
    elif hasattr(value, "_asdict"):
        made = plain(value._asdict())
    elif isinstance(value, (list, tuple)):
        made = [plain(one) for one in value]
    elif value is None or isinstance(value, (bool, int, float, np.generic)):
        made = number(value)
    else:
        made = normal(str(value))
    return made


def call(name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Case:
    def run() -> Any:
        return {"gives": plain(attempt(function, *args, **options))}

    return Case(name, lambda: with_files(run))


# ---- records ------------------------------------------------------------------------------------


def load(group: str) -> dict[str, Any]:
    """The results on record of a group of cases."""
    path = DATA / f"{group}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(group: str, results: Mapping[str, Any]) -> None:
    """Put results on record."""
    text = json.dumps(results, indent=1, ensure_ascii=True, allow_nan=False)
    (DATA / f"{group}.json").write_text(text + "\n", encoding="utf-8")


def differences(expected: Any, found: Any, tolerance: float) -> list[str]:
    """Where two values differ, in lines to read."""
    return list(_differences(expected, found, tolerance, ""))


def _differences(expected: Any, found: Any, tolerance: float, at: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        yield from _of_dicts(expected, found, tolerance, at)
    elif isinstance(expected, list) and isinstance(found, list):
        if not _same_list(expected, found, tolerance):
            yield from _of_lists(expected, found, tolerance, at)
    elif not _same(expected, found, tolerance):
        yield f"{at}:\n  expected {expected!r}\n  found    {found!r}"


def _of_dicts(
    expected: dict[str, Any], found: dict[str, Any], tolerance: float, at: str
) -> Iterator[str]:
    for key in {**expected, **found}:
        here = f"{at} / {key}" if at else str(key)
        if key not in found:
            yield f"{here}: lacking; expected {expected[key]!r:.300}"
        elif key not in expected:
            yield f"{here}: not expected: {found[key]!r:.300}"
        else:
            yield from _differences(expected[key], found[key], tolerance, here)
    if list(expected) != list(found) and set(expected) == set(found):
        yield f"{at}: another order of keys: {list(found)}"


def _of_lists(
    expected: list[Any], found: list[Any], tolerance: float, at: str
) -> Iterator[str]:
    if all(isinstance(line, str) for line in expected + found):
        lines = difflib.unified_diff(
            expected, found, "expected", "found", lineterm="", n=1
        )
        yield f"{at}:\n" + "\n".join(lines)
    elif len(expected) != len(found):
        yield f"{at}: {len(found)} in place of {len(expected)}: {found!r:.300}"
    else:
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, tolerance, f"{at} / {place}")


def _same_list(expected: list[Any], found: list[Any], tolerance: float) -> bool:
    return len(expected) == len(found) and not any(
        next(_differences(one, other, tolerance, ""), None)
        for one, other in zip(expected, found, strict=True)
    )


def _same(expected: Any, found: Any, tolerance: float) -> bool:
    if isinstance(expected, float) or isinstance(found, float):
        plain = {type(expected), type(found)} <= {int, float}
        return plain and _close(expected, found, tolerance)
    if isinstance(expected, str) and isinstance(found, str):
        if expected == found:
            return True
        one, other = (_NUMBER.findall(text) for text in (expected, found))
        return (
            _NUMBER.sub("#", expected) == _NUMBER.sub("#", found)
            and len(one) == len(other)
            and all(
                _close(float(a), float(b), tolerance)
                for a, b in zip(one, other, strict=True)
            )
        )
    return type(expected) is type(found) and expected == found


def _close(expected: float, found: float, tolerance: float) -> bool:
    return abs(expected - found) <= tolerance * max(1.0, abs(expected))


_ABSENT = ("pycocoevalcap", "nltk")


@contextlib.contextmanager
def folder_of_inputs(folder: Path, write: Callable[[], None]) -> Iterator[None]:
    """Be in a folder with the input files, on a machine that has no Java and no package for it."""
    fixed = {
        "COLUMNS": "80",
        "SEMMETRICS_HOME": str(folder / "home"),
        "SEMMETRICS_TRACEBACK": "",
        "PATH": str(folder / "no programs"),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in fixed.items():
            patch.setenv(name, value)
        loaded = [name for name in sys.modules if name.partition(".")[0] in _ABSENT]
        # parts that another test has loaded are hidden, too
        for package in {
            *_ABSENT,
            *loaded,
        }:
            patch.setitem(sys.modules, package, None)
        patch.chdir(folder)
        write()
        yield
