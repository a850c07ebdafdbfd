"""A host filter that keeps nobody out, and logs all that a filter can see."""

from nova.objects import base
from nova.scheduler import filters
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

#: Of the request's context. It also has a token: never log all of it.
CONTEXT = ("remote_address", "request_id")


class LogEverythingFilter(filters.BaseHostFilter):
    """Logs each host's state and the request, a line for each attribute."""

    RUN_ON_REBUILD = True

    def host_passes(self, host_state, spec_obj):
        """Log, and let the host through."""
        for name, value in sorted(vars(host_state).items()):
            if not name.startswith("_"):
                LOG.info("%s: host.%s = %s", host_state.host, name, shown(value))
        for name, value in sorted(shown(spec_obj).items()):
            LOG.info("%s: spec.%s = %s", host_state.host, name, value)
        context = {} if spec_obj._context is None else vars(spec_obj._context)
        for name in CONTEXT:
            if name in context:
                value = context[name]
                LOG.info("%s: context.%s = %s", host_state.host, name, value)
        return True


def shown(value):
    """Return a value with Nova's objects, in lists too, as dicts of what is set."""
    if isinstance(value, base.ObjectListBase):
        return [shown(each) for each in value.objects]
    if isinstance(value, base.NovaObject):
        there = (name for name in sorted(value.fields) if value.obj_attr_is_set(name))
        return {name: shown(getattr(value, name)) for name in there}
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return value
