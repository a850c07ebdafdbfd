"""The examples at the end of each command's help, by the command's class."""

from __future__ import annotations

_WORDS = "openstack trait-sched"

#: A comment for the class's own example, then comments and commands in turn.
_EXAMPLES: dict[str, tuple[str, ...]] = {
    "ListTraits": (
        "Which hosts have which custom traits",
        "All traits of some hosts",
        "list --host 'cmp0[0-3]' --long",
        "Hosts that still lack a trait",
        "list --without-trait CUSTOM_GOLD",
    ),
    "AddTraits": (
        "Create a trait, and add it to a host",
        "Show what would be written to a range of hosts",
        "add CUSTOM_GOLD 'cmp0[0-3]' --dry-run",
        "Two traits for all hosts of an aggregate",
        "add CUSTOM_GOLD,CUSTOM_SSD --aggregate gold",
        "What a peer has, on a new host, with its aggregates",
        "add --like cmp01 cmp02 --aggregates --dry-run",
    ),
    "RemoveTraits": (
        "Remove a trait from a host",
        "See what requires it, and write nothing",
        "remove CUSTOM_GOLD --all --dry-run",
        "From all hosts of a zone",
        "remove CUSTOM_GOLD --availability-zone az-west",
    ),
    "Explain": (
        "Why a flavor and an image get no host",
        "For a project, in a zone",
        "explain gold raw --project demo --availability-zone az-east",
        "Which flavors can boot an image",
        "explain --image raw",
    ),
    "ListCandidates": (
        "Hosts of one zone, best first",
        "The first five, with their weights",
        "candidates gold raw --limit 5 --weights",
        "For a program",
        "candidates gold raw -f json",
    ),
    "ShowCapacity": (
        "How many more servers of a flavor fit, with an image",
        "All public flavors, if a host were lost and two were added",
        "capacity --without cmp01 --with cmp02=2",
        "For cron: exit 7 if fewer than 5 fit",
        "capacity gold --at-least 5",
    ),
    "Check": (
        "Two areas; warnings count as well",
        "Everything",
        "check",
        "What concerns one flavor",
        "check --flavor gold",
    ),
    "CheckMirror": (
        "Exit 7 on warnings, too",
        "Errors alone decide",
        "mirror check",
        "For a program",
        "mirror check -f json",
    ),
    "RepairMirror": (
        "Show what is not synced",
        "Tell a script whether anything is to be done",
        "mirror repair --dry-run --exit-code",
        "Repair it",
        "mirror repair",
    ),
    "ListAggregates": (
        "With the hosts' names",
        "One row an aggregate",
        "aggregate list",
        "For a program",
        "aggregate list -f json",
    ),
    "IsolateAggregate": (
        "Show what would be written",
        "Create the trait, and keep a way back",
        "isolate silver CUSTOM_SILVER --create --undo undo.yaml",
        "An image requires it, too",
        "isolate silver CUSTOM_SILVER --flavor silver --image rocky",
    ),
    "UnisolateAggregate": (
        "Show what would be written",
        "One of its traits only",
        "unisolate silver CUSTOM_SILVER",
        "Remove the traits from hosts, flavors and images, too",
        "unisolate silver --remove-traits --undo undo.yaml",
    ),
    "PlanWanted": (
        "Show what apply would write",
        "For a review, and for apply --reviewed",
        "plan wanted.yaml -f json",
        "Tell a script whether the cloud differs",
        "plan wanted.yaml --exit-code",
    ),
    "ApplyWanted": (
        "Write, and keep a way back",
        "Write what was reviewed, and nothing else",
        "apply wanted.yaml --reviewed plan.json",
        "Show it, and write nothing",
        "apply wanted.yaml --dry-run",
    ),
    "ListServers": (
        "Servers of one zone",
        "If isolation were on",
        "server list --misplaced "
        "--set scheduler.enable_isolated_aggregate_filtering=true",
        "One project's, for a program",
        "server list --misplaced --project demo -f json",
    ),
    "ListMisplaced": (
        "Servers of one zone",
        "If isolation were on",
        "server misplaced --set scheduler.enable_isolated_aggregate_filtering=true",
        "One project's, for a program",
        "server misplaced --project demo -f json",
    ),
    "ExplainServer": (
        "Why a server failed",
        "With a network that Nova does not show any more",
        "server explain web-3 --network private",
        "All details",
        "server explain web-3 --long",
        "All servers that failed since yesterday, one block a cause",
        "server explain --failed --since 24h",
    ),
    "ShowTrait": (
        "Who has a trait, and who needs it",
        "For a program",
        "trait show CUSTOM_GOLD -f json",
    ),
    "ListTraitUses": (
        "All traits, those of nova-compute, too",
        "Traits that you or a flavor chose",
        "trait list",
    ),
    "RenameTrait": (
        "Show what would be written",
        "Write, and keep a way back",
        "trait rename CUSTOM_COMMON CUSTOM_ALL --undo undo.yaml",
    ),
    "RetireTrait": (
        "Show what would be written",
        "Write, and keep a way back",
        "trait retire CUSTOM_COMMON --undo undo.yaml",
    ),
    "ServerDestinations": (
        "Where it could be migrated live",
        "The move that suits its state",
        "server destinations web-1",
        "Who could take it with another flavor",
        "server destinations web-1 --for resize --flavor gold",
    ),
    "ShowHost": (
        "What a host could take",
        "With an image, as one project",
        "host show cmp01 --image rocky --project acme",
    ),
    "DrainHost": (
        "Where its servers could go, and the commands that move them",
        "With the scheduler's own configuration",
        "host drain cmp01 --nova-conf /etc/nova/nova.conf",
        "For a program",
        "host drain cmp01 -f json",
        "The moves as a script that stops at the first failure",
        "host drain cmp01 --script",
    ),
    "ConfigDoctor": (
        "For a program",
        "What is known of nova-scheduler's settings, and how to supply the rest",
        "config doctor",
    ),
    "SaveConfig": (
        "Show what would be saved",
        "Name the scheduler's nova.conf once",
        "config save --nova-conf /etc/nova/nova.conf",
        "A distribution's defaults, and one option",
        "config save --baseline kolla-ansible "
        "--set scheduler.max_placement_results=100",
    ),
}


def epilog(name: str, example: str) -> str:
    """What ends the help of a command.

    :param name: its class
    :param example: its own example, which runs on the tests' cloud
    """
    if name not in _EXAMPLES:
        return f"Example:\n\n  {_WORDS} {example}"
    first, *others = _EXAMPLES[name]
    texts = [first, example, *others]
    lines = (
        f"  # {comment}\n  {_WORDS} {command}"
        for comment, command in zip(texts[::2], texts[1::2])
    )
    return "Examples:\n\n" + "\n".join(lines)
