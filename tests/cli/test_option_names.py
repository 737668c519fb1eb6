"""One meaning of each option in all commands, and one name for each meaning."""

import argparse
import re
from collections import defaultdict

from aucrank.cli._outputs import INPUTS, OUTPUTS
from aucrank.cli._parser import build_parser


def commands():
    """Parser of each command, by name."""
    return next(action.choices for action in build_parser()._actions if action.choices)


def options():
    """Options and arguments of all commands, as pairs of a command's name and an action."""
    return [(name, action) for name, command in commands().items() for action in command._actions]


def meaning(action):
    """What is the same wherever an option occurs: what its value is, and how its help begins."""
    # Types with a bound are functions of the same name.
    kind = getattr(action.type, "__qualname__", action.type)
    stem = re.split(r"[,:;(]", action.help)[0].strip()
    return (
        tuple(action.option_strings) or action.metavar,
        action.dest,
        type(action).__name__,
        action.metavar,
        action.nargs,
        kind,
        tuple(action.choices or ()),
        stem,
    )


def test_an_option_has_one_meaning_in_all_commands():
    meanings = defaultdict(lambda: defaultdict(list))
    for command, action in options():
        for name in action.option_strings or [action.metavar or action.dest]:
            meanings[name][meaning(action)].append(command)
    clashes = {name: dict(found) for name, found in meanings.items() if len(found) > 1}
    assert clashes == {}


def test_a_meaning_has_one_name_in_all_commands():
    names = defaultdict(set)
    for _, action in options():
        *what, stem = meaning(action)
        names["dest", action.dest].add(what[0])
        names["help", stem].add(what[0])
    clashes = {what: found for what, found in names.items() if len(found) > 1}
    assert clashes == {}


def test_an_option_has_one_default_in_all_commands():
    defaults = defaultdict(set)
    for _, action in options():
        # Each command names the file that it writes.
        if action.dest != "output":
            defaults[action.dest].add(repr(action.default))
    clashes = {dest: found for dest, found in defaults.items() if len(found) > 1}
    assert clashes == {}


def test_an_option_has_one_long_name():
    for command, action in options():
        long = [name for name in action.option_strings if name.startswith("--")]
        if isinstance(action, argparse.BooleanOptionalAction):
            long.remove(f"--no-{action.dest}")
        assert len(long) == bool(action.option_strings), (command, long)


def test_o_is_the_file_that_a_command_writes():
    of_file = [action for _, action in options() if "-o" in action.option_strings]
    assert len(of_file) == 6
    for action in of_file:
        assert (action.option_strings, action.metavar) == (["-o", "--output"], "FILE")
        assert action.help.startswith("file to write: ")


def test_every_file_is_known_as_one_that_is_read_or_written():
    files = {action.dest for _, action in options() if action.metavar in ("FILE", "DATA", "MODEL")}
    assert files == {*INPUTS, *OUTPUTS}
