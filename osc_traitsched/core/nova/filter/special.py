"""Names of the host filters that other code treats by name."""

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
