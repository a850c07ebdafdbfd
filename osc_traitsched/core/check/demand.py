"""What a flavor or an image asks for by itself, and which of it is certain."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import NotEvaluated, Request

#: The prefilters whose clauses come and go with a host's service, or are met by
#: every host whenever they are there.
_PASSING = frozenset({"compute_status_filter", "owner_nova_filter"})

#: Properties that ask for nothing and change what a flavor's keys are translated to.
_CHOOSING = ("hw_cpu_realtime_mask", "hw_mem_encryption_model", "hw_tpm_model")

IMAGE_TYPE_PREFILTER = "require_image_type_support"
IMAGE_METADATA_PREFILTER = "transform_image_metadata"


# By identity, so that it can be hashed: a body is a mapping.
@dataclasses.dataclass(frozen=True, eq=False)
class Demand:
    """What one flavor, or one image, asks of a host by itself.

    :ivar kind: of a flavor or of an image
    :ivar name: unique among those of its kind
    :ivar clauses: those of the image that come from it, its disk format's even where
        nothing is on that asks for it; those of the flavor's first request
    :ivar not_evaluated: what Nova reads of it and leaves out
    :ivar requests: of a flavor for each way to boot, a disk of its own first
    :ivar devices: of an image, what is asked for if image_metadata_prefilter is on
    :ivar refusal: Nova's, of it alone; then there are no requests
    """

    kind: Kind
    name: str
    body: Body
    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    requests: tuple[Request, ...] = ()
    devices: tuple[RootTrait, ...] = ()
    refusal: Refusal | None = None

    @functools.cached_property
    def traits(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires or forbids, but for the disk format's.

        Of an image only those that no flavor changes.
        """
        return tuple(
            clause
            for clause in self.clauses
            if isinstance(clause, (Trait, RootTrait))
            and not is_of_format(clause)
            and (self.kind is Kind.FLAVOR or is_certain(clause))
        )

    @functools.cached_property
    def needs(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires, but for the disk format's."""
        return tuple(clause for clause in self.traits if not clause.forbidden)

    @functools.cached_property
    def format(self) -> RootTrait | Trait | None:
        """What the prefilter for disk formats asks for it; None for nothing."""
        for clause in self.clauses:
            if isinstance(clause, (Trait, RootTrait)) and is_of_format(clause):
                return clause
        return None

    @functools.cached_property
    def opens(self) -> frozenset[str]:
        """The traits by which it gets into isolated aggregates.

        Those that it names are among them even where Nova refuses it alone.
        """
        traits = (c for c in self.clauses if isinstance(c, Trait))
        asked = (c.name for c in traits if not c.forbidden)
        spelled = (name for name, value in self.named() if value == "required")
        return frozenset((*asked, *spelled))

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the value of each key that names a trait."""
        keys = (
            self.body if self.kind is Kind.IMAGE else self.body.get("extra_specs") or {}
        )
        for key, value in keys.items():
            prefix, _, name = key.partition(":")
            if name and prefix.startswith("trait"):
                yield name, str(value)

    @property
    def shifts(self) -> bool:
        """Whether it is an image that may change what a flavor asks for.

        Others only add traits. Where Nova refuses it alone, that can't be told.
        """
        changing = (not is_certain(clause) for clause in self.clauses)
        choosing = any(name in self.body for name in _CHOOSING)
        doubtful = self.refusal is not None or choosing or any(changing)
        return self.kind is Kind.IMAGE and doubtful


def is_of_format(clause: Trait | RootTrait) -> bool:
    """Tell whether a clause is there because of an image's disk format."""
    return prefilter(clause) == IMAGE_TYPE_PREFILTER


def is_certain(clause: Clause) -> bool:
    """Tell whether a trait is asked for whatever else there is in a request.

    So it is where a key spells it. Of what other keys are translated to, much
    depends on what flavor and image say together.
    """
    if isinstance(clause, (Resource, MemberOf)):
        return False
    if prefilter(clause) in (IMAGE_TYPE_PREFILTER, IMAGE_METADATA_PREFILTER):
        return True
    return any(origin.key.startswith("trait") for origin in clause.origins)


def is_certain_of_flavor(clause: Clause) -> bool:
    """Tell whether a flavor asks for something whatever the image says.

    An image decides about CPUs, and about the amounts of no other class.
    """
    if isinstance(clause, Resource):
        return clause.resource_class not in ("VCPU", "PCPU")
    return is_certain(clause)


def is_lasting(clause: Clause) -> bool:
    """Tell whether a clause is about what hosts are, and not about their services."""
    return prefilter(clause) not in _PASSING


def prefilter(clause: Clause) -> str:
    """Return the prefilter that a clause comes from alone, or nothing."""
    first = clause.origins[0] if clause.origins else None
    return first.key if first is not None and first.kind == "prefilter" else ""
