"""Compare the core with released Novas: ``python -m tests.fidelity --help``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection, Sequence

from tests.fidelity import asking, comparing, generator, large, recorded, rules
from tests.fidelity.comparing import Pair, Tally
from tests.services.environment import EnvironmentFailed

SHOWN = 5
ROW = "{:>7}  {:>8}  {:>6}  {:>6}  {:>14}  {:>9}"
REFUSALS = "{:<42}  {:>8}  {:>6}  {:>6}  {:>10}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or record, and return the exit status.

    It is 1 where there is a difference, and 2 where Nova could not be asked.
    """
    options = _parser().parse_args(arguments)
    try:
        return _carry_out(options)
    except (asking.OracleFailed, EnvironmentFailed) as problem:
        print(problem, file=sys.stderr)
        return 2


def _carry_out(options: argparse.Namespace) -> int:
    wanted = [int(release) for release in options.releases.split(",")]
    if options.record:
        questions = recorded.questions()
        found = {r: asking.ask(r, questions, options.processes) for r in wanted}
        recorded.write(recorded.read(), found)
        return 0
    cases = [*recorded.questions(), *large.cases()]
    cases += [generator.case(f"{options.seed}-{n}") for n in range(options.cases)]
    print(f"{len(cases)} cases, {options.cases} of them by chance, seed {options.seed}")
    heads = ("release", "Nova", "cases", "equal", "refusals equal", "different")
    print(ROW.format(*heads), flush=True)
    tally, wrong = Tally(), set()
    for release in wanted:
        answers = asking.ask(release, cases, options.processes)
        found = list(comparing.pairs(release, cases, answers))
        tally += _report(release, found)
        wrong.update(pair.case["name"] for pair in found if not pair.is_equal)
    _report_refusals(tally)
    _report_rules(wrong)
    return 1 if tally.different else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity")
    known = ",".join(map(str, asking.releases()))
    parser.add_argument("--releases", default=known, help=f"some of {known}")
    parser.add_argument("--cases", type=int, default=300, help="so many by chance")
    parser.add_argument("--seed", default="0", help="of the cases by chance")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
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
