"""The arguments of a command, as values for the Python API, and how its result is written."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from semmetrics.arguments import check_choice
from semmetrics.cli import output
from semmetrics.errors import InputError, require
from semmetrics.messages import pluralize
from semmetrics.options import (
    COMMAND_TITLES,
    FORMAT_OF_EXTENSION,
    OPTIONS,
    OUTPUT,
    READING,
    RECORD_EXTENSIONS,
    Option,
    flag,
)

if TYPE_CHECKING:
    from semmetrics.data.read_options import ReadOptions
    from semmetrics.reports import Records

_NAMED_OPTIONS = tuple(
    name for name, option in OPTIONS.items() if "NAME=" in option.metavar
)
"""Options whose values are written as [NAME=]SPEC."""
_CONVERTED_OPTIONS = ("measures", "headings", "ignore", *_NAMED_OPTIONS)
"""Repeated options whose strings are converted to a value for Python."""
_TABLE_OPTIONS = ("classification_report", "runs", "systems", "differences")
"""Options for the layout of a table, which have no effect on records."""


class _OutputFile(NamedTuple):
    """An output file that an option names.

    Attributes
    ----------
    flag : str
        The short flag of the option if it has one.
    path : str or None
    extensions : tuple of str
        The allowed extensions, "" for any, and "-" for standard output.
    """

    flag: str
    path: str | None
    extensions: tuple[str, ...]


class Run:
    """The arguments and options of a command, and the output of its result.

    Before the command reads anything, the paths of inputs and outputs are checked.

    Parameters
    ----------
    arguments : mapping of name to metavar
        The positional arguments.
    not_files : container of str
        The positional arguments that are not files.
    options : dict of name to Option
        The options that the command has.
    params : dict of name to value
        The values of all arguments and options.

    Attributes
    ----------
    quiet : bool
    files_argument : str
        The argument that can have several files, or "".
    plots : list of pairs of str
        The name and the path of each figure to draw. An empty name selects the most suitable one.

    Raises
    ------
    InputError
        If an output would overwrite an input or another output, an extension is not allowed, or
        options of the output conflict.
    """

    def __init__(
        self,
        arguments: Mapping[str, str],
        not_files: Mapping[str, Any],
        options: dict[str, Option],
        params: dict[str, Any],
    ) -> None:
        self.params = params
        self.options = options
        self.quiet: bool = params.get("quiet", False)
        self.files_argument = ""
        single_files = []
        for name, metavar in arguments.items():
            if name in not_files:
                continue
            if "..." in metavar and not self.files_argument:
                self.files_argument = name
            else:
                single_files.append(params[name])
        self._choose_form()
        self.plots = [_split_plot(text) for text in params.get("plot", ())]
        inputs = [*params.get(self.files_argument, ())]
        inputs += [path for path in single_files if path]
        inputs += self._list_option_files()
        self._check_files(inputs)

    def __getitem__(self, name: str) -> Any:
        """Return a value, or None if the command has no such argument or option."""
        return self.params.get(name)

    def _choose_form(self) -> None:
        """Set the format of the result from the extension of its file."""
        for name in ("form", "output"):
            if self.options.get(name) is not OUTPUT[name]:
                return  # Only commands with both options can choose a format
        source = click.get_current_context().get_parameter_source("form")
        form_is_default = source is ParameterSource.DEFAULT
        if "html" in self.options:
            self._prepare_report(form_is_default)
        extension = output.extension_of(self["output"] or "")
        form = self["form"]
        if extension in RECORD_EXTENSIONS:
            self._check_records(extension)
            form = "csv"  # These formats are converted from CSV
        elif extension in FORMAT_OF_EXTENSION:
            form = FORMAT_OF_EXTENSION[extension]
        if form != self["form"] and not form_is_default:
            names = f"--format {self['form']} and -o {self['output']}"
            raise InputError("conflicting-options", names=names)
        self.params["form"] = form

    def _prepare_report(self, form_is_default: bool) -> None:
        """Interpret ``-o FILE.html`` as ``--html``, and check that a report can be written."""
        is_page = output.extension_of(self["output"] or "") == ".html"
        if is_page and self["html"] is None and form_is_default:
            self.params["html"] = self["output"]
            self.params["output"] = None
        if self["html"] is not None:
            from semmetrics.reports import figures, page

            require("jinja2", "a report", extra="html")
            figures.load()
            page.Thumbnails(self["images"])
        elif self["images"] is not None:
            raise InputError("needs-option", what="--images", name="html")

    def _check_records(self, extension: str) -> None:
        """Raise an error if options for the layout of a table are set for a file of records."""
        if extension == ".parquet":
            require("pyarrow", "writing Parquet", extra="report")
        if extension == ".tsv":
            return
        for name in _TABLE_OPTIONS:
            if self[name]:
                fix = "use the extension .csv or .tsv, or remove it"
                raise InputError(
                    "not-applicable", name=name, what=f"-o *{extension}", fix=fix
                )

    def _list_option_files(self) -> Iterator[str]:
        """Yield all input files that options name."""
        for name, option in self.options.items():
            value = self.params[name]
            if not option.file or not value:
                continue
            texts = [value] if isinstance(value, str) else value
            for text in texts:
                if name not in _NAMED_OPTIONS:
                    yield text
                    continue
                _, spec = split_spec(text, option)
                yield spec
                _, _, path_of_kind = spec.partition(":")
                if name == "embedding" and path_of_kind:
                    yield path_of_kind

    def _list_output_files(self) -> list[_OutputFile]:
        """Return all output files that options name, the file of ``-o`` first."""
        files: list[_OutputFile] = []
        for name, option in self.options.items():
            paths: list[str | None] = []
            if name == "plot":
                paths += [path for _, path in self.plots]
            elif option.output_extensions:
                paths.append(self.params[name])
            first_flag = (*option.flags, option.flag)[0]
            for path in paths:
                file = _OutputFile(first_flag, path, option.output_extensions)
                if name == "output":
                    files.insert(0, file)
                else:
                    files.append(file)
        return files

    def _check_files(self, inputs: Sequence[str]) -> None:
        """Raise an error if files conflict, or an output file has the wrong extension."""
        files = self._list_output_files()
        input_paths = [output.path_of(text) for text in inputs]
        output.check_files(input_paths, [(file.flag, file.path) for file in files])
        for file in files:
            if file.path is None or _has_allowed_extension(file.path, file.extensions):
                continue
            known = [extension for extension in file.extensions if extension]
            raise InputError("wrong-ending", f"{file.flag} {file.path}", known=known)

    def check_positions(self, *names: str) -> None:
        """Raise an error for a file that the user probably meant as the value of an option.

        Parameters
        ----------
        *names : str
            The positional arguments that are files.

        Raises
        ------
        InputError
            If a file does not exist, and its name is a measure, or a number and ``--ci`` is set.
        """
        for name in names:
            paths = self[name] or ()
            if isinstance(paths, str):
                paths = (paths,)
            for path in paths:
                if not Path(path).exists():
                    self._check_position(path)

    def _check_position(self, path: str) -> None:
        """Raise an error for a missing file that looks like the value of ``-m`` or ``--ci``."""
        from semmetrics.metrics.registry import names_like

        measures = self["measures"] or ()
        if measures and names_like(path)[0]:
            quoted = " ".join([*measures, path])
            repeated = " -m ".join([*measures, path])
            remedy = f"write several measures as -m '{quoted}' or -m {repeated}"
            raise InputError("missing-file", path, remedy=remedy)
        if self["ci"] and re.fullmatch(r"[\d.]+", path):
            remedy = f"--ci takes no value. Write --ci --level {path}"
            raise InputError("missing-file", path, remedy=remedy)

    def needs(self, text: str, *names: str) -> None:
        """Raise an error with this text if one of the arguments has no value."""
        for name in names:
            if self[name] in (None, ()):
                raise click.UsageError(text)

    def systems(self) -> dict[str, Any]:
        """Return the files of the argument that can have several, by the names of the systems.

        Without files, options such as ``--queries-embeddings`` name the data of one system.
        """
        files = output.name_systems(
            self[self.files_argument], self.files_argument.upper()
        )
        return files or {"embeddings": None}

    def values(self, *without: str) -> dict[str, Any]:
        """Return the keywords for a function of the API, including ``read``.

        Options that only the command line has, options that are not set, and the names in
        ``without`` are left out.
        """
        from semmetrics.data.read_options import make_read_options

        keywords = {}
        for name, value in self.params.items():
            if self._is_keyword(name, value) and name not in without:
                keywords[name] = value
        reading = {name: keywords.pop(name) for name in READING if name in keywords}
        read = make_read_options(reading)
        for name in _CONVERTED_OPTIONS:
            if name in keywords and self.options[name].repeat:
                keywords[name] = _convert(name, keywords[name], read)
        if keywords.get("set_size_probs"):
            keywords["set_size_probs"] = self._assign_set_size_probs()
        keywords["read"] = read
        return keywords

    def _is_keyword(self, name: str, value: Any) -> bool:
        """Return whether a value belongs to an option of the API that is set."""
        if name not in self.options or self.options[name].group in COMMAND_TITLES:
            return False
        return value is not None and value is not False and value != ()

    def _assign_set_size_probs(self) -> Any:
        """Return the only file of set size probabilities, or the file of each system."""
        files = self["set_size_probs"]
        systems: Sequence[str] = [""]
        if self.files_argument:
            systems = list(self.systems())
        if len(files) == 1:
            return files[0]
        if len(files) != len(systems):
            raise InputError(
                "wrong-count",
                found=f"{len(files)} times --set-size-probs",
                wanted=pluralize(len(systems), "system"),
            )
        return dict(zip(systems, files, strict=True))

    def progress(self) -> AbstractContextManager[output.Progress | None]:
        """Return a context in which progress is shown on standard error."""
        return output.show_progress(quiet=self.quiet)

    def call(self, function: Callable[..., Any], *files: Any, **keywords: Any) -> Any:
        """Call a function of the API, and report how it read the data.

        Parameters
        ----------
        function : callable
        files
            The first arguments of the function.
        keywords
            Further arguments, which replace the values of options.

        Raises
        ------
        InputError
            If an option is set that the function does not take.
        """
        parameters = list(inspect.signature(function).parameters)
        with self.progress() as progress:
            values = self.values()
            for name in values:
                if name not in parameters and name not in keywords:
                    raise InputError("not-applicable", name=name, what=parameters[0])
            values["progress"] = progress
            values |= keywords
            keyword_names = parameters[len(files) :]
            values = {name: values[name] for name in values if name in keyword_names}
            result = function(*files, **values)
        output.report_inputs(result, quiet=self.quiet)
        return result

    @property
    def shape(self) -> dict[str, Any]:
        """The keywords for showing numbers: ``digits``, and ``scale`` if there is ``--percent``."""
        from semmetrics.scoring.protocols import PROTOCOLS

        protocol = PROTOCOLS.get(self["protocol"])
        percent = self["percent"] or getattr(protocol, "percent", False)
        digits = self["digits"]
        if digits is None:
            digits = 2 if percent else 4
        shape = {"digits": digits}
        if "percent" in self.params:
            shape["scale"] = 100.0 if percent else 1.0
        return shape

    def render(self, report: Any) -> str:
        """Return a result in the format of ``--format``."""
        if self["form"] == "json":
            return str(report.to_json(flag))
        return str(report.render(self["form"], **self.shape))

    def write_text(
        self,
        text: str,
        other_files: Mapping[str, str | bytes | Records] | None = None,
        result: Any = None,
    ) -> None:
        """Write a result to standard output or to the file of ``-o``, and all other output files.

        Parameters
        ----------
        text : str
            The rendered result.
        other_files : mapping of path to content, optional
            Other files to write.
        result : optional
            The result itself, from which figures, the report and records are made.
        """
        files = dict(other_files or {})
        files |= self._draw_plots(result)
        if self["html"] is not None:
            files[self["html"]] = result.html_report(
                images=self["images"], **self.shape
            )
        content = self._convert_for_file(text, result)
        output.write_text(content, self["output"], self["form"], files, self["digits"])

    def _draw_plots(self, result: Any) -> dict[str, str | bytes]:
        """Return the figures that ``--plot`` names, by path."""
        if not self.plots:
            return {}
        from semmetrics.reports import figures

        figures_by_path: dict[str, str | bytes] = {}
        for name, path in self.plots:
            try:
                figure = figures.choose(result, name)
            except InputError as error:
                raise error.placed(f"--plot {name}".rstrip()) from None
            extension = output.extension_of(path)
            figures_by_path[path] = figures.render(figure, extension)
        return figures_by_path

    def _convert_for_file(self, text: str, result: Any) -> str | Records:
        """Return the content of the file of ``-o``: the text, or the records of the result."""
        extension = output.extension_of(self["output"] or "")
        if extension not in RECORD_EXTENSIONS:
            return text
        if extension == ".tsv":
            return output.csv_as_tsv(text)
        records: Records = result
        if hasattr(result, "to_records"):
            records = result.to_records()
        return records

    def write(self, report: Any, further_texts: Sequence[str] = ()) -> None:
        """Write a result, other rendered results, and signatures if the user requests them.

        In the format "table" they follow the result. With other formats, they are written to
        standard error.
        """
        from semmetrics.reports import draw_signatures

        form = self["form"]
        texts = list(further_texts)
        rendered = self.render(report)
        if self["signatures"] and form not in output.EXACT:
            texts.append(draw_signatures(report.to_records()))
        if form == "table":
            self.write_text("\n\n".join([rendered, *texts]), result=report)
            return
        self.write_text(rendered, result=report)
        lines = output.split_lines(texts)
        output.report([*report.sentences(), *lines], quiet=self.quiet)


def _has_allowed_extension(path: str, extensions: Sequence[str]) -> bool:
    """Return whether the path of an output file has an allowed extension."""
    if "" in extensions or path in extensions:
        return True
    extension = output.extension_of(path)
    if extension == ".parquet" and path.lower().endswith(".gz"):
        return False
    is_plain_text = not extension and ".txt" in extensions
    return extension in extensions or is_plain_text


# ---- values of options ------------------------------------------------------


def _convert(name: str, texts: Sequence[str], read: ReadOptions) -> Any:
    """Return the value for Python of an option that can be repeated."""
    if name == "measures":
        if not "".join(texts).strip():
            raise InputError(
                "nothing-given", "-m", what="measures", remedy="name one, such as -m F1"
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
        # An equals sign in parentheses belongs to an option of the measure.
        pair = re.fullmatch(r"((?:\([^)]*\)|[^=(])+)=(.*\S.*)", text)
        if pair is None:
            raise InputError("bad-option", name=name, value=text, wanted="MEASURE=TEXT")
        measure, heading = pair.groups()
        if headings.setdefault(measure, heading) != heading:
            raise InputError("duplicate", role="the heading of", value=measure)
    return headings


def _read_labels(texts: Sequence[str], read: ReadOptions) -> list[str]:
    """Return labels, from LABEL,LABEL and from the files that @FILE names."""
    from semmetrics.data.side_inputs import read_class_list

    labels: list[str] = []
    for text in texts:
        if text.startswith("@"):
            labels += read_class_list(text[1:], read.for_side_inputs())
        else:
            labels += text.split(",")
    return [label for label in labels if label]


def _read_specs(name: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the values of an option by name, from [NAME=]SPEC."""
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


def split_spec(text: str, option: Option) -> tuple[str, str]:
    """Split NAME=VALUE into its name and its value. A value without a name is named "default".

    Examples
    --------
    >>> split_spec("bert=sbert:all-MiniLM-L6-v2", OPTIONS["embedding"])
    ('bert', 'sbert:all-MiniLM-L6-v2')
    >>> split_spec("./a=b.bin", OPTIONS["embedding"])
    ('default', './a=b.bin')
    """
    name, sign, spec = text.partition("=")
    is_path_or_measure = any(mark in name for mark in "/\\:(")
    if not sign or is_path_or_measure:
        name = "default"
        spec = text
    if not re.fullmatch(r"[\w.+-]+", name) or not spec.strip():
        raise InputError(
            "bad-spec",
            f"{option.flag} {text}",
            flag=option.flag,
            metavar=option.metavar,
        )
    return name, spec


def _split_plot(text: str) -> tuple[str, str]:
    """Split [NAME=]FILE into the name of a figure, or "", and the path."""
    # Load figures now, so that a missing package is reported before any long computation.
    from semmetrics.reports import figures

    name, sign, path = text.partition("=")
    if not sign or not re.fullmatch(r"[\w-]+", name):
        name = ""
        path = text
    if name:
        check_choice("plot", name, figures.FIGURES)
    figures.load()
    return name, path
