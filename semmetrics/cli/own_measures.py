"""Run files of users that define measures, for the option ``--import``."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

from semmetrics.errors import InputError, place_in


def import_measures(file: str) -> None:
    """Run a Python file that defines measures, unless it was run before.

    Raises
    ------
    InputError
        If there is no such file, or its code fails. The message names the line.
    """
    path = Path(file)
    module_name = f"semmetrics_import_{path.resolve()}"
    if module_name in sys.modules:
        return
    if not path.is_file():
        raise InputError("missing-file", file, remedy="check the path of --import")
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise InputError(
            "wrong-format", file, what="measures", format="it", wanted="a .py file"
        )
    module = importlib.util.module_from_spec(spec)
    # The annotations of formulas are looked up in the registered module.
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        if isinstance(error, InputError) and error.where:
            raise
        raise _failed_import(error, file, spec) from error


def _failed_import(error: BaseException, file: str, spec: ModuleSpec) -> InputError:
    """Return the error for a file whose code fails, with the line that failed."""
    origin = spec.origin or file
    where = place_in(error, origin).replace(origin, file, 1)
    if isinstance(error, InputError):
        return error.placed(where)
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    return InputError(
        "own-code-failed",
        where,
        what="it",
        kind=type(error).__name__,
        why=reason,
        remedy="correct the file",
    )
