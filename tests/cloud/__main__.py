"""A cloud to work with by hand: python -m tests.cloud, until Ctrl-C."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys

from tests.cloud import config
from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.identity import USERS
from tests.services.release import NEWEST, RELEASES, WITH_NETWORK, chosen


def main() -> int:
    parser = arguments()
    wanted = parser.parse_args()
    if wanted.network and wanted.release != NEWEST.number:
        parser.error("--network goes with the newest release")
    # Both, because a shell's background jobs are born to ignore the first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    cloud = Cloud(
        wanted.state,
        wanted.computes,
        (ISOLATION, *wanted.nova_opt),
        release=WITH_NETWORK if wanted.network else RELEASES[wanted.release],
    )
    try:
        with cloud:
            announce(cloud)
            while True:
                signal.pause()
    except KeyboardInterrupt:
        return 130


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cloud", description=__doc__)
    parser.add_argument("--computes", type=int, default=4, metavar="N")
    parser.add_argument(
        "--release",
        type=int,
        choices=sorted(RELEASES),
        default=chosen().number,
        help="the release of its services, as the number of its Nova",
    )
    parser.add_argument(
        "--network", action="store_true", help="with Neutron and Cinder as well"
    )
    parser.add_argument(
        "--nova-opt",
        action="append",
        default=[],
        type=checked,
        metavar="SECTION.KEY=VALUE",
        help="an option of nova.conf; can be given more than once",
    )
    parser.add_argument(
        "--state", metavar="FOLDER", help="an empty folder to use, and keep at the end"
    )
    return parser


def checked(text: str) -> str:
    """Return an option of nova.conf as it is, if it is written as one."""
    try:
        config.option(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def announce(cloud: Cloud) -> None:
    """Write one file to source for each user, and print the administrator's."""
    for user in USERS:
        suffix = "" if user.name == "admin" else f"-{user.name}"
        (cloud.state / f"openrc{suffix}").write_text(exports(cloud, user.name))
    print(exports(cloud, "admin"), end="")
    print(f"# the same in {cloud.state / 'openrc'}", flush=True)


def exports(cloud: Cloud, name: str) -> str:
    """Return lines for a shell to source."""
    variables = cloud.environment_of(name).items()
    return "".join(f"export {key}={shlex.quote(value)}\n" for key, value in variables)


def _interrupt(number: int, frame: object) -> None:
    # Stopping must not be interrupted in turn: tox passes a Ctrl-C on twice.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
