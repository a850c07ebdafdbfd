"""An Ansible inventory: which hosts its groups have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.errors import NothingMatches
from osc_traitsched.core.names import near_names
from osc_traitsched.core.wanted.refusals import NoVariable


@dataclasses.dataclass(frozen=True)
class Inventory:
    """What ``ansible-inventory --list`` prints.

    :ivar hosts: of each group, its own ones alone
    :ivar children: of each group
    :ivar variables: of each host
    """

    hosts: Mapping[str, tuple[str, ...]]
    children: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, Mapping[str, str]]

    def of_group(self, group: str, variable: str | None = None) -> tuple[str, ...]:
        """Return the names of a group's hosts, and of the groups below it.

        :param variable: what the names are in; None where hosts go by their own
        :raises NothingMatches: for a group that is not there
        :raises NoVariable: for a variable that one of the hosts does not have
        """
        known = self.hosts.keys() | self.children.keys()
        if group not in known:
            raise NothingMatches("inventory group", group, near_names(group, known))
        found: dict[str, None] = {}
        waiting, seen = [group], {group}
        while waiting:
            name = waiting.pop()
            found.update(dict.fromkeys(self.hosts.get(name, ())))
            below = [c for c in self.children.get(name, ()) if c not in seen]
            seen.update(below)
            waiting += below
        if variable is None:
            return tuple(sorted(found))
        return tuple(self._named(host, variable) for host in sorted(found))

    def _named(self, host: str, variable: str) -> str:
        value = self.variables.get(host, {}).get(variable)
        if value is None:
            raise NoVariable(host, variable)
        return value
