"""Rules on what keeps projects, images and hosts together by names."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import ISOLATED_HOSTS, Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.words import aggregate_set
from osc_traitsched.core.inventory.metadata import TENANT_KEY, projects_of
from osc_traitsched.core.inventory.metadata import new_project_keys as own_keys
from osc_traitsched.core.inventory.metadata import placement_projects as found_in
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import TENANT_SUFFIXES
from osc_traitsched.core.nova.settings import PROJECT_FILTER, Setting
from osc_traitsched.core.releases import release
from osc_traitsched.text import listed, quoted

_NOWHERE = {
    options.ISOLATED_HOSTS: "no service host has this name",
    options.ISOLATED_IMAGES: "no active image has this ID",
}


@dataclasses.dataclass(frozen=True)
class FiltersTenantSuffix(Finding):
    """An aggregate's keys with suffixes, for projects, that the filter does not read.

    :ivar id: the aggregate's
    :ivar keys: those with suffixes
    :ivar projects: that they name, and that the key without a suffix does not
    :ivar listed: those that the key without a suffix has; none if it is not there
    :ivar release: Nova's
    :ivar is_asked: Placement is asked for projects' aggregates, and so reads them
    :ivar own: keys with the projects that it would not find any more in a list
    """

    rule = "filters-tenant-suffix"
    severity = Severity.ERROR
    kind = Kind.AGGREGATE
    name: str
    id: int
    keys: tuple[str, ...]
    projects: tuple[str, ...]
    listed: tuple[str, ...]
    release: int
    is_asked: bool
    own: tuple[tuple[str, str], ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        nova = f"{PROJECT_FILTER} of Nova {release(self.release)}"
        projects = listed(self.projects, "project")
        named = " that no aggregate names" if self.is_asked else ""
        then = f"lets all projects{named} in"
        if self.listed:
            then = f"keeps out the {projects}"
        problem = f"{nova} does not read {listed(self.keys)}, and {then}"
        ids = ",".join((*self.listed, *self.projects))
        keys = (f"{key}={project}" for key, project in self.own)
        return Words(
            problem,
            aggregate_set(self.id, f"{TENANT_KEY}={ids}", *keys),
            "a value has 255 characters at most",
        )


def tenant_suffix(analysis: Analysis) -> Iterator[FiltersTenantSuffix]:
    """Find projects that are named under keys which the filter reads from 30 on.

    Beside the key without a suffix they are kept out. Without it all projects get in;
    where Placement is asked, those that no aggregate names, unless it has to find one
    for each (nova/scheduler/filters/aggregate_multitenancy_isolation.py,
    nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
    """
    release = analysis.survey.assumptions.release
    if release >= TENANT_SUFFIXES or not analysis.filtering.is_on(PROJECT_FILTER):
        return
    is_asked = analysis.is_on(options.TENANT)
    is_safe = is_asked and analysis.is_on(options.TENANT_REQUIRED)
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        found = dict(aggregate.projects)
        exact = projects_of(found.pop(TENANT_KEY, ""))
        named = dict.fromkeys(p for value in found.values() for p in projects_of(value))
        left = tuple(each for each in named if each not in exact)
        if left and (exact or not is_safe):
            then = {**aggregate.projects, TENANT_KEY: ",".join((*exact, *left))}
            lost = found_in(aggregate.projects) - found_in(then) if is_asked else ()
            yield FiltersTenantSuffix(
                aggregate.name,
                aggregate.id,
                tuple(sorted(found)),
                left,
                exact,
                release,
                is_asked,
                tuple(own_keys(sorted(lost), then)),
            )


class Stray(enum.Enum):
    """What a name is that the filter finds nowhere."""

    #: The name of a service host, but for the case of its letters.
    LETTERS = "letters"
    #: The name of a node, and not of its service host.
    NODE = "node"
    #: The name of an image, and not its ID.
    IMAGE_NAME = "image name"
    #: Nothing's.
    NOTHING = "nothing"


@dataclasses.dataclass(frozen=True)
class FiltersIsolated(Finding):
    """A host or an image that is to be isolated, and is not there.

    :ivar name: of the option
    :ivar value: the one of its values
    :ivar meant: the names or IDs that are there
    """

    rule = "filters-isolated"
    severity = Severity.WARNING
    kind = Kind.OPTION
    name: str
    value: str
    stray: Stray
    meant: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        meant = listed(self.meant)
        what = {
            Stray.LETTERS: f"the service host is {meant}, and letters count",
            Stray.NODE: "this is a node, and the filter compares its service host "
            + meant,
            Stray.IMAGE_NAME: f"this is a name, and the filter compares the ID {meant}",
            Stray.NOTHING: _NOWHERE[self.name],
        }[self.stray]
        source = self.setting.source
        return Words(
            f"{quoted(self.value)} isolates nothing ({source}): {what}",
            f"write {meant} instead" if self.meant else "take it off the list",
        )


def isolated(analysis: Analysis) -> Iterator[FiltersIsolated]:
    """Find isolated hosts and images that are not there, as the filter compares them.

    It wants the very name of the service host, and the image's ID
    (nova/scheduler/filters/isolated_hosts_filter.py).
    """
    if not analysis.filtering.is_on(ISOLATED_HOSTS):
        return
    for option, judged in (
        (options.ISOLATED_HOSTS, _host),
        (options.ISOLATED_IMAGES, _image),
    ):
        setting = analysis.setting(option)
        values = setting.value if isinstance(setting.value, tuple) else ()
        for value in dict.fromkeys(values):
            found = judged(analysis, value)
            if found is not None:
                yield FiltersIsolated(option, value, *found, setting)


def _host(analysis: Analysis, value: str) -> tuple[Stray, tuple[str, ...]] | None:
    computes = analysis.survey.nova.computes
    hosts = dict.fromkeys(each.service_host for each in computes)
    if value in hosts:
        return None
    alike = tuple(each for each in hosts if each.casefold() == value.casefold())
    if alike:
        return Stray.LETTERS, alike
    of_node = tuple(each.service_host for each in computes if each.node == value)
    return (Stray.NODE, of_node) if of_node else (Stray.NOTHING, ())


def _image(analysis: Analysis, value: str) -> tuple[Stray, tuple[str, ...]] | None:
    images = analysis.survey.images
    if any(each["id"] == value for each in images):
        return None
    named = tuple(str(each["id"]) for each in images if each.get("name") == value)
    return (Stray.IMAGE_NAME, named) if named else (Stray.NOTHING, ())
