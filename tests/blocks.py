"""Tasks that are evaluated in other blocks than their size asks for."""

from __future__ import annotations

from dataclasses import fields


def in_blocks(task, memory=0):
    """The same task in blocks of that many bytes; of one item each where nothing is said."""

    class Divided(type(task)):
        def blocks(self, _=0):
            return super().blocks(memory)

    return Divided(**{f.name: getattr(task, f.name) for f in fields(task) if f.init})
