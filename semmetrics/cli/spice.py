"""The commands ``semmetrics spice setup`` and ``semmetrics spice parse``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.caption_commands import read_captions
from semmetrics.cli.flags import OUTPUT, output_option, read_given, reading_options, score_options
from semmetrics.cli.help import EXIT_CODES, FILE, Command, Group, option, quiet_option
from semmetrics.cli.messages import echo, say, show_progress
from semmetrics.errors import InputError
from semmetrics.messages import brief, pluralize, visible

if TYPE_CHECKING:
    from semmetrics.data.lists import Lists

__all__ = ["command"]

HOW, JAVA = "How captions are parsed", "The official program"


@click.group(
    "spice",
    cls=Group,
    no_args_is_help=True,
    examples=[
        "semmetrics spice setup",
        "semmetrics spice parse -o tuples.jsonl captions.json references.json",
        "semmetrics score -m SPICE --tuples tuples.jsonl captions.json references.json",
    ],
    epilog=EXIT_CODES,
)
def command() -> None:
    """Set up SPICE's own parser, and parse captions into scene graphs.

    'semmetrics score -m SPICE' parses, too, and keeps what it parsed; these commands are for
    machines without Java, and for parses that are shared.
    """


@command.command("setup", cls=Command, examples=["semmetrics spice setup"])
@option(
    OUTPUT,
    "--jars",
    type=FILE,
    metavar="FOLDER",
    help="Take the two jars of CoreNLP 3.6.0 from there; without it the Maven client, mvn, gets "
    "them (385 MB).",
)
@quiet_option
def setup(jars: str | None, quiet: bool) -> None:
    """Get the files that SPICE's own parser needs, and check them.

    They are kept in the user's cache folder, or in the folder that SEMMETRICS_HOME names.
    """
    from semmetrics.text.java import JARS, OfficialParser, jar_folder, set_up, wrong_jars

    wrong = wrong_jars()
    if wrong and jars is None:
        say([f"asking Maven for {', '.join(wrong)} (385 MB in all)"], quiet=quiet)
    folder = set_up(jars) if wrong else jar_folder()
    echo(visible(f"{folder}: {' and '.join(JARS)}{'' if wrong else ', there already'}"))
    say([lacking] if (lacking := OfficialParser().missing()) else [], quiet=quiet)


@command.command(
    "parse",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics spice parse -o tuples.jsonl captions.json references.json",
        "semmetrics spice parse --parser offline -o tuples.jsonl captions.json references.json",
    ],
)
@click.argument("files", type=FILE, metavar="FILE...", nargs=-1, required=True)
@option(
    HOW,
    "--parser",
    type=click.Choice(["official", "offline"]),
    default="official",
    show_default=True,
    help="SPICE's own program, which needs Java, or the parser that comes with semmetrics.",
)
@option(
    HOW,
    "--captions",
    type=click.Choice(["tokens", "written"]),
    default="tokens",
    show_default=True,
    help="What is parsed: the tokens of the tokenizer, as SPICE(captions=tokens) has them, or "
    "captions as they are written.",
)
@score_options("tokenizer")
@option(JAVA, "--seconds", type=click.IntRange(1, 86400), default=60, show_default=True,
        metavar="N", help="The longest that a caption may take.")  # fmt: skip
@option(JAVA, "--processors", type=click.IntRange(1, 1024), metavar="N",
        help="Threads; by default as many as the machine has processors.")  # fmt: skip
@option(JAVA, "--memory", default="4G", show_default=True, metavar="SIZE",
        help="The most that Java may take.")  # fmt: skip
@output_option(required=True, help="JSON lines, one a distinct caption; - for standard output.")
@reading_options("captions")
@quiet_option
def parse(
    files: tuple[str, ...],
    parser: str,
    captions: str,
    seconds: int,
    processors: int | None,
    memory: str,
    output: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Parse the captions of files into scene graphs, for 'semmetrics score --tuples'.

    Parses are kept: a second run, or one that goes on where another stopped, parses only what is
    new. Captions on which the parser fails are named, and left out of the output.
    """
    from semmetrics.cli.files import check_files, open_output
    from semmetrics.text.parses import open_parser, tuple_lines

    check_files(files, {"-o": output})
    options = read_given(given)
    inputs = read_captions(files, options.pop("read"), quiet=quiet)
    written = list(dict.fromkeys(str(text).strip() for one in inputs for text in one.vocabulary))
    forms = written if captions == "written" else _tokens(written, **options)
    texts = list(dict.fromkeys(forms))
    limits = {
        "seconds": seconds,
        "processors": processors or 0,
        "memory": memory,
        "otherwise": "parse by the parser that comes with semmetrics: --parser offline",
    }
    with show_progress(quiet=quiet) as progress:
        kept = open_parser(parser, None, progress, **(limits if parser == "official" else {}))
        failed = kept.parse(texts)
    say([str(kept.trouble)] if kept.trouble else [], quiet=quiet)
    good = [text for text in texts if text not in failed]
    with open_output(output) as out:
        out.writelines(tuple_lines(zip(good, kept.tuples(good), strict=True), kept.identity))
    if output != "-":
        echo(visible(f"{output}: {pluralize(len(good), 'caption')}, {kept.identity}"))
    if failed:
        caption, error = next(iter(failed.items()))
        raise InputError(
            f"the parser fails on {pluralize(len(failed), 'caption')}, such as {brief(caption)}: "
            f"{error.problem}",
            where=_place(written[forms.index(caption)], inputs),
            remedy=f"{error.remedy or 'leave such captions out'}; the others are in the output",
        )


def _tokens(captions: list[str], tokenizer: str = "ptb") -> list[str]:
    """Return the tokens of captions with blanks between them."""
    from semmetrics.text.tokenizers import open_tokenizer

    return [" ".join(tokens) for tokens in open_tokenizer(tokenizer).tokens(captions)]


def _place(caption: str, inputs: Sequence[Lists]) -> str:
    """Say in which file a caption stands first, and of which item."""
    import numpy as np

    for one in inputs:
        for code, text in enumerate(one.vocabulary):
            if str(text).strip() == caption:
                place = np.flatnonzero(one.side.codes == code)[0]
                row = np.searchsorted(one.side.indptr, place, side="right") - 1
                return f"{one.source}, id {str(one.ids[row])!r}"
    return ""
