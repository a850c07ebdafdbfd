"""The words of the area az's rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.check.rules.az import ANYBODY, FILTERED, NOBODY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.switch import AZ_FILTER
from osc_traitsched.views.check import mirror
from osc_traitsched.views.check.wording import Wording, Words, command, count, off
from osc_traitsched.views.options import option, release

_FILTERS = option(options.ENABLED_FILTERS)
_ENABLE = command("trait-sched", "config", "nova-conf", "--enable", "az")


def _mirror(finding: Finding) -> Words:
    extra = "requests for the zone can land there"
    if finding.data["filtered"]:
        extra = f"only {AZ_FILTER} keeps requests for the zone away"
    return mirror.differing(finding, "no request for the zone gets there", extra)


def _several(finding: Finding) -> Words:
    zones = " and ".join(ascii(zone) for zone in finding.names("zones"))
    aggregates = count(finding.names("aggregates"), "aggregate")
    return Words(
        f"in the zones {zones} at once, by the {aggregates}",
        "take the host out of all but one zone's aggregates: "
        + command("aggregate", "remove", "host", "AGGREGATE", finding.name),
    )


_WHO = {
    ANYBODY: "who asks for it can get any host, for no aggregate has its name",
    NOBODY: "who asks for it does not get them, for an aggregate has its name",
    FILTERED: f"who asks for it gets them, as long as {AZ_FILTER} is on",
}


def _nowhere(finding: Finding) -> Words:
    hosts = count(finding.names("hosts"), "host")
    return Words(
        f"in it by default, for want of a zone's aggregate: the {hosts}; "
        + _WHO[finding.text("who")],
        "put them into a zone's aggregate: "
        + command("aggregate", "add", "host", "AGGREGATE", "HOST"),
    )


def _filter(finding: Finding) -> Words:
    if finding.data["stops"]:
        nova = f"Nova {release(int(finding.text('release')))}"
        then = f"{nova} has no {AZ_FILTER}, and nova-scheduler does not start"
    else:
        then = (
            f"{AZ_FILTER} does again what Placement did, and Nova 28 (2023.2) does not "
            "start with it"
        )
    return Words(f"{then} ({finding.text('source')})", _ENABLE)


def _ignored(finding: Finding) -> Words:
    return Words(
        f"{off(finding)}, and {_FILTERS} has no {AZ_FILTER}: who asks "
        f"for the {count(finding.names('zones'), 'zone')} gets any host",
        _ENABLE,
    )


WORDS: Mapping[str, Wording] = {
    "az-mirror": _mirror,
    "az-several": _several,
    "az-nowhere": _nowhere,
    "az-filter": _filter,
    "az-ignored": _ignored,
}
