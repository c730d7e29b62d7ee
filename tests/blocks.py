"""Tasks that are evaluated in smaller blocks than usual."""

from __future__ import annotations

from dataclasses import fields


def in_blocks(task, memory=0):
    """Return the task in blocks of so many bytes, by default in blocks of one item."""

    class TaskInBlocks(type(task)):
        def blocks(self, _=0):
            return super().blocks(memory)

    names = [field.name for field in fields(task) if field.init]
    return TaskInBlocks(**{name: getattr(task, name) for name in names})
