"""Rules on the options as read, against what the cloud has that needs them.

An option that is off while its area needs it is that area's own rule:
``image-type-off``, ``isolation-off``, ``az-ignored``.
"""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.check.finding import Datum, Finding, Rule, Severity
from osc_traitsched.core.check.rules.tenant import TENANT_FILTER
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.nova.server import not_evaluated

#: The property that a host filter looks at, too (ImagePropertiesFilter), and its old
#: name.
_FILTERED = frozenset({"hw_architecture", "architecture"})


def ignored(study: Study) -> Iterator[Finding]:
    """Find options that somebody set and this release of Nova does not look at."""
    for name, source in study.assumptions.ignored:
        data: dict[str, Datum] = {
            "source": source,
            "release": study.assumptions.release,
        }
        yield Finding("config-ignored", Severity.NOTE, "option", name, data)


def max_results(study: Study) -> Iterator[Finding]:
    """Find that there are more hosts than Placement is asked for.

    nova/scheduler/client/report.py, ``get_allocation_candidates``.
    """
    option = options.MAX_RESULTS
    limit = study.assumptions.value(option)
    total = len(study.all_hosts)
    if isinstance(limit, int) and total > limit:
        given = study.is_given(option)
        data: dict[str, Datum] = {
            "limit": limit,
            "total": total,
            **study.told(option),
        }
        severity = Severity.WARNING if given else Severity.NOTE
        yield Finding("config-max-results", severity, "option", option, data)


def tenant_off(study: Study) -> Iterator[Finding]:
    """Find that aggregates are for projects, and nothing looks at that.

    The host filter of before does (nova/scheduler/filters/,
    ``aggregate_multitenancy_isolation.py``).
    """
    option = options.TENANT
    named = tuple(each.name for each in study.nova.aggregates if each.tenants)
    if named and not study.is_on(option) and not study.has_filter(TENANT_FILTER):
        data: dict[str, Datum] = {"aggregates": named, **study.told(option)}
        given = study.is_given(option) and study.is_given(options.ENABLED_FILTERS)
        severity = Severity.ERROR if given else Severity.WARNING
        yield Finding("config-tenant-off", severity, "option", option, data)


def tenant_required(study: Study) -> Iterator[Finding]:
    """Find that projects are to have an aggregate, by an option without effect.

    nova/scheduler/request_filter.py, ``require_tenant_aggregate``, returns before
    it looks at it.
    """
    option = options.TENANT_REQUIRED
    if study.is_on(option) and not study.is_on(options.TENANT):
        yield Finding(
            "config-tenant-required",
            Severity.WARNING,
            "option",
            option,
            study.told(option),
        )


def image_metadata_off(study: Study) -> Iterator[Finding]:
    """Find that devices which images name are not looked at, and not all hosts have.

    nova/scheduler/request_filter.py, ``transform_image_metadata``.
    """
    option = options.IMAGE_METADATA
    exists = study.assumptions.release >= options.OPTIONS[option].since
    if study.is_on(option) or not exists or not study.all_hosts:
        return
    lacking: dict[str, list[str]] = {}
    for image in study.of_images:
        for clause in image.devices:
            if _is_looked_at(clause) and clause.name in study.known_traits:
                lacking.setdefault(clause.name, []).append(image.name)
    partial = {
        name: images
        for name, images in sorted(lacking.items())
        if study.hosts.meeting([RootTrait(name, False, ())]) != study.all_hosts
    }
    if partial:
        data: dict[str, Datum] = {
            "traits": tuple(partial),
            "images": tuple(sorted({i for each in partial.values() for i in each})),
            **study.told(option),
        }
        given = study.is_given(option)
        severity = Severity.ERROR if given else Severity.WARNING
        yield Finding("config-image-metadata-off", severity, "option", option, data)


def _is_looked_at(clause: RootTrait) -> bool:
    return _FILTERED.isdisjoint(origin.key for origin in clause.origins)


def image_metadata_untold(study: Study) -> Iterator[Finding]:
    """Find images of which one value has no trait, so that none of them counts.

    nova/scheduler/request_filter.py, ``transform_image_metadata``.
    """
    if not study.is_on(options.IMAGE_METADATA):
        return
    for image in study.of_images:
        for each in image.not_evaluated:
            if each.kind == not_evaluated.IMAGE_METADATA:
                data: dict[str, Datum] = {
                    "pair": f"{each.key}={each.value}",
                    "id": str(image.body["id"]),
                }
                yield Finding(
                    "config-image-metadata-untold",
                    Severity.WARNING,
                    "image",
                    image.name,
                    data,
                )


RULES: tuple[Rule, ...] = (
    Rule("config-ignored", "config", ignored, "options"),
    Rule("config-max-results", "config", max_results, "hosts"),
    Rule("config-tenant-off", "config", tenant_off, "aggregates"),
    Rule("config-tenant-required", "config", tenant_required, "options"),
    Rule("config-image-metadata-off", "config", image_metadata_off, "images"),
    Rule("config-image-metadata-untold", "config", image_metadata_untold, "images"),
)
