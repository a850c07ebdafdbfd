"""What Keystone has to know before the cloud can be used: services, users, roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.cloud import config
from tests.services import rest

INTERFACES = ("public", "internal", "admin")


@dataclass(frozen=True)
class User:
    """A user, and the one role that it has in one project."""

    name: str
    project: str
    role: str


ADMIN = User("admin", "admin", "admin")
DEMO = User("demo", "demo", "member")
READER = User("reader", "admin", "reader")
USERS = (ADMIN, DEMO, READER)
#: Who Nova is for Neutron: by one role it may bind ports, and by the other it sees
#: what they ask of Placement.
SERVICE = (User("nova", "admin", "service"), User("nova", "admin", "admin"))


def environment(auth_url: str, user: User) -> dict[str, str]:
    """Return the OS_* variables with which an OpenStack client is that user."""
    return {
        "OS_AUTH_URL": auth_url,
        "OS_IDENTITY_API_VERSION": "3",
        "OS_USERNAME": user.name,
        "OS_PASSWORD": config.PASSWORD,
        "OS_PROJECT_NAME": user.project,
        "OS_USER_DOMAIN_NAME": "Default",
        "OS_PROJECT_DOMAIN_NAME": "Default",
        "OS_REGION_NAME": config.REGION,
    }


def bootstrap(auth_url: str, owner: str) -> Iterator[str]:
    """Yield the keystone-manage commands that make a Keystone with an administrator."""
    yield "db_sync"
    yield f"fernet_setup {owner}"
    yield f"credential_setup {owner}"
    urls = " ".join(f"--bootstrap-{kind}-url {auth_url}" for kind in INTERFACES)
    yield (
        f"bootstrap --bootstrap-password {config.PASSWORD} "
        f"--bootstrap-region-id {config.REGION} {urls}"
    )


def token(auth_url: str, user: User = ADMIN) -> str:
    """Return a new token of that user for its project."""
    domain = {"id": "default"}
    account = {"name": user.name, "password": config.PASSWORD, "domain": domain}
    body = {
        "auth": {
            "identity": {"methods": ["password"], "password": {"user": account}},
            "scope": {"project": {"name": user.project, "domain": domain}},
        }
    }
    answer = rest.call("POST", f"{auth_url}/auth/tokens", body)
    return answer.headers["X-Subject-Token"]


class Keystone:
    """Keystone's API, as far as it is needed to prepare a cloud, as administrator."""

    def __init__(self, auth_url: str) -> None:
        self._auth_url = auth_url
        self._headers = {"X-Auth-Token": token(auth_url)}

    def register(self, endpoints: Mapping[str, str]) -> None:
        """Put services, by type, and their URLs into the catalog."""
        for kind, url in endpoints.items():
            service = self._create("service", type=kind, name=kind)
            for interface in INTERFACES:
                self._create(
                    "endpoint",
                    service_id=service,
                    interface=interface,
                    region_id=config.REGION,
                    url=url,
                )

    def add_users(self) -> None:
        """Create the users but the administrator, and the projects they work in."""
        self._create("project", name=DEMO.project, domain_id="default")
        for user in (DEMO, READER):
            self._add(user)

    def add_service(self) -> None:
        """Create the user that Nova is for a Neutron that is real."""
        first, *others = SERVICE
        self._add(first)
        for user in others:
            self._grant(user)

    def _add(self, user: User) -> None:
        self._create(
            "user", name=user.name, password=config.PASSWORD, domain_id="default"
        )
        self._grant(user)

    def _grant(self, user: User) -> None:
        project = self._find("project", user.project)
        account, role = self._find("user", user.name), self._find("role", user.role)
        self._call("PUT", f"/projects/{project}/users/{account}/roles/{role}")

    def _create(self, kind: str, **attributes: Any) -> str:
        return self._call("POST", f"/{kind}s", {kind: attributes})[kind]["id"]

    def _find(self, kind: str, name: str) -> str:
        (found,) = self._call("GET", f"/{kind}s?name={name}")[f"{kind}s"]
        return found["id"]

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        answer = rest.call(method, self._auth_url + path, body, self._headers)
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body}")
        return answer.body
