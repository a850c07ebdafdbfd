"""What the commands cost, compared with their peers in one run.

usage: python -m tests.bench [--hosts N]
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import tempfile
from collections.abc import Iterator

from tests.bench import (
    adding,
    counting,
    desired,
    explaining,
    judging,
    saving,
)
from tests.services import on_mariadb
from tests.services.fill import fill
from tests.services.mariadb import NoMariaDB
from tests.services.placement import PlacementServer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument(
        "--hosts", type=int, default=1000, metavar="N", help="hosts to add a trait to"
    )
    wanted = parser.parse_args()
    with _placement() as server:
        adding.report(server, wanted.hosts)
    for hosts in (1000, 10_000):
        with _placement() as server:
            fill(server.database, hosts)
            explaining.report(server, f"{hosts} hosts")
            for workers in (1, 2):
                what = f"{hosts} hosts on MariaDB, {workers} of Placement's workers"
                _on_mariadb(server, workers, what)
    with _placement() as server:
        hosts = fill(server.database, 10_000)
        counting.report(server, hosts)
        saving.report(server, hosts)
    with _placement() as server:
        judging.report_check(server, 1000)
    with _placement() as server:
        desired.report(server, wanted.hosts)
    with _placement() as server:
        desired.report_large(server)
    judging.report()


def _on_mariadb(server: PlacementServer, workers: int, what: str) -> None:
    try:
        with on_mariadb.copied(server, workers) as other:
            explaining.report(other, what)
    except NoMariaDB as problem:
        print(f"explain, {what}: left out: {problem}")


@contextlib.contextmanager
def _placement() -> Iterator[PlacementServer]:
    folder = tempfile.TemporaryDirectory(prefix="traitsched-bench-")
    with folder as state, PlacementServer(pathlib.Path(state)) as server:
        yield server


if __name__ == "__main__":
    main()
