"""The program: its commands, loaded when they are used, and the one place that handles errors.

Exit codes
----------
0 done; 2 the input or an option is wrong, or the system refuses to read or write something; 1 a
fault of the program; 130 stopped by Ctrl-C; 141 the reader of the output went away; 143 asked to
end.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from semmetrics._version import __version__
from semmetrics.cli.generate import SPECS, build
from semmetrics.cli.help import Examples
from semmetrics.cli.output import complain
from semmetrics.errors import InputError, InputWarning
from semmetrics.messages import did_you_mean, fold, printable
from semmetrics.options import flag

COMMANDS = [
    "score",
    "compare",
    "merge",
    "sweep",
    "calibrate",
    "doc-freq",
    "pairs",
    "positives",
    "correlate",
    "meta",
    "spice",
    "validate",
    "list",
    "explain",
    "embed",
    "cite",
    "rank",
    "mad",
    "demo",
    "completion",
]
"""In the order of use."""
_ELSEWHERE = {
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
_COMMANDS_ELSEWHERE = {
    **{
        name: f"did you mean {command}?"
        for command, names in _ELSEWHERE.items()
        for name in names
    },
    "help": "write: semmetrics --help, or: semmetrics COMMAND --help",
    "version": "write: semmetrics --version",
    "report": "write: semmetrics score --html FILE.html",
    **dict.fromkeys(("discrepancy", "competition"), "write: semmetrics mad select"),
    **dict.fromkeys(
        ("plot", "figure", "draw"), "write: semmetrics score --plot FILE.png"
    ),
    **dict.fromkeys(
        ("show", "print"), "results are printed by: semmetrics score PRED... GT"
    ),
}
"""What other programs call a command, and what to write here."""
TRACEBACK = "SEMMETRICS_TRACEBACK"
INTERRUPTED, BROKEN_PIPE = 130, 141
OUT_OF_MEMORY = "there is not enough memory; score fewer items or measures at once, or leave --ci out"


class Program(Examples, click.Group):
    """The group of commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, in the order of use."""
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make a command."""
        if cmd_name not in COMMANDS:
            return None
        from semmetrics.cli import commands  # noqa: F401 - it registers its commands

        if cmd_name not in SPECS:
            from semmetrics.cli import tools  # noqa: F401 - it registers the other commands
        return build(cmd_name)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands without making them."""
        from semmetrics.cli import commands, tools  # noqa: F401 - they register the commands

        with formatter.section("Commands"):
            texts = [(name, SPECS[name].run.__doc__ or "") for name in COMMANDS]
            formatter.write_dl([(name, text.split("\n")[0]) for name, text in texts])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command named first, or say what was probably meant."""
        name = args[0]
        if name in COMMANDS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if len(args) > 1 and Path(name).exists():
            hint = "to score files write: semmetrics score PRED... GT"
        else:
            every = f"the commands are {', '.join(COMMANDS)}"
            hint = _COMMANDS_ELSEWHERE.get(fold(name)) or did_you_mean(
                name, COMMANDS, every
            )
        raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; help and version are shown here."""
        with _ending_with_its_reader():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _ending_with_its_reader():
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
        """Run the program; every error becomes a message and an exit code."""
        code = 2
        try:
            extra["color"] = False if os.environ.get("NO_COLOR") else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InputWarning)  # a note says the same
                done = super().main(
                    args, "semmetrics", complete_var, standalone_mode=False, **extra
                )
            code = done if isinstance(done, int) else 0
        except InputError as error:
            complain(f"error: {error.text(flag)}")
        except click.ClickException as error:
            _show_usage(error)
            code = error.exit_code
        except MemoryError:
            complain(f"error: {OUT_OF_MEMORY}")
        except (KeyboardInterrupt, click.Abort):
            complain("stopped")
            code = INTERRUPTED
        except OSError as error:  # where it names no file, that is the standard output
            where = "standard output" if error.filename is None else error.filename
            why = error.strerror or type(error).__name__
            complain(
                f"error: {where}: the system says: {why}; check the place and the free space"
            )
            _show_traceback(error)
            _let_go_of_output()
        except Exception as error:
            if isinstance(error.__cause__, (KeyboardInterrupt, SystemExit)):
                raise error.__cause__ from None  # Python wraps what ends it while classes are made
            code = _show_fault(error)
        if standalone_mode:
            sys.exit(code)
        return code


def _show_usage(error: click.ClickException) -> None:
    ctx = getattr(error, "ctx", None)
    with contextlib.suppress(OSError):
        if type(error).__name__ == "NoArgsIsHelpError":
            click.echo(error.format_message(), err=True, color=ctx and ctx.color)
            return
        if ctx is not None:
            click.echo(ctx.get_usage(), err=True)
            click.echo(f"Try '{ctx.command_path} -h' for help.\n", err=True)
    complain(f"error: {error.format_message()}")


def _let_go_of_output() -> None:
    """Write what is left for standard output nowhere: Python would complain again at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _show_fault(error: Exception) -> int:
    """Say what is at fault: semmetrics, or a package that cannot be loaded; return the code."""
    package, place = "", error.__traceback__
    if isinstance(error, ImportError):  # such as of pyarrow beside an older numpy
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        module = error.name or (
            place.tb_frame.f_globals.get("__name__", "") if place else ""
        )
        package = module.partition(".")[0]
    if package not in ("", "semmetrics"):
        remedy = f"run: pip install --upgrade {package} numpy, for versions that fit"
        complain(f"error: the package {package} cannot be loaded: {error}; {remedy}")
    else:
        import traceback

        text = "".join(traceback.format_exception_only(type(error), error)).strip()
        again = f"set {TRACEBACK}=1 for the traceback"
        complain(
            f"a fault of semmetrics {__version__}: {text}; please report it ({again})"
        )
    _show_traceback(error)
    return 1 if package in ("", "semmetrics") else 2


def _show_traceback(error: Exception) -> None:
    if os.environ.get(TRACEBACK, "") not in ("", "0"):
        import traceback

        with contextlib.suppress(OSError):
            click.echo(printable("".join(traceback.format_exception(error))), err=True)


@contextlib.contextmanager
def _ending_with_its_reader() -> Iterator[None]:
    """Stop quietly where the reader of the output went away, which is no fault."""
    try:
        yield
    except BrokenPipeError:
        _let_go_of_output()
        raise click.exceptions.Exit(BROKEN_PIPE) from None


@click.command(
    cls=Program,
    invoke_without_command=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="semmetrics %(version)s")
def program() -> None:
    """Metrics of labels, captions, retrieval and classes, under the exact protocols of papers.

    Results go to standard output, or to the file of -o; notes, warnings and progress to standard
    error. 'semmetrics COMMAND -h' explains a command with examples.

    Examples
    --------
    semmetrics score preds.json gt.json
    semmetrics score --protocol kubany2020 --top-k 1,3,5 a.csv b.csv gt.csv
    semmetrics explain F1
    """
