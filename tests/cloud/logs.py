"""What the services' own logs say that the scheduler asked, and was given."""

from __future__ import annotations

import re

from tests.cloud.cloud import Cloud

_ASKED = re.compile(r'"GET /allocation_candidates\?(\S*)"')
_GIVEN = re.compile(r"Update host state from compute node: .*?\bhost='([^']+)'")
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


def asked_of_placement(cloud: Cloud, since: int) -> list[tuple[str, str]]:
    """Return method and path of all requests after a length of Placement's log."""
    text = cloud.log("placement").read_text()[since:]
    return [(match[1], match[2]) for match in _DONE.finditer(text)]


def _lines(cloud: Cloud, service: str, request: str) -> list[str]:
    text = cloud.log(service).read_text()
    return [line for line in text.splitlines() if request in line]
