"""SQLite for several writers at once. For the services' own Python.

A transaction that reads first and writes later cannot wait for another writer:
SQLite refuses it at once with "database is locked". Most of what the services write
is of that kind, and what was refused is lost: a server is BUILD for ever.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from oslo_db.sqlalchemy import enginefacade
from sqlalchemy import engine, event, orm

PATIENCE = 60
WRITES = "writes"


def make_writers_wait() -> None:
    """Let each writing transaction wait for its turn before it reads anything."""
    create = enginefacade._TransactionFactory._create_session

    def create_marked(self: Any, mode: Any, bind: Any = None) -> orm.Session:
        session = create(self, mode, bind)
        # With a connection given it is part of a transaction that has begun.
        session.info[WRITES] = mode is enginefacade._WRITER and bind is None
        return session

    enginefacade._TransactionFactory._create_session = create_marked
    event.listen(orm.Session, "after_begin", _begin_as_writer)
    event.listen(engine.Engine, "connect", _be_patient)


def _begin_as_writer(session: orm.Session, transaction: Any, connection: Any) -> None:
    # oslo.db has just begun a transaction that takes its locks when it needs them.
    if session.info.get(WRITES) and not transaction.nested:
        connection.connection.execute("COMMIT")
        connection.connection.execute("BEGIN IMMEDIATE")


def _be_patient(connection: sqlite3.Connection, record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
    # Older Keystones leave reading transactions open: these now block no writer.
    connection.execute("PRAGMA journal_mode = WAL")
