"""The keys and values that cases by chance are made of."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


BOOLEANS = ("true", "false", "True", "yes", "0", "1", "maybe", "")
MASKS = _words("0 0-1 ^0 ^0-1 1-3 0,2 ^0,^1 0-3 2-9 ^0-9 x 1-0 0-x ^x ,,1")

# Key of the flavor, property of the image, good values, bad values. The first of
# them change the query; the rest can only be refused.
SHAPING = (
    ("hw:cpu_policy", "hw_cpu_policy", "dedicated shared mixed", "DEDICATED x"),
    ("hw:cpu_thread_policy", "hw_cpu_thread_policy", "prefer isolate require", "x"),
    ("hw:emulator_threads_policy", "", "share isolate", "x"),
    ("hw:tpm_version", "hw_tpm_version", "1.2 2.0", "3"),
    ("hw:tpm_model", "hw_tpm_model", "tpm-tis tpm-crb", "x"),
    ("hw:tpm_secret_security", "", "user host deployment", "x"),
    ("os:secure_boot", "os_secure_boot", "required optional disabled", "yes"),
    ("hw:maxphysaddr_mode", "hw_maxphysaddr_mode", "passthrough emulate", "x"),
    (
        "hw:pci_numa_affinity_policy",
        "hw_pci_numa_affinity_policy",
        "socket required legacy preferred",
        "x",
    ),
    ("hw:mem_encryption", "hw_mem_encryption", "", ""),
    (
        "hw:mem_encryption_model",
        "hw_mem_encryption_model",
        "amd-sev amd-sev-es amd-sev-snp intel-tdx",
        "x",
    ),
    ("hw:ephemeral_encryption", "hw_ephemeral_encryption", "", ""),
    (
        "hw:ephemeral_encryption_format",
        "hw_ephemeral_encryption_format",
        "plain luks luksv2",
        "x",
    ),
    ("hw:sound_model", "hw_sound_model", "virtio ich9 sb16", "x"),
    ("hw:virtio_packed_ring", "hw_virtio_packed_ring", "", ""),
    ("", "hw_viommu_model", "intel virtio auto smmuv3", "x"),
    ("", "hw_disk_bus", "virtio scsi ide sata usb fdc xen lxc uml", "VIRTIO nvme"),
    ("", "hw_cdrom_bus", "ide sata scsi", "x"),
    ("", "hw_video_model", "virtio qxl vga bochs none cirrus", "ramfb"),
    ("", "hw_vif_model", "virtio e1000 igb spapr-vlan VirtualE1000 E1000e", "x"),
    ("", "hw_architecture", "x86_64 aarch64 i586 armv7l AMD64", "riscv64"),
    ("", "architecture", "x86_64 i386", "x"),
    ("", "hw_emulation_architecture", "x86_64 aarch64 m68k ppc64le", "x"),
    ("", "vmware_adaptertype", "ide lsiLogic paraVirtual virtio-scsi", "x"),
    ("", "hw_firmware_stateless", "", ""),
    ("", "hw_firmware_type", "uefi bios", "x"),
    ("group_policy", "", "none isolate", "x"),
)
CHECKED = (
    ("hw:watchdog_action", "hw_watchdog_action", "reset none", "x"),
    ("hw:numa_nodes", "hw_numa_nodes", "1 2", "3 0 x"),
    ("hw:mem_page_size", "hw_mem_page_size", "any large small 2048 2MB 0", "x"),
    ("hw:serial_port_count", "hw_serial_port_count", "1 2 3", "x 0"),
    ("hw:cpu_sockets", "hw_cpu_sockets", "1 2 4", "x"),
    ("hw:cpu_max_sockets", "hw_cpu_max_sockets", "1 2 4", "x"),
    ("hw:cpu_cores", "hw_cpu_cores", "1 2 8", "x"),
    ("hw:cpu_max_cores", "hw_cpu_max_cores", "1 2 8", "x"),
    ("hw:cpu_threads", "hw_cpu_threads", "1 2", "x"),
    ("hw:cpu_max_threads", "hw_cpu_max_threads", "1 2", "x"),
    ("hw:locked_memory", "hw_locked_memory", "", ""),
    ("hw:pmu", "hw_pmu", "", ""),
    ("hw:vif_multiqueue_enabled", "hw_vif_multiqueue_enabled", "", ""),
    ("hw:usb_model", "hw_usb_model", "qemu-xhci none", "x"),
    ("", "hw_machine_type", "q35 pc-q35-8.0 pc", ""),
    ("", "os_type", "linux Windows", "bsd"),
    ("", "img_hv_type", "kvm XAPI", "x"),
    ("", "img_hv_requested_version", ">=2.0 >=1,<3 ==1.2b1", "2.0 >x"),
    ("", "hw_pointer_model", "usbtablet", "usb"),
    ("", "hw_video_ram", "1 +4 1_000", "4.0 x"),
    ("", "min_ram", "0 1024", "8192"),
    ("", "min_disk", "0 1", "50"),
    ("", "size", "0 1024", "32212254720"),
    ("", "cinder_encryption_key_id", "", ""),
    ("pci_passthrough:alias", "", "a1:1 a1:2", "a1 a1:1:1 a1:x"),
    ("accel:device_profile", "", "profile", ""),
)
#: What is a number in an image's body, and not a text.
NUMBERS = ("min_ram", "min_disk", "size")
CLASSES = _words(
    "VCPU PCPU MEMORY_MB DISK_GB VGPU CUSTOM_A CUSTOM_B FPGA MEM_ENCRYPTION_CONTEXT "
    "NET_PACKET_RATE_KILOPACKET_PER_SEC FOO CUSTOM_PMEM_NAMESPACE_6GB"
)
LONG = "z" * 63
SUFFIXES = ("", "", "", "", "1", "2", "_A", "_B", "10", "-x", "s", "01", "_" + LONG)
TOO_LONG = "__" + LONG
TRAITS = _words(
    "CUSTOM_A CUSTOM_B CUSTOM_C CUSTOM_D HW_CPU_X86_AVX2 HW_CPU_HYPERTHREADING "
    "COMPUTE_IMAGE_TYPE_QCOW2 COMPUTE_STATUS_DISABLED COMPUTE_SECURITY_TPM_2_0 "
    "COMPUTE_SECURITY_UEFI_SECURE_BOOT HW_CPU_X86_AMD_SEV OWNER_NOVA odd~"
)
FORMATS = ("qcow2", "raw", "iso", "vmdk", "ploop", "vhdx", "gpt", "RAW", None)
TENANT_KEYS = _words(
    "filter_tenant_id filter_tenant_id1 filter_tenant_idx tenant xfilter_tenant_id"
)
OPTIONS = (
    "limit_tenants_to_placement_aggregate",
    "query_placement_for_availability_zone",
    "query_placement_for_image_type_support",
    "enable_isolated_aggregate_filtering",
    "image_metadata_prefilter",
)
