"""What flavors and images require and forbid: the keys that lines want of them."""

from __future__ import annotations

import collections
import fnmatch
from collections.abc import Iterable, Iterator

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Kind, Object, Value
from osc_traitsched.core.inventory.metadata import REQUIRED, key_of, required_by
from osc_traitsched.core.names import Namesake, is_pattern, near_names
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.claims import Claim, Claims
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Part, Wanted, Wish, Wrong

FORBIDDEN = "forbidden"

_FLAVORS = (Part.FLAVOR_REQUIRES, Part.FLAVOR_FORBIDS)


def claim(claims: Claims, wanted: Wanted, found: FoundCloud) -> Iterator[Wrong]:
    """Claim the keys of flavors and images; yield the lines that name none."""
    wishes = wanted.of_part(*_FLAVORS, Part.IMAGE_REQUIRES)
    # Images of one name go by their IDs, so that rows tell them apart.
    names = collections.Counter(body["name"] for body in found.images)
    for wish in sorted(wishes, key=lambda each: each.absent):
        is_flavor = wish.part in _FLAVORS
        try:
            bodies = _named(
                wish, found.flavors if is_flavor else found.images, is_flavor
            )
        except errors.BadQuestion as exc:
            yield Wrong(wish.of.place, exc)
            continue
        for body in bodies:
            pairs = body.get("extra_specs") or {} if is_flavor else body
            kind = Kind.FLAVOR if is_flavor else Kind.IMAGE
            several = not is_flavor and names[body["name"]] > 1
            name = body["id"] if several else body["name"] or body["id"]
            target = Object(kind, body["id"], name)
            _key(claims, wish, target, pairs)


def _key(claims: Claims, wish: Wish, target: Object, pairs: Body) -> None:
    name, key = wish.value.text, key_of(wish.value.text)
    says = FORBIDDEN if wish.part is Part.FLAVOR_FORBIDS else REQUIRED
    now: Value = pairs.get(key)
    if wish.absent:
        # What forbids a trait does not require it, and the other way round.
        other = claims.units.get((target, key))
        if (now if other is None else other.value) == says:
            claims.add((target, key), Claim(None, wish.value.place))
        return
    # A numbered group that requires the trait lets the flavor in as well.
    in_group = says == REQUIRED and now is None and name in required_by(pairs_of(pairs))
    wanted = None if in_group else says
    claims.add((target, key), Claim(wanted, wish.value.place))


def pairs_of(body: Body) -> dict[str, str]:
    """Return those of an object's keys that are text."""
    return {key: value for key, value in body.items() if isinstance(value, str)}


def _named(wish: Wish, bodies: Iterable[Body], is_flavor: bool) -> list[Body]:
    """Return the flavors or images of a name, an ID, or a glob.

    :raises NothingMatches: when there is none
    :raises AmbiguousName: for a name that several images have
    """
    name, bodies = wish.of.text, tuple(bodies)
    found = [body for body in bodies if body["id"] == name]
    found = found or [body for body in bodies if body["name"] == name]
    if len(found) > 1:
        namesakes = (Namesake(b["id"], b.get("owner") or "") for b in found)
        raise errors.AmbiguousName("image", name, namesakes)
    if not found and is_pattern(name):
        found = [b for b in bodies if fnmatch.fnmatchcase(b["name"] or "", name)]
    if not found:
        near = near_names(name, {body["name"] for body in bodies if body["name"]})
        raise errors.NothingMatches("flavor" if is_flavor else "image", name, near)
    return found
