"""Compare filters and weighers with those of released Novas, and print figures."""

from __future__ import annotations

import collections
import json
from collections.abc import Sequence

from tests.fidelity import asking
from tests.fidelity.scheduling import comparing, generator, recorded, traps
from tests.fidelity.scheduling.traps import Trap

SHOWN = 5
ROW = "{:>7}  {:>8}  {:>6}  {:>8}  {:>8}  {:>9}"
NAMES = "{:<42}  {:>8}  {:>8}  {:>9}"


def compare(releases: Sequence[int], number: int, seed: str, processes: int) -> int:
    """Print how the named cases and so many by chance compare.

    Return how many answers differ.
    """
    named = traps.read()
    by_chance = [generator.case(f"{seed}-{n}") for n in range(number)]
    cases = [*(trap.case for trap in named), *by_chance]
    print(f"\nFilters and weighers on the hosts of {len(named)} named cases")
    print(f"and of {number} by chance of the seed {seed}")
    print(ROW.format("release", "Nova", "cases", "answers", "unknown", "different"))
    total = comparing.Tally()
    broken: list[tuple[int, Trap]] = []
    for release in releases:
        answers = asking.ask_scheduling(release, cases, processes)
        total += _report(release, comparing.tally(release, cases, answers))
        found = zip(named, answers)
        broken += [
            (release, trap)
            for trap, nova in found
            if not trap.is_shown_by(nova, release)
        ]
    _report_names(total)
    _report_traps(named, broken)
    return len(total.different) + len(broken)


def record(releases: Sequence[int], processes: int) -> None:
    """Write the recorded cases' answers of these releases anew."""
    questions = recorded.questions()
    found = {r: asking.ask_scheduling(r, questions, processes) for r in releases}
    recorded.write(recorded.read(), found)


def _report(release: int, found: comparing.Tally) -> comparing.Tally:
    """Print a release's line and its first differences, and return what it counts."""
    answers, unknown = sum(found.answers.values()), sum(found.unknown.values())
    figures = (found.cases, answers, share(unknown, answers), len(found.different))
    print(ROW.format(release, asking.version(release), *figures), flush=True)
    for case, answer in found.different[:SHOWN]:
        print(f"  {answer.name}: Nova {answer.nova}, ours {answer.ours}")
        print(f"    of the case {json.dumps(case, sort_keys=True)}")
    return found


def _report_names(total: comparing.Tally) -> None:
    """Print the figures of each filter and weigher, all releases together."""
    different = collections.Counter(answer.name for _, answer in total.different)
    print("\n" + NAMES.format("filter or weigher", "answers", "unknown", "different"))
    for name, answers in sorted(total.answers.items()):
        unknown = share(total.unknown[name], answers)
        print(NAMES.format(name, answers, unknown, different[name]))


def _report_traps(named: Sequence[Trap], broken: Sequence[tuple[int, Trap]]) -> None:
    """Print of how many named cases all answers are as expected, and which differ."""
    held = len(named) - len({trap.trap for _, trap in broken})
    print(f"\n{held} of {len(named)} named surprises are seen in all of these releases")
    for release, trap in broken:
        print(f"  not in {release}: {trap.of}: {trap.trap}")


def share(some: int, all_: int) -> str:
    """Return a share in percent, rounded up, so that 0 % is none at all."""
    return f"{-(-some * 1000 // all_) / 10:g} %" if all_ else "-"
