"""What the services' own logs say that the scheduler asked, and was given."""

from __future__ import annotations

import contextlib
import mmap
import re

from tests.cloud.cloud import Cloud

_ASKED = re.compile(r'"GET /allocation_candidates\?(\S*)"')
_GIVEN = re.compile(r"Update host state from compute node: .*?\bhost='([^']+)'")
_LEFT = re.compile(r"Filter (\w+) returned (\d+) host")
_FILTERED = re.compile(r"\((\S+), \S+\) ram: ")
_WEIGHED = re.compile(r"WeighedHost \[host: \((\S+), .*?, weight: ([^\]]+)\]")
# At debug, the function and the line that logged it come last. Wallaby's log has no ID
# of another service's before the request's.
_SAID = re.compile(r" \S+\.(\w+) \[.*?req-\S+ .*?\] (.*?)(?: \w+ /\S+:\d+)?\n")
#: Until 2023.1 oslo.log paints its lines, at least at their end.
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_DONE = re.compile(r'placement\.requestlog .*?"([A-Z]+) (\S+)"')


def queries(cloud: Cloud, request: str) -> list[str]:
    """Return the queries that the scheduler sent for a request, as Placement saw them.

    :param request: the compute API's ID of the request for a server
    """
    found = (_ASKED.search(line) for line in _lines(cloud, "placement", request))
    return [match[1] for match in found if match]


def given(cloud: Cloud, request: str) -> set[str]:
    """Return the hosts that the scheduler got from Placement, before its filters."""
    found = (_GIVEN.search(line) for line in _lines(cloud, "nova", request))
    return {match[1] for match in found if match}


def left(cloud: Cloud, request: str) -> dict[str, int]:
    """Return how many hosts each filter left that ran, in their order."""
    found = (_LEFT.search(line) for line in _lines(cloud, "nova", request))
    return {match[1]: int(match[2]) for match in found if match}


def filtered(cloud: Cloud, request: str) -> list[set[str]]:
    """Return the hosts that all filters left, each time that hosts were asked for.

    Placement gave some then; a live migration asks anew for each host that it can't
    be moved to.
    """
    lines = (each for each in _lines(cloud, "nova", request) if " Filtered [" in each)
    return [set(_FILTERED.findall(line)) for line in lines]


def weights(cloud: Cloud, request: str) -> dict[str, float]:
    """Return what the hosts that all filters left weigh, the best first."""
    lines = (each for each in _lines(cloud, "nova", request) if " Weighed [" in each)
    return {
        host: float(each) for line in lines for host, each in _WEIGHED.findall(line)
    }


def said(cloud: Cloud, request: str, module: str) -> set[str]:
    """Return what a module of the scheduler's logged of a request.

    :param module: its own name, without those of its packages
    """
    found = (_SAID.search(line + "\n") for line in _lines(cloud, "nova", request))
    return {match[2] for match in found if match and match[1] == module}


def asked_of_placement(cloud: Cloud, since: int) -> list[tuple[str, str]]:
    """Return method and path of all requests after a length of Placement's log."""
    text = cloud.log("placement").read_text()[since:]
    return [(match[1], match[2]) for match in _DONE.finditer(text)]


def _lines(cloud: Cloud, service: str, request: str) -> list[str]:
    """Return the lines that name a request, of a log that can be large."""
    name = request.encode()
    with contextlib.ExitStack() as around:
        file = around.enter_context(cloud.log(service).open("rb"))
        read = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        text = around.enter_context(read)
        first = text.find(name)
        if first < 0:
            return []
        start, end = text.rfind(b"\n", 0, first) + 1, text.find(b"\n", text.rfind(name))
        found = text[start : None if end < 0 else end].decode()
    lines = _COLOR.sub("", found).splitlines()
    return [line for line in lines if request in line]
