"""What tells things of one name apart."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Namesake:
    """One of several things of one name, and what tells it from the others.

    :ivar owner: the ID of its project; this and what follows are empty where it is not
        known, or does not tell
    :ivar visibility: of an image
    :ivar created: when, as the service writes it
    :ivar domain: the ID of a project's domain
    """

    id: str
    owner: str = ""
    visibility: str = ""
    created: str = ""
    is_hidden: bool = False
    domain: str = ""
