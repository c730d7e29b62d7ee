"""Models from a folder or by name: what their absence means, and what fetches them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["base_name", "loading", "needs"]


def needs(module: str, package: str, purpose: str) -> Any:
    """Import an optional package.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(package, purpose, extra="sbert") from None


def base_name(name: str) -> str:
    """What a model is called in signatures.

    Examples
    --------
    >>> base_name("sentence-transformers/all-MiniLM-L6-v2"), base_name("models/mine/")
    ('all-MiniLM-L6-v2', 'mine')
    """
    return Path(name).name or name


@contextmanager
def loading(name: str, owner: str = "") -> Iterator[None]:
    """Turn the failures of loading a model into one error that says what to do.

    Parameters
    ----------
    name : str
        A folder, or the name of a model that is fetched where the machine is online.
    owner : str
        Under whose name the model is looked for where it has none.

    Raises
    ------
    InputError
        If the model is not there.
    """
    if not Path(name).exists() and (
        name.count("/") > 1 or name.startswith((".", "/", "~")) or "\\" in name
    ):
        raise InputError("there is no such folder", where=name, remedy="check the path")
    logging = needs("transformers.utils.logging", "transformers", "loading a model")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    except InputError:
        raise
    # What damaged weights and tokenizers raise is not bounded, nor of one package.
    except Exception as error:
        raise _absent(name, owner, error) from error
    finally:
        if shown:
            logging.enable_progress_bar()


def _absent(name: str, owner: str, error: Exception) -> InputError:
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if Path(name).exists():
        return InputError(
            f"it cannot be loaded: {line}",
            where=name,
            remedy="check that it is the folder of such a model, and complete",
        )
    full = name if "/" in name or not owner else f"{owner}/{name}"
    return InputError(
        f"the model {name!r} is not on this machine and could not be fetched ({line})",
        remedy=f"where there is a network run: hf download {full}; or give the path of its folder",
    )
