"""Judge stored facts, and print all of what explain would say of them.

usage: python -m tests.property.thinking FILE

Run with other seeds for the order of sets, it has to print the same.
"""

from __future__ import annotations

import json
import pathlib
import pickle
import sys
from collections.abc import Iterable, Iterator

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.verdict import evaluate
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.explain import prose
from osc_traitsched.views.explain.document import document
from tests.property import fixing

Asked = tuple[Request, Facts]


def think(request: Request, found: Facts) -> Explanation:
    """Return what explain has to say of a request, by facts that were read."""
    matcher = Matcher(request.clauses, request.group_policy, found)
    verdict = evaluate(matcher, found)
    return Explanation(
        fixing.question(),
        request,
        facts=found,
        verdict=verdict,
        fixes=fixing.of(matcher, verdict),
        computes=fixing.computes(found),
    )


def say(asked: Iterable[Asked]) -> Iterator[str]:
    """Yield the document and the text of each."""
    for request, found in asked:
        explanation = think(request, found)
        yield json.dumps(document(explanation, explanation.hosts))
        shown = prose.lines(explanation, explanation.hosts, everything=True)
        yield from (line.text for line in shown)


def keep(asked: Iterable[Asked], file: pathlib.Path) -> None:
    """Store requests and facts for another process."""
    file.write_bytes(pickle.dumps(list(asked)))


if __name__ == "__main__":
    for line in say(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())):
        print(line)
