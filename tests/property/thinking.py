"""Judge stored facts, and print all of what explain would say of them.

usage: python -m tests.property.thinking FILE

Run with other seeds for the order of sets, it has to print the same.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import pickle
import sys
from collections.abc import Iterable, Iterator

from osc_traitsched.core.judge.judge import Explanation, judge
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.views.explain import text
from osc_traitsched.views.explain.document import document
from tests.property import checks
from tests.unit.core.scheduled import placed

Asked = tuple[Request, Facts]


@dataclasses.dataclass(frozen=True)
class Drawn(Question):
    """A question whose request was drawn, whatever its flavor would ask for."""

    drawn: Request | None = None

    def request(self) -> Request:
        return self.drawn or super().request()


def think(request: Request, found: Facts) -> Explanation:
    """Return what explain has to say of a request, by facts that were read."""
    placement = placed(sorted(found.candidates))
    nodes = checks.computes(found)
    question = Drawn(**vars(checks.question()), drawn=request)
    judgement = judge(question, request, found, nodes, placement)
    fixes = checks.host_fixes(judgement.verdict.matcher, judgement.verdict)
    return Explanation(judgement, fixes=fixes)


def say(asked: Iterable[Asked]) -> Iterator[str]:
    """Yield the document and the text of each."""
    for request, found in asked:
        explanation = think(request, found)
        hosts = explanation.judgement.hosts
        yield json.dumps(document(explanation))
        shown = text.lines(explanation, hosts, everything=True)
        yield from (line.text for line in shown)


def keep(asked: Iterable[Asked], file: pathlib.Path) -> None:
    """Store requests and facts for another process."""
    file.write_bytes(pickle.dumps(list(asked)))


if __name__ == "__main__":
    for line in say(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())):
        print(line)
