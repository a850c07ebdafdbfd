"""Compare the core with released Novas: ``python -m tests.fidelity --help``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection, Sequence

from tests.fidelity import (
    asking,
    comparing,
    destinations,
    generator,
    large,
    letters,
    numa,
    recorded,
    rules,
    with_parts,
)
from tests.fidelity.comparing import Pair, Tally
from tests.fidelity.ours import MARIADB, SQLITE, Case
from tests.fidelity.scheduling import command as scheduling
from tests.services import mariadb
from tests.services.environment import EnvironmentFailed
from tests.services.mariadb import NoMariaDB

SHOWN = 5
ROW = "{:>7}  {:>8}  {:>6}  {:>6}  {:>14}  {:>9}"
REFUSALS = "{:<42}  {:>8}  {:>6}  {:>6}  {:>10}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or record, and return the exit status.

    It is 1 where there is a difference, and 2 where Nova could not be asked.
    """
    options = _parser().parse_args(arguments)
    try:
        return _record(options) if options.record else _compare(options)
    except (asking.OracleFailed, EnvironmentFailed, NoMariaDB) as problem:
        print(problem, file=sys.stderr)
        return 2


def _compare(options: argparse.Namespace) -> int:
    """Compare with the database that is named, then with MariaDB where it is there."""
    if options.database == MARIADB:
        mariadb.program()
    releases = _releases(options)
    tally, wrong = _compared(options, options.database, _cases(options))
    _report_refusals(tally)
    _report_rules(wrong)
    different = tally.different
    if options.mariadb_cases:
        try:
            different += _different_with_mariadb(options)
        except NoMariaDB as problem:
            print(f"MariaDB is left out: {problem}")
    if options.scheduling_cases:
        different += scheduling.compare(
            releases, options.scheduling_cases, options.seed, options.processes
        )
    if options.numa_cases:
        different += numa.compare(
            releases, options.numa_cases, options.seed, options.processes
        )
    return 1 if different else 0


def _different_with_mariadb(options: argparse.Namespace) -> int:
    mariadb.program()
    print("\nThe newest with MariaDB, and metadata in other letters:")
    options.releases = str(max(asking.releases()))
    cases = _in_letters(options.seed, options.mariadb_cases)
    return _compared(options, MARIADB, cases)[0].different


def _compared(
    options: argparse.Namespace, database: str, cases: Sequence[Case]
) -> tuple[Tally, set[str]]:
    """Return how the cases compare, and the names of those that are not equal."""
    print(f"{len(cases)} cases, those by chance of the seed {options.seed}")
    heads = ("release", "Nova", "cases", "equal", "refusals equal", "different")
    print(ROW.format(*heads), flush=True)
    tally, wrong = Tally(), set()
    for release in _releases(options):
        answers = asking.ask(release, cases, options.processes, database)
        found = list(comparing.pairs(release, cases, answers, database))
        tally += _report(release, found)
        wrong.update(pair.case["name"] for pair in found if not pair.is_equal)
    return tally, wrong


def _cases(options: argparse.Namespace) -> list[Case]:
    shared = [*recorded.questions(), *large.cases(), *destinations.named()]
    shared += with_parts.named()
    if options.letters or options.database == MARIADB:
        return [*shared, *_in_letters(options.seed, options.cases)]
    by_chance = map(generator.case, _seeds(options.seed, options.cases))
    return [*shared, *by_chance]


def _in_letters(seed: str, by_chance: int) -> list[Case]:
    """Return the cases on letters alone, and so many by chance."""
    return [*letters.named(), *map(letters.by_chance, _seeds(seed, by_chance))]


def _seeds(seed: str, number: int) -> list[str]:
    return [f"{seed}-{n}" for n in range(number)]


def _record(options: argparse.Namespace) -> int:
    """Write the recorded cases' answers anew; of those on letters this database's."""
    wanted, how = _releases(options), (options.processes, options.database)
    if options.letters:
        newest = asking.ask(max(wanted), list(letters.named()), *how)
        letters.write({options.database: newest})
    else:
        questions = recorded.questions()
        found = {r: asking.ask(r, questions, options.processes) for r in wanted}
        recorded.write(recorded.read(), found)
        named = list(destinations.named())
        destinations.write(asking.ask(max(wanted), named, options.processes))
        named = list(with_parts.named())
        with_parts.write({r: asking.ask(r, named, options.processes) for r in wanted})
        scheduling.record(wanted, options.processes)
    return 0


def _releases(options: argparse.Namespace) -> list[int]:
    return [int(release) for release in options.releases.split(",")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity")
    known = ",".join(map(str, asking.releases()))
    parser.add_argument("--releases", default=known, help=f"some of {known}")
    parser.add_argument("--cases", type=int, default=300, help="so many by chance")
    parser.add_argument("--seed", default="0", help="of the cases by chance")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--database",
        choices=(SQLITE, MARIADB),
        default=SQLITE,
        help="what Nova's aggregates are in",
    )
    parser.add_argument(
        "--letters",
        action="store_true",
        help="aggregates' metadata in other letters, as always with MariaDB",
    )
    parser.add_argument(
        "--mariadb-cases",
        type=int,
        default=0,
        help="then so many by chance with MariaDB, where mariadbd is on the path",
    )
    parser.add_argument(
        "--scheduling-cases",
        type=int,
        default=300,
        help="then so many by chance for filters and weighers",
    )
    parser.add_argument(
        "--numa-cases",
        type=int,
        default=500,
        help="then so many by chance for NUMA nodes, pages and pinned CPUs",
    )
    parser.add_argument(
        "--record", action="store_true", help="write the recorded cases' answers anew"
    )
    return parser


def _report(release: int, found: Sequence[Pair]) -> Tally:
    """Print a release's line, and the first differences; return what it counts."""
    tally = Tally.of(found)
    figures = (len(found), tally.equal[""], tally.equal_refusals, tally.different)
    print(ROW.format(release, asking.version(release), *figures), flush=True)
    different = [pair for pair in found if not pair.is_equal]
    for pair in different[:SHOWN]:
        keys = {"nova": sorted(pair.named), "ours": sorted(pair.keys)}
        parts = {"case": pair.case, "nova": pair.nova, "ours": pair.ours, "keys": keys}
        for name, value in parts.items():
            print(f"  {name}: {json.dumps(value, sort_keys=True)}")
    return tally


def _report_refusals(tally: Tally) -> None:
    """Print how many refusals are equal, by Nova's exception."""
    print("\nRefusals of all these releases, and how many have a text that names keys:")
    print(REFUSALS.format("exception", "refusals", "equal", "share", "name keys"))
    for name in tally.exceptions:
        cases, equal = tally.cases[name], tally.equal[name]
        # Rounded down, so that only what is all equal is 100 %.
        share = f"{equal * 1000 // cases / 10:g} %"
        print(REFUSALS.format(name, cases, equal, share, tally.named[name]))


def _report_rules(wrong: Collection[str]) -> None:
    """Print how many of the named rules hold, and which do not."""
    named = rules.read()
    broken = [each for each in named if not wrong.isdisjoint(each.cases)]
    held = len(named) - len(broken)
    print(f"\n{held} of {len(named)} named rules hold in all of these releases")
    for each in broken:
        print(f"  not: {each.rule}")


if __name__ == "__main__":
    sys.exit(main())
