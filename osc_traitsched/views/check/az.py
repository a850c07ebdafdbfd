"""The words of the area az's rules."""

from __future__ import annotations

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.rules.az import (
    AzDefaultZone,
    AzFilter,
    AzIgnored,
    AzKey,
    AzMirror,
    AzSeveral,
    DefaultZone,
)
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.switch import AZ_FILTER
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, option, quoted, ranges
from osc_traitsched.views.check import mirror
from osc_traitsched.views.check.wording import Words, off, unset, word

_FILTERS = option(options.ENABLED_FILTERS)
_ENABLE = openstack("trait-sched config nova-conf", Option("--enable", "az"))


@word.register
def _(finding: AzMirror) -> Words:
    extra = "requests for the zone can land there"
    if finding.is_filtered:
        extra = f"only {AZ_FILTER} keeps requests for the zone away"
    missing = "no request for the zone gets there"
    return mirror.out_of_step(finding.out_of_step, missing, extra)


@word.register
def _(finding: AzSeveral) -> Words:
    zones = " and ".join(map(quoted, finding.zones))
    return Words(
        f"in the zones {zones} at once, by the "
        f"{listed(finding.aggregates, 'aggregate')}",
        openstack("aggregate remove host", Placeholder("AGGREGATE"), finding.name),
        "take the host out of all but one zone's aggregates",
    )


_GIVEN = {
    DefaultZone.ANY: "a request for it can get any host: no aggregate has its name",
    DefaultZone.OTHERS: "a request for it does not get them: an aggregate has its name",
    DefaultZone.FILTERED: f"a request for it gets them, as long as {AZ_FILTER} is on",
}


@word.register
def _(finding: AzDefaultZone) -> Words:
    return Words(
        f"in it by default, for want of a zone's aggregate: the "
        f"{ranges(finding.hosts, 'host')}; {_GIVEN[finding.given]}",
        openstack("aggregate add host", Placeholder("AGGREGATE"), Placeholder("HOST")),
        "put them into a zone's aggregate",
    )


@word.register
def _(finding: AzFilter) -> Words:
    if finding.stops:
        nova = f"Nova {release(finding.release)}"
        then = f"{nova} has no {AZ_FILTER}, and nova-scheduler does not start"
    else:
        then = (
            f"{AZ_FILTER} does again what Placement did, and Nova 28 (2023.2) does not "
            "start with it"
        )
    return Words(f"{then} ({finding.setting.source})", _ENABLE)


@word.register
def _(finding: AzIgnored) -> Words:
    return Words(
        f"{off(finding.setting)}, and {_FILTERS} has no {AZ_FILTER}: a request "
        f"for the {listed(finding.zones, 'zone')} gets any host",
        _ENABLE,
    )


@word.register
def _(finding: AzKey) -> Words:
    return Words(
        f"{quoted(finding.key)} is {ZONE_KEY} to a database that is "
        f"{finding.setting.value} ({finding.setting.source}), and not to Nova, which "
        f"raises KeyError whenever it looks for the zone of the "
        f"{ranges(finding.hosts, 'host')}: to show a server there, or to build one",
        unset(Kind.AGGREGATE, [finding.key], str(finding.id)),
        f"set {ZONE_KEY} instead, once this key is off",
    )
