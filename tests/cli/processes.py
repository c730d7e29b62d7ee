"""The program in processes that tests kill, and the files that it reads."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
N_IMAGES = 400
posix = pytest.mark.skipif(
    sys.platform == "win32", reason="signals and permissions of POSIX"
)


def write_inputs(folder):
    """Write captions, references, labels and vectors for 400 images."""
    generator = random.Random(1)
    words = [f"w{number}" for number in range(300)]
    captions = {}
    references = {}
    labels = {}
    truth = {}
    for image in map(str, range(N_IMAGES)):
        captions[image] = " ".join(generator.choices(words, k=9))
        other_caption = " ".join(generator.choices(words, k=9))
        references[image] = [captions[image], other_caption]
        labels[image] = generator.sample(words, 4)
        truth[image] = [*labels[image][:3], "cat"]
    others = dict(zip(captions, reversed(captions.values()), strict=True))
    values = {
        "c": captions,
        "d": others,
        "r": references,
        "p": labels,
        "g": truth,
    }
    for name, value in values.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    vectors = [f"{word} {number} 0.5 1" for number, word in enumerate(words)]
    (folder / "v.txt").write_text("\n".join(vectors))


def start(line, folder, out="", **options):
    """Start a command in a folder, with OUT replaced by a path."""
    words = [str(out) if word == "OUT" else word for word in line.split()]
    return subprocess.Popen(
        [sys.executable, "-m", "semmetrics", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        **options,
    )


def finish(line, folder, out=""):
    """Run a command, which must succeed without a note."""
    process = start(line, folder, out)
    assert (process.communicate()[1], process.returncode) == (b"", 0)


def limit_file_size(n_bytes):
    """Return a function that limits the size of files, which a process calls first.

    A file that is too large is an error of writing, as on a full disk.
    """
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def hidden_files(folder):
    """Return the names of hidden files, in which the program writes before it renames them."""
    names = [path.name for path in folder.iterdir()]
    return sorted(name for name in names if name.startswith("."))


def reset_signals():
    """Let signals end the process, also if nohup or a job in the background ignores them.

    Return the previous handlers.
    """
    handlers = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
        number = getattr(signal, name)
        handlers[number] = signal.getsignal(number)
        is_interrupt = number == signal.SIGINT
        signal.signal(
            number, signal.default_int_handler if is_interrupt else signal.SIG_DFL
        )
    return handlers
