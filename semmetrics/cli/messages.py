"""What is said on standard error."""

from __future__ import annotations

import contextlib

import click

__all__ = ["complain"]


def complain(text: str) -> None:
    """Write a message to standard error; nobody may be reading it."""
    with contextlib.suppress(OSError):
        click.echo(f"semmetrics: {text}", err=True)
