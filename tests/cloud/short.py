"""The tests that are marked short, on older releases: python -m tests.cloud.short.

The releases run side by side, each after it is installed. Arguments go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.services.environment import REPOSITORY
from tests.services.release import NEWEST, RELEASES, Release

OLDER = tuple(release for release in RELEASES.values() if release != NEWEST)


def main(arguments: Sequence[str], releases: Sequence[Release] = OLDER) -> int:
    """Print what came of each release, and name those that no Python is found for.

    Returns the highest exit status, or the number of the signal that ended a run; a
    release that is not run has none.
    """
    found = [release for release in releases if release.pythons.find()]
    codes = [0]
    with ThreadPoolExecutor(len(releases)) as pool:
        for release in found:
            _say(f"running on {release.name}")
        runs = pool.map(lambda release: _run(release, arguments), found)
        for release, done in zip(found, runs):
            _say(f"what came of {release.name}")
            print(done.stdout, end="", flush=True)
            codes.append(abs(done.returncode))
    for release in releases:
        if release not in found:
            _say(f"NOT RUN on {release.name}: {release.pythons.lacking()}")
    return max(codes)


def _run(
    release: Release, arguments: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    # With -P it does not find the checkout first, but what is installed.
    words = ["-P", "-m", "pytest", "tests/cloud", "-m", "short", *arguments]
    return subprocess.run(
        [sys.executable, *words],
        cwd=REPOSITORY,
        env={**os.environ, "TRAITSCHED_RELEASE": str(release.number)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _say(text: str) -> None:
    print(f"tests.cloud.short: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
