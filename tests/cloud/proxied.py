"""Proxies before a cloud's services, and the variables that lead there."""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Iterator

from tests.cloud.cloud import Cloud
from tests.functional import shell
from tests.functional.proxy import Proxy


@contextlib.contextmanager
def services(cloud: Cloud, *names: str) -> Iterator[tuple[dict[str, str], list[Proxy]]]:
    """Yield the administrator's variables that lead through proxies, and the proxies.

    Each takes the place of the address that Keystone's catalog has. Glance says what it
    is only there, and not at the address of its newest version.
    """
    admin = cloud.admin()
    variables = cloud.environment
    with contextlib.ExitStack() as stack:
        proxies = []
        for name in names:
            address = getattr(admin, name).get_endpoint_data().catalog_url
            proxies.append(Proxy(address))
            stack.callback(proxies[-1].stop)
            url = proxies[-1].url + urllib.parse.urlsplit(address).path
            variables.update(shell.through(name, url))
        yield variables, proxies
