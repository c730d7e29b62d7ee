"""The environment: packages, folders, devices, downloads, caches, Java and clusters."""

from semmetrics.messages.message import Message

MESSAGES = {
    "missing-package": Message(
        "{purpose} needs the package {package}",
        "Run `pip install {package}` or `pip install 'semmetrics[{extra}]'`.",
    ),
    "broken-package": Message(
        "{purpose} needs the package {package}, which cannot be imported: {why}",
        "Run `pip install --upgrade {package} numpy` to get compatible versions.",
    ),
    "own-code-failed": Message("{what} raised {kind}: {why}", "{remedy}"),
    "no-home": Message(
        "cannot find a home folder to store files in",
        "Set SEMMETRICS_HOME to a folder.",
    ),
    "matrix-exists": Message(
        "the matrix is already complete",
        "Choose another path, or set resume=False (--overwrite).",
    ),
    "matrix-unfinished": Message(
        "cannot resume the unfinished matrix: {why}",
        "Choose another path, remove {part} and {notes}, or set resume=False "
        "(--overwrite).",
    ),
    "matrix-locked": Message(
        "another run is writing this matrix",
        "Wait until it ends, or choose another path.",
    ),
    "cache-unusable": Message(
        "the cache of {what} cannot be used ({why}), so everything is computed and "
        "nothing is stored",
        "Check its folder and the free space, or remove the file.",
    ),
    "cache-damaged-rows": Message(
        "the cache of {what} is damaged, so its damaged rows are recomputed",
    ),
    "wrong-digest": Message(
        "the SHA-256 digest is {found} instead of {wanted}",
        "{remedy}",
    ),
    "no-length": Message(
        "neither its length nor its SHA-256 digest is available",
        "Give its sha256 in a manifest, or {instead}.",
    ),
    "http-error": Message(
        "the server responded with {status}",
        "Check whether the file has moved, or {instead}.",
    ),
    "fetch-failed": Message(
        "the download failed after {n:byte}: {why}",
        "Run the same command again to resume it, or {instead}.",
    ),
    "no-room": Message(
        "not enough free space: {n:byte} more needed",
        "Free some space, or set SEMMETRICS_HOME.",
    ),
    "no-such-device": Message(
        "PyTorch has no device {name!r} here",
        "Use 'cpu', 'cuda', 'cuda:1' or 'mps'.",
    ),
    "no-double-precision": Message(
        "device={name!r} does not support double precision",
        "Leave out {opt:device}, or open a model on it: open_embedding(NAME, "
        "device={name!r}).",
    ),
    "unsolved-transport": Message(
        "no transport plan was found within {gap} of the optimum",
        "Reduce the sizes or the masses.",
    ),
    "needs-java": Message(
        "{purpose} needs Java",
        "Install a Java runtime, version 8 or later (default-jre-headless in "
        "Debian){instead}.",
    ),
    "incomplete-package": Message(
        "{purpose} needs {files}, missing from the installed pycocoevalcap",
        "Run `pip install --force-reinstall pycocoevalcap`{instead}.",
    ),
    "damaged-package": Message(
        "the file is damaged, or does not belong to pycocoevalcap 1.2: {why}",
        "Run `pip install --force-reinstall 'pycocoevalcap>=1.2'`.",
    ),
    "java-not-started": Message(
        "{purpose} could not be started: {why}",
        "Check the disk space and `java -version`{instead}.",
    ),
    "java-failed": Message(
        "{purpose} stopped with status {status}: {why}",
        "Check `java -version`{instead}.",
    ),
    "java-path": Message(
        "Java cannot read a folder with {separator!r} in its name",
        "Set SEMMETRICS_HOME to another folder.",
    ),
    "no-cluster": Message(
        "cannot connect to a Ray cluster at {address}: {why}",
        "Check {opt:address}, or leave it out to use this machine.",
    ),
    "cluster-failed": Message(
        "the cluster failed: {why}",
        "Check its machines, and run the command again.",
    ),
}
