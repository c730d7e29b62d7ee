"""The option ``--import``: a user's Python file that defines measures, run when it is named."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click

from semmetrics.cli.help import FILE
from semmetrics.errors import InputError, place_in


def _import_all(ctx: click.Context, parameter: click.Parameter, files: tuple[str, ...]) -> None:
    if not ctx.resilient_parsing:  # no code is run to complete a name
        for file in files:
            import_measures(file)


IMPORT = click.Option(
    ["--import"], type=FILE, metavar="FILE.py", multiple=True, is_eager=True, expose_value=False,
    callback=_import_all,
    help="Run a Python file that defines measures of your own with @semmetrics.measure; may be "
    "repeated.",
)  # fmt: skip
"""Its files are run before other options are read."""


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
        raise InputError("missing-file", file, remedy="check the path of --import")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError("wrong-format", file, what="measures", format="it", wanted="a .py file")
    module = importlib.util.module_from_spec(spec)
    before = len(all_definitions())
    sys.modules[name] = module  # by which the annotations of its formulas are looked up
    try:
        spec.loader.exec_module(module)
        if len(all_definitions()) == before:
            raise InputError("no-measure-defined", file)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, InputError) and error.where:
            raise
        where = place_in(error, spec.origin or file).replace(spec.origin or file, file, 1)
        if isinstance(error, InputError):
            raise error.placed(where) from error
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError("own-code-failed", where, what="it", kind=type(error).__name__, why=text,
                         remedy="correct the file") from error  # fmt: skip
