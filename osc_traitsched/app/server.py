"""From a server that exists to why it failed, and whether hosts could take it now."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import explain, request, settings
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import existing_servers, lookup, read, server_groups
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import BadUsage, ExtraSpecsHidden, Forbidden
from osc_traitsched.core.existing import parts
from osc_traitsched.core.existing.answer import ServerAnswer
from osc_traitsched.core.existing.changes import Changes
from osc_traitsched.core.existing.failure import Failure, failure
from osc_traitsched.core.existing.history import Action, ServerState, read_state
from osc_traitsched.core.existing.parts import Given
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Body, Question

#: The actions that write down where a server was moved from and to.
_MOVES = frozenset(["evacuate", "live-migration", "migrate", "resize"])


@dataclasses.dataclass(frozen=True)
class _Found:
    """A server, and what else was read of it.

    :ivar body: of the compute API, with its highest microversion that is known here
    :ivar image: what Glance has of its image now, if it has a server's image
    """

    body: Any
    minor: int
    state: ServerState
    action: Action | None
    image: Body | None

    @property
    def never_placed(self) -> bool:
        """Whether no host was ever chosen for it."""
        steps = self.action.events if self.action else ()
        return (
            not self.state.host
            and not self.state.launched
            and all(not each.name.startswith("compute_") for each in steps)
        )


def answer(
    cloud: Cloud,
    name: str,
    given: Given,
    sources: SettingsSources,
    named: Sequence[str] = (),
    want_figures: bool = False,
    want_fixes: bool | None = None,
    own: OwnSources | None = None,
) -> ServerAnswer:
    """Find out why a server failed, and explain its request as a new one.

    What this user may not read leaves the answer without that part, and says so.

    :param name: a name or an ID
    :param given: what the user says of the request, before what Nova shows
    :param named: as for :func:`explain.explain`, with what follows
    :raises NothingMatches: when there is no such server or host
    :raises AmbiguousName: for a name that several servers have
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises CloudBroke: when a service can't be read for another reason
    """
    found = _read(cloud, name, given)
    failed = failure(found.state, found.action)
    start = ServerAnswer(
        state=found.state,
        minor=found.minor,
        failure=failed,
        parts=parts.parts(
            found.body, found.minor, found.image, given, found.never_placed
        ),
        moves=_moves(cloud, found, failed),
        changes=_changes(cloud, found.state, failed),
    )
    try:
        question, is_changed = _question(cloud, found, given, sources)
        explanation = explain.explain(
            cloud, question, named, want_figures, want_fixes, own
        )
    except (Forbidden, ExtraSpecsHidden) as problem:
        return dataclasses.replace(start, problem=problem)
    return dataclasses.replace(
        start, explanation=explanation, is_flavor_changed=is_changed
    )


def _read(cloud: Cloud, name: str, given: Given) -> _Found:
    body = existing_servers.server(cloud, name)
    state = read_state(body)
    image = parts.image_id(body)
    if image is None and given.image_properties:
        raise BadUsage(
            "--image-property goes with an image, and the server boots from a volume"
        )
    return _Found(
        body=body,
        minor=existing_servers.minor_version(cloud),
        state=state,
        action=existing_servers.action_that_failed(cloud, state),
        image=None if image is None else lookup.image_of_id(cloud, image),
    )


def _moves(cloud: Cloud, found: _Found, failed: Failure | None) -> Any:
    if failed is None or failed.action not in _MOVES:
        return ()
    return existing_servers.moves_of(cloud, found.state)


def _changes(
    cloud: Cloud, state: ServerState, failed: Failure | None
) -> Changes | None:
    if failed is None or failed.when is None:
        return None
    return existing_servers.changes_since(cloud, state, failed.when)


def _question(
    cloud: Cloud, found: _Found, given: Given, sources: SettingsSources
) -> tuple[Question, bool]:
    """Return the question that the server was, and whether its flavor is changed."""
    if "extra_specs" not in found.body["flavor"]:
        raise ExtraSpecsHidden(1, 1, found.body["flavor"]["original_name"])
    flavor = parts.flavor(found.body)
    current = _current_flavor(cloud, flavor)
    image = parts.image(found.body, found.image)
    zone = given.zone or parts.zone(found.body, found.minor, found.never_placed)
    is_there = current is not None and (image is None or found.image is not None)
    is_kept = not (found.state.is_lost and is_there)
    asked = Question(
        flavor=flavor if is_kept or current is None else current,
        image=image,
        aggregates=read.aggregates(cloud.compute),
        assumptions=settings.of_cloud(cloud, sources),
        zone=zone,
        project=found.state.project,
        boot_from_volume=image is None,
        is_what_if=bool(given.flavor_properties or given.image_properties),
        is_kept=is_kept,
    )
    if (given.zone or "").partition(":")[2].strip(":"):
        asked = dataclasses.replace(asked, computes=lookup.computes(cloud))
    hints = {**parts.hints(found.body), **given.hints}
    group = _group(cloud, found, given)
    if hints or group is not None:
        asked = request.placed(cloud, asked, hints, group)
    asked = asked.with_flavor(given.flavor_properties)
    if image is not None:
        asked = asked.with_image(given.image_properties)
    return asked, current is None


def _group(cloud: Cloud, found: _Found, given: Given) -> ServerGroup | None:
    """Return the group as it is for a new server: this one is not in its own way."""
    if given.group is not None:
        group: ServerGroup | None = server_groups.group(cloud, given.group)
    elif (identity := parts.group_id(found.body)) is not None:
        group = server_groups.group_of_id(cloud, identity)
    else:
        group = None
    if group is None:
        return None
    others = group.members - {found.state.id}
    return dataclasses.replace(group, members=others)


_SIZE = ("vcpus", "ram", "disk", "swap")
_EPHEMERAL = "OS-FLV-EXT-DATA:ephemeral"


def _current_flavor(cloud: Cloud, own: Body) -> Body | None:
    """Return the flavor of the same name, if a server's own copy still equals it."""
    for each in lookup.known_flavors(cloud):
        if each["name"] == own["name"]:
            is_same = (
                all((each.get(key) or 0) == (own.get(key) or 0) for key in _SIZE)
                and (each.get(_EPHEMERAL) or 0) == (own.get("ephemeral") or 0)
                and (each.get("extra_specs") or {}) == own["extra_specs"]
            )
            return each if is_same else None
    return None
