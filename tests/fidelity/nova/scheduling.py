"""Ask a released Nova what its filters and weighers say of the hosts of a case.

It runs inside the virtual environment of one release, from Nova 20 and Python 3.8 on.
Each line of the standard input is a case (tests/fidelity/scheduling/generator.py makes
them); each line of the output is its answer:

``filters``
    by filter, for each host: ``yes``, ``no``, or the class of what is raised
``weighers``
    by weigher ``raw`` and ``normalized`` weights and ``multipliers``, one a host; or
    ``raises``, the class
``order``
    the hosts in the order of their ``totals``, the best first; or ``raises``
``first``
    the hosts that are tried first, of some tries

Nothing is read from a database, and all that decides is Nova's own code.
"""

import copy
import json
import logging
import os
import random
import sys
import warnings

os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import nova.conf  # noqa: E402
from nova import objects  # noqa: E402
from nova import weights as base_weights  # noqa: E402
from nova.scheduler import filters, weights  # noqa: E402

try:
    # Until 23 the manager leaves the hosts to this driver.
    from nova.scheduler.filter_scheduler import FilterScheduler as Scheduler
except ImportError:
    from nova.scheduler.manager import SchedulerManager as Scheduler

CONF = nova.conf.CONF
CONF([], project="nova", version="0", default_config_files=[], default_config_dirs=[])
objects.register_all()

import hosts as of_hosts  # noqa: E402
import overrides  # noqa: E402

TRIES = 8
# Nova looks for them on the disk.
FILTERS, WEIGHERS = filters.all_filters(), weights.all_weighers()
ALIAS = {"name": "a1", "vendor_id": "8086", "product_id": "1521"}
CONF.set_override("alias", [json.dumps(dict(ALIAS, device_type="type-PCI"))], "pci")


def answer(case):
    """Return a case's answer."""
    with overrides.overridden(CONF, case["options"]):
        states, spec = of_hosts.states(case), of_hosts.spec(case)
        return {
            "filters": {
                each.__name__: [_judged(each(), state, spec) for state in states]
                for each in FILTERS
            },
            "weighers": {
                each.__name__: _weighed(each(), states, spec) for each in WEIGHERS
            },
            **_ranked(states, spec),
        }


def _judged(judge, state, spec):
    # Some filters write to the host state what the next ones read.
    try:
        return "yes" if judge._filter_one(copy.copy(state), spec) else "no"
    except Exception as exc:
        return type(exc).__name__


def _weighed(weigher, states, spec):
    objs = [weights.WeighedHost(state, 0.0) for state in states]
    try:
        raw = weigher.weigh_objects(objs, spec)
        limits = {"minval": weigher.minval, "maxval": weigher.maxval}
        return {
            "raw": raw,
            "normalized": list(base_weights.normalize(raw, **limits)),
            "multipliers": [weigher.weight_multiplier(state) for state in states],
        }
    except Exception as exc:
        return {"raises": type(exc).__name__}


class _Hosts:
    """A HostManager's part: all hosts are left, and they are weighed."""

    def get_filtered_hosts(self, hosts, spec, index):
        return hosts

    def get_weighed_hosts(self, hosts, spec):
        weighers = [each() for each in WEIGHERS]
        handler = weights.HostWeightHandler()
        return handler.get_weighed_objects(weighers, hosts, spec)


class _Scheduler(Scheduler):
    host_manager = _Hosts()

    def __init__(self):
        pass


def _ranked(states, spec):
    try:
        found = _Hosts().get_weighed_hosts(states, spec)
    except Exception as exc:
        return {"raises": type(exc).__name__}
    return {
        "order": [each.obj.uuid for each in found],
        "totals": {each.obj.uuid: each.weight for each in found},
        "first": sorted({_first(states, spec) for _ in range(TRIES)}),
    }


def _first(states, spec):
    # Hosts come in the order of a set, which is another in each process.
    mixed = random.sample(states, len(states))
    return _Scheduler()._get_sorted_hosts(spec, mixed, 0)[0].uuid


if __name__ == "__main__":
    random.seed(0)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line)), sort_keys=True) + "\n")
