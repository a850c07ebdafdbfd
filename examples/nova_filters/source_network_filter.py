"""A host filter: requests from a network go to the hosts whose names start so and so.

In the scheduler's nova.conf:

    [source_network_filter]
    rules = 10.1.0.0/16=cmp-1, 10.2.0.0/16=cmp-2, 2001:db8::/32=cmp-6

Of several networks that have the address, the smallest decides. A request from none of
them may go to any host.
"""

import ipaddress

import nova.conf
from nova.scheduler import filters
from oslo_config import cfg
from oslo_log import log as logging

CONF = nova.conf.CONF
GROUP = "source_network_filter"
CONF.register_opts(
    [cfg.ListOpt("rules", default=[], help="NETWORK=PREFIX, ...")], group=GROUP
)

LOG = logging.getLogger(__name__)


class SourceNetworkFilter(filters.BaseHostFilter):
    """Keeps out hosts that are not for the network that a request comes from."""

    # Neither a host's name nor the request changes from one server to the next.
    run_filter_once_per_request = True

    def __init__(self):
        # Read once: a mistake keeps nova-scheduler from starting, where it is seen,
        # and does not fail one request after the other.
        found = [rule_of(text) for text in CONF[GROUP].rules]
        self.rules = sorted(found, key=lambda rule: rule[0].prefixlen, reverse=True)

    def host_passes(self, host_state, spec_obj):
        """Tell whether a host is for the network that the request comes from."""
        address = source_address(spec_obj)
        if address is None:
            return True
        for network, prefix in self.rules:
            if address in network:
                passes = host_state.host.startswith(prefix)
                if not passes:
                    LOG.debug(
                        "%s: requests from %s go to hosts named %s...",
                        host_state.host,
                        network,
                        prefix,
                    )
                return passes
        return True


def rule_of(text):
    """Return the network and the start of host names that NETWORK=PREFIX names."""
    network, equals, prefix = text.partition("=")
    if not equals:
        raise ValueError(f"not NETWORK=PREFIX: {text}")
    return ipaddress.ip_network(network.strip()), prefix.strip()


def source_address(spec_obj):
    """Return the address that nova-api got the request from; None where there is none.

    The request spec has no such field, but the context that came with it does. Behind
    a proxy it is the proxy's, unless nova-api reads X-Forwarded-For, to which each
    proxy adds: only the last address there is not the user's own word.
    """
    context = spec_obj._context
    text = None if context is None else context.remote_address
    if not text:
        return None
    return ipaddress.ip_address(text.rpartition(",")[2].strip())
