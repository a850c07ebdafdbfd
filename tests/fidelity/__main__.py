"""Compare the core with released Novas: ``python -m tests.fidelity --help``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from tests.fidelity import asking, generator, ours, recorded
from tests.fidelity.ours import Answer, Case
from tests.services.environment import EnvironmentFailed

SHOWN = 5
ROW = "{:>7}  {:>5}  {:>5}  {:>14}  {:>9}"


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
    cases = recorded.questions()
    cases += [generator.case(f"{options.seed}-{n}") for n in range(options.cases)]
    print(ROW.format("release", "cases", "equal", "refusals equal", "different"))
    different = 0
    for release in wanted:
        answers = asking.ask(release, cases, options.processes)
        different += _report(release, cases, answers)
    return 1 if different else 0


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


def _report(release: int, cases: Sequence[Case], answers: Sequence[Answer]) -> int:
    """Print a release's line, and the first differences; return how many there are."""
    equal, refused, different = 0, 0, []
    for case, nova in zip(cases, answers):
        own = ours.answer(case, release)
        if own != nova:
            different.append((case, nova, own))
        elif "refused" in nova:
            refused += 1
        else:
            equal += 1
    print(ROW.format(release, len(cases), equal, refused, len(different)), flush=True)
    for case, nova, own in different[:SHOWN]:
        for name, value in (("case", case), ("nova", nova), ("ours", own)):
            print(f"  {name}: {json.dumps(value, sort_keys=True)}")
    return len(different)


if __name__ == "__main__":
    sys.exit(main())
