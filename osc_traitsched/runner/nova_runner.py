"""Judges hosts and reads options, in a Python that has Nova in it.

It imports only Python (3.6 or later) and Nova (20, Train, or later), so this one file
can be sent to a container. JSON comes in on standard input and goes out on standard
output; ``document.py`` writes the one and reads the other.

Nova's own objects are built from what the API shows. Anything else raises
``NotVisible`` when it is touched, so that the answer is unknown and no guess.
"""

import base64
import contextlib
import copy
import importlib
import inspect
import json
import logging
import os
import socket
import sys
import tempfile
import time
import traceback
import types
import zlib
from typing import Any, Dict, Iterator, List, Optional, Set

#: Of the log lines of one answer, and the characters of each.
MOST_LINES = 500
LONGEST_LINE = 10000

#: The keys of a nova-compute's stats whose hypervisor adds none of its own.
STATS = ("failed_builds", "io_workload")
STATS_PREFIXES = ("num_instances", "num_os_type_", "num_proj_", "num_task_", "num_vm_")

#: What Nova writes in place of the UUID of a server that is still to be made.
NEW_SERVER = "00000000-0000-0000-0000-000000000000"

#: What no record of a compute node has.
ELSEWHERE = {
    *("aggregates", "allocation_candidates", "cell_uuid", "instances", "limits"),
    *("service", "updated"),
}

#: What may leave of the record of a compute node.
FIELDS = {
    *("uuid", "hypervisor_hostname", "hypervisor_type", "hypervisor_version"),
    *("host_ip", "vcpus", "vcpus_used", "memory_mb", "memory_mb_used", "free_ram_mb"),
    *("local_gb", "local_gb_used", "free_disk_gb", "disk_available_least", "stats"),
    *("running_vms", "current_workload", "cpu_info", "supported_hv_specs", "metrics"),
    *("numa_topology", "pci_device_pools", "updated_at", "cpu_allocation_ratio"),
    *("ram_allocation_ratio", "disk_allocation_ratio"),
}

#: What may leave of the request of a server, of its image, and of its PCI devices.
REQUEST_FIELDS = (
    *("availability_zone", "force_hosts", "force_nodes", "scheduler_hints"),
    "num_instances",
)
IMAGE_FIELDS = ("id", "name", "disk_format", "container_format", "min_disk", "min_ram")
DEVICE_FIELDS = ("count", "alias_name", "requester_id")
#: How properties of images begin that may leave, beside the traits that they require.
PROPERTIES = ("hw_", "img_", "os_")

#: Everything hidden that was touched since the last answer, in order.
TOUCHED = []  # type: List[str]

#: What gives all filters of Nova's own.
ALL_FILTERS = "nova.scheduler.filters.all_filters"

ALIAS = "pci_passthrough:alias"

DATABASE = "Nova's database"
#: What Nova and oslo.db raise where there is no database to read from.
DATABASE_ERRORS = frozenset(
    ["CantStartEngineError", "DBNotAllowed", "OrphanedObjectError"]
)


#: The statuses of PCI devices that no server has, or that are gone.
FREE = ("available", "removed", "deleted")

#: How methods of Nova's objects begin that write to its database.
WRITES = (
    *("create", "save", "destroy", "delete", "update_or_create", "add_host"),
    *(
        "add_members",
        "remove_members",
        "add_access",
        "remove_access",
        "update_metadata",
    ),
)
#: How statements begin that only read.
READS = ("SELECT", "SHOW", "SET", "BEGIN", "PRAGMA")


class NotVisible(BaseException):
    """Something was touched that no API shows; no filter catches it by accident."""


class Failed(Exception):
    """Nothing can be judged; the kind tells the caller why, the text a person."""

    def __init__(self, kind: str, text: str, plugin: str = "") -> None:
        super().__init__(text)
        self.document = {"error": kind, "text": text, "plugin": plugin}


def hidden(name: str) -> NotVisible:
    """Return what to raise for something that is not known, and note it."""
    TOUCHED.append(name)
    return NotVisible(name)


class Known(dict):  # type: ignore[type-arg]
    """A dict of what is known; other keys are hidden, or absent.

    :ivar where: what it is, for the answer
    :ivar may_have: whether a key that is not known may exist
    """

    def __init__(self, known: Any, where: str, may_have: Any) -> None:
        super().__init__(known)
        self.where = where
        self.may_have = may_have

    def _check(self, key: Any) -> None:
        if not dict.__contains__(self, key) and self.may_have(key):
            raise hidden(f"{self.where}.{key}")

    def __missing__(self, key: Any) -> Any:
        self._check(key)
        raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        self._check(key)
        return dict.__contains__(self, key)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value; hidden ones raise."""
        self._check(key)
        return dict.get(self, key, default)

    def _all(self) -> Any:
        raise hidden(self.where)

    __iter__ = __len__ = keys = values = items = copy = _all


class Hidden:
    """Mixed into a class of Nova's: of each object, some attributes are hidden."""

    _hidden = frozenset()  # type: Any
    _where = ""

    def _hide(self, names: Set[str], where: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)
        self.__dict__["_hidden"] = frozenset(name.lstrip("_") for name in names)
        self.__dict__["_where"] = where

    def __getattr__(self, name: str) -> Any:
        if name.lstrip("_") in self._hidden:
            raise hidden(self._where + name.lstrip("_"))
        kind = type(self).__name__
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")


def main(text: str) -> None:
    """Answer a document with a document: one line, the last, on standard output."""
    # A plugin may print; what it prints goes where nobody takes it for the answer.
    answer_to = os.fdopen(os.dup(1), "w")
    sys.stdout.flush()
    os.dup2(2, 1)
    try:
        answer = answered(json.loads(text))
    except Failed as failed:
        answer = failed.document
    except Exception as exc:
        trace = "".join(traceback.format_exc().splitlines(True)[-3:])
        answer = {"error": "internal", "text": told(exc), "trace": trace}
        if json.loads(text).get("service"):
            # A connection URL may be in it.
            answer = {"error": "internal", "text": type(exc).__name__}
    with answer_to:
        answer_to.write("\n" + json.dumps(answer, default=str) + "\n")


def main_packed(packed: str) -> None:
    """Answer a document that is compressed, in characters that no shell changes."""
    main(zlib.decompress(base64.b64decode(packed)).decode("utf-8"))


def told(exc: BaseException) -> str:
    """Return an exception as one line."""
    return ": ".join(filter(None, (type(exc).__name__, " ".join(str(exc).split()))))


def answered(asked: Any) -> Any:
    """What the plugins say of the hosts, or what is to be read; raises Failed."""
    try:
        importlib.import_module("nova.scheduler.host_manager")
        from nova import objects, version
    except ImportError as exc:
        where = f"{sys.executable} (Python {sys.version.split()[0]})"
        missing = getattr(exc, "name", None) == "nova"
        what = "no module nova" if missing else told(exc)
        raise Failed("no-nova", f"{what} in {where}") from exc
    objects.register_all()
    if "read" in asked:
        return {"read": read(asked)}
    if asked.get("service"):
        only_read()
        reach_the_database(asked["service"])
    else:
        read_configuration(asked["nova_conf"])
    override(asked["options"])
    runs = runs_of(asked["plugins"])
    nodes = nodes_of(asked)
    if "claims" in asked:
        return dict(claims_of(asked, runs, nodes), nova=version.version_string())
    hosts, spec = hosts_of(asked, nodes), spec_of(asked["spec"])
    trust_the_api()
    with listening() as lines:
        found = [judged(each, cls, hosts, spec, lines) for each, cls in runs]
    if not asked["all_lines"]:
        for each in found:
            shorten(each)
    return {"nova": version.version_string(), "plugins": found}


def read_configuration(files: Any) -> None:
    """Read a nova.conf: the files (name and text), or else this Python's own.

    :raises Failed: for one that can't be read
    """
    import nova.conf

    with tempfile.TemporaryDirectory() as folder:
        paths = None if files is None else []  # type: Any
        for number, each in enumerate(files or ()):
            paths.append(os.path.join(folder, f"{number}.conf"))
            with open(paths[-1], "w", encoding="utf-8") as stream:
                stream.write(each["text"])
        others = {}  # type: Any
        if files is not None:
            others["default_config_dirs"] = []
        try:
            nova.conf.CONF([], project="nova", default_config_files=paths, **others)
        except Exception as exc:
            text = told(exc)
            for path, each in zip(paths or (), files or ()):
                text = text.replace(path, each["name"])
            raise Failed("nova-conf", text) from exc


def override(options: Any) -> None:
    """Set options over nova.conf, if Nova has them; raises Failed for a bad value."""
    from nova.conf import CONF
    from oslo_config import cfg

    for each in options:
        group = None if each["section"] == "DEFAULT" else each["section"]
        try:
            CONF.set_override(each["option"], each["value"], group)
        except (cfg.NoSuchOptError, cfg.NoSuchGroupError):
            continue
        except ValueError as exc:
            raise Failed("nova-conf", told(exc)) from exc


# What is read in Nova


def read(asked: Any) -> Any:
    """The options in force, and the cells with what their computes report.

    Errors name no value: a connection URL may be in them. With ``hosts`` the records of
    all compute nodes instead, and with ``requests`` those of the requests of servers.
    """
    from nova import version

    only_read()
    reach_the_database(asked["service"])
    found = {"nova": version.version_string(), "host": socket.gethostname()}  # type: Any
    if "requests" in asked:
        found.update(requests_of(asked["requests"]))
        if asked["hosts"]:
            found["hosts"] = {u: record(each) for u, each in live_nodes().items()}
        return found
    options = dict(options_of(asked["read"]))
    return dict(found, options=options, cells=list(map(cell_of, cell_mappings())))


def record(node: Any) -> Any:
    """What may leave of a compute node, as another Nova's objects read it."""
    found = node.obj_to_primitive()
    data = found["nova_object.data"]
    found["nova_object.data"] = {k: v for k, v in data.items() if k in FIELDS}
    return found


def requests_of(servers: Any) -> Dict[str, Any]:
    """What may leave of the request of each server that Nova has one of, by UUID.

    ``unread`` names the exceptions of those that can't be read whole.
    """
    from nova import context, exception, objects
    from oslo_db.exception import DBError

    admin = context.get_admin_context()
    found = {}  # type: Dict[str, Any]
    unread = {}  # type: Dict[str, str]
    # Without a database none of them can be read.
    cell_mappings()
    for uuid in servers:
        try:
            spec = objects.RequestSpec.get_by_instance_uuid(admin, uuid)
            found[uuid] = dict(request_of(spec), resized_to=None)
            # The server may be gone, or its cell down.
            with contextlib.suppress(exception.InstanceMappingNotFound, DBError):
                found[uuid]["resized_to"] = failed_resize(uuid)
        except exception.RequestSpecNotFound:
            continue
        except Exception as exc:
            unread[uuid] = type(exc).__name__
    return {"requests": found, "unread": unread}


def request_of(spec: Any) -> Any:
    """What may leave of a RequestSpec."""
    image = spec.image if "image" in spec else None
    devices = spec.pci_requests if "pci_requests" in spec else None
    return dict(
        fields(spec, REQUEST_FIELDS),
        image=None if image is None else image_fields(image),
        devices=[fields(e, DEVICE_FIELDS) for e in devices.requests] if devices else [],
    )


def image_fields(image: Any) -> Any:
    """What may leave of an image, as the image API shows it."""
    every = fields(image.properties, image.properties.fields)
    shown = {
        name: value
        for name, value in every.items()
        if name.startswith(PROPERTIES) and isinstance(value, (str, int))
    }
    for name in ("hw_numa_cpus", "hw_numa_mem"):
        for number, value in enumerate(every.get(name) or ()):
            several = value if isinstance(value, set) else [value]
            shown[f"{name}.{number}"] = ",".join(map(str, sorted(several)))
    for name in every.get("traits_required") or ():
        shown[f"trait:{name}"] = "required"
    return dict(fields(image, IMAGE_FIELDS), properties=shown)


def fields(of: Any, names: Any) -> Any:
    """The fields of one of Nova's objects that are set."""
    return {name: getattr(of, name) for name in names if name in of}


def failed_resize(server: str) -> Optional[str]:
    """Name of the new flavor, if the last move of a server is a resize that failed.

    It is empty if the flavor is deleted.
    """
    from nova import context, exception, objects

    admin = context.get_admin_context()
    mapping = objects.InstanceMapping.get_by_instance_uuid(admin, server).cell_mapping
    if mapping is None:
        return None
    # Then no message bus is set up.
    mapping.transport_url = "none:///"
    with context.target_cell(admin, mapping) as inside:
        moves = objects.MigrationList.get_by_filters(inside, {"instance_uuid": server})
    last = max(moves, key=lambda each: each.id, default=None)
    if last is None or (last.migration_type, last.status) != ("resize", "error"):
        return None
    try:
        return str(objects.Flavor.get_by_id(admin, last.new_instance_type_id).name)
    except exception.FlavorNotFound:
        return ""


def only_read() -> None:
    """Have statements that write raise, and the methods of Nova's objects that do."""
    from nova.objects import base, compute_node
    from sqlalchemy import engine, event

    def refused(*args: Any, **kwargs: Any) -> None:
        raise Failed("internal", "an object of Nova's was to be written")

    def check(_conn: Any, _cursor: Any, statement: str, *others: Any) -> None:
        if not statement.lstrip().upper().startswith(READS):
            raise Failed("internal", "Nova's database was to be written")

    event.listen(engine.Engine, "before_cursor_execute", check)
    # Nova completes an old record as it reads it; the object is complete without.
    vars(compute_node.db).update(compute_node_update=lambda *args: None)
    cells = base.NovaObjectRegistry.obj_classes()["InstanceNUMATopology"]
    for cls in cells:
        # The same of a request.
        cls._migrate_legacy_dedicated_instance_cpuset = staticmethod(
            lambda *args: False
        )

    for versions in base.NovaObjectRegistry.obj_classes().values():
        for cls in versions:
            for name in dir(cls):
                if name.lstrip("_").startswith(WRITES):
                    setattr(cls, name, refused)


def reach_the_database(service: str) -> None:
    """Read this host's nova.conf as a service does; connect to no message bus.

    :raises Failed: if it can't be read
    """
    from nova import config, rpc
    from nova.conf import CONF

    # oslo.config looks for files of this name, too.
    sys.argv[:] = [service]
    try:
        config.parse_args(sys.argv, configure_db=False, init_rpc=False)
    except Exception as exc:
        text = f"{type(exc).__name__} (start {service} there to see which line)"
        raise Failed("nova-conf", text) from exc
    # It registers transport_url, which URLs of cells may be made of.
    rpc.messaging.TransportURL.parse(CONF, "none:///")
    for section in ("database", "api_database"):
        with contextlib.suppress(Exception):
            # Otherwise it would wait for minutes; up to 2024.1 only one has it.
            CONF.set_override("max_retries", 0, section)
    # Up to Xena one module was for both databases.
    for name in ("sqlalchemy_api", "main_db_api", "api_db_api"):
        if hasattr(config, name):
            getattr(config, name).configure(CONF)


def options_of(names: Any) -> Iterator[Any]:
    """Pairs of a name and its value and source; raises Failed for a bad value.

    The source is a file's name, or None for Nova's default.
    """
    from nova.conf import CONF
    from oslo_config import cfg

    for name in names:
        section, _, key = name.rpartition(".")
        group = None if section == "DEFAULT" else section
        try:
            value = getattr(CONF[group] if group else CONF, key)
            place = CONF.get_location(key, group)
        except (cfg.NoSuchOptError, cfg.NoSuchGroupError):
            continue
        except Exception as exc:
            raise Failed(
                "nova-conf", f"[{section}]{key}: {type(exc).__name__}"
            ) from exc
        source = None
        if place is not None and place.location.name != "opt_default":
            source = os.path.basename(place.detail or place.location.name)
        yield name, {"value": value, "source": source}


def cell_mappings() -> Any:
    """All cells that have computes; raises Failed without a database."""
    from nova import context, objects

    try:
        found = objects.CellMappingList.get_all(context.get_admin_context())
        return [each for each in found if not each.is_cell0()]
    except Exception as exc:
        raise Failed("no-database", type(exc).__name__) from exc


def cell_of(mapping: Any) -> Any:
    """A cell's name with the number of its computes, or why it does not answer."""
    found = {"name": mapping.name or mapping.uuid}
    try:
        nodes = compute_nodes(mapping)
    except Exception as exc:
        return dict(found, down=type(exc).__name__)
    return dict(
        found,
        computes=len(nodes),
        numa=sum(bool(each.numa_topology) for each in nodes),
        pci=sum(bool(list(each.pci_device_pools or ())) for each in nodes),
    )


def compute_nodes(mapping: Any, uuids: Any = None) -> Any:
    """The compute nodes of a cell, or those of these UUIDs, as Nova's objects."""
    from nova import context, objects

    # Then no message bus is set up.
    mapping.transport_url = "none:///"
    with context.target_cell(context.get_admin_context(), mapping) as inside:
        if uuids is None:
            return objects.ComputeNodeList.get_all(inside)
        return objects.ComputeNodeList.get_all_by_uuids(inside, uuids)


def live_nodes(uuids: Any = None) -> Dict[str, Any]:
    """Compute nodes by UUID, without those of cells that are down."""
    found = {}  # type: Dict[str, Any]
    for mapping in cell_mappings():
        with contextlib.suppress(Exception):
            found.update((each.uuid, each) for each in compute_nodes(mapping, uuids))
    return found


def nodes_of(asked: Any) -> Dict[str, Any]:
    """Nova's records of the hosts, by UUID, from its database or a snapshot."""
    from nova.objects import base

    make = base.NovaObject.obj_from_primitive
    found = {u: make(each) for u, each in asked.get("facts", {}).items()}
    if asked.get("service"):
        found = live_nodes([each["uuid"] for each in asked["hosts"]])
    # The scheduler ignores the others.
    return {u: each for u, each in found.items() if each.free_disk_gb is not None}


# What is judged with


def runs_of(plugins: Any) -> Any:
    """Each plugin with its classes.

    A class of the settings is left out if a plugin of its name is given.

    :raises Failed: for what nova-scheduler could not load either
    """
    found = []  # type: Any
    for each in plugins:
        names = {cls.__name__ for _, cls in found}
        last = each["path"].replace(":", ".").rpartition(".")[2]
        if each["kind"] is None or last not in names:
            found += [(each, cls) for cls in plugin_classes(each)]
    return found


def plugin_classes(plugin: Any) -> Any:
    """The classes of a plugin: itself, or what a function returns; raises Failed."""
    try:
        found = plugin_object(plugin)
        listed = [found] if inspect.isclass(found) else list(found())
    except Failed:
        raise
    except (Exception, SystemExit) as exc:
        raise Failed("import", place_of(exc, plugin), plugin["name"]) from exc
    wrong = [each for each in listed if kind_of(each) is None]
    if wrong or not listed:
        what = getattr(wrong[0], "__name__", wrong[0]) if wrong else "it"
        text = (
            f"{what} is no subclass of nova.scheduler.filters.BaseHostFilter or of "
            "nova.scheduler.weights.BaseHostWeigher"
        )
        raise Failed("no-plugin", text, plugin["name"])
    kind = plugin["kind"]
    for each in listed:
        if kind is not None and kind_of(each) != kind:
            text = f"{each.__name__} is a {kind_of(each)} and no {kind}"
            raise Failed("no-plugin", text, plugin["name"])
    return listed


def plugin_object(plugin: Any) -> Any:
    """The class or function that a plugin names; raises Failed."""
    path = plugin["path"]
    if plugin.get("source") is not None:
        module = module_of(plugin["file"], plugin["source"])
        name = path
    elif "." not in path and ":" not in path:
        return configured(path, plugin)
    else:
        parent, _, name = path.replace(":", ".").rpartition(".")
        module = importlib.import_module(parent)
    if not hasattr(module, name):
        text = f"{module.__name__} has no {name}"
        raise Failed("no-plugin", text, plugin["name"])
    return getattr(module, name)


def module_of(file: str, source: str) -> Any:
    """Return a module that is made of a file's text, under the file's name."""
    name = os.path.splitext(os.path.basename(file))[0]
    module = types.ModuleType(name)
    module.__file__ = file
    # Some look their own module up, by its name.
    sys.modules.setdefault(name, module)
    exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102
    return module


def configured(name: str, plugin: Any) -> Any:
    """The filter or weigher that nova.conf makes available under a bare name.

    Of two the later one, as nova-scheduler does.

    :raises Failed: if none exists
    """
    from nova.conf import CONF
    from nova.scheduler import filters, weights

    options = CONF.filter_scheduler
    available = []  # type: Any
    where = []
    if plugin["kind"] != "weigher":
        named = options.available_filters
        if plugin["is_novas"]:
            named = [ALL_FILTERS]
        available += filters.HostFilterHandler().get_matching_classes(named)
        where.append("available_filters")
    if plugin["kind"] != "filter":
        available += weights.HostWeightHandler().get_matching_classes(
            options.weight_classes
        )
        where.append("weight_classes")
    for each in reversed(available):
        if each.__name__ == name:
            return each
    text = (
        f"neither {where[0]} nor {where[1]} has {name}"
        if len(where) > 1
        else f"{where[0]} does not have {name} (--custom-filter gives its class)"
    )
    if plugin["is_novas"]:
        text = f"this Nova has no filter {name}"
    raise Failed("no-plugin", text, plugin["name"])


def kind_of(found: Any) -> Optional[str]:
    """Tell a filter from a weigher; None for what is neither."""
    from nova.scheduler import filters, weights

    if not inspect.isclass(found):
        return None
    if issubclass(found, filters.BaseHostFilter):
        return "filter"
    return "weigher" if issubclass(found, weights.BaseHostWeigher) else None


def place_of(exc: BaseException, plugin: Any) -> str:
    """Return why a plugin can't be imported, with the line of its file."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(exc.__traceback__)
        if frame.filename == plugin.get("file")
    ]
    where = f" (line {lines[-1]})" if lines else ""
    return told(exc) + where


# What is judged


def hosts_of(asked: Any, nodes: Dict[str, Any]) -> Dict[str, Any]:
    """Return Nova's HostState of each host, by the UUID of its node.

    :param nodes: Nova's records of some
    """
    from nova import objects

    aggregates = {
        uuid: seen(objects.Aggregate, "aggregates.")(uuid=uuid, **each)
        for uuid, each in asked["aggregates"].items()
    }
    make = host_state_class(frozenset(asked["servers"]))
    hosts = {
        each["uuid"]: make(each, aggregates, nodes.get(each["uuid"]))
        for each in asked["hosts"]
    }
    if not any(uses_placement(asked["spec"])):
        for uuid in nodes:
            hosts[uuid].show(allocation_candidates=None)
    return hosts


def uses_placement(spec: Any) -> Iterator[bool]:
    """Whether a request's PCI devices are those of an allocation candidate."""
    from nova.conf import CONF

    if getattr(CONF.filter_scheduler, "pci_in_placement", False):
        yield spec["needs_devices"]
        yield ALIAS in spec["flavor"]["extra_specs"]


def host_state_class(servers: Any) -> Any:
    """A HostState made from known data.

    :param servers: those whose host, or lack of one, is known
    """
    from nova import objects
    from nova.scheduler import host_manager

    instance = seen(objects.Instance, "instances.")

    class HostState(Hidden, host_manager.HostState):  # type: ignore[misc]
        def __init__(self, found: Any, aggregates: Any, node: Any) -> None:
            super().__init__(found["host"], found["node"], None)
            every = {name for name in vars(self) if name != "_lock_name"}
            known = {}  # type: Any
            if node is not None:
                self._update_from_compute_node(node)
                known.update(vars(self))
                for name in ELSEWHERE | hidden_cells(self.numa_topology):
                    known.pop(name, None)
            known.update(found["state"], uuid=found["uuid"])
            if node is None:
                known["stats"] = Known(found["stats"], "stats", stats_check(found))
            known["service"] = service_of(found)
            known["aggregates"] = [aggregates[each] for each in found["aggregates"]]
            if found["instances"] is not None:
                on_it = {u: instance(uuid=u) for u in found["instances"]}
                known["instances"] = Known(
                    on_it, "instances", lambda uuid: uuid not in servers
                )
            self.__dict__.update(known)
            self._hide(every - known.keys() - {"host", "nodename", "limits"}, "")

        def show(self, **known: Any) -> None:
            """Make some attributes known."""
            self.__dict__.update(known)
            self.__dict__["_hidden"] = self._hidden - known.keys()

        def __repr__(self) -> str:
            # Nova's own reads what may be hidden, and most filters log it.
            return f"({self.host}, {self.nodename})"

    return HostState


def hidden_cells(topology: Any) -> Set[str]:
    """The topology, if cells are tied to networks: a request's are not known."""
    for cell in topology.cells if topology else ():
        networks = cell.network_metadata if "network_metadata" in cell else None
        if networks and (networks.physnets or networks.tunneled):
            return {"numa_topology"}
    return set()


def stats_check(found: Any) -> Any:
    """Tell of a key whether the stats of a host may have it."""
    if found["has_own_stats"]:
        return lambda key: True
    return lambda key: key in STATS or str(key).startswith(STATS_PREFIXES)


def service_of(found: Any) -> Known:
    """Return the record of a host's nova-compute, as the scheduler has it."""
    service = Known(found["service"], "service", lambda key: True)
    service.is_up = found["is_up"]  # type: ignore[attr-defined]
    return service


def trust_the_api() -> None:
    """Have Nova's own question whether a service is up answered as its API did."""
    from nova import servicegroup

    servicegroup.API.__init__ = lambda self, *args, **kwargs: None
    servicegroup.API.service_is_up = lambda self, member: member.is_up


def seen(base: Any, where: str) -> Any:
    """Return a class of Nova's whose fields raise that are not set."""

    def obj_load_attr(self: Any, name: str) -> None:
        raise hidden(where + name)

    # Nova checks an object by the name of its class.
    return type(base.__name__, (base,), {"obj_load_attr": obj_load_attr})


def spec_of(asked: Any) -> Any:
    """Nova's RequestSpec; raises Failed."""
    try:
        return made_spec(asked)
    except Exception as exc:
        raise Failed("request", told(exc)) from exc


def made_spec(asked: Any) -> Any:
    """Return Nova's RequestSpec, of all that nova-api would know."""
    from nova import objects
    from nova.virt import hardware

    flavor = seen(objects.Flavor, "flavor.")(**asked["flavor"])
    image = image_of(asked["image"])
    spec = seen(objects.RequestSpec, "spec.")(
        context_of(asked),
        flavor=flavor,
        image=image,
        project_id=asked["project_id"],
        availability_zone=asked["availability_zone"],
        instance_uuid=asked["instance_uuid"] or NEW_SERVER,
        num_instances=asked["num_instances"],
        is_bfv=asked["is_bfv"],
        instance_group=group_of(asked["group"]),
        scheduler_hints=asked["hints"],
        numa_topology=hardware.numa_get_constraints(flavor, image),
        ignore_hosts=None,
        force_hosts=None,
        force_nodes=None,
        retry=None,
        limits=objects.SchedulerLimits.from_dict({}),
    )
    requests = pci_requests_of(flavor, image)
    if requests is not None and not asked["needs_devices"]:
        spec.pci_requests = requests
    return spec


def pci_requests_of(flavor: Any, image: Any) -> Any:
    """Return the PCI devices of a flavor; None where its aliases are not known."""
    from nova import exception, objects
    from nova.pci import request
    from nova.virt import hardware

    if ALIAS not in flavor.extra_specs:
        return objects.InstancePCIRequests(requests=[])
    policy = {}
    if hasattr(hardware, "get_pci_numa_policy_constraint"):
        # From Ussuri on.
        found = hardware.get_pci_numa_policy_constraint(flavor, image)
        policy["affinity_policy"] = found
    try:
        return request.get_pci_requests_from_flavor(flavor, **policy)
    except exception.PciRequestAliasNotDefined:
        return None


def image_of(body: Any) -> Any:
    """Return Nova's image of the image API's body; an empty one for no image."""
    from nova import objects

    fields = objects.ImageMeta.fields
    dropped = ("direct_url", "protected", "tags", "virtual_size", "visibility")
    found = {k: v for k, v in body.items() if k in fields and k not in dropped}
    found["properties"] = {k: v for k, v in body.items() if k not in fields}
    for key in ("block_device_mapping", "mappings"):
        if isinstance(found["properties"].get(key), str):
            found["properties"][key] = json.loads(found["properties"][key])
    return objects.ImageMeta.from_dict(found)


def group_of(found: Any) -> Any:
    """Return Nova's server group; None for none."""
    from nova import objects

    if found is None:
        return None
    policies = {"policy": found["policy"], "policies": [found["policy"]]}
    make = seen(objects.InstanceGroup, "instance_group.")
    return make(**dict(found, **policies))


def context_of(asked: Any) -> Any:
    """Return the context of the request, which is the current one from now on."""
    from nova import context

    class RequestContext(Hidden, context.RequestContext):  # type: ignore[misc]
        pass

    known = {"project_id": asked["project_id"]}
    if asked["remote_address"] is not None:
        known["remote_address"] = asked["remote_address"]
    made = RequestContext(is_admin=False, **known)
    connections = {"cell_uuid", "db_connection", "mq_connection", "read_deleted"}
    kept = {"_" + name for name in known} | connections | {"_read_deleted"}
    made._hide(set(vars(made)) - kept - known.keys(), "context.")
    return made


# The judging


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines = []  # type: List[str]

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line, but for those of the libraries below Nova."""
        if record.name.startswith(("oslo", "stevedore")):
            return
        if len(self.lines) < MOST_LINES:
            self.lines.append(record.getMessage()[:LONGEST_LINE])


@contextlib.contextmanager
def listening() -> Iterator[List[str]]:
    """Keep all that is logged meanwhile, debug lines too."""
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield handler.lines
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def outcome(lines: List[str], function: Any, *arguments: Any) -> Any:
    """Call a function: its value, an unknown or an exception, and its logs.

    A touched hidden value makes the answer unknown, even if a plugin caught that.

    :param lines: collects what is logged
    """
    del TOUCHED[:], lines[:]
    try:
        found = {"value": function(*arguments)}
    except NotVisible:
        found = {}
    except Exception as exc:
        found = {"raises": told(exc)}
        if type(exc).__name__ in DATABASE_ERRORS:
            found = {"unknown": DATABASE}
    if TOUCHED:
        found = {"unknown": TOUCHED[0]}
    if lines:
        found["log"] = lines[:]
    return found


def judged(plugin: Any, cls: Any, hosts: Any, spec: Any, lines: List[str]) -> Any:
    """What one class says of all hosts; raises Failed if it can't be made."""
    made = outcome(lines, cls)
    if "value" not in made:
        why = made.get("raises") or f"it reads {made['unknown']}"
        raise Failed("import", f"{cls.__name__}() fails: {why}", plugin["name"])
    kind = kind_of(cls)
    found = {"plugin": plugin["name"], "class": cls.__name__, "kind": kind}
    judge = filtered if kind == "filter" else weighed
    found.update(judge(made["value"], hosts, spec, lines))
    return found


def filtered(filter_: Any, hosts: Any, spec: Any, lines: List[str]) -> Any:
    """Return a filter's answer for each host, by UUID."""
    from nova import filters

    if type(filter_).filter_all is filters.BaseFilter.filter_all:
        answers = {
            uuid: answer(outcome(lines, filter_._filter_one, fresh(host), spec), bool)
            for uuid, host in hosts.items()
        }
        return {"answers": answers, "together": False}
    # It looks at all hosts together.
    every = list(hosts.values())
    found = outcome(lines, lambda: list(filter_.filter_all(every, spec)))
    answers = {
        uuid: answer(dict(found), lambda left, host=host: host in left)
        for uuid, host in hosts.items()
    }
    return {"answers": answers, "together": True}


def fresh(host: Any) -> Any:
    """The host before filters have dropped any of its allocation candidates."""
    if "allocation_candidates" in vars(host):
        host.allocation_candidates = [{"mappings": {}}]
    return host


def answer(found: Any, passes: Any) -> Any:
    """Return an outcome as a filter's answer."""
    if "value" in found:
        found["passes"] = passes(found.pop("value"))
    return found


def shorten(found: Any) -> None:
    """Leave of the log only the last line of each answer that is a no."""
    for each in found.get("answers", {}).values():
        log = each.pop("log", [])
        if log and not each.get("passes", True):
            each["log"] = log[-1:]
    found.pop("log", None)


def claims_of(asked: Any, runs: Any, nodes: Any) -> Any:
    """What each of many requests could claim of each kind of hosts, and how often.

    Hosts with the same cells and devices are judged once. ``emptied`` has the same as
    if nothing were on the hosts. If servers may have devices of a host, only its cells
    count there: its record has the free devices alone.
    """
    until = time.monotonic() + asked["seconds"]
    specs = list(map(claiming_specs, asked["claims"]))
    has_devices = any(spec is not bare for spec, bare in specs)
    kinds = {}  # type: Dict[Any, Any]
    for each in asked["hosts"]:
        if each["uuid"] in nodes:
            node = nodes[each["uuid"]]
            in_time = has_devices and time.monotonic() < until
            kind = kind_of_node(node, each["state"]), in_time and has_all_devices(node)
            kinds.setdefault(kind, []).append(each)
    make = host_state_class(frozenset())
    counts, emptied = {}, {}  # type: Dict[str, Any], Dict[str, Any]
    now = []
    for (_, has_all), several in kinds.items():
        for each in several:
            node = nodes[each["uuid"]]
            host = make(each, {}, node)
            host.show(allocation_candidates=None)
            free = sum(pool["count"] for pool in host.pci_stats.pools)
            counts[each["uuid"]] = [host.failed_builds, host.num_io_ops, free]
        uuids = [each["uuid"] for each in several]
        now.append((host, True, uuids))
        bare = empty(make(several[-1], {}, node))
        bare.show(allocation_candidates=None)
        alike = bare, has_all, []  # type: Any
        emptied.setdefault(kind_if_empty(bare, has_all), alike)[2].extend(uuids)
    filters = [cls() for _, cls in runs]
    found = claims_on(now, specs, filters, asked["most"], until)
    rest = claims_on(list(emptied.values()), specs, filters, asked["most"], until)
    return dict(found, hosts=counts, emptied=rest)


def claims_on(hosts: Any, specs: Any, filters: Any, most: int, until: float) -> Any:
    """What each request could claim of each kind of hosts, and how often.

    :param hosts: each with whether its devices count, and the UUIDs of its kind
    :param specs: each with devices and without; None for both if it can't be judged
    """
    answers = [
        [claimed(host, pair[not counts], filters) for host, counts, _ in hosts]
        if pair[0]
        else None
        for pair in specs
    ]
    for pair, found in zip(specs, answers):
        for (host, counts, _), each in zip(hosts, found or ()):
            spec = pair[not counts]
            often = most if time.monotonic() < until else 1
            passed = [(e.get("passes"), e.get("claim")) for e in each.values()]
            if all(passes for passes, _ in passed):
                each["room"] = room(host, spec, filters, often)
            if all(map(any, passed)):
                bare, plain = without_limits(host, spec)
                each["claim_room"] = room(bare, plain, filters, often)
            for name in ("room", "claim_room"):
                if name in each and spec is not pair[0]:
                    each[name][0] = 0
    return {
        "claims": answers,
        "wanted": [spec and said(0, spec) for spec, _ in specs],
        "free": [said(1, host) for host, _, _ in hosts],
        "kinds": [uuids for _, _, uuids in hosts],
    }


def empty(host: Any) -> Any:
    """The host without servers, as far as its NUMA cells tell."""
    topology = vars(host).get("numa_topology")
    for cell in topology.cells if topology else ():
        cell.cpu_usage = cell.memory_usage = 0
        cell.pinned_cpus = set()
        for pages in cell.mempages:
            pages.used = 0
    return host


def has_all_devices(node: Any) -> bool:
    """Whether the record of a node has all its devices, since no server has any."""
    if not (node.running_vms or node.vcpus_used):
        return True
    # A snapshot has the record alone.
    if "id" in node:
        from nova import objects

        with contextlib.suppress(Exception):
            every = objects.PciDeviceList.get_by_compute_node(node._context, node.id)
            return all(each.status in FREE for each in every)
    return False


def claiming_specs(asked: Any) -> Any:
    """Nova's RequestSpec, and the same without PCI devices.

    None for both if the devices are those of an allocation candidate, or if Nova makes
    no such request: then the others still have an answer.
    """
    with contextlib.suppress(Failed):
        if not any(uses_placement(asked)):
            spec = spec_of(asked)
            if not (asked["needs_devices"] or ALIAS in asked["flavor"]["extra_specs"]):
                return spec, spec
            bare = spec.obj_clone()
            bare.pci_requests = None
            return spec, bare
    return None, None


def said(side: int, of: Any) -> Any:
    """What is wanted (0) or free (1) for each filter, as far as it can be read."""
    each = {name: outcome([], both[side], of) for name, both in SAYS.items()}
    return {f"{name}Filter": found.get("value", "") for name, found in each.items()}


def kind_of_node(node: Any, state: Any) -> str:
    """What claims read of a node; equal for hosts that are judged alike."""
    pools = node.pci_device_pools
    names = ("cpu_allocation_ratio", "ram_allocation_ratio")
    ratios = [state.get(name, getattr(node, name)) for name in names]
    read = [node.numa_topology, pools and pools.obj_to_primitive(), ratios]
    return json.dumps(read, sort_keys=True, default=str)


def kind_if_empty(host: Any, counts: bool) -> str:
    """As :func:`kind_of_node`, of a host without servers whose devices count or not."""
    known = vars(host)
    topology = known.get("numa_topology")
    read = [topology and topology.obj_to_primitive(), counts and host.pci_stats.pools]
    read += [known.get(f"{name}_allocation_ratio") for name in ("cpu", "ram")]
    return json.dumps([*read, "numa_topology" in known], sort_keys=True, default=str)


def claimed(host: Any, spec: Any, filters: Any) -> Any:
    """The answer of each filter, by its name; of a no, whether a claim passes."""
    found = {}
    for each in filters:
        one = answer(outcome([], each._filter_one, fresh(host), spec), bool)
        if one.get("passes") is False:
            claim = outcome([], each._filter_one, *without_limits(host, spec))
            one["claim"] = bool(claim.get("value"))
        found[type(each).__name__] = one
    return found


def without_limits(host: Any, spec: Any) -> Any:
    """The two as nova-compute's claim takes them if NUMATopologyFilter is off.

    That filter sets the limits of cells, and rejects a host without cells; a claim
    ignores these (nova/compute/claims.py, ``_test_numa_topology``).
    """
    host = fresh(copy.copy(host))
    host.limits = {}
    host.cpu_allocation_ratio = host.ram_allocation_ratio = float("inf")
    if not vars(host).get("numa_topology", "hidden"):
        spec = spec.obj_clone()
        spec.numa_topology = None
    return host, spec


def room(host: Any, spec: Any, filters: Any, most: int) -> Any:
    """How many of the request's servers fit, each taken before the next is tried.

    At least and at most so many; None for all that else there is room for.
    """
    if most == 1:
        # To copy devices and cells takes as long as to judge a host.
        return [1, None]
    host = copy.copy(host)
    host.pci_stats = copy.deepcopy(host.pci_stats)
    for number in range(1, most):
        taken = outcome([], host._locked_consume_from_request, spec.obj_clone())
        if "value" not in taken:
            return [number, None]
        answers = [outcome([], e._filter_one, fresh(host), spec) for e in filters]
        if not all(each.get("value") for each in answers):
            return [number, number]
    return [most, None]


def free_cells(host: Any) -> str:
    """What is free in each NUMA cell."""
    cells = host.numa_topology.cells if host.numa_topology else ()
    if not cells:
        return "no NUMA cells"
    return "; ".join(
        f"cell {cell.id}: {cell.avail_memory} MB and {cell.avail_pcpus} dedicated CPUs "
        f"free, {shared_cpus(cell, host.cpu_allocation_ratio)}"
        + "".join(
            f", {pages.free} of {pages.total} pages of {pages.size_kb} kB free"
            for pages in cell.mempages
            # Small ones are the memory.
            if pages.total and pages.size_kb >= 2048
        )
        for cell in cells
    )


def shared_cpus(cell: Any, ratio: float) -> str:
    """How many shared CPUs of a cell are used, of those that NUMATopologyFilter allows.

    A cell has to have as many as a server needs of it, however few are used.
    """
    number = len(cell.cpuset)
    if not number:
        return "no shared CPUs"
    limit = f"{number * ratio:g}"
    return f"{cell.cpu_usage} of {limit} shared CPUs used ({number} x {ratio:g})"


def free_devices(host: Any) -> str:
    """The free PCI devices."""
    found = [
        f"{pool['count']} of {pool['vendor_id']}:{pool['product_id']} "
        f"(NUMA node {pool['numa_node']})"
        for pool in (host.pci_stats.pools if host.pci_stats else ())
        if pool["count"]
    ]
    return "free devices: " + (", ".join(found) or "none")


def wanted_cells(spec: Any) -> str:
    """The NUMA cells that a server needs."""
    cells = [
        f"{cell.memory} MB"
        + (f" in pages of {cell.pagesize} kB" if (cell.pagesize or 0) > 0 else "")
        + (f", {len(cell.pcpuset)} dedicated CPUs" if cell.pcpuset else "")
        + (f", {len(cell.cpuset)} shared CPUs" if cell.cpuset else "")
        for cell in (spec.numa_topology.cells if spec.numa_topology else ())
    ]
    kinds = [f"{cells.count(each)} x {each}" for each in dict.fromkeys(cells)]
    return f"needs NUMA cells: {'; '.join(kinds)}"


def wanted_devices(spec: Any) -> str:
    """The PCI devices that a server needs."""
    requests = spec.pci_requests.requests if spec.pci_requests else ()
    return "needs PCI devices: " + ", ".join(
        f"{each.count} of {one.get('vendor_id', '*')}:{one.get('product_id', '*')}"
        for each in requests
        for one in each.spec[:1]
    )


#: What is wanted and what is free, by the first words of the filter that compares them.
SAYS = {
    "NUMATopology": (wanted_cells, free_cells),
    "PciPassthrough": (wanted_devices, free_devices),
}


def weighed(weigher: Any, hosts: Any, spec: Any, lines: List[str]) -> Any:
    """A weigher's figures for each host, by UUID.

    ``figures`` has each host's weight and multiplier, or why it has none; those of all
    hosts together exist if every host has some.
    """
    from nova import weights
    from nova.scheduler.weights import WeighedHost

    def figures(some: Any) -> Any:
        objects = [WeighedHost(host, 0.0) for host in some]
        raw = [float(each) for each in weigher.weigh_objects(objects, spec)]
        times = [float(weigher.weight_multiplier(each.obj)) for each in objects]
        return list(zip(raw, times))

    together = type(weigher).weigh_objects is not weights.BaseWeigher.weigh_objects
    limits = weigher.minval, weigher.maxval
    if together:
        whole = outcome(lines, figures, hosts.values())
        values = whole.get("value") or [None] * len(hosts)
        each = {
            uuid: dict(whole, value=value) if value else dict(whole)
            for uuid, value in zip(hosts, values)
        }
        log = whole.get("log", [])
    else:
        each = {uuid: outcome(lines, figures, [h]) for uuid, h in hosts.items()}
        each = {
            u: dict(f, value=f["value"][0]) if "value" in f else f
            for u, f in each.items()
        }
        log = [line for one in each.values() for line in one.get("log", [])]
    for one in each.values():
        one.pop("log", None)
    found = {"figures": each, "limits": limits, "together": together}  # type: Any
    if log:
        found["log"] = log[:MOST_LINES]
    failed = [one for one in each.values() if "value" not in one]
    if failed:
        found.update(failed[0])
        return found
    raw = [one["value"][0] for one in each.values()]
    low, high = weigher.minval, weigher.maxval
    normal = weights.normalize(raw, minval=low, maxval=high) if raw else []
    found["raw"] = dict(zip(each, raw))
    found["normalized"] = dict(zip(each, normal))
    found["multiplier"] = {uuid: one["value"][1] for uuid, one in each.items()}
    return found


if __name__ == "__main__" and sys.argv[0] != "-":
    main(sys.stdin.read())
