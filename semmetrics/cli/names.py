"""Names that ``semmetrics list`` shows and that a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from semmetrics.options import DECODING, FORMATS, RESULT_FORMATS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def known_names(topic: str) -> dict[str, str]:
    """Return the names of a topic, each with a description.

    Parameters
    ----------
    topic : str
        "measures" (with their aliases), "aliases" (other names of measures), "protocols",
        "agreement" (protocols of agreement with human ratings), "topics" (all that ``semmetrics
        explain`` describes), "normalizations", "formats" (of inputs), "results" (formats of
        results) or "rules" (decoding rules). Other topics have no names.

    Examples
    --------
    >>> list(known_names("rules"))[:2]
    ['all', 'threshold:0.5']
    """
    if topic == "topics":
        measures = known_names("measures")
        return measures | known_names("protocols") | known_names("agreement")
    if topic == "results":
        return dict(RESULT_FORMATS)
    if topic == "rules":
        return dict.fromkeys(DECODING, "")
    if topic in ("measures", "aliases"):
        return _name_measures(aliases_only=topic == "aliases")
    if topic in ("protocols", "agreement"):
        return _name_protocols(topic)
    if topic == "normalizations":
        return _name_normalizations()
    if topic == "formats":
        return _name_formats()
    return {}


def _name_measures(*, aliases_only: bool) -> dict[str, str]:
    """Return the measures and then their aliases, or only the aliases."""
    from semmetrics.metrics.registry import aliases, all_definitions

    names = {}
    if not aliases_only:
        names = {
            definition.name: definition.summary for definition in all_definitions()
        }
    return names | aliases()


def _name_protocols(topic: str) -> dict[str, str]:
    """Return protocols by name, each with its title."""
    from semmetrics.scoring.protocols import AGREEMENT_PROTOCOLS, PROTOCOLS

    protocols: Mapping[str, Any] = PROTOCOLS
    if topic == "agreement":
        protocols = AGREEMENT_PROTOCOLS
    return {name: protocol.title for name, protocol in protocols.items()}


def _name_normalizations() -> dict[str, str]:
    """Return normalizations, each with the first line of its docstring."""
    from semmetrics.kinds.labels.normalization import NORMALIZATIONS

    names = {}
    for name, function in NORMALIZATIONS.items():
        docstring = (function.__doc__ or "").strip()
        names[name] = docstring.split("\n")[0]
    return names


def _name_formats() -> dict[str, str]:
    """Return the formats of inputs, each with its extensions."""
    from semmetrics.data.form import EXTENSIONS

    names = {}
    for name in FORMATS:
        extensions = []
        for extension, format_name in EXTENSIONS.items():
            if format_name == name:
                extensions.append(extension)
        names[name] = ", ".join(extensions)
    return names | {
        "coco": "instances JSON, recognised by its content, only as ground truth"
    }


def completer(topic: str) -> Callable[[Any, Any, str], list[CompletionItem[str]]]:
    """Return a function for click that completes the names of a topic in any case."""

    def complete(ctx: Any, param: Any, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        prefix = incomplete.lower()
        items = []
        for name, description in known_names(topic).items():
            if name.lower().startswith(prefix):
                items.append(CompletionItem(name, help=description or None))
        return items

    return complete
