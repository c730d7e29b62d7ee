"""Commands made from the tables of options, and what they were given, as values for Python."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from semmetrics.cli.files import check_files, name_files, write_text
from semmetrics.cli.help import (
    EXIT_CODES,
    FILE,
    Command,
    Group,
    complete,
    say,
    say_understood,
    show_progress,
)
from semmetrics.errors import InputError, place_in
from semmetrics.options import (
    COMMAND_OPTIONS,
    FORMATS,
    OPTIONS,
    OTHER,
    OUTPUT,
    READING,
    SHEETS,
    TITLES,
    WRITE,
    Option,
    decoding_rules,
)

if TYPE_CHECKING:
    from semmetrics.data.form import ReadOptions

F = TypeVar("F", bound=Callable[..., Any])
ALL = tuple(name for name, one in OPTIONS.items() if one.group)
"""The options of a score that have a flag."""
RESULT = ("form", "output", "digits", "quiet")
"""The options of a command that writes a result."""
SPECS: dict[str, Spec] = {}
"""Every command by its name; those of a group have the group's name before theirs."""
GROUPS: dict[str, tuple[str, Sequence[str]]] = {}
"""The help and the examples of groups of commands."""
_OWN = (WRITE, SHEETS, OTHER)
"""Groups of options that say how a command writes; no function has them."""
_SPECIFIED = ("embedding", "phi", "class_lists")
"""Options whose value is [NAME=]SPEC."""
_SPEC_NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Spec:
    """What a command is made of.

    Attributes
    ----------
    run : callable
        Does what the command is for, given a `Run`; its docstring is the help.
    files : mapping from name to metavar
        Its arguments: "PRED..." for several, "GT?" for one that may lack.
    options : sequence of str
        Options of a score that it takes.
    reads : sequence of str
        The kinds of data that its files hold; empty if they have a form of their own.
    output : sequence of str
        How it writes results.
    defaults : mapping from option to value
        Defaults of its own.
    examples : sequence of str
    choices : mapping from argument to choices
        Of arguments that are no files; or what a shell completes.
    imports : bool
        Whether it runs files that define measures.
    """

    run: Callable[[Run], Any]
    files: Mapping[str, str]
    options: Sequence[str] = ()
    reads: Sequence[str] = ()
    output: Sequence[str] = ("quiet",)
    defaults: Mapping[str, Any] | None = None
    examples: Sequence[str] = ()
    choices: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    imports: bool = False


def command(name: str, files: Mapping[str, str], **settings: Any) -> Callable[[F], F]:
    """Make a function of a `Run` a command; settings are the fields of `Spec`."""

    def register(function: F) -> F:
        SPECS[name] = Spec(function, files, **settings)
        return function

    return register


def options_of(name: str) -> dict[str, Option]:
    """Return the options of a command by their names: its own before those of the tables."""
    spec = SPECS[name]
    found = dict(COMMAND_OPTIONS.get(name, {}))
    read = [n for n, one in READING.items() if not one.kinds or {*one.kinds} & {*spec.reads}]
    for table, names in (
        (OPTIONS, spec.options),
        (READING, read if spec.reads else spec.options),
        (OUTPUT, spec.output),
    ):
        found |= {n: table[n] for n in table if n in names and n not in found}
    if spec.reads:
        forms = [name for name, kinds in FORMATS.items() if {*kinds} & {*spec.reads}]
        known = f"{', '.join(forms[:-1])} or {forms[-1]}. The default is told by the extension."
        found["input_format"] = replace(READING["input_format"], help=known)
    return {
        n: replace(one, default=(spec.defaults or {}).get(n, one.default))
        for n, one in sorted(found.items(), key=lambda pair: TITLES.index(pair[1].group))
    }


def build(name: str) -> click.Command:
    """Make a command, or a group of commands."""
    if name in GROUPS:
        help_, examples = GROUPS[name]
        members = [full for full in SPECS if full.startswith(f"{name} ")]
        commands = {full.partition(" ")[2]: build(full) for full in members}
        return Group(name, commands, help=help_, examples=examples, epilog=EXIT_CODES,
                     no_args_is_help=True)  # fmt: skip
    spec, options = SPECS[name], options_of(name)
    parameters: list[click.Parameter] = [
        click.Argument(
            [argument], nargs=-1 if "..." in metavar else 1, metavar=metavar.rstrip("?"),
            required=not metavar.endswith("?"), **_completed(spec.choices.get(argument)),
        )
        for argument, metavar in spec.files.items()
    ]  # fmt: skip
    own = COMMAND_OPTIONS.get(name, {})
    parameters += [_click_option(one, n in OPTIONS and n not in own) for n, one in options.items()]
    if spec.imports or any(one.names == "measures" for one in options.values()):
        parameters.append(IMPORT)

    def callback(**given: Any) -> Any:
        return spec.run(Run(name, given))

    optional = all(re.fullmatch(r"\[.*\]\?", metavar) for metavar in spec.files.values())
    return Command(
        name.rpartition(" ")[2], callback=callback, params=parameters, examples=spec.examples,
        help=inspect.getdoc(spec.run), no_args_is_help=not optional,
    )  # fmt: skip


def _completed(choices: str | Sequence[str] | None) -> dict[str, Any]:
    if choices is None:
        return {"type": FILE}
    if isinstance(choices, str):
        return {"shell_complete": complete(choices)}
    return {"type": click.Choice(choices)}


class GroupedOption(click.Option):
    """An option that belongs to a group of the help."""

    def __init__(self, *args: Any, group: str = OTHER, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


def _click_option(one: Option, may_lack: bool) -> click.Option:
    """Return the option for click; one that may lack has no value unless it is given."""
    kind: Any = FILE if one.file or one.written else one.read
    if one.choices:
        kind = click.Choice(one.choices)
    elif one.least is not None or one.most is not None:
        kind = click.IntRange(one.least, one.most)
    endings = [ending for ending in one.written if ending]
    written = f" It ends in {', '.join(endings)}." if endings else ""
    settings: dict[str, Any] = {"is_flag": True} if one.read is bool else {
        "type": kind, "multiple": one.repeat, "nargs": one.values, "metavar": one.metavar or None,
        "required": one.required,
        **({} if may_lack or one.default is None else {"default": one.default}),
    }  # fmt: skip
    return GroupedOption(
        [*(one.flags or (one.flag,)), one.name], group=one.group,
        help=one.help + written + one.default_text(),
        shell_complete=complete(one.names) if one.names else None, **settings,
    )  # fmt: skip


def _short(one: Option) -> str:
    return one.flags[0] if one.flags else one.flag


class Run:
    """What a command was given: files, options, and how to write its result.

    Inputs and outputs that are in each other's way are refused before anything is read.
    """

    def __init__(self, name: str, given: dict[str, Any]) -> None:
        self.given, self.options = given, options_of(name)
        self.quiet: bool = given.get("quiet", False)
        spec = SPECS[name]
        files = {n: one for n, one in spec.files.items() if n not in spec.choices}
        self.several = next((n for n, metavar in files.items() if "..." in metavar), "")
        inputs = [given[n] for n in files if n != self.several]
        first = sorted(self.options.items(), key=lambda pair: pair[0] != "output")
        outputs = {n: one for n, one in first if one.written}
        check_files(
            [*given.get(self.several, ()), *filter(None, inputs), *self._named_files()],
            {_short(one): given[n] for n, one in outputs.items()},
            {_short(one): one.written for one in outputs.values() if "" not in one.written},
        )

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def needs(self, text: str, *names: str) -> None:
        """Refuse a lack of files; the text says which are needed."""
        if any(self[name] in (None, ()) for name in names):
            raise click.UsageError(text)

    def systems(self) -> dict[str, str]:
        """Return the files that may be several, by the names of the systems."""
        paths = self[self.several]
        return dict(zip(name_files(paths), paths, strict=True))

    def _named_files(self) -> Iterator[str]:
        """Yield all files that options name."""
        for name, one in self.options.items():
            value = self.given[name] if one.file else None
            for text in [value] if isinstance(value, str) else value or ():
                if name in _SPECIFIED:
                    spec = split_spec(text, one)[1]
                    yield from filter(None, (spec, spec.partition(":")[2] * (name == "embedding")))
                else:
                    yield text

    def values(self, *without: str) -> dict[str, Any]:
        """Return the options that were given as values for Python, and how files are read."""
        from semmetrics.data.form import ReadOptions

        given = {
            name: value for name, value in self.given.items()
            if name in self.options and self.options[name].group not in _OWN
            and name not in without
            and value is not None and value is not False and value != ()
        }  # fmt: skip
        reading = {name: given.pop(name) for name in READING if name in given}
        read = ReadOptions(format=reading.pop("input_format", None), **reading)
        for name, convert in _CONVERTED.items():
            if name in given and self.options[name].repeat:
                given[name] = convert(given[name], read)
        for rule in decoding_rules(given.get("decode"), given.get("threshold")):
            from semmetrics.metrics.sets import check_decode

            check_decode(rule)
        return {**given, "read": read}

    @contextmanager
    def progress(self) -> Iterator[Any]:
        """Show progress."""
        with show_progress(quiet=self.quiet) as progress:
            yield progress

    def call(self, function: Callable[..., Any], *files: Any, **more: Any) -> Any:
        """Call a function of the API with the options that it takes, and say what it noticed."""
        parameters = inspect.signature(function).parameters
        open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        with self.progress() as progress:
            values = {**self.values(), "progress": progress, **more}
            named = {*parameters} - {*list(parameters)[: len(files)]}
            given = {n: v for n, v in values.items() if n in named or (
                open_ended and n not in parameters)}  # fmt: skip
            found = function(*files, **given)
        say_understood(found, quiet=self.quiet)
        return found

    @property
    def shape(self) -> dict[str, Any]:
        """How numbers are shown: digits after the point, and what they are multiplied by."""
        percent, digits = self.given.get("percent", False), self["digits"]
        digits = (2 if percent else 4) if digits is None else digits
        return {"digits": digits, **({"scale": 100.0 if percent else 1.0} if "percent" in self.given
                                     else {})}  # fmt: skip

    def write(self, report: Any, beside: Sequence[str] = ()) -> None:
        """Write a result, and what was asked for beside it.

        A table ends with both; with other formats they go to standard error.
        """
        form = self["form"]
        text = report.render(form, **self.shape)
        if form == "table":
            write_text("\n\n".join([text, *beside]), self["output"])
            return
        write_text(text, self["output"], form)
        say(report.sentences(), quiet=self.quiet)
        say([line for part in beside for line in part.split("\n")], quiet=False)


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


IMPORT = click.Option(
    ["--import"], type=FILE, metavar="FILE.py", multiple=True, is_eager=True, expose_value=False,
    # no code is run to complete a name
    callback=lambda ctx, _, files: ctx.resilient_parsing or list(map(import_measures, files)),
    help="Run a Python file that defines measures of your own with @semmetrics.measure; may be "
    "repeated.",
)  # fmt: skip
"""Its files are run before other options are read."""


def split_measures(texts: Iterable[str], example: str = "F1") -> list[str]:
    """Split measures at blanks outside parentheses."""
    from semmetrics.metrics.registry import split_measures as split

    found = [word for text in texts for word in split(text)]
    if not found:
        raise InputError("nothing-given", "-m", what="measures", remedy=f"write -m {example}")
    return found


def _read_measures(texts: Iterable[str], read: ReadOptions) -> Any:
    from semmetrics.metrics.registry import kinds_of_all, parse_all

    words = split_measures(texts)
    # if several kinds have them, the data or --task say which are meant
    return words if len(kinds_of_all(words)) > 1 else parse_all(words, *kinds_of_all(words))


def _read_ignored(entries: Iterable[str], read: ReadOptions) -> list[str]:
    from semmetrics.data.side_inputs import read_class_list

    labels: list[str] = []
    for entry in entries:
        if entry.startswith("@"):
            labels += read_class_list(entry[1:], read.beside())
        else:
            labels += [label for label in entry.split(",") if label]
    return labels


def split_spec(text: str, one: Option) -> tuple[str, str]:
    """Return name and value of NAME=VALUE; without a name, "default".

    Examples
    --------
    >>> split_spec("bert=sbert:all-MiniLM-L6-v2", OPTIONS["embedding"])
    ('bert', 'sbert:all-MiniLM-L6-v2')
    >>> split_spec("./a=b.bin", OPTIONS["embedding"])
    ('default', './a=b.bin')
    """
    name, sign, spec = text.partition("=")
    if not sign or any(mark in name for mark in "/\\:("):  # a path, kind:PATH or a measure
        name, spec = "default", text
    if not _SPEC_NAME.fullmatch(name) or not spec.strip():
        raise InputError("bad-spec", f"{one.flag} {text}", flag=one.flag, metavar=one.metavar)
    return name, spec


def _by_name(name: str) -> Callable[[Iterable[str], Any], dict[str, str]]:
    """Return what makes values by name of an option's texts."""
    one = OPTIONS[name]

    def read(texts: Iterable[str], _: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for text in texts:
            key, spec = split_spec(text, one)
            if key in found or (key == "default" and not one.metavar.startswith("[")):
                raise InputError("repeated-spec", f"{one.flag} {text}", flag=one.flag, name=key)
            found[key] = spec
        return found

    return read


_CONVERTED: Mapping[str, Callable[[Any, Any], Any]] = {
    "measures": _read_measures,
    "ignore": _read_ignored,
    **{name: _by_name(name) for name in _SPECIFIED},
}
"""How values of the command line become those of Python."""
