"""A short story on a real cloud: python -m tests.cloud.demo."""

from __future__ import annotations

import pathlib
import shlex
import sys

from tests.cloud.cloud import Cloud
from tests.cloud.factory import factory
from tests.functional import shell
from tests.services.environment import REPOSITORY

#: What the end of the story is about.
FILE = REPOSITORY / "examples" / "desired" / "reserved.yaml"


class Story:
    """Prints each command before its output, and stops at a surprise."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables

    def tell(self, text: str) -> None:
        print(f"\n# {text}", flush=True)

    def run(self, *arguments: str, code: int = 0) -> shell.Run:
        """Run ``openstack ARGUMENTS``, which must exit with a code."""
        print(f"$ openstack {shlex.join(arguments)}", flush=True)
        run = shell.run(self._variables, *arguments)
        print(run.out + run.err, end="", flush=True)
        if run.code != code:
            raise SystemExit(f"the demo failed: exit {run.code} instead of {code}")
        return run


def main() -> None:
    print("Starting Keystone, Placement, Glance and Nova, for about half a minute.")
    with Cloud() as cloud:
        story = Story(cloud.environment)
        traits(story)
        with factory(cloud.admin()) as maker:
            maker.image("cirros")
            hosts(story, Story(cloud.environment_of("demo")))
            wanted(story, cloud.state, "--nova-conf", str(cloud.nova_conf))


def traits(story: Story) -> None:
    """Give hosts a trait, and take it away again."""
    story.tell("What the hosts have:")
    story.run("trait-sched", "list")
    gold = ("CUSTOM_GOLD", "--host", "cmp00", "--host", "cmp01")
    story.tell("A new custom trait for two of them; all they had before stays:")
    story.run("trait-sched", "add", *gold, "--create")
    story.tell("The same again changes nothing, and writes nothing:")
    story.run("trait-sched", "add", *gold)
    story.tell("A typo does not become a trait:")
    story.run("trait-sched", "add", "CUSTOM_GLOD", "--all", code=1)
    story.tell("What would it take to have it everywhere? Exit 6 says: changes.")
    story.run(
        *("trait-sched", "add", "CUSTOM_GOLD", "--all", "--dry-run", "--exit-code"),
        code=6,
    )
    story.tell("A flavor requires it: the last host can't lose it by accident.")
    story.run(
        *("flavor", "create", "gold", "--vcpus", "1", "--ram", "512", "--disk", "1"),
        *("--property", "trait:CUSTOM_GOLD=required", "-c", "name"),
    )
    story.tell("Who has it, and who needs it?")
    story.run("trait-sched", "trait", "show", "CUSTOM_GOLD")
    story.run("trait-sched", "remove", "CUSTOM_GOLD", "--all", code=5)
    story.tell("Without the flavor it can:")
    story.run("flavor", "delete", "gold")
    story.run("trait-sched", "remove", "CUSTOM_GOLD", "--all")


def hosts(story: Story, user: Story) -> None:
    """Find out why a user's server has no host, and help it to one."""
    story.tell("A flavor requires a trait that no host has:")
    story.run(
        *("flavor", "create", "gold", "--vcpus", "1", "--ram", "512", "--disk", "1"),
        *("--property", "trait:CUSTOM_GOLD=required", "-c", "name"),
    )
    story.tell("A user wants a server of it, and this is all that the user is told:")
    server = ("server", "create", "--flavor", "gold", "--image", "cirros")
    server = (*server, "--nic", "none", "--wait", "-c", "status", "first")
    user.run(*server, code=1)
    user.run("server", "list", "-c", "Name", "-c", "Status")
    user.run("server", "delete", "--wait", "first")
    story.tell("The administrator can see why. Exit 3 says: there is no host.")
    question = ("trait-sched", "explain", "gold", "cirros", "--project", "demo")
    story.run(*question, code=3)
    story.tell("One of the things that would help, for one of the hosts:")
    story.run("trait-sched", "add", "CUSTOM_GOLD", "--host", "cmp02")
    story.tell("And now?")
    story.run(*question, "--no-fixes", "--host", "cmp02")
    story.tell("Nova thinks so, too:")
    user.run(*server)
    columns = ("-c", "Name", "-c", "Status", "-c", "Host")
    story.run("server", "list", "--all-projects", "--long", *columns)
    user.run("server", "delete", "--wait", "first")
    story.tell("How many such servers fit now, and if that host were lost?")
    story.run("trait-sched", "capacity", "gold", "--image", "cirros")
    story.run("trait-sched", "capacity", "gold", "--without", "cmp02", code=3)
    story.tell("What else could the host take?")
    story.run("trait-sched", "host", "show", "cmp02")
    story.run("flavor", "delete", "gold")


def wanted(story: Story, folder: pathlib.Path, *scheduler: str) -> None:
    """Keep two hosts for one flavor by a file, look at it, and go back."""
    story.tell("Two hosts have a licence. A file says that they are for one flavor:")
    print(FILE.read_text(encoding="utf-8"), end="", flush=True)
    for flavor in ("licensed", "small"):
        size = ("--vcpus", "1", "--ram", "512", "--disk", "1")
        story.run("flavor", "create", flavor, *size, "-c", "name")
    story.tell("What would that write, and what would it do to others?")
    story.run("trait-sched", "plan", str(FILE), *scheduler)
    story.tell("Good. One command does it all, and first writes the way back:")
    undo = str(folder / "undo.yaml")
    apply = ("trait-sched", "apply", *scheduler)
    story.run(*apply, str(FILE), "--undo", undo)
    story.tell("From outside, a host of the aggregate; and from inside, another one:")
    for flavor, host in (("small", "cmp00"), ("licensed", "cmp02")):
        question = ("trait-sched", "explain", flavor, "cirros", *scheduler)
        story.run(*question, "--no-fixes", "--host", host)
    story.tell(
        "Somebody else's tool takes the flavor's key away. Exit 6 says: it differs."
    )
    story.run("flavor", "unset", "licensed", "--property", "trait:CUSTOM_LICENSED")
    look = ("trait-sched", "plan", str(FILE), "--exit-code", *scheduler)
    story.run(*look, code=6)
    story.run(*apply, str(FILE))
    story.tell("And the way back:")
    story.run(*apply, undo)
    story.run("aggregate", "delete", "licensed")
    story.run("flavor", "delete", "licensed", "small")


if __name__ == "__main__":
    sys.exit(main())
