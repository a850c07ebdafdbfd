"""The configuration files of the cloud's services, as text."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PASSWORD = "of-a-loopback-cloud"
REGION = "RegionOne"

Sections = dict[str, list[str]]


@dataclass(frozen=True)
class Site:
    """Where one cloud is: its folder, the services' installation, their addresses.

    :ivar installation: the folder of the services' virtual environment
    :ivar volume: empty where there is no block storage service
    """

    state: pathlib.Path
    installation: pathlib.Path
    keystone: str
    placement: str
    glance: str
    nova: str
    network: str
    volume: str = ""

    @property
    def auth_url(self) -> str:
        return f"{self.keystone}/v3"

    def installed(self, path: str) -> pathlib.Path:
        """Return a file that a package has put beside its code."""
        return self.installation / path

    def database(self, name: str) -> str:
        return f"sqlite:///{self.state}/{name}.db"


def write_all(site: Site, options: Mapping[str, Iterable[Option]]) -> None:
    """Write all services' configuration files into the cloud's folder.

    ``options`` are more of them, by file.
    """
    files = {
        "keystone.conf": keystone(site),
        "placement.conf": placement(site),
        "glance-api.conf": glance(site),
        "nova.conf": nova(site),
    }
    if site.volume:
        files |= {"neutron.conf": neutron(site), "cinder.conf": cinder(site)}
    for name, sections in files.items():
        found = with_options(sections, options.get(name, ()))
        (site.state / name).write_text(text(found))


def text(sections: Mapping[str, Iterable[str]]) -> str:
    """Return sections of ``key = value`` lines in the form that oslo.config reads."""
    return "\n".join(
        "".join([f"[{name}]\n", *(f"{line}\n" for line in lines)])
        for name, lines in sections.items()
    )


@dataclass(frozen=True)
class Option:
    """One option of a configuration file, with its value."""

    section: str
    key: str
    value: str


def option(text: str) -> Option:
    """Return the option that is written ``SECTION.KEY=VALUE``. Raises ValueError."""
    path, equals, value = text.partition("=")
    section, dot, key = path.rpartition(".")
    if not (equals and dot and section and key):
        raise ValueError(f"not SECTION.KEY=VALUE: {text}")
    return Option(section, key, value)


def with_options(sections: Sections, options: Iterable[Option]) -> Sections:
    """Return the sections with options added at the end.

    oslo.config takes the last value of an option that is given more than once.
    """
    more = {name: list(lines) for name, lines in sections.items()}
    for one in options:
        more.setdefault(one.section, []).append(f"{one.key} = {one.value}")
    return more


def keystone(site: Site) -> Sections:
    return {
        "DEFAULT": ["use_stderr = true"],
        "database": _database(site, "keystone"),
        # By default it keeps nothing, and reads all roles again for every request.
        "cache": ["backend = dogpile.cache.memory_pickle"],
        "fernet_tokens": [f"key_repository = {site.state}/fernet"],
        "credential": [f"key_repository = {site.state}/credential"],
        "identity": [
            # The fewest that bcrypt allows: every log-in of the tests pays for them.
            "password_hash_rounds = 4",
            # The most that bcrypt takes, else each log-in is warned about.
            "max_password_length = 72",
        ],
    }


def placement(site: Site) -> Sections:
    return {
        "DEFAULT": [
            "use_stderr = true",
            # By default, Wallaby's log has no ID that Nova's request came with.
            "logging_context_format_string = %(levelname)s %(name)s"
            " [%(global_request_id)s %(request_id)s] %(message)s",
        ],
        "api": ["auth_strategy = keystone"],
        # Wallaby's looks for a policy.json.
        "oslo_policy": ["policy_file = policy.yaml"],
        "placement_database": [
            *_database(site, "placement"),
            "sync_on_startup = true",
        ],
        "keystone_authtoken": _authtoken(site),
    }


def glance(site: Site) -> Sections:
    return {
        "DEFAULT": ["use_stderr = true", "enabled_backends = disk:file"],
        "database": _database(site, "glance"),
        "glance_store": ["default_backend = disk"],
        "disk": [f"filesystem_store_datadir = {site.state}/images"],
        "os_glance_staging_store": [f"filesystem_store_datadir = {site.state}/staging"],
        "os_glance_tasks_store": [f"filesystem_store_datadir = {site.state}/tasks"],
        # Lets the tests have images of every disk format with no data in them.
        "image_format": ["require_image_format_match = false"],
        "paste_deploy": [
            "flavor = keystone",
            f"config_file = {site.installed('etc/glance/glance-api-paste.ini')}",
        ],
        "keystone_authtoken": _authtoken(site),
    }


def nova(site: Site) -> Sections:
    return {
        "DEFAULT": [
            "use_stderr = true",
            # At debug the scheduler logs how many hosts each filter left.
            "debug = true",
            "transport_url = fake:/",
            "host = controller",
            "my_ip = 127.0.0.1",
            f"state_path = {site.state}",
            "compute_driver = fake.Hypervisor",
            # On a busy machine a report comes late, and its compute is not down.
            "service_down_time = 600",
            # As later releases: Wallaby lends out 1.5 times the memory by default,
            # and 16 times the CPUs.
            "initial_cpu_allocation_ratio = 4.0",
            "initial_ram_allocation_ratio = 1.0",
        ],
        "api_database": _database(site, "nova_api"),
        "database": _database(site, "nova"),
        "oslo_concurrency": [f"lock_path = {site.state}/locks"],
        "wsgi": [f"api_paste_config = {site.installed('etc/nova/api-paste.ini')}"],
        "workarounds": ["disable_rootwrap = true"],
        # Nova's own quota would refuse the eleventh server of a project.
        "quota": ["driver = nova.quota.NoopQuotaDriver"],
        "glance": [f"endpoint_override = {site.glance}"],
        "neutron": _account(site),
        "placement": _account(site),
        "keystone_authtoken": _authtoken(site),
        **(_of_others(site) if site.volume else {}),
    }


def _of_others(site: Site) -> Sections:
    """Return who Nova is for a Neutron and a Cinder that are real."""
    return {
        "neutron": _account(site, "nova"),
        # Cinder lets nobody else delete the attachment of a volume in use.
        "service_user": ["send_service_user_token = true", *_account(site)],
    }


def neutron(site: Site) -> Sections:
    """Return a Neutron whose networks are those that ``agents`` says hosts have."""
    return {
        "DEFAULT": [
            "use_stderr = true",
            "transport_url = fake:/",
            f"state_path = {site.state}",
            f"api_paste_config = {site.installed('etc/neutron/api-paste.ini')}",
            "core_plugin = ml2",
            "service_plugins = qos,segments,placement",
            "notify_nova_on_port_status_changes = false",
            "notify_nova_on_port_data_changes = false",
            # Else what is told Nova and Placement waits for more to tell.
            "send_events_interval = 1",
            # An agent reports until it is in Placement, and then no more.
            "agent_down_time = 86400",
        ],
        "ml2": [
            "type_drivers = vlan,flat",
            "project_network_types = vlan",
            "mechanism_drivers = openvswitch,sriovnicswitch",
            "extension_drivers = port_security,qos,port_device_profile",
        ],
        "ml2_type_vlan": [
            "network_vlan_ranges = everywhere:100:999,rack0:100:999,rack1:100:999,"
            "devices:100:999"
        ],
        "database": _database(site, "neutron"),
        "oslo_concurrency": [f"lock_path = {site.state}/locks"],
        "placement": _account(site),
        "nova": _account(site),
        "keystone_authtoken": _authtoken(site),
    }


def cinder(site: Site) -> Sections:
    """Return a Cinder with a volume service in each of two zones."""
    driver = "volume_driver = tests.cloud.storage.Driver"
    return {
        "DEFAULT": [
            "use_stderr = true",
            "transport_url = fake:/",
            "host = controller",
            "my_ip = 127.0.0.1",
            f"state_path = {site.state}",
            f"api_paste_config = {site.installed('etc/cinder/api-paste.ini')}",
            "enabled_backends = nova,east",
            # On a busy machine a report comes late, and its service is not down.
            "service_down_time = 600",
        ],
        "nova": [driver, "backend_availability_zone = nova"],
        "east": [driver, "backend_availability_zone = az-east"],
        "database": _database(site, "cinder"),
        "oslo_concurrency": [f"lock_path = {site.state}/locks"],
        "keystone_authtoken": _authtoken(site),
    }


def _database(site: Site, name: str) -> list[str]:
    # Nothing here has to outlive a power failure.
    return [f"connection = {site.database(name)}", "sqlite_synchronous = false"]


def _account(site: Site, user: str = "admin") -> list[str]:
    return [
        f"auth_url = {site.auth_url}",
        "auth_type = password",
        f"username = {user}",
        f"password = {PASSWORD}",
        "project_name = admin",
        "user_domain_name = Default",
        "project_domain_name = Default",
        f"region_name = {REGION}",
    ]


def _authtoken(site: Site) -> list[str]:
    return [
        *_account(site),
        f"www_authenticate_uri = {site.auth_url}",
        "service_token_roles_required = true",
        "service_token_roles = admin",
    ]
