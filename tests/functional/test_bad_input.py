"""Whatever is wrong: one clear line, exit 1 or 2, and nothing written."""

from __future__ import annotations

import json
import threading

import pytest

from tests.functional import shell
from tests.functional.nova import Says
from tests.functional.proxy import CutBefore, Instead


@pytest.fixture
def hosts(placement):
    placement.create_traits("CUSTOM_GOLD")
    return {name: placement.add_host(name) for name in ("cmp1", "cmp2")}


USAGE = shell.USAGE


def assert_refused(run, proxy, code, *parts):
    assert run.code == code
    assert "Traceback" not in run.err + run.out
    line = run.err.strip().splitlines()[-1]
    for part in parts:
        assert part in line
    assert run.out == ""
    assert not proxy.writes


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        (["add", "--create"], "CUSTOM_GÖLD"),
        (["add", "--create"], "CUSTOM_GOLD\n"),
        (["add", "--create"], "CUSTOM_" + "A" * 249),
        (["remove"], "../traits"),
    ],
)
def test_a_name_that_no_trait_can_have(hosts, proxy, openstack, verb, name):
    run = openstack(*verb, name, "--all")
    assert_refused(run, proxy, 1, "can't be a trait", "A-Z, 0-9 and _")
    assert len(run.err.splitlines()) == 1


def test_255_characters_are_a_name_and_256_are_not(hosts, placement, openstack):
    longest = "CUSTOM_" + "A" * 248
    assert openstack("add", longest, "--all", "--create").code == 0
    assert longest in placement.traits(hosts["cmp1"])


@pytest.mark.parametrize("name", ["--CUSTOM_GOLD", "-x"])
def test_an_option_like_name_is_a_usage_error(hosts, proxy, openstack, name):
    assert_refused(openstack("add", name, "--all"), proxy, USAGE, "error:")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--host", "cmp3"], ["no host matches 'cmp3'", "did you mean cmp1 or cmp2?"]),
        (["--host", "zzz*"], ["no host matches 'zzz*'"]),
        (["--host", "cmp1", "--host", "nope"], ["no host matches 'nope'"]),
        (["--provider", "cmp11"], ["no provider matches 'cmp11'", "cmp1"]),
        (
            ["--provider", "1c4a4a10-0a7c-4f0c-8a5c-3a1f5f1f8d6a"],
            ["no provider matches '1c4a4a10-0a7c-4f0c-8a5c-3a1f5f1f8d6a'"],
        ),
        (["--aggregate", "gold"], ["no aggregate", "Nova could not be asked"]),
        (["--availability-zone", "az1"], ["no availability zone"]),
        (["--all", "--without-trait", "nix"], ["'nix' can't be a trait"]),
    ],
)
def test_a_selector_that_matches_nothing_is_named_with_the_nearest(
    hosts, proxy, openstack, options, parts
):
    assert_refused(openstack("add", "CUSTOM_GOLD", *options), proxy, 1, *parts)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ([], "name the hosts"),
        (["--without-trait", "CUSTOM_GOLD"], "name the hosts"),
        (["--all", "--exit-code"], "--exit-code requires --dry-run"),
    ],
)
def test_options_that_do_not_make_sense_are_usage_errors(
    hosts, proxy, openstack, options, part
):
    assert_refused(openstack("add", "CUSTOM_GOLD", *options), proxy, 2, part)


@pytest.mark.parametrize(
    ("verb", "option"), [("add", "--host"), ("remove", "--provider")]
)
def test_two_dashes_are_no_value(hosts, proxy, openstack, verb, option):
    run = openstack(verb, "CUSTOM_GOLD", f"{option}=--", "--host", "cmp1")
    assert_refused(run, proxy, USAGE, f"argument {option}: expected one argument")


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "CUSTOM_\udcff", "--all"],
        ["add", "CUSTOM_GOLD", "--host", "cmp1", "--host", "\udcff"],
        ["remove", "CUSTOM_GOLD", "--host-file", "\udcff"],
        ["list", "--aggregate", "\udcff"],
        ["explain", "small\udcff", "raw"],
        ["check", "--flavor", "\udcff"],
    ],
)
def test_an_argument_that_is_no_text_is_a_usage_error(
    hosts, proxy, openstack, arguments
):
    assert_refused(openstack(*arguments), proxy, 2, "not UTF-8: ", "\\udcff'")
    assert not proxy.requests


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["list", "--by-trait", "--tree"], "--by-trait cannot be combined with --tree"),
        (["check", "mirror", "-c", "nope"], "no column 'nope'; there are id, severity"),
        (["check", "-c", "id", "-c", "nope"], "no column 'nope'"),
        (["mirror", "repair", "-c", "id"], "there are host, provider, added"),
        (
            ["candidates", "small", "raw", "--print-query", "--limit", "1"],
            "--print-query cannot be combined with --limit",
        ),
    ],
)
def test_an_option_that_would_do_nothing_is_a_usage_error(
    hosts, proxy, openstack, arguments, part
):
    assert_refused(openstack(*arguments), proxy, 2, part)
    assert not proxy.requests


@pytest.mark.parametrize(
    ("name", "part"),
    [
        (
            "config-ignord",
            "no rule matches 'config-ignord'; did you mean config-ignored",
        ),
        ("mirror", "argument --ignore: no rule matches 'mirror'"),
        ("", "argument --ignore: no rule matches ''"),
    ],
)
def test_a_rule_to_ignore_is_named_by_its_id(hosts, proxy, openstack, name, part):
    assert_refused(openstack("check", "--ignore", name), proxy, USAGE, part)
    assert not proxy.requests


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("isolaton", "no rule matches 'isolaton'; did you mean isolation or"),
        ("mirror-mising", "did you mean mirror-missing"),
        ("nosuch", "'nosuch'; the areas are image-type, images, "),
    ],
)
def test_a_rule_to_run_is_an_id_or_an_area(hosts, proxy, openstack, name, part):
    assert_refused(openstack("check", name), proxy, USAGE, part)
    assert not proxy.requests


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        (["list"], "host, "),
        (["list", "--by-trait", "-c", "trait"], "trait, "),
        (["config", "show", "--nova-release", "27"], "option, value, source"),
    ],
)
def test_a_column_that_is_not_there_is_a_usage_error(
    hosts, proxy, openstack, arguments, columns
):
    run = openstack(*arguments, "-c", "nope")
    assert_refused(run, proxy, 2, f"no column 'nope'; there are {columns}")


def test_a_check_of_nothing_but_ignored_rules_is_a_usage_error(hosts, proxy, openstack):
    run = openstack("check", "traits-unused", "--ignore", "traits-unused")
    assert_refused(run, proxy, 2, "all rules that are to be run are ignored")
    assert not proxy.requests


@pytest.mark.parametrize("jobs", ["0", "17", "many"])
def test_the_number_of_jobs_is_checked(hosts, proxy, openstack, jobs):
    run = openstack("add", "CUSTOM_GOLD", "--all", "--jobs", jobs)
    assert_refused(run, proxy, USAGE, "error: argument --jobs")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "names no host"),
        (b"\n# nobody\n", "names no host"),
        (b"\x7fELF\xff\xfe\x00\x01", "not a text file"),
        (b"cmp1\x00cmp2", "not a text file"),
        (b"cmp1\nnope\n", "no host matches 'nope'"),
    ],
)
def test_a_host_file_that_is_empty_or_no_text_or_wrong(
    hosts, proxy, openstack, tmp_path, content, part
):
    (tmp_path / "hosts").write_bytes(content)
    file = str(tmp_path / "hosts")
    run = openstack("add", "CUSTOM_GOLD", "--host-file", file)
    assert_refused(run, proxy, 1, part)


def test_a_host_file_that_is_not_there(hosts, proxy, openstack, tmp_path):
    run = openstack("add", "CUSTOM_GOLD", "--host-file", str(tmp_path / "none"))
    assert_refused(run, proxy, 1, "No such file or directory")
    run = openstack("add", "CUSTOM_GOLD", "--host-file", str(tmp_path))
    assert_refused(run, proxy, 1, "Is a directory")


def test_a_host_file_that_never_ends(hosts, proxy, openstack):
    run = openstack("add", "CUSTOM_GOLD", "--host-file", "/dev/zero")
    assert_refused(run, proxy, 1, "host file /dev/zero: larger than 10 MB")


@pytest.mark.parametrize(
    ("stdin", "part"),
    [
        (None, "host file -: standard input is closed"),
        ("", "host file -: names no host"),
        ("#" * 10_000_001, "host file -: larger than 10 MB"),
    ],
)
def test_a_standard_input_that_names_no_host(hosts, proxy, openstack, stdin, part):
    run = openstack("add", "CUSTOM_GOLD", "--host-file", "-", stdin=stdin)
    assert_refused(run, proxy, 1, part)


def test_the_mark_that_a_text_may_begin_with_is_no_part_of_a_name(
    hosts, openstack, tmp_path
):
    (tmp_path / "hosts").write_text("cmp1\ncmp2\n", encoding="utf-8-sig")
    file = str(tmp_path / "hosts")
    run = openstack("add", "CUSTOM_GOLD", "--host-file", file, "-f", "json")
    assert run.statuses == {"cmp1": "changed", "cmp2": "changed"}
    run = openstack(
        "remove", "CUSTOM_GOLD", "--host-file", "-", "-f", "json", stdin="\ufeffcmp1"
    )
    assert run.statuses == {"cmp1": "changed"}


def test_a_placement_that_is_too_old_is_named(hosts, proxy, openstack):
    proxy.fault = lambda request: Instead(406) if request.path != "/" else None
    run = openstack("add", "CUSTOM_GOLD", "--all")
    assert_refused(run, proxy, 1, "placement is older", "1.36")


def test_a_placement_that_is_down(hosts, placement, proxy, openstack):
    proxy.stop()
    run = openstack("add", "CUSTOM_GOLD", "--all")
    assert_refused(run, proxy, 1, f"placement: no connection to {proxy.url}/")


def test_a_placement_that_hangs_up(hosts, proxy, openstack):
    proxy.fault = lambda request: CutBefore()
    assert_refused(openstack("list"), proxy, 1, "placement")


def test_something_else_that_answers_in_placements_place(hosts, proxy, openstack):
    proxy.fault = lambda request: Instead(404) if request.path != "/" else None
    assert_refused(openstack("list"), proxy, 1, "placement", "HTTP 404")


def test_a_token_that_ends_half_way_fails_the_rest_and_the_same_again_finishes(
    hosts, placement, proxy, openstack
):
    proxy.fault = lambda request: (
        Instead(401) if request.is_write and request.number > 1 else None
    )
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 1
    assert run.statuses == {"cmp1": "changed", "cmp2": "failed"}
    assert "HTTP 401" in run.json[1]["detail"]
    assert run.err.startswith("1 of 2 failed")
    # Neither 401 nor 403 becomes better by asking again.
    assert len(proxy.writes) == 2
    proxy.fault = lambda request: None
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.statuses == {"cmp1": "unchanged", "cmp2": "changed"}


def test_the_debug_log_shows_no_secret(hosts, proxy):
    secret = "a-token-that-is-secret"
    variables = {**shell.login(proxy.url), "OS_TOKEN": secret, "OS_PASSWORD": secret}
    run = shell.run(variables, "--debug", "trait-sched", "list")
    assert "REQ: curl" in run.err
    assert secret not in run.err + run.out


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"null", "the top"),
        (b"[]", "the top"),
        (b'{"versions": []}', "resource_providers"),
        (b'{"resource_providers": {}}', "resource_providers"),
        (b'{"resource_providers": [{}]}', "uuid"),
    ],
)
def test_json_of_another_shape_is_one_clear_line(proxy, openstack, body, where):
    proxy.fault = lambda request: Says(text=body) if request.path != "/" else None
    run = openstack("list")
    assert (run.code, run.out) == (1, "")
    assert run.err == (
        "placement: unexpected answer to GET /resource_providers: not as it should be "
        f"at {where}\n"
    )


@pytest.fixture
def hanging(proxy):
    """A Placement that tells its versions, and no more until the test is over."""
    over = threading.Event()
    proxy.fault = lambda request: request.path != "/" and over.wait(60) and None
    yield proxy
    over.set()


def test_a_service_that_hangs_does_not_hang_the_command(hanging, openstack):
    run = openstack("list", "--timeout", "0.5")
    assert (run.code, run.out) == (1, "")
    assert "no answer from" in run.err


def test_a_service_that_hangs_from_the_start_does_not_either(hanging, openstack):
    proxy, slow = hanging, threading.Event()
    proxy.fault = lambda request: slow.wait(60) and None
    run = openstack("list", "--timeout", "0.5")
    slow.set()
    assert (run.code, run.out) == (1, "")
    assert len(run.err.splitlines()) == 1


def test_clouds_yaml_says_how_long_to_wait(hanging, tmp_path):
    file = tmp_path / "clouds.yaml"
    auth = {"endpoint": hanging.url, "token": "admin"}
    cloud = {"auth_type": "admin_token", "auth": auth, "api_timeout": 0.5}
    file.write_text(json.dumps({"clouds": {"slow": cloud}}))
    variables = {"OS_CLIENT_CONFIG_FILE": str(file), "OS_CLOUD": "slow"}
    run = shell.run(variables, "trait-sched", "list")
    assert (run.code, run.out) == (1, "")
    assert "no answer from" in run.err


@pytest.mark.parametrize("text", ["0", "", "nan"])
@pytest.mark.parametrize("verb", [["list"], ["config", "show"]])
def test_how_long_to_wait_is_a_number_above_0(proxy, openstack, verb, text):
    run = openstack(*verb, f"--timeout={text}")
    assert run.code in (1, 2)
    assert f"not a number of seconds above 0: {text}" in run.err
