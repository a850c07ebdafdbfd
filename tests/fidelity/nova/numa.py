"""Ask a released Nova whether a server fits on a host with plenty of everything.

It runs inside the virtual environment of one release, from Nova 22 on. Each line of
the standard input is a case with ``flavor`` and ``image``; each line of the output is
its answer: ``refused`` with the class of ``numa_get_constraints``' exception, or
``fits``. A server without NUMA nodes fits.
"""

import copy
import json
import logging
import os
import sys
import warnings

os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import inspect  # noqa: E402

import nova.conf  # noqa: E402
from nova import exception, objects  # noqa: E402
from nova.virt import hardware  # noqa: E402

CONF = nova.conf.CONF
CONF([], project="nova", version="0", default_config_files=[], default_config_dirs=[])
objects.register_all()

CELLS, CPUS = 4, 32
MEMORY = 1 << 20
#: Sizes of pages that libvirt reports of x86_64.
PAGES = (4, 2048, 1048576)


def _cell(number, threads):
    first = number * CPUS
    pinned = set(range(first, first + CPUS))
    cores = range(first, first + CPUS, threads)
    return objects.NUMACell(
        id=number,
        cpuset={1000 + cpu for cpu in pinned},
        pcpuset=pinned,
        memory=MEMORY,
        cpu_usage=0,
        memory_usage=0,
        pinned_cpus=set(),
        siblings=[set(range(core, core + threads)) for core in cores],
        mempages=[
            objects.NUMAPagesTopology(size_kb=size, total=MEMORY * 1024 // size, used=0)
            for size in PAGES
        ],
    )


def answer(case):
    """Return a case's answer."""
    body = case["flavor"]
    flavor = objects.Flavor(
        vcpus=body["vcpus"], memory_mb=body["ram"], extra_specs=body["extra_specs"]
    )
    image = objects.ImageMeta.from_dict({"properties": case["image"]})
    try:
        asked = hardware.numa_get_constraints(flavor, image)
    except Exception as exc:
        return {"refused": type(exc).__name__}
    if asked is None:
        return {"fits": True}
    # Some policies need a host without, and some one with, two threads a core.
    return {"fits": any(_fits(asked, threads) for threads in (1, 2))}


def _fits(asked, threads):
    host = objects.NUMATopology(cells=[_cell(n, threads) for n in range(CELLS)])
    more = {}
    if "provider_mapping" in inspect.signature(FIT).parameters:
        more["provider_mapping"] = None
    try:
        return FIT(host, copy.deepcopy(asked), **more) is not None
    except exception.MemoryPageSizeNotSupported:
        return False


FIT = hardware.numa_fit_instance_to_host

if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line)), sort_keys=True) + "\n")
