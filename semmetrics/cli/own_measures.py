"""The option ``--import``: a user's Python file that defines measures, run when it is named."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import click

from semmetrics.cli.help import FILE, OTHER, F, option
from semmetrics.errors import InputError, place_in

__all__ = ["import_measures", "import_option"]


def import_option(group: str = OTHER) -> Callable[[F], F]:
    """Add ``--import`` to a command; its files are run before other options are read."""
    return option(
        group,
        "--import",
        type=FILE,
        metavar="FILE.py",
        multiple=True,
        is_eager=True,
        expose_value=False,
        callback=_import_all,
        help="Run a Python file that defines measures of your own with @semmetrics.measure; may be "
        "repeated.",
    )


def _import_all(ctx: click.Context, parameter: click.Parameter, files: tuple[str, ...]) -> None:
    if not ctx.resilient_parsing:  # no code is run to complete a name
        for file in files:
            import_measures(file)


def import_measures(file: str) -> None:
    """Run a Python file that defines measures, as a module called by its name.

    Raises
    ------
    InputError
        If there is no such file, it fails (names the line), or it defines no measure.
    """
    from semmetrics.metrics.registry import all_definitions

    path = Path(file)
    name = f"semmetrics_import_{path.resolve()}"
    if name in sys.modules:
        return
    if not path.is_file():
        raise InputError("there is no such file", where=file, remedy="check the path of --import")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError("this is no Python file", where=file, remedy="name it with .py")
    module = importlib.util.module_from_spec(spec)
    before = len(all_definitions())
    sys.modules[name] = module  # by which the annotations of its formulas are looked up
    try:
        spec.loader.exec_module(module)
        if len(all_definitions()) == before:
            raise InputError(
                "the file defines no measure",
                where=file,
                remedy="write @semmetrics.measure above it",
            )
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, InputError) and error.where:
            raise
        where = place_in(error, spec.origin or file).replace(spec.origin or file, file, 1)
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        problem = f"{type(error).__name__}: {text}".rstrip(": ")
        remedy = "mend the file"
        if isinstance(error, InputError):
            problem, remedy = error.problem, error.remedy
        raise InputError(problem, where=where, remedy=remedy) from error
