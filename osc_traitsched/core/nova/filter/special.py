"""Names of the host filters that other code treats by name, and lists of filters."""

AFFINITY = "ServerGroupAffinityFilter"
ANTI_AFFINITY = "ServerGroupAntiAffinityFilter"
CAPABILITIES = "ComputeCapabilitiesFilter"
COMPUTE = "ComputeFilter"
#: It compares a flavor's extra specs with the metadata of aggregates.
EXTRA_SPECS = "AggregateInstanceExtraSpecsFilter"
IMAGE_ISOLATION = "AggregateImagePropertiesIsolation"
IMAGE_PROPERTIES = "ImagePropertiesFilter"
ISOLATED_HOSTS = "IsolatedHostsFilter"
JSON = "JsonFilter"
NUMA_TOPOLOGY = "NUMATopologyFilter"
#: It leaves the hosts of aggregates that name projects to these projects.
PROJECT = "AggregateMultiTenancyIsolation"
#: It does after Placement what the prefilter for zones does in Placement.
ZONE = "AvailabilityZoneFilter"

#: Lists of ``enabled_filters``: Nova's from Xena on, and those of distributions.
UPSTREAM_LIST = (COMPUTE, CAPABILITIES, IMAGE_PROPERTIES, ANTI_AFFINITY, AFFINITY)
RHOSO_LIST = (
    EXTRA_SPECS,
    *UPSTREAM_LIST,
    "SameHostFilter",
    "DifferentHostFilter",
    "PciPassthroughFilter",
    NUMA_TOPOLOGY,
)
OSA_LIST = (
    COMPUTE,
    "AggregateNumInstancesFilter",
    "AggregateIoOpsFilter",
    *UPSTREAM_LIST[1:],
    NUMA_TOPOLOGY,
)
CHARMED_LIST = (*UPSTREAM_LIST, "DifferentHostFilter", "SameHostFilter")
#: Of the charm until Ussuri, whose Nova has this filter.
OLD_CHARMED_LIST = ("RetryFilter", ZONE, *CHARMED_LIST)
