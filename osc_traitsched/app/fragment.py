"""Configuration that turns prefilters on, for one kind of deployment."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.config import fragment
from osc_traitsched.config.joining import Named
from osc_traitsched.core.nova import settings
from osc_traitsched.core.nova.settings import SchedulerSettings, Switched

NOVA_CONF, TRIPLEO, RHOSO = "nova-conf", "tripleo", "rhoso"


@dataclasses.dataclass(frozen=True)
class Fragment:
    """What has to be laid over a deployment's configuration.

    :ivar text: INI or YAML without comments; empty if nothing has to be set
    :ivar extends_file: it was made from files of the cloud's own
    :ivar replaces: a text that was not given goes when the fragment is merged
    """

    turned: Switched
    text: str
    extends_file: bool
    replaces: bool


def turn_on(
    deployment: str, wanted: Iterable[str], files: Named, assumptions: SchedulerSettings
) -> Fragment:
    """Return what turns on the names out of ``switch.SWITCHES``.

    :param deployment: :data:`NOVA_CONF`, :data:`TRIPLEO` or :data:`RHOSO`
    :param files: as ``settings.read_files`` returns them
    :param assumptions: what those say
    :raises NotInRelease: for what the release can't do
    :raises NoParameter: for what no parameter of TripleO can say
    """
    turned = settings.switch(wanted, assumptions)
    text = _text(deployment, turned, files)
    replaces = deployment == RHOSO and files.control_plane is None
    return Fragment(turned, text, files.is_a_file, replaces)


def _text(deployment: str, turned: Switched, files: Named) -> str:
    if deployment == TRIPLEO:
        return fragment.environment(turned.values, turned.assumptions.release)
    if deployment == RHOSO:
        present = files.control_plane.text if files.control_plane else ""
        return fragment.control_plane(turned.values, present)
    return fragment.nova_conf(turned.values)
