"""The keys and values that hosts and requests by chance are made of."""

from __future__ import annotations

PROJECTS = ("project", "other", "third")
ZONES = ("az1", "az2", "nova")
FLAVORS = ("m1.small", "m1.large", "gpu")

# Values that a flavor asks for, most with an operator of Nova's.
ASKED = (
    *("true", "True", "4", "x86_64", "QEMU", "kvm", "a", "", " "),
    *("= 4", "== 4", "!= 4", ">= 4", "<= 4", ">= 4.5", "= x", "<= x", "==", "="),
    *("s== a", "s!= a", "s< b", "s<= a", "s> a", "s>= a", "s=="),
    *("<in> a", "<in> vmx", "<in>", "<all-in> vmx aes", "<all-in>"),
    *("<or> a <or> b", "<or> 4 <or> 8", "<or>", "<or> a b", "a <or> b", "a b"),
)
# What an aggregate has: some are lists.
HELD = ("true", "True", "4", "8", "a", "b", "a,b", "a, 4", "x86_64", "4.5", "")

#: Extra specs without a scope: some are attributes of Nova's HostState.
BARE = (
    *("ssd", "gpu", "rack", "host", "uuid", "free_ram_mb", "vcpus_total"),
    *("hypervisor_type", "num_io_ops", "num_instances", "failed_builds"),
    *("aggregates", "service", "limits", "metrics", "stats", "updated", "cpu_info"),
)
SCOPED = (
    *("aggregate_instance_extra_specs:ssd", "aggregate_instance_extra_specs:a:b"),
    *("aggregate_instance_extra_specs:rack", "other:ssd", "capabilities:ssd"),
    *("capabilities:hypervisor_type", "capabilities:hypervisor_version"),
    *("capabilities:cpu_info:arch", "capabilities:cpu_info:features"),
    *("capabilities:cpu_info:topology:cores", "capabilities:cpu_info:none"),
    *("capabilities:cpu_info:maxphysaddr:bits", "capabilities:cpu_info"),
    *("capabilities:vcpus_total", "capabilities:free_disk_mb", "capabilities:host_ip"),
    *("capabilities:stats:num_instances", "capabilities:num_instances"),
    *("capabilities:stats:io_workload", "capabilities:supported_instances"),
    *("capabilities:cpu_allocation_ratio", "capabilities:nodename", "capabilities:"),
)
#: What each kind of hypervisor reports that it runs.
SUPPORTED = {
    "QEMU": ("x86_64 kvm hvm", "x86_64 qemu hvm", "i686 kvm hvm", "i686 qemu hvm"),
    "VMware vCenter Server": ("i686 vmware hvm", "x86_64 vmware hvm"),
    "ironic": ("x86_64 baremetal hvm",),
}
#: Image properties, each with values that it may have.
IMAGE = {
    "hw_architecture": ("x86_64", "i686", "aarch64", "AMD64"),
    "img_hv_type": ("kvm", "qemu", "KVM", "vmware"),
    "hw_vm_mode": ("hvm", "xen", "HVM"),
    "img_hv_requested_version": (">=2.5", ">=2.5,<3.0", "==2.5.0", "<1.0"),
    "hw_maxphysaddr_bits": ("42", "48"),
    "hw_disk_bus": ("virtio", "scsi"),
    "hw_qemu_guest_agent": ("true", "yes", "no"),
    "hw_cpu_cores": ("4", "8"),
    "os_type": ("linux", "windows"),
    "os_distro": ("debian",),
    "custom": ("a", "true"),
}
#: Keys of aggregates that a filter or a weigher reads, each with its values.
METADATA = {
    "availability_zone": ZONES,
    "filter_tenant_id": ("project", "other", "project,other", " project , x", ""),
    "filter_tenant_id1": ("project", "other"),
    "filter_tenant_idx": ("third",),
    "instance_type": (*FLAVORS, "m1.small,gpu", " gpu"),
    "max_io_ops_per_host": ("0", "1", "3", "x", " 2 "),
    "max_instances_per_host": ("0", "2", "10", "x", "2.5"),
    "ssd": HELD,
    "gpu": HELD,
    "rack": HELD,
    "a:b": HELD,
    "hw_disk_bus": ("virtio", "scsi", "virtio,scsi"),
    "hw_qemu_guest_agent": ("true", "True", "False"),
    "hw_cpu_cores": ("4", "8", "4,8"),
    "hw_architecture": ("x86_64", "aarch64"),
    "os_type": ("linux",),
    "custom": ("b",),
    "architecture": ("i686",),
    "ns.hw_disk_bus": ("virtio", "scsi"),
    "ns-os_type": ("windows",),
}
#: The options with weighers' multipliers, and values of aggregates' own.
MULTIPLIERS = (
    *("ram", "cpu", "disk", "io_ops", "pci", "soft_affinity", "soft_anti_affinity"),
    *("build_failure", "cross_cell_move", "hypervisor_version", "num_instances"),
    *("image_props", "metrics"),
)
NUMBERS = ("2", "0.5", "-1", "-1.0", "0", " 3 ", "1e3", "x", "", "1,2", "1_0")
OPTIONS = {
    "filter_scheduler.image_properties_default_architecture": ("x86_64", "aarch64"),
    "filter_scheduler.isolated_images": (["image"], ["other"], []),
    "filter_scheduler.isolated_hosts": (["host0", "host1"], ["HOST0"]),
    "filter_scheduler.restrict_isolated_hosts_to_isolated_images": (True, False),
    "filter_scheduler.max_io_ops_per_host": (0, 1, 3),
    "filter_scheduler.max_instances_per_host": (1, 3, 10),
    "filter_scheduler.aggregate_image_properties_isolation_namespace": ("ns", "hw"),
    "filter_scheduler.aggregate_image_properties_isolation_separator": ("-", "_"),
    "DEFAULT.default_availability_zone": ("az1", "other"),
    "filter_scheduler.host_subset_size": (1, 2, 3, 50),
    "filter_scheduler.shuffle_best_same_weighed_hosts": (True, False),
}
QUERIES = (
    '[">=", "$free_ram_mb", 1024]',
    '["and", [">=", "$free_ram_mb", 0], ["<", "$vcpus_used", 8]]',
    '["or", ["=", "$hypervisor_type", "QEMU"], ["in", "$host", "host0", "host1"]]',
    '["not", ["=", "$stats.num_instances", "1"]]',
    '["=", "$nothing", 1]',
    '["=", "$free_ram_mb"]',
    '["xor", 1, 2]',
    '[">", "$free_ram_mb", "a"]',
    "[]",
    "[",
    "true",
)
