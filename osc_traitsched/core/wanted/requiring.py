"""Which traits flavors and images require while a plan of a wanted state is made so."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.trait_keys import (
    REQUIRED,
    required_by,
    required_by_image,
)
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud

_Traits = frozenset[str]

_NONE: _Traits = frozenset()

_KINDS = (Kind.FLAVOR, Kind.IMAGE)


@dataclasses.dataclass(frozen=True)
class Required:
    """The traits that are required, however much of a plan has been carried out.

    :ivar always: those that are required now and that no line comes to require: they
        were before the plan as well
    :ivar ever: those that are required now, or that lines have no longer required: they
        may have been before
    """

    always: _Traits = frozenset()
    ever: _Traits = frozenset()

    def joined(self, other: Required) -> Required:
        """Return what both require."""
        return Required(self.always | other.always, self.ever | other.ever)


_NOTHING = Required()


class RequiredTraits:
    """Tells what flavors and images require.

    :param claims: what all lines want
    """

    def __init__(self, claims: Claims, found: FoundCloud) -> None:
        coming: dict[str, _Traits] = {}
        for (target, key), claim in claims.units.items():
            if target.kind in _KINDS and claim.value == REQUIRED:
                named = coming.get(target.id, _NONE)
                coming[target.id] = named | required_by({key: REQUIRED})
        going = {target.id: each for target, each in claims.released.items()}
        self._found: dict[tuple[Kind, str], Required] = {}
        flavors = (
            (each, required_by(each.get("extra_specs") or {})) for each in found.flavors
        )
        images = ((each, required_by_image(each)) for each in found.images)
        for kind, bodies in zip(_KINDS, (flavors, images)):
            for body, now in bodies:
                mine = Required(
                    now - coming.get(body["id"], _NONE),
                    now | going.get(body["id"], _NONE),
                )
                # Several images may share a name.
                what = kind, body["name"]
                self._found[what] = mine.joined(self._found.get(what, _NOTHING))

    def of(self, flavor: str, image: str | None) -> Required:
        """Return the traits that are required for a server of both, by their names."""
        asked = self._found.get((Kind.FLAVOR, flavor), _NOTHING)
        return asked.joined(self._found.get((Kind.IMAGE, image or ""), _NOTHING))
