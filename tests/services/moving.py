"""Give a Placement's database on MariaDB the rows of one on SQLite.

usage: python -m tests.services.moving FILE SOCKET NAME

Runs in a Python that has PyMySQL. Both have the tables of one release.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pymysql

_KEPT = "alembic_version"


def main() -> None:
    path, socket, name = sys.argv[1:]
    there = pymysql.connect(unix_socket=socket, user="root", database=name)
    with closing(sqlite3.connect(path)) as here, closing(there):
        move(here, there)


def move(here: sqlite3.Connection, there: Any) -> None:
    """Replace all rows there, and let the server count them.

    Without its statistics it would plan its joins for tables that are empty.
    """
    cursor = there.cursor()
    cursor.execute("SET foreign_key_checks = 0")
    # The first resource class has the number 0.
    cursor.execute("SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
    for table in _tables(here):
        rows = here.execute(f"SELECT * FROM {table}")
        names = [each[0] for each in rows.description]
        marks = ", ".join(["%s"] * len(names))
        cursor.execute(f"DELETE FROM {table}")
        cursor.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})",
            rows.fetchall(),
        )
    there.commit()
    for table in _tables(here):
        cursor.execute(f"ANALYZE TABLE {table}")


def _tables(db: sqlite3.Connection) -> Iterator[str]:
    found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = [name for (name,) in found]
    yield from (n for n in names if n != _KEPT and not n.startswith("sqlite_"))


if __name__ == "__main__":
    main()
