"""Commands made from the tables of options, and what they were given, as values for Python."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from semmetrics import options as tables
from semmetrics.arguments import check_choice
from semmetrics.cli import output
from semmetrics.errors import InputError, place_in, require
from semmetrics.messages import did_you_mean, listing, pluralize
from semmetrics.options import (
    KINDS,
    OPTIONS,
    OUTPUT,
    READING,
    RESULT_FORMATS,
    Option,
    flag,
)
from semmetrics.options.synonyms import measure_option_hint, option_of_synonym

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from semmetrics.data.form import ReadOptions
    from semmetrics.reports import Records

F = TypeVar("F", bound=Callable[..., Any])
RESULT = ("form", "output", "digits", "quiet")
"""The options of a command that writes a result."""
SPECS: dict[str, Spec] = {}
"""Every command and group by its name; those of a group have the group's name before theirs."""
EXIT_CODES = (
    "Exit codes: 0 done; 2 the input or an option is wrong, one message says where and what to do; "
    "1 a fault of the program; 130 stopped by Ctrl-C; 141 the reader of the output went away."
)
# Readers check what is there and say more than click would; the type completes file names.
FILE = click.Path(readable=False)
_SPECIFIED = tuple(name for name, one in OPTIONS.items() if "NAME=" in one.metavar)
"""Options whose value is [NAME=]SPEC."""


_HELP = "semmetrics.help"
"""The key of a context under which the kind is that --help shows the options of, or "all"."""
_FEW = 15
"""The number of options up to which -h shows all."""
_CLAUSE = re.compile(r"(?s)^((?:\([^)]*\)|[^(.:;]|[.:;](?=\S)){15,}).*")
"""A help text, with its first clause."""
_SHAPING = ("classification_report", "runs", "systems", "differences")
_UNGROUPED = Option("", tables.OTHER)


# What is shown of a command before it runs


class Formatter(click.HelpFormatter):
    """Writes help with headings and flags in colour, which is lost where the output has none."""

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        super().write_heading(click.style(heading, bold=True))

    def write_dl(self, rows: Any, *args: Any, **kwargs: Any) -> None:
        """Write flags or commands with what they are."""
        super().write_dl(
            [(click.style(a, fg="cyan"), b) for a, b in rows], *args, **kwargs
        )


class Context(click.Context):
    """What a command was called with."""

    formatter_class = Formatter


class Examples(click.Command):
    """A command whose help ends with examples, as a docstring does."""

    context_class = Context

    def __init__(
        self,
        *args: Any,
        help: str | None = None,
        options: Mapping[str, Option] = MappingProxyType({}),
        kinds: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        text, _, examples = inspect.cleandoc(help or "").partition(
            "\n\nExamples\n--------\n"
        )
        super().__init__(*args, **{"help": text, "epilog": EXIT_CODES, **kwargs})
        self.options, self.kinds = options, kinds
        self.examples = re.sub(r" \\\n +", " ", examples).split("\n")

    def format_help_text(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the description, then the examples as they are typed."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Command(Examples):
    """A command that takes options."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what most need, unless --help asks for all."""
        if _HELP not in ctx.meta and self.options:
            self.help = "\n\n".join((self.help or "").split("\n\n")[:2])
            self.examples = self.examples[:4]
            self.epilog = f"All options: {ctx.command_path} --help"
            if self.kinds:
                self.epilog += f"; those of one kind: --help {'|'.join(self.kinds)}"
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what is written; of an option of a measure, or of other commands, say so."""
        try:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
            once = [
                one
                for one in order
                if isinstance(one, click.Option) and not one.multiple
            ]
            again = (one for one in once if once.count(one) > 1 and not one.is_flag)
            if twice := next(again, None):
                raise click.UsageError(
                    f"{twice.opts[0]} is given twice; it takes one value", ctx
                )
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            message = f"there is no option {name!r}; {self._hint_for(name, ctx)}"
            raise click.UsageError(message, ctx) from None

    def _hint_for(self, name: str, ctx: click.Context) -> str:
        """Return what to write in place of an unknown option."""
        flags = [
            flag
            for one in self.get_params(ctx)
            for flag in one.opts
            if flag[:2] == "--"
        ]
        keyword = name.lstrip("-").replace("-", "_")
        meant = flag(option_of_synonym(keyword) or keyword)
        if meant in flags:
            return f"did you mean {meant}?"
        if "--measure" in flags and measure_option_hint(keyword):
            return measure_option_hint(keyword)
        owners = _commands_with(name, ctx)
        if owners:
            return f"it is an option of {listing(owners, most=4)}"
        return did_you_mean(
            name, flags, f"for all options write: {ctx.command_path} --help"
        )

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options under the titles of their groups: all, of one kind, or the common."""
        kind = ctx.meta.get(_HELP)
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            option = self.options.get(one.name or "", _UNGROUPED)
            record = (
                None if isinstance(one, click.Argument) else one.get_help_record(ctx)
            )
            if record is None or (
                kind in self.kinds and kind not in (option.kinds or KINDS)
            ):
                continue
            if kind is None and (option.common or len(self.options) <= _FEW):
                brief = _CLAUSE.sub(r"\1.", record[1])
                groups.setdefault("Options", []).append((record[0], brief))
            elif kind is not None:
                groups.setdefault(option.group, []).append(record)
        for title in sorted(groups, key=tables.OTHER.__eq__):
            with formatter.section(title):
                formatter.write_dl(groups[title], col_max=30)


def _commands_with(name: str, ctx: click.Context) -> list[str]:
    """Return the commands that have an option."""
    root = ctx.find_root()
    if not isinstance(root.command, click.Group):
        return []
    owners = []
    for title in root.command.list_commands(root):
        command = root.command.get_command(root, title)
        if command and any(name in parameter.opts for parameter in command.params):
            owners.append(title)
    return owners


class Choice(click.Choice[str]):
    """One of some words; an error names the words that are most like a wrong one."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the word, or raise an error."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = did_you_mean(str(value), self.choices)
            text = f"{error.message.rstrip('.')}; {near}" if near else error.message
            raise click.BadParameter(text, ctx, param) from None


class Group(Examples, click.Group):
    """A command of commands, with examples."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command named first, or say what was probably meant."""
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        every = f"the commands are {', '.join(known)}"
        hint = did_you_mean(name, known, every)
        raise click.UsageError(f"{ctx.info_name} has no command {name!r}; {hint}", ctx)


def known_names(what: str) -> dict[str, str]:
    """Return the names that a shell completes and ``semmetrics list`` shows, with what each is.

    Examples
    --------
    >>> list(known_names("rules"))[:2]
    ['all', 'threshold:0.5']
    """
    if what == "topics":
        return (
            known_names("measures")
            | known_names("protocols")
            | known_names("agreement")
        )
    if what in ("measures", "aliases"):
        from semmetrics.metrics.registry import aliases, all_definitions

        defined = all_definitions() if what == "measures" else ()
        return {one.name: one.summary for one in defined} | aliases()
    if what in ("protocols", "agreement"):
        from semmetrics.scoring.protocols import AGREEMENT_PROTOCOLS, PROTOCOLS

        table: Mapping[str, Any] = (
            PROTOCOLS if what == "protocols" else AGREEMENT_PROTOCOLS
        )
        return {name: protocol.title for name, protocol in table.items()}
    if what == "normalizations":
        from semmetrics.kinds.labels.normalization import NORMALIZATIONS

        return {
            n: (f.__doc__ or "").strip().split("\n")[0]
            for n, f in NORMALIZATIONS.items()
        }
    if what == "formats":
        from semmetrics.data.form import EXTENSIONS

        ends = {
            name: ", ".join(end for end, form in EXTENSIONS.items() if form == name)
            for name in tables.FORMATS
        }
        return ends | {"coco": "instances JSON, told by its content; ground truth"}
    return {"results": RESULT_FORMATS, "rules": dict.fromkeys(tables.DECODING, "")}.get(
        what, {}
    )


def _complete(what: str) -> Callable[[Any, Any, str], list[CompletionItem[str]]]:
    """Return a completer of names, in any case."""

    def completer(ctx: Any, param: Any, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=text or None)
            for name, text in known_names(what).items()
            if name.lower().startswith(incomplete.lower())
        ]

    return completer


# What commands are made of


class Spec(NamedTuple):
    """What a command is made of.

    Attributes
    ----------
    run : callable
        Does what the command is for, given a `Run`; its docstring is the help, with examples.
    files : mapping from name to metavar
        Its arguments: "PRED..." for several, "GT?" for one that may lack.
    takes : str
        The function whose options it has besides its own, where that has another name.
    reads : sequence of str
        The kinds of data that its files hold; empty if they have a form of their own.
    output : sequence of str
        How it writes results.
    choices : mapping from argument to choices
        Of arguments that are no files; or what a shell completes.
    imports : bool
        Whether it runs files that define measures.
    """

    run: Callable[[Run], Any]
    files: Mapping[str, str]
    takes: str = ""
    reads: Sequence[str] = ()
    output: Sequence[str] = ("quiet",)
    choices: Mapping[str, str | Sequence[str]] = MappingProxyType({})
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
    found = dict(tables.COMMAND_OPTIONS.get(name, {}))
    taken = tables.TAKEN.get(spec.takes or name, {})
    reading = (
        tables.READING if name == "pairs" else tables.reading_of(spec.takes or name)
    )
    read = [
        n for n, one in reading.items() if not one.kinds or {*one.kinds} & {*spec.reads}
    ]
    if not spec.reads:
        read = ["max_bytes"] if "read" in taken else []
    flagged = [name for name, one in taken.items() if one.group]
    for table, names in ((taken, flagged), (READING, read), (OUTPUT, spec.output)):
        found |= {n: table[n] for n in table if n in names and n not in found}
    if spec.reads:
        forms = [
            name for name, kinds in tables.FORMATS.items() if {*kinds} & {*spec.reads}
        ]
        known = f"{', '.join(forms[:-1])} or {forms[-1]}. The default is told by the extension."
        found["format"] = READING["format"]._replace(help=known)
    return dict(
        sorted(found.items(), key=lambda pair: tables.TITLES.index(pair[1].group))
    )


def build(name: str) -> click.Command:
    """Make a command, or a group of commands."""
    spec, options = SPECS[name], options_of(name)
    if members := [full for full in SPECS if full.startswith(f"{name} ")]:
        commands = {full.partition(" ")[2]: build(full) for full in members}
        return Group(name, commands, help=spec.run.__doc__, no_args_is_help=True)
    parameters: list[click.Parameter] = []
    for argument, metavar in spec.files.items():
        choices = spec.choices.get(argument)
        known: dict[str, Any] = {"type": FILE if choices is None else Choice(choices)}
        if isinstance(choices, str):
            known = {"shell_complete": _complete(choices)}
        parameters.append(
            click.Argument(
                [argument],
                nargs=-1 if "..." in metavar else 1,
                metavar=metavar.rstrip("?"),
                required=not metavar.endswith("?"),
                **known,
            )
        )
    own = tables.COMMAND_OPTIONS.get(name, {})
    parameters += [
        _click_option(one, n in OPTIONS and n not in own) for n, one in options.items()
    ]
    if spec.imports or any(one.names == "measures" for one in options.values()):
        parameters.append(IMPORT)

    def callback(**given: Any) -> Any:
        return spec.run(Run(spec, options, given))

    kinds = spec.reads if len(spec.reads) > 1 else ()
    of_kind: Any = (
        {
            "is_flag": False,
            "flag_value": "all",
            "metavar": "[KIND]",
            "shell_complete": lambda _, __, start: [
                one for one in kinds if one.startswith(start)
            ],
        }
        if kinds
        else {"is_flag": True}
    )
    for written, text, more in (
        ("-h", "Show the most used options.", {"is_flag": True}),
        (
            "--help",
            f"Show all options{', or those of one kind' * bool(kinds)}.",
            of_kind,
        ),
    ):
        parameters.append(
            click.Option(
                [written],
                help=text,
                is_eager=True,
                expose_value=False,
                callback=_show_help,
                **more,
            )
        )
    optional = all(
        re.fullmatch(r"\[.*\]\?", metavar) for metavar in spec.files.values()
    )
    return Command(
        name.rpartition(" ")[2],
        callback=callback,
        params=parameters,
        help=spec.run.__doc__,
        no_args_is_help=not optional,
        options=options,
        kinds=kinds,
        add_help_option=False,
    )


def _show_help(ctx: click.Context, option: click.Parameter, kind: Any) -> None:
    """Show the most used options, or all, or those of a kind."""
    if kind and not ctx.resilient_parsing:
        if "--help" in option.opts:
            ctx.meta[_HELP] = kind
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _click_option(one: Option, may_lack: bool) -> click.Option:
    """Return the option for click; one that may lack has no value unless it is given."""
    kind: Any = FILE if one.file or one.written else one.read
    if one.choices:
        kind = Choice(one.choices)
    elif one.least is not None or one.most is not None:
        kind = click.IntRange(one.least, one.most)
    endings = ", ".join(filter(None, one.written))
    written = f" It ends in {endings}." if endings else ""
    settings: dict[str, Any] = (
        {"is_flag": True}
        if one.read is bool
        else {
            "type": kind,
            "multiple": one.repeat,
            "nargs": one.values,
            "metavar": one.metavar or None,
            "required": one.required,
            **({} if may_lack or one.default is None else {"default": one.default}),
        }
    )
    return click.Option(
        [*(one.flags or (one.flag,)), one.name],
        help=one.help + written + one.default_text(),
        shell_complete=_complete(one.names) if one.names else None,
        **settings,
    )


class Run:
    """What a command was given: files, options, and how to write its result.

    Inputs and outputs that are in each other's way are refused before anything is read.
    """

    def __init__(
        self, spec: Spec, options: dict[str, Option], given: dict[str, Any]
    ) -> None:
        self.given, self.options = given, options
        self.quiet: bool = given.get("quiet", False)
        files = {n: one for n, one in spec.files.items() if n not in spec.choices}
        self.several = next((n for n, metavar in files.items() if "..." in metavar), "")
        inputs = [given[n] for n in files if n != self.several]
        self._choose_form()
        first = sorted(self.options.values(), key=lambda one: one.name != "output")
        self.plots = [_split_plot(text) for text in given.get("plot", ())]
        paths = {one.name: [given[one.name]] for one in first if one.written}
        paths["plot"] = [path for _, path in self.plots]
        outputs = [
            ((*one.flags, one.flag)[0], path, one.written)
            for one in first
            for path in paths.get(one.name, ())
        ]
        read = [
            *given.get(self.several, ()),
            *filter(None, inputs),
            *self._named_files(),
        ]
        output.check_files(map(output.path_of, read), [one[:2] for one in outputs])
        for short, path, known in outputs:
            if path is None or "" in known or path in known:
                continue
            ending = output.ending(path)
            is_plain = not ending and ".txt" in known
            is_packed = ending == ".parquet" and path.lower().endswith(".gz")
            if is_packed or (ending not in known and not is_plain):
                raise InputError(
                    "wrong-ending", f"{short} {path}", known=[*filter(None, known)]
                )

    def _choose_form(self) -> None:
        """Write a result in the format that the ending of its file names."""
        if any(
            self.options.get(name) is not OUTPUT[name] for name in ("form", "output")
        ):
            return  # what is written has one format
        source = click.get_current_context().get_parameter_source("form")
        if "html" in self.options:
            is_page = (
                output.ending(self["output"] or "") == ".html" and self["html"] is None
            )
            if is_page and source is ParameterSource.DEFAULT:
                self.given |= {"html": self["output"], "output": None}
            if self["html"] is not None:  # what it lacks is said before long work
                from semmetrics.reports import figures, page

                require("jinja2", "a report", extra="html")
                figures.load()
                page.Thumbnails(self["images"])
            elif self["images"] is not None:
                raise InputError("needs-option", what="--images", name="html")
        ending = output.ending(self["output"] or "")
        if ending in tables.RECORD_ENDINGS:
            self._check_records(ending)
        # These formats are converted from CSV.
        records = dict.fromkeys(tables.RECORD_ENDINGS, "csv")
        form = {**tables.ENDINGS, **records}.get(ending, self["form"])
        if form != self["form"] and source is not ParameterSource.DEFAULT:
            names = f"--format {self['form']} and -o {self['output']}"
            raise InputError("conflicting-options", names=names)
        self.given["form"] = form

    def _check_records(self, ending: str) -> None:
        """Raise for options that give a table its shape, where one row is one record."""
        if ending == ".parquet":
            require("pyarrow", "writing Parquet", extra="report")
        if ending == ".tsv":
            return
        for name in _SHAPING:
            if self[name]:
                fix = "write .csv or .tsv, or remove it"
                raise InputError(
                    "not-applicable", name=name, what=f"-o *{ending}", fix=fix
                )

    def __getitem__(self, name: str) -> Any:
        return self.given.get(name)  # None of what the command does not have

    def needs(self, text: str, *names: str) -> None:
        """Refuse a lack of files; the text says which are needed."""
        if any(self[name] in (None, ()) for name in names):
            raise click.UsageError(text)

    def systems(self) -> dict[str, Any]:
        """Return the files that may be several, by the names of the systems."""
        named = output.name_systems(self[self.several], self.several.upper())
        return named or {"embeddings": None}  # which options give

    def _named_files(self) -> Iterator[str]:
        """Yield all files that options name."""
        for name, one in self.options.items():
            value = self.given[name] if one.file else None
            for text in [value] if isinstance(value, str) else value or ():
                if name in _SPECIFIED:
                    spec = split_spec(text, one)[1]
                    yield from filter(
                        None, (spec, spec.partition(":")[2] * (name == "embedding"))
                    )
                else:
                    yield text

    def values(self, *without: str) -> dict[str, Any]:
        """Return the options that were given as values for Python, and how files are read."""
        from semmetrics.data.form import make_read_options

        given = {
            name: value
            for name, value in self.given.items()
            if name in self.options
            and self.options[name].group not in tables.OF_COMMANDS
            and name not in without
            and value is not None
            and value is not False
            and value != ()
        }
        read = make_read_options(
            {name: given.pop(name) for name in READING if name in given}
        )
        for name in ("measures", "headings", "ignore", *_SPECIFIED):
            if name in given and self.options[name].repeat:
                given[name] = _convert(name, given[name], read)
        if files := given.get("set_size_probs"):  # one for all systems, or one for each
            systems = self.systems() if self.several else [""]
            if len(files) not in (1, len(systems)):
                raise InputError(
                    "wrong-count",
                    found=f"{len(files)} times --set-size-probs",
                    wanted=pluralize(len(systems), "system"),
                )
            each = dict(zip(systems, files, strict=False))
            given["set_size_probs"] = each if len(files) > 1 else files[0]
        return {**given, "read": read}

    def progress(self) -> AbstractContextManager[output.Progress | None]:
        """Show progress."""
        return output.show_progress(quiet=self.quiet)

    def call(self, function: Callable[..., Any], *files: Any, **more: Any) -> Any:
        """Call a function of the API with the options that it takes, and say what it noticed."""
        names = [*inspect.signature(function).parameters]
        with self.progress() as progress:
            values = self.values()
            if idle := [name for name in values if name not in {*names, *more}]:
                raise InputError("not-applicable", name=idle[0], what=names[0])
            values |= {"progress": progress, **more}
            taken = names[len(files) :]
            found = function(*files, **{n: v for n, v in values.items() if n in taken})
        output.say_understood(found, quiet=self.quiet)
        return found

    @property
    def shape(self) -> dict[str, Any]:
        """How numbers are shown: digits after the point, and what they are multiplied by."""
        from semmetrics.scoring.protocols import PROTOCOLS

        percent = self["percent"] or getattr(
            PROTOCOLS.get(self["protocol"]), "percent", False
        )
        digits = (2 if percent else 4) if self["digits"] is None else self["digits"]
        return {
            "digits": digits,
            **({"scale": 100.0 if percent else 1.0} if "percent" in self.given else {}),
        }

    def render(self, report: Any) -> str:
        """Write a result in the format asked for."""
        in_json = self["form"] == "json"
        return str(
            report.to_json(flag)
            if in_json
            else report.render(self["form"], **self.shape)
        )

    def write_text(
        self,
        text: str,
        beside: Mapping[str, str | bytes | Records] | None = None,
        of: Any = None,
    ) -> None:
        """Write a result where it belongs, and beside it other files and the figures of it."""
        drawn: dict[str, str | bytes | Records] = {**self._draw_plots(of)}
        if self["html"] is not None:
            drawn[self["html"]] = of.html_report(images=self["images"], **self.shape)
        result = self._as_file_has_it(text, of)
        output.write_text(
            result,
            self["output"],
            self["form"],
            {**(beside or {}), **drawn},
            self["digits"],
        )

    def _draw_plots(self, of: Any) -> dict[str, str | bytes]:
        """Return the figures of a result that --plot names, by path."""
        if not self.plots:
            return {}
        from semmetrics.reports import figures

        drawn: dict[str, str | bytes] = {}
        for name, path in self.plots:
            try:
                figure = figures.choose(of, name)
            except InputError as error:
                raise error.placed(f"--plot {name}".rstrip()) from None
            drawn[path] = figures.render(figure, output.ending(path))
        return drawn

    def _as_file_has_it(self, text: str, of: Any) -> str | Records:
        """Return what the file of -o holds: the text, or the records of the result."""
        ending = output.ending(self["output"] or "")
        if ending not in tables.RECORD_ENDINGS:
            return text
        if ending == ".tsv":
            return output.csv_as_tsv(text)
        records: Records = of if not hasattr(of, "to_records") else of.to_records()
        return records

    def write(self, report: Any, beside: Sequence[str] = ()) -> None:
        """Write a result, and what was asked for beside it.

        A table ends with both; with other formats they go to standard error.
        """
        from semmetrics.reports import draw_signatures

        form, text = self["form"], [self.render(report)]
        if self["signatures"] and form not in output.EXACT:
            beside = [*beside, draw_signatures(report.to_records())]
        self.write_text(
            "\n\n".join([*text, *beside] if form == "table" else text), of=report
        )
        if form != "table":
            lines = output.split_lines(beside)
            output.say([*report.sentences(), *lines], quiet=self.quiet)


def import_measures(file: str) -> None:
    """Run a Python file that defines measures, as a module called by its name.

    Raises
    ------
    InputError
        If there is no such file, or it fails; names the line.
    """
    path = Path(file)
    name = f"semmetrics_import_{path.resolve()}"
    if name in sys.modules:
        return
    if not path.is_file():
        raise InputError("missing-file", file, remedy="check the path of --import")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(
            "wrong-format", file, what="measures", format="it", wanted="a .py file"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # by which the annotations of its formulas are looked up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, InputError) and error.where:
            raise
        where = place_in(error, spec.origin or file).replace(
            spec.origin or file, file, 1
        )
        if isinstance(error, InputError):
            raise error.placed(where) from error
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError(
            "own-code-failed",
            where,
            what="it",
            kind=type(error).__name__,
            why=text,
            remedy="correct the file",
        ) from error


IMPORT = click.Option(
    ["--import"],
    type=FILE,
    metavar="FILE.py",
    multiple=True,
    is_eager=True,
    expose_value=False,
    # no code is run to complete a name
    callback=lambda ctx, _, files: (
        ctx.resilient_parsing or list(map(import_measures, files))
    ),
    help="Run a Python file that defines measures of your own with @semmetrics.measure; may be "
    "repeated.",
)
"""Its files are run before other options are read."""


def _convert(name: str, texts: Sequence[str], read: ReadOptions) -> Any:
    """Return what the command line gives for an option as a value for Python."""
    if name == "measures":
        if not "".join(texts).strip():
            raise InputError(
                "nothing-given", "-m", what="measures", remedy="write -m F1"
            )
        return texts
    if name == "headings":
        return _read_headings(name, texts)
    if name == "ignore":
        return _read_labels(texts, read)
    return _read_specs(name, texts)


def _read_headings(name: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the headings of measures, from MEASURE=TEXT."""
    headings: dict[str, str] = {}
    for text in texts:
        pair = re.fullmatch(r"((?:\([^)]*\)|[^=(])+)=(.*\S.*)", text)
        if pair is None:
            raise InputError("bad-option", name=name, value=text, wanted="MEASURE=TEXT")
        measure, heading = pair.groups()
        if headings.setdefault(measure, heading) != heading:
            raise InputError("duplicate", role="the heading of", value=measure)
    return headings


def _read_labels(texts: Sequence[str], read: ReadOptions) -> list[str]:
    """Return the labels of LABEL,LABEL and of files that are written as @FILE."""
    from semmetrics.data.side_inputs import read_class_list

    labels: list[str] = []
    for text in texts:
        if text.startswith("@"):
            labels += read_class_list(text[1:], read.beside())
        else:
            labels += text.split(",")
    return [label for label in labels if label]


def _read_specs(name: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the values of [NAME=]SPEC by name."""
    option = OPTIONS[name]
    specs: dict[str, str] = {}
    for text in texts:
        key, spec = split_spec(text, option)
        needs_name = key == "default" and not option.metavar.startswith("[")
        if key in specs or needs_name:
            where = f"{option.flag} {text}"
            raise InputError("repeated-spec", where, flag=option.flag, name=key)
        specs[key] = spec
    return specs


def _split_plot(text: str) -> tuple[str, str]:
    """Return the name of a figure and its file; no name for the first that suits."""
    # If it cannot draw, this fails before any long work.
    from semmetrics.reports import figures

    name, sign, path = text.partition("=")
    if not sign or not re.fullmatch(r"[\w-]+", name):
        name, path = "", text
    if name:
        check_choice("plot", name, figures.FIGURES)
    figures.load()
    return name, path


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
    # a path, kind:PATH or a measure
    if not sign or any(mark in name for mark in "/\\:("):
        name, spec = "default", text
    if not re.fullmatch(r"[\w.+-]+", name) or not spec.strip():
        raise InputError(
            "bad-spec", f"{one.flag} {text}", flag=one.flag, metavar=one.metavar
        )
    return name, spec
