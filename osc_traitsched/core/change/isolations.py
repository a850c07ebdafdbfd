"""Which traits isolate aggregates, once a plan was carried out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.nova.question import Body


@dataclasses.dataclass(frozen=True)
class Isolations:
    """The aggregates by now.

    :ivar aggregates: the compute API's bodies of all
    :ivar collation: how Nova's database compares the metadata of aggregates
    :ivar own: the ID of the one that the plan is about
    :ivar own_traits: those that do not count there
    """

    aggregates: Sequence[Body] = ()
    collation: Collation = Collation.CASE_INSENSITIVE
    own: str = ""
    own_traits: frozenset[str] = frozenset()

    def traits(self, host: str = "") -> frozenset[str]:
        """Return the traits that isolate aggregates.

        :param host: only those that it is in
        """
        return frozenset(
            name
            for aggregate in self.aggregates
            if not host or host in aggregate["hosts"]
            for name in isolated_by(aggregate["metadata"], self.collation)
            if str(aggregate["id"]) != self.own or name not in self.own_traits
        )
