"""Put many compute nodes into a live Placement's SQLite database, in seconds."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from tests.services import fleet
from tests.services.fleet import Host, Inventory, Provider

NOW = "2026-01-01 00:00:00.000000"
# One consumer a host, all of one project's one user.
OWNER = "fill"


def fill(
    database: str | os.PathLike[str],
    hosts: int,
    seed: int = 1,
    full: int = 0,
    nested: float = 0.0,
) -> tuple[Host, ...]:
    """Add hosts to the database of a Placement that was started before; return them.

    ``full`` is how many have all their VCPU and MEMORY_MB in use; the others have
    something between none and all in use. ``nested`` is the share of the hosts that
    carry two NUMA nodes with PCPU as child providers. Their names go on where those
    of the hosts already there end. All is written in one transaction.

    Raises ValueError for a trait that the server's own os-traits does not have.
    """
    with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        roots = "SELECT COUNT(*) FROM resource_providers WHERE id = root_provider_id"
        (there,) = db.execute(roots).fetchone()
        drawn = fleet.draw(hosts, there + 1, seed, full, nested)
        _Filling(db).write(drawn)
        db.execute("COMMIT")
    return drawn


class _Filling:
    """One transaction that writes hosts, with the numbers that rows refer to."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._classes = dict(db.execute("SELECT name, id FROM resource_classes"))
        self._traits = dict(db.execute("SELECT name, id FROM traits"))

    def write(self, drawn: Sequence[Host]) -> None:
        numbers = self._number(p for host in drawn for p in _tree(host))
        self._write_providers(drawn, numbers)
        self._write_inventories(drawn, numbers)
        self._write_traits(drawn, numbers)
        self._write_aggregates(drawn, numbers)
        self._write_usage(drawn, numbers)

    def _number(self, providers: Iterable[Provider]) -> dict[str, int]:
        first = self._first_free("resource_providers")
        return {p.uuid: number for number, p in enumerate(providers, first)}

    def _first_free(self, table: str) -> int:
        (last,) = self._db.execute(f"SELECT MAX(id) FROM {table}").fetchone()
        return (last or 0) + 1

    def _write_providers(self, drawn: Sequence[Host], ids: dict[str, int]) -> None:
        rows = (
            (ids[p.uuid], p.uuid, p.name, 5, ids[h.uuid], _parent(h, p, ids))
            for h in drawn
            for p in _tree(h)
        )
        columns = "id uuid name generation root_provider_id parent_provider_id"
        self._insert("resource_providers", columns, rows)

    def _write_inventories(self, drawn: Sequence[Host], ids: dict[str, int]) -> None:
        rows = (
            (ids[p.uuid], self._classes[i.resource_class], *_columns_of(i))
            for h in drawn
            for p in _tree(h)
            for i in p.inventories
        )
        columns = "resource_provider_id resource_class_id total reserved"
        columns += " min_unit max_unit step_size allocation_ratio"
        self._insert("inventories", columns, rows)

    def _write_traits(self, drawn: Sequence[Host], ids: dict[str, int]) -> None:
        self._ensure_traits(drawn)
        rows = (
            (ids[p.uuid], self._traits[trait])
            for h in drawn
            for p in _tree(h)
            for trait in p.traits
        )
        columns = "resource_provider_id trait_id"
        self._insert("resource_provider_traits", columns, rows)

    def _ensure_traits(self, drawn: Sequence[Host]) -> None:
        wanted = {t for h in drawn for p in _tree(h) for t in p.traits}
        missing = sorted((wanted | {fleet.NO_HOST_HAS}) - set(self._traits))
        unknown = [name for name in missing if not name.startswith("CUSTOM_")]
        if unknown:
            raise ValueError(f"the server does not know {', '.join(unknown)}")
        new = list(enumerate(missing, self._first_free("traits")))
        self._insert("traits", "id name", new)
        self._traits.update((name, number) for number, name in new)

    def _write_aggregates(self, drawn: Sequence[Host], ids: dict[str, int]) -> None:
        uuids = sorted({aggregate for h in drawn for aggregate in h.aggregates})
        new = list(enumerate(uuids, self._first_free("placement_aggregates")))
        self._insert("placement_aggregates", "id uuid", new)
        number_of = {aggregate: number for number, aggregate in new}
        rows = ((ids[h.uuid], number_of[a]) for h in drawn for a in h.aggregates)
        columns = "resource_provider_id aggregate_id"
        self._insert("resource_provider_aggregates", columns, rows)

    def _write_usage(self, drawn: Sequence[Host], ids: dict[str, int]) -> None:
        project, user = self._owner("projects"), self._owner("users")
        # A consumer's UUID need only differ from those of other consumers.
        consumers = ((h.uuid, project, user, 1) for h in drawn)
        self._insert("consumers", "uuid project_id user_id generation", consumers)
        rows = (
            (ids[p.uuid], h.uuid, self._classes[i.resource_class], i.used)
            for h in drawn
            for p in _tree(h)
            for i in p.inventories
            if i.used
        )
        columns = "resource_provider_id consumer_id resource_class_id used"
        self._insert("allocations", columns, rows)

    def _owner(self, table: str) -> int:
        known = f"SELECT id FROM {table} WHERE external_id = ?"
        if self._db.execute(known, [OWNER]).fetchone() is None:
            self._insert(table, "external_id", [(OWNER,)])
        return self._db.execute(known, [OWNER]).fetchone()[0]

    def _insert(self, table: str, columns: str, rows: Iterable[tuple]) -> None:
        names = ["created_at", "updated_at", *columns.split()]
        marks = ", ".join("?" * len(names))
        text = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
        self._db.executemany(text, ((NOW, NOW, *row) for row in rows))


def _tree(host: Host) -> Iterator[Provider]:
    yield host.root
    yield from host.children


def _columns_of(inventory: Inventory) -> tuple[float, ...]:
    total, ratio = inventory.total, inventory.allocation_ratio
    return (total, inventory.reserved, 1, total, 1, ratio)


def _parent(host: Host, provider: Provider, ids: dict[str, int]) -> int | None:
    return None if provider is host.root else ids[host.uuid]
