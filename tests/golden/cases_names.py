"""Public names with their parameters and defaults."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from golden.harness import Case, normal

import semmetrics
from semmetrics import metrics


def _signature(value: Any) -> Any:
    """Parameters with their defaults, or the names that a class has."""
    if not callable(value):
        return type(value).__name__
    parameters = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in inspect.signature(value).parameters.values()
    ]
    shown = normal(str(inspect.Signature(parameters)))
    if not inspect.isclass(value):
        return shown
    own = [name for name in dir(value) if not name.startswith("_")]
    if issubclass(value, Exception):
        inherited = _attributes_of_python(value)
        own = [name for name in own if name not in inherited]
    methods = {
        name: _signature(getattr(value, name))
        for name in own
        if inspect.isroutine(getattr(value, name))
    }
    fields = (
        sorted({*own, *(f.name for f in dataclasses.fields(value))} - set(methods))
        if (dataclasses.is_dataclass(value))
        else sorted(set(own) - set(methods))
    )
    return {"parameters": shown, "attributes": fields, "methods": methods}


def _attributes_of_python(error: type[Exception]) -> set[str]:
    """The attributes that an error has from Python, which differ between its versions."""
    names: set[str] = set()
    for base in error.__mro__:
        if base.__module__ == "builtins":
            names.update(dir(base))
    return names


def _public(module: Any) -> dict[str, Any]:
    return {
        name: normal(str(_signature(getattr(module, name)))).splitlines()
        if not inspect.isclass(getattr(module, name))
        else _signature(getattr(module, name))
        for name in module.__all__
    }


GROUPS = {
    "names": [
        Case("semmetrics", lambda: _public(semmetrics)),
        Case("semmetrics.metrics", lambda: _public(metrics)),
    ]
}
