"""A move that is to be made, and the server before and after it."""

from __future__ import annotations

import dataclasses
import functools

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.existing.failure import ServerState
from osc_traitsched.core.nova.question import Body, Kind, Question
from osc_traitsched.core.nova.server.server import Server


@dataclasses.dataclass(frozen=True)
class Planned:
    """A move, with all that is looked at before nova-scheduler is asked.

    :ivar is_up: nova-compute is up on the server's host; None if it is not known
    :ivar before: the question with the flavor and the image that the server has
    :ivar question: with those that it is to have
    """

    kind: Kind
    state: ServerState
    is_up: bool | None
    before: Question
    question: Question

    @property
    def release(self) -> int:
        """Nova's major version."""
        return self.question.assumptions.release

    @property
    def old_flavor(self) -> Body:
        """The server's own copy of its flavor."""
        return self.before.flavor

    @property
    def has_image(self) -> bool:
        """Whether the server has the image that it is to have.

        One of a volume has that which the volume is made of.
        """
        root = self.before.parts.root_volume
        made_of = root.image_metadata.get("image_id") if root else None
        had = self.before.image["id"] if self.before.image else made_of
        return self.question.image is None or self.question.image["id"] == had

    @functools.cached_property
    def server(self) -> Server | None:
        """The server as nova-api reads it; None if it refuses flavor and image."""
        try:
            return self.question.request_spec().server
        except Refusal:
            return None
