"""The program ``semmetrics``: its commands, which are loaded on use, and its error handling.

Exit codes
----------
0
    Success.
1
    A bug in semmetrics.
2
    Wrong input or option, or a file that cannot be read or written.
130
    Stopped by Ctrl-C.
141
    The program that reads the output has exited.
143
    Stopped by SIGTERM.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from semmetrics._version import __version__
from semmetrics.cli.generate import SPECS, Spec, build
from semmetrics.cli.help import Examples
from semmetrics.cli.output import complain
from semmetrics.errors import InputError, InputWarning
from semmetrics.messages import as_sentence, did_you_mean, fold, printable
from semmetrics.options import flag

MODULE_OF_COMMAND = {
    "score": "commands",
    "compare": "commands",
    "merge": "commands",
    "sweep": "studies",
    "calibrate": "studies",
    "doc-freq": "captions",
    "pairs": "captions",
    "positives": "captions",
    "correlate": "studies",
    "meta": "studies",
    "spice": "captions",
    "validate": "studies",
    "list": "tools",
    "explain": "tools",
    "embed": "embeddings",
    "cite": "tools",
    "rank": "studies",
    "mad": "mad",
    "demo": "tools",
    "completion": "tools",
}
"""The module of `semmetrics.cli` that defines each command, in the order of the help."""
COMMANDS = list(MODULE_OF_COMMAND)
MODULES = ("commands", "studies", "mad", "tools", "captions", "embeddings")
"""The modules of commands, in the order in which the documentation lists their options."""
_SYNONYMS = {
    "score": (
        "eval",
        "evaluate",
        "evaluation",
        "run",
        "test",
        "bench",
        "benchmark",
        "compute",
        "metric",
        "measure",
    ),
    "list": ("metrics", "measures", "protocols", "ls"),
    "compare": ("diff", "significance", "ttest", "bootstrap"),
    "validate": ("check", "lint", "verify", "inspect"),
    "calibrate": ("threshold", "tune"),
    "explain": ("describe", "info", "about", "signature"),
    "cite": ("bib", "bibtex", "citation", "reference"),
    "meta": ("agreement", "human", "judgements", "judgments"),
    "rank": ("ranking", "leaderboard"),
    "demo": ("example", "examples", "sample", "tutorial", "quickstart"),
}
"""For each command, its names in other programs."""
_HINTS = {
    "run `semmetrics --help` or `semmetrics COMMAND --help`": ("help",),
    "run `semmetrics --version`": ("version",),
    "run `semmetrics score --html FILE.html`": ("report",),
    "run `semmetrics mad select`": ("discrepancy", "competition"),
    "run `semmetrics score --plot FILE.png`": ("plot", "figure", "draw"),
    "`semmetrics score PRED... GT` prints results": ("show", "print"),
}
"""Suggestions in place of commands that do not exist, each with the names of such commands."""
TRACEBACK = "SEMMETRICS_TRACEBACK"
"""The environment variable that turns on tracebacks."""
INTERRUPTED = 130
BROKEN_PIPE = 141
OUT_OF_MEMORY = (
    "not enough memory. Score fewer items or measures at once, or leave out --ci."
)


def load_commands() -> dict[str, Spec]:
    """Load all commands, and return their descriptions in the order of the documentation."""
    specs = {}
    for module in MODULES:
        module_name = f"semmetrics.cli.{module}"
        importlib.import_module(module_name)
        for name, spec in SPECS.items():
            if spec.run.__module__ == module_name:
                specs[name] = spec
    return specs


class Program(Examples, click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the module of a command, and build the command."""
        module = MODULE_OF_COMMAND.get(cmd_name)
        if module is None:
            return None
        importlib.import_module(f"semmetrics.cli.{module}")
        return build(cmd_name)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands, each with the first line of its docstring."""
        specs = load_commands()
        rows = []
        for name in COMMANDS:
            docstring = specs[name].run.__doc__ or ""
            rows.append((name, docstring.split("\n")[0]))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise an error that suggests what to write."""
        name = args[0]
        if name in COMMANDS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if len(args) > 1 and Path(name).exists():
            hint = "to score files, run `semmetrics score PRED... GT`"
        else:
            hint = _hint_for_command(name)
        raise click.UsageError(f"unknown command {name!r}. {as_sentence(hint)}", ctx)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the arguments. The help and the version are printed here."""
        with _exiting_on_broken_pipe():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _exiting_on_broken_pipe():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> int:
        """Run the program, and turn every error into a message and an exit code."""
        code = 0
        extra["color"] = False if os.environ.get("NO_COLOR") else None
        try:
            with warnings.catch_warnings():
                # Notes report the same problems as these warnings.
                warnings.simplefilter("ignore", InputWarning)
                result = super().main(
                    args, "semmetrics", complete_var, standalone_mode=False, **extra
                )
            if isinstance(result, int):
                code = result
        except (Exception, KeyboardInterrupt) as error:
            code = _report_error(error)
        if standalone_mode:
            sys.exit(code)
        return code


def _hint_for_command(name: str) -> str:
    """Return what to write instead of a command that does not exist."""
    folded = fold(name)
    for command, synonyms in _SYNONYMS.items():
        if folded in synonyms:
            return f"did you mean {command}?"
    for hint, names in _HINTS.items():
        if folded in names:
            return hint
    return did_you_mean(name, COMMANDS, f"the commands are {', '.join(COMMANDS)}")


# ---- errors -----------------------------------------------------------------


def _report_error(error: Exception | KeyboardInterrupt) -> int:
    """Write the message for an error, and return the exit code."""
    if isinstance(error, InputError):
        complain(f"error: {error.text(flag)}")
        return 2
    if isinstance(error, click.ClickException):
        _show_usage(error)
        return error.exit_code
    if isinstance(error, MemoryError):
        complain(f"error: {OUT_OF_MEMORY}")
        return 2
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        complain("stopped")
        return INTERRUPTED
    if isinstance(error, OSError):
        _report_system_error(error)
        return 2
    cause = error.__cause__
    if isinstance(cause, (KeyboardInterrupt, SystemExit)):
        # Python wraps the exceptions of signal handlers that run while a class is created.
        raise cause from None
    code = _report_failure(error)
    _show_traceback(error)
    return code


def _show_usage(error: click.ClickException) -> None:
    """Write how to use a command, and what is wrong with the arguments."""
    ctx = getattr(error, "ctx", None)
    with contextlib.suppress(OSError):
        if type(error).__name__ == "NoArgsIsHelpError":
            click.echo(error.format_message(), err=True, color=ctx and ctx.color)
            return
        if ctx is not None:
            click.echo(ctx.get_usage(), err=True)
            click.echo(f"Try '{ctx.command_path} -h' for help.\n", err=True)
    complain(f"error: {error.format_message()}")


def _report_system_error(error: OSError) -> None:
    """Write the message for a file that cannot be read or written."""
    where = error.filename
    if where is None:
        where = "standard output"  # Errors of all other files have a name
    reason = error.strerror or type(error).__name__
    complain(f"error: {where}: {reason}. Check the path and the free space.")
    _show_traceback(error)
    _discard_output()


def _discard_output() -> None:
    """Redirect standard output to the null device.

    Otherwise Python would report an error again when it flushes the stream on exit.
    """
    with contextlib.suppress(OSError, ValueError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)


def _report_failure(error: Exception) -> int:
    """Write the message for a bug or for a package that cannot be imported.

    Returns
    -------
    int
        The exit code: 1 for a bug in semmetrics, and 2 for another package.
    """
    package = _package_that_failed(error)
    if package not in ("", "semmetrics"):
        remedy = (
            f"Run `pip install --upgrade {package} numpy` to get compatible versions."
        )
        complain(f"error: the package {package} cannot be imported: {error}. {remedy}")
        return 2
    import traceback

    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    complain(
        f"internal error of semmetrics {__version__}: {text}. Please report it, with the "
        f"traceback that {TRACEBACK}=1 shows."
    )
    return 1


def _package_that_failed(error: Exception) -> str:
    """Return the package whose import failed, or "" for another error.

    For example, an import fails if the versions of pyarrow and numpy are incompatible.
    """
    if not isinstance(error, ImportError):
        return ""
    module = error.name
    entry = error.__traceback__
    if not module and entry is not None:
        while entry.tb_next is not None:
            entry = entry.tb_next
        module = entry.tb_frame.f_globals.get("__name__", "")
    return (module or "").partition(".")[0]


def _show_traceback(error: Exception) -> None:
    """Write the traceback of an error if the environment variable asks for it."""
    if os.environ.get(TRACEBACK, "") in ("", "0"):
        return
    import traceback

    text = "".join(traceback.format_exception(error))
    with contextlib.suppress(OSError):
        click.echo(printable(text), err=True)


@contextlib.contextmanager
def _exiting_on_broken_pipe() -> Iterator[None]:
    """Exit without a message if the program that reads the output has exited."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise click.exceptions.Exit(BROKEN_PIPE) from None


@click.command(
    cls=Program,
    invoke_without_command=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="semmetrics %(version)s")
def program() -> None:
    """Evaluate labels, captions, retrieval and classes, exactly as the papers define the measures.

    Results are written to standard output, or to the file set by -o. Notes, warnings and progress
    are written to standard error. 'semmetrics COMMAND -h' explains a command with examples.

    Examples
    --------
    semmetrics score preds.json gt.json
    semmetrics score --protocol kubany2020 --top-k 1,3,5 a.csv b.csv gt.csv
    semmetrics explain F1
    """
