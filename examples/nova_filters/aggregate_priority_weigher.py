"""A weigher that prefers the hosts of some aggregates: those with a higher priority.

    openstack aggregate set --property priority=10 new-machines

A host in several aggregates has the highest of their priorities, one in none has 0.
In the scheduler's nova.conf:

    [aggregate_priority_weigher]
    weight_multiplier = 1.0

An aggregate can have a multiplier of its own, as for Nova's own weighers:
aggregate_priority_weight_multiplier.
"""

import nova.conf
from nova.scheduler import utils, weights
from oslo_config import cfg
from oslo_log import log as logging

CONF = nova.conf.CONF
GROUP = "aggregate_priority_weigher"
CONF.register_opts([cfg.FloatOpt("weight_multiplier", default=1.0)], group=GROUP)

LOG = logging.getLogger(__name__)


class AggregatePriorityWeigher(weights.BaseHostWeigher):
    """Weighs a host by the highest priority of its aggregates."""

    def weight_multiplier(self, host_state):
        """Return how much the priority counts beside the other weighers."""
        name = "aggregate_priority_weight_multiplier"
        return utils.get_weight_multiplier(
            host_state, name, CONF[GROUP].weight_multiplier
        )

    def _weigh_object(self, host_state, weight_properties):
        found = [0.0]
        for aggregate in host_state.aggregates:
            text = aggregate.metadata.get("priority")
            if text is None:
                continue
            try:
                found.append(float(text))
            except ValueError:
                # To raise would fail every request as long as it stands there.
                LOG.warning(
                    "priority of aggregate %s is no number: %r", aggregate.name, text
                )
        return max(found)
