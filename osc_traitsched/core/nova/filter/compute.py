"""The filters that look at the host's service, and those that never keep a host out."""

from __future__ import annotations

from osc_traitsched.core.nova import filter_options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings


def all_hosts(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Let every host through.

    nova/scheduler/filters/all_hosts_filter.py, ``AllHostsFilter``
    """
    return PASSES


def retry(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Let every host through: none was tried before.

    Until 21 a server that its first host could not build was sent back with the hosts
    that were tried (nova/scheduler/filters/retry_filter.py, ``RetryFilter``).
    """
    return PASSES


def compute(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Let hosts through whose nova-compute is enabled and up, as nova-api sees it.

    nova/scheduler/filters/compute_filter.py, ``ComputeFilter``
    """
    found = host.compute
    if not found.is_enabled:
        reason = found.disabled_reason
        return Fails(reasons.SERVICE_DISABLED, found=(reason,) if reason else ())
    if not found.is_up:
        return Fails(reasons.SERVICE_DOWN)
    return PASSES


def isolated_hosts(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Keep images and hosts that the options name together.

    nova/scheduler/filters/isolated_hosts_filter.py, ``IsolatedHostsFilter``
    """
    images = _names(settings, filter_options.ISOLATED_IMAGES)
    hosts = _names(settings, filter_options.ISOLATED_HOSTS)
    is_strict = bool(settings.value(filter_options.RESTRICT_ISOLATED_HOSTS))
    of_image, of_host = spec.image_id in images, host.host in hosts
    if of_image and not of_host:
        return _kept_out(
            reasons.ISOLATED_IMAGE, filter_options.ISOLATED_IMAGES, spec.image_id
        )
    if of_host and not of_image and is_strict:
        return _kept_out(
            reasons.ISOLATED_HOST, filter_options.ISOLATED_HOSTS, host.host
        )
    return PASSES


def _names(settings: SchedulerSettings, option: str) -> tuple[str, ...]:
    value = settings.value(option)
    return value if isinstance(value, tuple) else ()


def _kept_out(reason: str, option: str, wanted: str) -> Fails:
    return Fails(reason, option, wanted, origin=Origin("option", option))
