"""Why a host filter keeps a host out: the reasons of :class:`~.answer.Fails`.

What ``key``, ``wanted`` and ``found`` hold for each is said beside it. The views word
them.
"""

#: The service is disabled; found: the reason that was given, if any.
SERVICE_DISABLED = "service-disabled"
#: The service has not reported for long, or was forced down.
SERVICE_DOWN = "service-down"
#: None of the host's aggregates has the key; wanted: the extra spec's value.
NO_METADATA = "no-metadata"
#: The values of the host's aggregates are others; found: those.
METADATA_DIFFERS = "metadata-differs"
#: The image's property is not among the values of the host's aggregates; found: those.
IMAGE_DIFFERS = "image-differs"
#: The host's aggregates are for other projects; found: those.
OTHER_PROJECTS = "other-projects"
#: The host's aggregates are for other flavors; found: their names.
OTHER_FLAVORS = "other-flavors"
#: The host is in other zones; found: those.
OTHER_ZONE = "other-zone"
#: The host has no such capability.
NO_CAPABILITY = "no-capability"
#: The host's capability is another; found: its value.
CAPABILITY_DIFFERS = "capability-differs"
#: The hypervisor runs no such servers; found: what it runs.
UNSUPPORTED_IMAGE = "unsupported-image"
#: The hypervisor's version is another; found: that.
HYPERVISOR_VERSION = "hypervisor-version"
#: The host is for isolated images, which this one is not.
ISOLATED_HOST = "isolated-host"
#: The image is for isolated hosts, which this one is not.
ISOLATED_IMAGE = "isolated-image"
#: The group's other servers are on other hosts; found: those.
GROUP_ELSEWHERE = "group-elsewhere"
#: As many of the group's servers are on the host as may be; found: how many.
GROUP_HERE = "group-here"
#: None of the servers that the hint names is on the host.
NOT_WITH_SERVERS = "not-with-servers"
#: Servers that the hint names are on the host; found: those.
WITH_SERVERS = "with-servers"
#: The host's address is outside the network; found: that address.
OUTSIDE_NETWORK = "outside-network"
#: The query of the hint does not hold.
QUERY_IS_FALSE = "query-is-false"
#: The host has as much of it as it may have; wanted: the limit, found: the count.
AT_LIMIT = "at-limit"
#: More is asked for than the whole host has; found: that.
LARGER_THAN_HOST = "larger-than-host"
#: More is asked for than the host has free; found: that.
TOO_LITTLE_FREE = "too-little-free"
#: NUMA nodes are asked for, and the hypervisor reports none; found: what it is.
NO_NUMA_TOPOLOGY = "no-numa-topology"
#: The server is on the host, which the move leaves out.
SERVER_IS_HERE = "server-is-here"
#: The hypervisor is of another type than the source's; found: that.
HYPERVISOR_TYPE = "hypervisor-type"
#: The hypervisor is older than the source's; wanted: the source's version.
HYPERVISOR_OLDER = "hypervisor-older"
#: A filter of one's own, or one that was run in Nova; found: what it logged.
OWN = "own-filter"
