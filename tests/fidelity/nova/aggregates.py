"""The aggregates of a case, in Nova's own database."""

import json

_STATE = {}


def create(conf):
    """Make the tables: in memory just so, and on a server as ``nova-manage`` does."""
    try:
        from nova.db.api import api, models
    except ImportError:
        from nova.db.sqlalchemy import api
        from nova.db.sqlalchemy import api_models as models

        manager, base = "api_context_manager", models.API_BASE
    else:
        manager, base = "context_manager", models.BASE
    api.configure(conf)
    writer = getattr(api, manager).writer
    if hasattr(writer, "get_engine"):
        engine = writer.get_engine()
    else:
        engine = getattr(api, manager).get_legacy_facade().get_engine()
    if engine.dialect.name == "sqlite":
        base.metadata.create_all(engine)
    else:
        from nova.db import migration

        migration.db_sync(database="api")
    _STATE.update(engine=engine, models=models, filled=None)


def fill(aggregates):
    """Replace the aggregates there are; what is there already is left alone."""
    text = json.dumps(aggregates, sort_keys=True)
    if text == _STATE["filled"]:
        return
    names = ("AggregateMetadata", "AggregateHost", "Aggregate")
    models = _STATE["models"]
    metadata, host, aggregate = (getattr(models, n).__table__ for n in names)
    with _STATE["engine"].begin() as connection:
        for table in (metadata, host, aggregate):
            connection.execute(table.delete())
        for each in aggregates:
            row = {key: each[key] for key in ("id", "uuid", "name")}
            connection.execute(aggregate.insert().values(**row))
            for key, value in each["metadata"].items():
                row = {"key": key, "value": value, "aggregate_id": each["id"]}
                connection.execute(metadata.insert().values(**row))
            for name in each["hosts"]:
                row = {"host": name, "aggregate_id": each["id"]}
                connection.execute(host.insert().values(**row))
    _STATE["filled"] = text
