"""Ask a released Nova, in a virtual environment of its own."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
from collections.abc import Sequence

from tests.fidelity.ours import MARIADB, SQLITE, Answer, Case
from tests.services import mariadb
from tests.services.environment import (
    PYTHONS,
    REPOSITORY,
    Environment,
    clean_environment,
)
from tests.services.pythons import Pythons

ROOM = pathlib.Path(__file__).resolve().parent
ORACLE = ROOM / "nova" / "oracle.py"
SCHEDULING = ROOM / "nova" / "scheduling.py"
NUMA = ROOM / "nova" / "numa.py"
CONSTRAINTS = ROOM / "constraints"
_IN_MEMORY = "sqlite://"
#: The last release whose libraries of the time run on no newer Python than this one.
_LAST_OLD, _OLD_PYTHONS = 26, Pythons((3, 8), (3, 8))


class OracleFailed(RuntimeError):
    """Nova could not be asked at all; the text is what it said."""


def releases() -> tuple[int, ...]:
    """Return the releases that an environment can be made of."""
    return tuple(sorted(int(path.stem) for path in CONSTRAINTS.glob("*.txt")))


def version(release: int) -> str:
    """Return the version of Nova that stands for a release: its last patch release."""
    pins = (CONSTRAINTS / f"{release}.txt").read_text().splitlines()
    (found,) = (pin for pin in pins if pin.startswith("nova=="))
    return found.partition("==")[2]


def python(release: int) -> pathlib.Path:
    """Return the interpreter that has a release of Nova, which is made if needed.

    The environments are in ``$TRAITSCHED_NOVAS``, else in ``.tox/novas``, each in a
    folder with the release's number. One that is a link is used as it is.
    Raises OracleFailed where there are no constraints for it, and EnvironmentFailed.
    """
    chosen = os.environ.get("TRAITSCHED_NOVAS")
    novas = pathlib.Path(chosen or REPOSITORY / ".tox" / "novas").absolute()
    home = novas / str(release)
    if home.is_symlink():
        return home / "bin" / "python"
    pins = CONSTRAINTS / f"{release}.txt"
    if not pins.exists():
        raise OracleFailed(f"there are no constraints for Nova {release}")
    pythons = _OLD_PYTHONS if release <= _LAST_OLD else PYTHONS
    return Environment(home, (pins,), pins, f"Nova {release}", pythons).python()


def ask(
    release: int,
    cases: Sequence[Case],
    processes: int = 1,
    database: str = SQLITE,
) -> list[Answer]:
    """Return a release's answers, in the order of the cases.

    Raises OracleFailed, EnvironmentFailed where there is none to be asked, and
    NoMariaDB.
    """
    interpreter = python(release)
    share = -(-len(cases) // processes) or 1
    parts = [cases[n : n + share] for n in range(0, len(cases), share)]
    with contextlib.ExitStack() as stack:
        urls = [_IN_MEMORY] * len(parts)
        if database == MARIADB:
            # Each process fills its database anew for each case.
            names = [f"nova{number}" for number in range(len(parts))]
            path = stack.enter_context(mariadb.server(names))
            urls = [mariadb.url(path, name) for name in names]
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(processes))
        found = pool.map(
            lambda part, url: _ask([interpreter, ORACLE, url], part), parts, urls
        )
        return [answer for part in found for answer in part]


def ask_scheduling(
    release: int, cases: Sequence[Case], processes: int = 1
) -> list[Answer]:
    """Return what a release's filters and weighers say, in the order of the cases.

    Raises OracleFailed, and EnvironmentFailed where there is none to be asked.
    """
    return _ask_in_parts([python(release), SCHEDULING], cases, processes)


def ask_numa(release: int, cases: Sequence[Case], processes: int = 1) -> list[Answer]:
    """Return what a release's code for NUMA says, as :func:`ask_scheduling`."""
    return _ask_in_parts([python(release), NUMA], cases, processes)


def _ask_in_parts(
    command: Sequence[pathlib.Path], cases: Sequence[Case], processes: int
) -> list[Answer]:
    parts = [cases[n::processes] for n in range(processes)]
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        found = list(pool.map(lambda part: _ask(command, part), parts))
    return [found[n % processes][n // processes] for n in range(len(cases))]


def _ask(command: Sequence[pathlib.Path | str], cases: Sequence[Case]) -> list[Answer]:
    done = subprocess.run(
        list(map(str, command)),
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(cases):
        raise OracleFailed(done.stderr)
    return answers
