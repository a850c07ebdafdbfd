"""What the commands cost, compared with their peers in one run.

usage: python -m tests.bench [--hosts N]
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

from tests.bench import adding
from tests.services.placement import PlacementServer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--hosts", type=int, default=1000, metavar="N")
    wanted = parser.parse_args()
    folder = tempfile.TemporaryDirectory(prefix="traitsched-bench-")
    with folder as state, PlacementServer(pathlib.Path(state)) as server:
        adding.report(server, wanted.hosts)


if __name__ == "__main__":
    main()
