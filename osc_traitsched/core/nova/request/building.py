"""From a flavor and an image to the request, or to the refusal."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options, prefilter
from osc_traitsched.core.nova.request import checks, unknowns
from osc_traitsched.core.nova.request.model import Request
from osc_traitsched.core.nova.server import cpu, extra_specs, translation
from osc_traitsched.core.nova.server.adding import SoFar
from osc_traitsched.core.nova.server.flavor import read as read_flavor
from osc_traitsched.core.nova.server.image import read as read_image
from osc_traitsched.core.nova.server.server import Aggregate, Server
from osc_traitsched.core.nova.settings import SchedulerSettings

API, SCHEDULER, NO_VALID_HOST = "api", "scheduler", "no valid host"

Body = Mapping[str, object]


def build(
    flavor: Body,
    image: Body | None,
    *,
    aggregates: Iterable[Body],
    availability_zone: str | None = None,
    project_id: str | None = None,
    boot_from_volume: bool = False,
    assumptions: SchedulerSettings,
) -> Request:
    """Return the request that Nova's scheduler makes of a flavor and an image.

    :param flavor: of the compute API, with its extra specs
    :param image: of the image API, version 2; None for a server without one
    :param aggregates: of the compute API; all that there are
    :param availability_zone: as a user gives it, ``zone:host`` included
    :param project_id: whose server it is, in the spelling of the aggregates
    :param boot_from_volume: the root disk is a volume made of the image
    :raises Refusal: where nova-api or nova-scheduler refuses them together
    """
    release = assumptions.release
    zone, _, host = (availability_zone or "").partition(":")
    with _at(API, release):
        server = Server(
            flavor=read_flavor(flavor),
            image=read_image(image, release),
            aggregates=tuple(Aggregate.read(body) for body in aggregates),
            zone=zone,
            host=host,
            project_id=project_id,
            boot_from_volume=boot_from_volume,
            release=release,
        )
        checks.check(server)
    with _at(SCHEDULER, release):
        so_far = prefilter.run(server, assumptions)
        return _request(server, so_far, assumptions)


def placement_query(
    flavor: Body,
    image: Body | None,
    *,
    aggregates: Iterable[Body],
    availability_zone: str | None = None,
    project_id: str | None = None,
    boot_from_volume: bool = False,
    assumptions: SchedulerSettings,
) -> str:
    """Return the query string of that request, each byte as Nova sends it.

    Nova sends it as ``GET /allocation_candidates?…``. For its other parts, and for
    the second query of a pinned server, see :func:`build`, whose parameters and
    refusals are the same.
    """
    return build(
        flavor,
        image,
        aggregates=aggregates,
        availability_zone=availability_zone,
        project_id=project_id,
        boot_from_volume=boot_from_volume,
        assumptions=assumptions,
    ).query()


def microversion(release: int) -> str:
    """Return the microversion with which a release asks for candidates.

    nova/scheduler/client/report.py, ``get_allocation_candidates``.
    """
    if release < 21:
        return "1.32"
    return "1.35" if release < 24 else "1.36"


def _request(server: Server, so_far: SoFar, assumptions: SchedulerSettings) -> Request:
    found = translation.translate(server, so_far)
    limit = assumptions.value(options.MAX_RESULTS)
    request = Request(
        clauses=found.clauses,
        group_policy=extra_specs.group_policy(server),
        limit=limit if isinstance(limit, int) else None,
        microversion=microversion(server.release),
        not_evaluated=(*found.not_evaluated, *unknowns.of(server, assumptions)),
    )
    if not _asks_twice(server, assumptions):
        return request
    unpinned = translation.translate(server, so_far, pinned=False)
    second = dataclasses.replace(request, clauses=unpinned.clauses)
    return dataclasses.replace(request, fallback=second)


def _asks_twice(server: Server, assumptions: SchedulerSettings) -> bool:
    """Tell whether hosts that were set up before 20 are asked for as well.

    nova/scheduler/manager.py, ``select_destinations``.
    """
    if assumptions.value(options.NO_PCPU_FALLBACK):
        return False
    return cpu.policy(server).value == "dedicated"


@contextlib.contextmanager
def _at(stage: str, release: int) -> Iterator[None]:
    """Say of a refusal at which stage it comes."""
    try:
        yield
    except Refusal as refusal:
        name = refusal.exception
        if name == "RequestFilterFailed":
            stage = NO_VALID_HOST
        status = checks.http_status(name, release) if stage == API else None
        raise Refusal(name, refusal.reason, refusal.keys, stage, status) from None
