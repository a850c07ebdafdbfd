"""The documents of trait show and host show, field by field."""

# No "annotations" from __future__: documents.py reads the types.

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from osc_traitsched.core.inventory.trait import Ownership


@dataclass
class Requirer:
    """A flavor, an image or an aggregate that names a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    key: str
    """The key of its extra specs, properties or metadata."""


@dataclass
class NeedingServer:
    """A server that requires a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project: str
    """The ID of its project."""
    host: str
    """The service host that it is on."""
    misplaced: bool
    """Whether that host lacks the trait."""


@dataclass
class TraitDocument:
    """A trait: who has it, and who needs it."""

    schema: Literal[1]
    """The version of the document."""
    trait: str
    """Its name."""
    ownership: Annotated[str, tuple(each.value for each in Ownership)]
    """Who sets it on compute nodes, with libvirt."""
    hosts: Iterable[str]
    """The hosts that have it, on their root provider or a nested one."""
    total_hosts: int
    """How many hosts there are."""
    other_providers: Iterable[str]
    """Providers that have it and belong to no host."""
    flavors: Iterable[Requirer]
    """Flavors that require it."""
    images: Iterable[Requirer]
    """Images that require it."""
    aggregates: Iterable[Requirer]
    """Aggregates that it isolates, if Nova's isolation is on."""
    forbidden_by: Iterable[Requirer]
    """Flavors that forbid it."""
    servers: Optional[Iterable[NeedingServer]]
    """Servers that require it; null if this user may not list them."""
