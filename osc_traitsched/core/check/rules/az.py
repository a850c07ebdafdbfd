"""Rules of the area az: what decides whether a zone's servers land in the zone."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.rules import mirror
from osc_traitsched.core.check.rules.mirror import OutOfStep, Use
from osc_traitsched.core.check.words import off_by, unset
from osc_traitsched.core.inventory.metadata import ZONE_KEY, zone_in
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import (
    AZ_FILTER,
    Setting,
    az_is_always_on,
    az_is_on,
)
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, option, quoted, ranges

_FILTERS = option(options.ENABLED_FILTERS)

_ENABLE = openstack("trait-sched config nova-conf", Option("--enable", "az"))


@dataclasses.dataclass(frozen=True)
class AzMirror(Finding):
    """A zone's aggregate that Placement has otherwise, while it is asked for it.

    :ivar is_filtered: AvailabilityZoneFilter is on
    """

    rule = "az-mirror"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    out_of_step: OutOfStep
    is_filtered: bool

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        extra = "requests for the zone can land there"
        if self.is_filtered:
            extra = f"only {AZ_FILTER} keeps requests for the zone away"
        missing = "no request for the zone gets there"
        return mirror.out_of_step_words(self.out_of_step, missing, extra)


def differing(analysis: Analysis) -> Iterator[AzMirror]:
    """Find zones' aggregates that Placement has otherwise.

    AvailabilityZoneFilter, where it is on, still drops the hosts of other zones.
    """
    is_filtered = analysis.has_filter(AZ_FILTER)
    for aggregate, found in mirror.differing(analysis, Use.AZ):
        harmless = is_filtered and not found.missing
        severity = Severity.WARNING if harmless else Severity.ERROR
        yield AzMirror(severity, aggregate.name, found, is_filtered)


@dataclasses.dataclass(frozen=True)
class AzSeveral(Finding):
    """A host in aggregates of different zones."""

    rule = "az-several"
    severity = Severity.ERROR
    kind = Kind.HOST
    name: str
    zones: tuple[str, ...]
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        zones = " and ".join(map(quoted, self.zones))
        return Words(
            f"in the zones {zones} at once, by the "
            f"{listed(self.aggregates, 'aggregate')}",
            openstack("aggregate remove host", Placeholder("AGGREGATE"), self.name),
            "take the host out of all but one zone's aggregates",
        )


def several(analysis: Analysis) -> Iterator[AzSeveral]:
    """Find hosts in several zones; the API prevents it, races do not."""
    for host, zones in sorted(_zones_of_hosts(analysis).items()):
        if len(zones) > 1:
            aggregates = set[str]().union(*zones.values())
            yield AzSeveral(host, tuple(sorted(zones)), tuple(sorted(aggregates)))


def _zones_of_hosts(analysis: Analysis) -> dict[str, dict[str, set[str]]]:
    """Return for each host in a zone its zones, each with the aggregates' names."""
    found: dict[str, dict[str, set[str]]] = {}
    for aggregate in analysis.survey.nova.aggregates:
        zone = zone_in(aggregate.metadata, analysis.collation)
        for host in aggregate.hosts if zone is not None else ():
            zones = found.setdefault(host, {})
            zones.setdefault(zone or "", set()).add(aggregate.name)
    return found


class DefaultZone(enum.Enum):
    """Which hosts a request for the default zone gets."""

    #: Any, since no aggregate has the zone's name.
    ANY = "any"
    #: None of those that are in it by default, since an aggregate has its name.
    OTHERS = "others"
    #: Those that are in it by default, and only by AvailabilityZoneFilter.
    FILTERED = "filtered"


_GIVEN = {
    DefaultZone.ANY: "a request for it can get any host: no aggregate has its name",
    DefaultZone.OTHERS: "a request for it does not get them: an aggregate has its name",
    DefaultZone.FILTERED: f"a request for it gets them, as long as {AZ_FILTER} is on",
}


@dataclasses.dataclass(frozen=True)
class AzDefaultZone(Finding):
    """A zone that hosts are in by default, in a cloud that has zones' aggregates.

    :ivar given: what a request for the zone gets
    """

    rule = "az-default-zone"
    kind = Kind.ZONE
    severity: Severity
    name: str
    hosts: tuple[str, ...]
    given: DefaultZone

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"in it by default, for want of a zone's aggregate: the "
            f"{ranges(self.hosts, 'host')}; {_GIVEN[self.given]}",
            openstack(
                "aggregate add host", Placeholder("AGGREGATE"), Placeholder("HOST")
            ),
            "put them into a zone's aggregate",
        )


def default_zone(analysis: Analysis) -> Iterator[AzDefaultZone]:
    """Find hosts in no zone's aggregate, in a cloud that has such aggregates.

    They are in the default zone by having no other. Where no aggregate has its
    name, Placement is asked for any host (nova/scheduler/request_filter.py,
    ``map_az_to_placement_aggregate``); where one has, these hosts are not in it.
    """
    folded = analysis.collation.folded
    inside, zones = _zones_of_hosts(analysis), set(map(folded, _zones(analysis)))
    if not zones:
        return
    outside: dict[str, set[str]] = {}
    for node in analysis.survey.nova.computes:
        if node.service_host not in inside:
            for zone in node.zones:
                outside.setdefault(zone, set()).add(node.service_host)
    for zone, hosts in sorted(outside.items()):
        given = _given(analysis, folded(zone) in zones)
        filtered = given is DefaultZone.FILTERED
        severity = Severity.NOTE if filtered else Severity.WARNING
        yield AzDefaultZone(severity, zone, tuple(sorted(hosts)), given)


def _given(analysis: Analysis, has_aggregate: bool) -> DefaultZone:
    """Tell what becomes of requests for the zone that hosts are in by default."""
    if has_aggregate and az_is_on(analysis.survey.assumptions):
        return DefaultZone.OTHERS
    is_filtered = analysis.has_filter(AZ_FILTER)
    return DefaultZone.FILTERED if is_filtered else DefaultZone.ANY


@dataclasses.dataclass(frozen=True)
class AzFilter(Finding):
    """AvailabilityZoneFilter, where Placement looks at zones.

    :ivar release: Nova's
    :ivar setting: of the list of filters
    :ivar stops: nova-scheduler does not start with it
    """

    rule = "az-filter"
    kind = Kind.OPTION
    name = options.ENABLED_FILTERS
    severity: Severity
    release: int
    setting: Setting
    stops: bool

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        if self.stops:
            nova = f"Nova {release(self.release)}"
            then = f"{nova} has no {AZ_FILTER}, and nova-scheduler does not start"
        else:
            then = (
                f"{AZ_FILTER} does again what Placement did, and Nova 28 (2023.2) does "
                "not start with it"
            )
        return Words(f"{then} ({self.setting.source})", _ENABLE)


def filtered(analysis: Analysis) -> Iterator[AzFilter]:
    """Find AvailabilityZoneFilter, where Placement looks at zones.

    From 28.0 on Nova has no such filter, and does not start with its name
    (nova/scheduler/host_manager.py, ``_choose_host_filters``).
    """
    assumptions = analysis.survey.assumptions
    if analysis.has_filter(AZ_FILTER) and az_is_on(assumptions):
        stops = az_is_always_on(assumptions.release)
        severity = Severity.ERROR if stops else Severity.WARNING
        setting = analysis.setting(options.ENABLED_FILTERS)
        yield AzFilter(severity, assumptions.release, setting, stops)


@dataclasses.dataclass(frozen=True)
class AzIgnored(Finding):
    """Zones that neither Placement nor a filter looks at."""

    rule = "az-ignored"
    severity = Severity.ERROR
    kind = Kind.OPTION
    name = options.AZ_QUERY
    zones: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{off_by(self.setting)}, and {_FILTERS} has no {AZ_FILTER}: a request "
            f"for the {listed(self.zones, 'zone')} gets any host",
            _ENABLE,
        )


def ignored(analysis: Analysis) -> Iterator[AzIgnored]:
    """Find that neither Placement nor a filter looks at zones."""
    zones = _zones(analysis)
    is_on = az_is_on(analysis.survey.assumptions)
    if zones and not is_on and not analysis.has_filter(AZ_FILTER):
        yield AzIgnored(zones, analysis.setting(options.AZ_QUERY))


def _zones(analysis: Analysis) -> tuple[str, ...]:
    aggregates = analysis.survey.nova.aggregates
    found = (zone_in(each.metadata, analysis.collation) for each in aggregates)
    return tuple(sorted({zone for zone in found if zone is not None}))


@dataclasses.dataclass(frozen=True)
class AzKey(Finding):
    """An aggregate's key that the database takes for a zone's, and Nova does not.

    :ivar id: the aggregate's
    :ivar key: as it is written, with its value
    :ivar setting: the collation
    """

    rule = "az-key"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    value: str
    hosts: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{quoted(self.key)} is {ZONE_KEY} to a database that is "
            f"{self.setting.value} ({self.setting.source}), and not to Nova, which "
            f"raises KeyError whenever it looks for the zone of the "
            f"{ranges(self.hosts, 'host')}: to show a server there, or to build one",
            unset(Kind.AGGREGATE, [self.key], str(self.id)),
            f"set {ZONE_KEY} instead, once this key is off",
        )


def key(analysis: Analysis) -> Iterator[AzKey]:
    """Find keys that are ``availability_zone`` but for their letters.

    The database finds the aggregate by such a key, and then Nova has none of the name
    in its metadata (nova/availability_zones.py, ``get_host_availability_zone``).
    """
    setting = analysis.setting(options.COLLATION)
    severity = Severity.ERROR if setting.given else Severity.WARNING
    for each in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        for written, value in sorted(each.metadata.items()):
            alike = analysis.collation.equal(written, ZONE_KEY)
            if each.hosts and alike and written != ZONE_KEY:
                yield AzKey(
                    severity, each.name, each.id, written, value, each.hosts, setting
                )


RULES = (
    Rule(AzMirror, "az", differing, Kind.AGGREGATE, also=("mirror",)),
    Rule(AzSeveral, "az", several, Kind.HOST),
    Rule(AzDefaultZone, "az", default_zone, Kind.HOST),
    Rule(AzFilter, "az", filtered, Kind.OPTION),
    Rule(AzIgnored, "az", ignored, Kind.OPTION),
    Rule(AzKey, "az", key, Kind.AGGREGATE),
)
