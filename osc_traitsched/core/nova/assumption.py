"""Releases, options and settings under one name, until each is imported by its own."""

from __future__ import annotations

from osc_traitsched.core.nova import option, options, releases, settings

OPTIONS = tuple(options.OPTIONS.values())
Value = option.Value
Setting = settings.Setting
Assumptions = settings.SchedulerSettings

AZ_QUERY = options.AZ_QUERY
DEFAULT_ZONE = options.DEFAULT_ZONE
ENABLED_FILTERS = options.ENABLED_FILTERS
IMAGE_METADATA = options.IMAGE_METADATA
IMAGE_TYPE = options.IMAGE_TYPE
ISOLATION = options.ISOLATION
MAX_RESULTS = options.MAX_RESULTS
NO_PCPU_FALLBACK = options.NO_PCPU_FALLBACK
PCI_IN_PLACEMENT = options.PCI_IN_PLACEMENT
ROUTED_NETWORKS = options.ROUTED_NETWORKS
TENANT = options.TENANT
TENANT_REQUIRED = options.TENANT_REQUIRED

MICROVERSIONS = releases.MICROVERSIONS
NEWEST = releases.NEWEST
OLDEST = releases.OLDEST
OWNER_NOVA_RELEASE = releases.OWNER_NOVA_RELEASE
RELEASES = releases.RELEASES
RHOSO_RELEASE = releases.RHOSO_RELEASE
release_behind = releases.release_behind
release_named = releases.release_named
