"""Public names with their parameters and defaults, and the flags of each command."""

from __future__ import annotations

import dataclasses
import inspect
import re
from types import ModuleType
from typing import Any

from golden.harness import Case, normal, run_command

import semmetrics
from semmetrics import metrics

COMMANDS = [
    "",
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
    "spice parse",
    "spice setup",
    "validate",
    "list",
    "explain",
    "embed",
    "embed convert",
    "embed coverage",
    "embed fetch",
    "embed info",
    "embed list",
    "cite",
    "rank",
    "mad",
    "mad add",
    "mad inspect",
    "mad rank",
    "mad replace",
    "mad select",
    "demo",
    "completion",
]
_FLAGS = re.compile(r"  (-., )?--[a-z-]+")


def public_names(module: ModuleType) -> dict[str, Any]:
    """Return the public names of a module with their parameters, methods and attributes."""
    names: dict[str, Any] = {}
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            names[name] = describe_class(value)
        else:
            names[name] = [describe_callable(value)]
    return names


def describe_class(class_: type) -> dict[str, Any]:
    """Return the parameters, attributes and methods of a class."""
    names = {name for name in dir(class_) if not name.startswith("_")}
    if issubclass(class_, Exception):
        names -= names_from_python(class_)
    if dataclasses.is_dataclass(class_):
        names |= {field.name for field in dataclasses.fields(class_)}
    methods = {}
    attributes = []
    for name in sorted(names):
        value = getattr(class_, name, None)
        if inspect.isroutine(value):
            methods[name] = describe_callable(value)
        else:
            attributes.append(name)
    return {
        "parameters": describe_callable(class_),
        "attributes": attributes,
        "methods": methods,
    }


def describe_callable(value: Any) -> str:
    """Return the parameters of a callable without their types, or the type of a value."""
    if not callable(value):
        return type(value).__name__
    parameters = []
    for parameter in inspect.signature(value).parameters.values():
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty))
    return normal(str(inspect.Signature(parameters)))


def names_from_python(error: type[Exception]) -> set[str]:
    """Return the attributes that an error inherits from Python, which depend on its version."""
    names: set[str] = set()
    for base in error.__mro__:
        if base.__module__ == "builtins":
            names.update(dir(base))
    return names


def flags(command: str) -> list[str]:
    """Return the flags in the help of a command."""
    lines = run_command(f"{command} --help")["stdout"]
    return [match[0] for match in map(_FLAGS.match, lines) if match]


GROUPS = {
    "names": [
        Case("semmetrics", lambda: public_names(semmetrics)),
        Case("semmetrics.metrics", lambda: public_names(metrics)),
    ],
    "flags": [Case("flags", lambda: {command: flags(command) for command in COMMANDS})],
}
