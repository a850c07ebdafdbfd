"""The filter that wants the metrics which hosts are weighed by."""

from __future__ import annotations

from osc_traitsched.core.nova import filter_options
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings


def metrics(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Let every host through where no metric is weighed.

    nova/scheduler/filters/metrics_filter.py, ``MetricsFilter``
    """
    names = weighed(settings)
    return (
        Unknown("metrics", filter_options.METRICS, ", ".join(names))
        if names
        else PASSES
    )


def weighed(settings: SchedulerSettings) -> tuple[str, ...]:
    """Return the metrics that have a number as their ratio; others are ignored.

    nova/scheduler/utils.py, ``parse_options``
    """
    value = settings.value(filter_options.METRICS)
    found = []
    for item in value if isinstance(value, tuple) else ():
        name, _, ratio = item.partition("=")
        if name and _is_number(ratio):
            found.append(name)
    return tuple(found)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
