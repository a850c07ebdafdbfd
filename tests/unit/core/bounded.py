"""What each of the bombs costs, where nothing may cost much: run as a program.

It prints a JSON object: for each case the answer's kind and the seconds of CPU.
"""

from __future__ import annotations

import json
import resource
import time

from tests.fidelity import large, ours

#: Of address space, the interpreter's own included.
MOST_BYTES = 2**30
#: For all cases together.
MOST_SECONDS = 120


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    found = {}
    for case in [*large.cases(), *large.bombs()]:
        start = time.process_time()
        answer = ours.answer(case, 34)
        kind = answer.get("refused", "query")
        found[case["name"]] = kind, time.process_time() - start
    print(json.dumps(found))


if __name__ == "__main__":
    main()
