"""Which flavors find a host with one image: the cloud is read once for all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from osc_traitsched.app.judging import Asked, asked_of, judge_all, with_builds
from osc_traitsched.app.request import question, zone_refusal
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup, read, request_parts
from osc_traitsched.cloud.existing_servers import with_running
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import AnswerIsNo, NotForProject, NothingMatches
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova import evidence
from osc_traitsched.core.nova.filter.row import Reads
from osc_traitsched.core.nova.filter.table import enabled, reading
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.server.server import read as read_flavor


def by_flavor(
    cloud: Cloud,
    spec: ServerSpec,
    sources: SettingsSources,
    wanted: Callable[[Sequence[Body]], Iterable[Body]] = tuple,
    images: Iterable[Body] | None = None,
    all_enabled: bool = False,
) -> tuple[Judgement, ...]:
    """The image of a request with each flavor, by name; no fixes are tried.

    Requests: one for each different amount of all flavors, one for each trait, and a
    dozen for the cloud. Placement's answer is computed. Flavors that a named project
    may not use are left out. Each flavor is judged with other values of unknown
    options, too.

    :param images: bodies to judge each flavor with, instead of the request's image
    :param all_enabled: as if all compute services were enabled and up
    :raises NothingMatches: for an unknown image, or a cloud without flavors
    :raises Refusal: for an availability zone, or settings that Nova does not start with
    :raises NotForProject: for an image that the project may not use
    """
    every = lookup.flavors(cloud)
    if spec.project is not None:
        lookup.need_all(cloud)
    bodies = sorted(wanted(every), key=lambda each: str(each["name"]))
    if not bodies:
        raise NothingMatches("flavor", "*", ())
    named = dataclasses.replace(spec, flavor=str(bodies[0]["id"]))
    first = question(cloud, named, sources)
    if (refusal := zone_refusal(cloud, first)) is not None:
        raise refusal
    known = read.known_traits(cloud.placement)
    firsts = [first]
    if images is not None:
        firsts = [dataclasses.replace(first, image=image) for image in images]
    each = (_of_flavor(cloud, one, body, known) for body in bodies for one in firsts)
    starts = [*filter(None, each)]
    nodes = lookup.computes(cloud) if first.nodes is None else first.nodes
    computes = {node.uuid: node for node in with_builds(cloud, first, nodes)}
    of_name = set(reading(Reads.FLAVOR_NAME))
    is_named = not of_name.isdisjoint(enabled(first.assumptions))
    keys = [
        (
            read_flavor(start.question.flavor).key,
            is_named and start.flavor,
            images and (start.question.image or {})["id"],
        )
        for start in starts
    ]
    alike = {key: start for key, start in zip(keys, starts) if start.asked}
    several = [start.asked for start in alike.values() if start.asked]
    judged_all = judge_all(cloud.placement, computes, several, all_enabled)
    judged = dict(zip(alike, judged_all))
    return tuple(
        dataclasses.replace(judged[key], question=start.question)
        if start.asked
        # Its refusal names the flavor.
        else Judgement(start.question, refusal=start.refusal)
        for key, start in zip(keys, starts)
    )


class _Start(NamedTuple):
    question: Question
    asked: Asked | None = None
    refusal: AnswerIsNo | None = None

    @property
    def flavor(self) -> str:
        return str(self.question.flavor["name"])


def _of_flavor(
    cloud: Cloud, first: Question, body: Body, known: frozenset[str]
) -> _Start | None:
    """None if the flavor is of other projects.

    :param known: as :func:`asked_of` takes it
    """
    parts = request_parts.with_profiles(cloud, first.parts, body)
    body = with_running(cloud, body)
    asked = dataclasses.replace(first, flavor=body, parts=parts)
    asked = evidence.of_question(asked.with_flavor(first.spec.flavor_properties))
    try:
        return _Start(asked, asked_of(cloud, asked, known))
    except NotForProject as refusal:
        if refusal.kind == "flavor":
            return None
        raise
    except AnswerIsNo as refusal:
        return _Start(asked, refusal=refusal)
