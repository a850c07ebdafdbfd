"""A small cloud that keeps Nova's rules of zones, as nova/compute/api.py has them."""

from __future__ import annotations

from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.living import LivingCloud

ZONE = "availability_zone"
#: The project of all servers.
OWNER = "1" * 32


class ZonedCloud(LivingCloud):
    """Takes no host into two zones, and no server from one zone to another.

    :ivar busy: the hosts that have a server
    :ivar claimed: those from which a server was resized that may come back
    :ivar shelved: the zones for which servers are asked for that are on no host
    """

    busy: frozenset[str] = frozenset()
    claimed: frozenset[str] = frozenset()
    shelved: tuple[str | None, ...] = ()

    def compute_get(self, parts, params):
        if parts == ("servers", "detail"):
            found = self.busy
            if params.get("project_id", OWNER) != OWNER:
                found = ()
            if "host" in params:
                found = {params["host"]} & {*found}
            if params.get("status") == "SHELVED_OFFLOADED":
                return {"servers": [*map(_shelved, self.shelved)]}
            return {"servers": [*map(_server, sorted(found))]}
        return super().compute_get(parts, params)

    def placement_get(self, parts, params):
        if parts[-1] == "allocations":
            claimed = self._host(parts[1]) in self.busy | self.claimed
            return {"allocations": {"of a server": {}} if claimed else {}}
        return super().placement_get(parts, params)

    def compute_post(self, parts, body):
        if parts[0] == "os-aggregates" and len(parts) > 1:
            ((action, what),) = body.items()
            self._check(parts[1], action, what)
        super().compute_post(parts, body)

    def _check(self, number, action, what):
        """Refuse what nova/compute/api.py does of zones."""
        found = self.aggregates[number]
        zone = found["metadata"].get(ZONE)
        if action == "set_metadata":
            new = what["metadata"].get(ZONE)
            for host in found["hosts"] if new else ():
                two = self._zones(host, number) - {new}
                _refuse_if(two or (new != zone and host in self.busy), 400)
        elif zone:
            others = self._zones(what["host"], number)
            two = others - {zone} if action == "add_host" else ()
            _refuse_if(two or (what["host"] in self.busy and others != {zone}), 409)

    def _zones(self, host, but):
        """Return the zones that other aggregates put a host into."""
        return {
            each["metadata"][ZONE]
            for number, each in self.aggregates.items()
            if number != but and host in each["hosts"] and ZONE in each["metadata"]
        }


def _refuse_if(refused, status):
    if refused:
        raise CloudBroke("compute", "zones", status)


def _shelved(zone):
    identity = f"shelved-{zone}"
    return {"id": identity, "tenant_id": OWNER, "pinned_availability_zone": zone}


def _server(host):
    return {
        "id": f"{host}-server",
        "name": host,
        "tenant_id": OWNER,
        "OS-EXT-SRV-ATTR:host": host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "flavor": {},
        "image": "",
    }
