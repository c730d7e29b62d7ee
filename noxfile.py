"""The usual tasks: ``nox`` runs the checks, ``nox -s docs`` one of them.

In an environment that already has the extra ``dev``, ``nox --no-venv`` installs nothing.
"""

import nox

nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True


def _install(session: nox.Session, extra: str) -> None:
    if session.virtualenv.is_sandboxed:
        session.install("-e", f".[{extra}]")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting, imports and spelling."""
    _install(session, "dev")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports")
    session.run("codespell")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    _install(session, "dev")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests. Arguments after ``--`` go to pytest."""
    _install(session, "dev")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into the folder site."""
    _install(session, "docs")
    session.run("sphinx-build", "--fail-on-warning", "--keep-going", "docs", "site")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure against the peers. Arguments after ``--`` go to the benchmarks."""
    _install(session, "bench")
    session.run("python", "-m", "benchmarks", *session.posargs)
