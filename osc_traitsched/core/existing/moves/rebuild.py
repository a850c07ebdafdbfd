"""Whether a server's own host takes another image: no other host is asked."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.inventory.metadata import required_by_image
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.filter.state import Fails, Raises, Unknown
from osc_traitsched.core.nova.question import Question


class Can(enum.Enum):
    """Whether a host could take a server; the values are those of documents."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Rebuild:
    """What Nova makes of another image for a server where it is.

    :ivar host: the compute node that it is on
    :ivar is_asked: nova-scheduler is, as it is for another image alone
    :ivar filtering: what the filters say of the host that judge a rebuild
    :ivar forbidden: traits of the image that the flavor forbids
    :ivar missing: those that no provider has which the server uses
    :ivar refusal: nova-api's or nova-scheduler's, of flavor and image; None for none
    """

    host: Compute
    is_asked: bool = True
    filtering: Filtering = dataclasses.field(default_factory=Filtering)
    forbidden: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    refusal: Refusal | None = None

    @property
    def can(self) -> Can:
        """Whether the host takes it."""
        if self.refusal is not None or self.forbidden or self.missing:
            return Can.NO
        answers = [answer for _, answer in self.filtering.answers(self.host.uuid)]
        if any(isinstance(each, (Fails, Raises)) for each in answers):
            return Can.NO
        return Can.UNKNOWN if any(isinstance(a, Unknown) for a in answers) else Can.YES


def rebuild(
    question: Question, host: Compute, traits: Iterable[str], has_image: bool
) -> Rebuild:
    """Return what Nova makes of an image for a server where it is.

    Placement is not asked, and no prefilter runs: of the filters only those that judge
    a rebuild do (nova/scheduler/filters/__init__.py, ``RUN_ON_REBUILD``), and the
    image's traits are compared with those of the providers that the server uses
    (nova/conductor/manager.py, ``_validate_image_traits_for_rebuild``).

    :param question: with the new image
    :param traits: of all providers that the server has something of
    :param has_image: the image is the one that it has, and nova-scheduler is not asked
    """
    try:
        found = filtering(question, [host])
    except Refusal as refusal:
        return Rebuild(host, not has_image, refusal=refusal)
    if has_image:
        return Rebuild(host, is_asked=False)
    wanted = required_by_image(question.image_properties())
    forbidden = wanted & _forbidden(question.flavor.get("extra_specs") or {})
    missing = wanted - frozenset(traits)
    return Rebuild(
        host,
        filtering=found,
        forbidden=tuple(sorted(forbidden)),
        missing=tuple(sorted(missing)),
    )


def _forbidden(specs: Mapping[str, Any]) -> frozenset[str]:
    """Return the traits that a flavor forbids, in whichever group."""
    return frozenset(
        key.partition(":")[2]
        for key, value in specs.items()
        if key.startswith("trait") and value == "forbidden"
    )
