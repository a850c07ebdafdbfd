"""Random files, read by oslo.config's ConfigOpts and by this project alike."""

import random

import pytest
from oslo_config import cfg

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova.options import OPTIONS, Consumer, Option, OptionType

WALLABY = 23
REFUSED = "refused"
#: Of the kinds and limits that no row of the table has.
MORE = (
    Option("filter_scheduler.ram", OptionType.FLOAT, 1.0, Consumer.WEIGHER),
    Option("filter_scheduler.pci", OptionType.FLOAT, 1.0, Consumer.WEIGHER, minimum=0),
    Option("metrics.down_time", OptionType.INTEGER, 60, Consumer.FILTER),
    Option(
        "DEFAULT.architecture",
        OptionType.STRING,
        None,
        Consumer.FILTER,
        choices=("A", "az1"),
        deprecated_names=(("metrics.arch", 24), ("DEFAULT.older", WALLABY)),
    ),
    Option("metrics.setting", OptionType.LIST, (), Consumer.WEIGHER),
)
TABLE = {**OPTIONS, **{option.name: option for option in MORE}}
KINDS = {
    OptionType.BOOLEAN: cfg.BoolOpt,
    OptionType.INTEGER: cfg.IntOpt,
    OptionType.FLOAT: cfg.FloatOpt,
    OptionType.STRING: cfg.StrOpt,
    OptionType.LIST: cfg.ListOpt,
    OptionType.MULTI: cfg.MultiStrOpt,
}
BOOLEANS = ["true", "Off", "1", "'no'", "ye", "", "2", "$image_metadata_prefilter"]
NUMBERS = ["1", "0", "-5", "1000", "x", "", " 77", "0x10", "'12'", "1_000"]
FLOATS = [*NUMBERS, "0.5", "-1.0", "1e6", ".5", "inf", "1,5", "$ram", "${metrics.ram}"]
TEXTS = ["az1", '"az', "a=b:c", "x\n y", r"\$d", "$$d", "$1", "$nope", "${a.b}"]
LISTS = ["A", " A , B ,", "[A,B]", "A\n  ,B\n\tC", "A,,B", "A\n# no\n  B"]
TEXTS += ["$default_schedule_zone", "${scheduler.max_placement_results}", "$setting"]
LISTS += ["$default_schedule_zone", "$enabled_filters", "$pci,${metrics.down_time}"]
VALUES = {
    OptionType.BOOLEAN: BOOLEANS,
    OptionType.INTEGER: NUMBERS,
    OptionType.FLOAT: FLOATS,
    OptionType.STRING: TEXTS,
    OptionType.LIST: LISTS,
    OptionType.MULTI: TEXTS,
}
ODD = ["", "# a", "; a=b", "[other]", "workers = 1"]
BROKEN = ["junk", "  cont", "=x", "[]", "[x"]


@pytest.fixture(autouse=True)
def with_more_rows(monkeypatch):
    monkeypatch.setattr(nova_conf, "OPTIONS", TABLE)


def registered():
    """Return the options as Nova's release 23 registers them."""
    conf = cfg.ConfigOpts()
    for option in existing():
        section = None if option.section == "DEFAULT" else option.section
        conf.register_opt(as_oslo_has_it(option), section)
    return conf


def as_oslo_has_it(option):
    old_names = map(split, option.names_in(WALLABY)[1:])
    limits = {"min": option.minimum, "choices": option.choices}
    return KINDS[option.kind](
        option.key,
        default=plain(option.default_in(WALLABY)),
        deprecated_opts=[cfg.DeprecatedOpt(key, section) for section, key in old_names],
        **{name: limit for name, limit in limits.items() if limit not in (None, ())},
    )


def split(name):
    section, _, key = name.rpartition(".")
    return section, key


def text(dice):
    lines = []
    for _ in range(dice.randint(1, 5)):
        option = dice.choice(list(TABLE.values()))
        section, key = split(dice.choice(option.names_in(WALLABY)))
        lines.append(f"[{dice.choice([section, section, section.title()])}]")
        lines += dice.sample(ODD[:3], dice.randint(0, 2))
        value = dice.choice(VALUES[option.kind])
        lines.append(f"{key}{dice.choice(['=', ' = ', ': '])}{value}")
        lines += dice.sample(ODD, dice.randint(0, 2))
        lines += [dice.choice(BROKEN)] if dice.random() < 0.02 else []
    return dice.choice(["\n", "\n", "\r\n"]).join(lines)


def by_oslo(paths):
    conf = registered()
    args = [f"--config-{'dir' if path.is_dir() else 'file'}={path}" for path in paths]
    quiet = {"default_config_files": [], "default_config_dirs": [], "use_env": False}
    try:
        conf(args, project="nova", **quiet)
    except cfg.ConfigFileParseError:
        return REFUSED
    found = {}
    for option in existing():
        try:
            group = conf if option.section == "DEFAULT" else conf[option.section]
            found[option.name] = plain(group[option.key])
        except (ValueError, RecursionError, cfg.Error):
            found[option.name] = REFUSED
    return found


def by_ourselves(paths):
    try:
        files = deployments.read_files(map(str, paths))
    except BadConfiguration:
        return REFUSED
    reader = nova_conf._OptionReader(files, WALLABY, {})
    found = {}
    for option in existing():
        try:
            setting = reader.setting(option)
        except BadConfiguration:
            found[option.name] = REFUSED
        else:
            unset = option.default_in(WALLABY)
            found[option.name] = plain(setting.value if setting else unset)
    return found


def existing():
    return [option for option in TABLE.values() if option.is_in(WALLABY)]


def plain(found):
    return list(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize("seed", range(20))
def test_both_find_the_same_values_and_refuse_the_same(tmp_path, seed):
    dice = random.Random(seed)
    for n in range(10):
        paths = []
        for name in ["b.conf", "a.conf", "conf.d"][: dice.randint(1, 3)]:
            path = tmp_path / f"{n}{name}"
            if name == "conf.d":
                path.mkdir()
                for each in ("10.conf", "9.conf", ".h.conf", "x.txt"):
                    (path / each).write_bytes(text(dice).encode())
            else:
                path.write_bytes(text(dice).encode())
            paths.append(path)
        assert by_ourselves(paths) == by_oslo(paths)
