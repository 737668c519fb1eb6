"""What the compiled module consists of: bytes of code by crate, and of this crate by room.

    CARGO_PROFILE_DIST_STRIP=none cargo build --profile dist --locked -p aucrank-python \\
        --features extension-module
    python -m benches.speed.wheel_size target/dist/lib_core.so [--wheel FILE] [--least .005]

Needs `nm` of binutils, and a library with symbols. A function counts for the crate and the room
that its name begins with, so a generic one counts for where it is defined, whatever its types:
`Vec::<Stump>::push` is `alloc`. A method of a trait counts for the type that has it. What `serde`
derives for our types is the room `serde`. Code that was inlined counts for its caller. With
`--wheel`, the compressed bytes of the wheel by kind of file, too.
"""

import re
import subprocess
import zipfile
from collections import Counter
from pathlib import Path

from benches.common.options import make_parser

#: Crates whose code is split by room.
OURS = ("aucrank", "_core")

#: `<aucrank::tree::Model as serde_core::de::Deserialize>::deserialize`, or a plain path.
NAME = re.compile(r"<*(?:&(?:mut )?|\[)*(?P<path>[\w:]+)(?:<.*?>)?(?: as (?P<trait>[\w:]+))?")


def functions_of(library):
    """Return the size and the name of each function of a library, copies of it once."""
    shown = subprocess.run(
        ["nm", "--print-size", "--demangle=rust", library],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = re.findall(r"^(\w+) (\w+) [tTwW] (.+)$", shown.stdout, re.MULTILINE)
    if not rows:
        raise SystemExit(f"{library} has no symbols: build it with CARGO_PROFILE_DIST_STRIP=none")
    return {address: (int(size, 16), name) for address, size, name in rows}.values()


def part_of(name):
    """Return the crate and the room that a function counts for."""
    found = NAME.match(name)
    if found is None:
        return "other", ""
    crate, *rooms = found["path"].split("::")
    # A block without a name: `aucrank::formula::_::<impl serde_core::...`.
    derived = "::_::<impl serde" in name
    if crate not in OURS:
        return (crate, "") if rooms else ("other", "")
    if derived or (found["trait"] or "").startswith("serde"):
        return crate, "serde"
    return crate, rooms[0] if len(rooms) > 1 or crate == "aucrank" else "root"


def shares(sizes, least):
    """Print the parts, largest first; those below a share of all together."""
    total = sum(sizes.values())
    small = Counter()
    for part, size in sizes.most_common():
        if size < least * total:
            small["others"] += size
            continue
        print(f"{' '.join(part):40} {size:12,} {size / total:6.1%}")
    for part, size in small.items():
        print(f"{part:40} {size:12,} {size / total:6.1%}")
    print(f"{'all':40} {total:12,}")


def kinds_of(wheel):
    """Return the compressed bytes of a wheel by kind of file."""
    sizes = Counter()
    for file in zipfile.ZipFile(wheel).infolist():
        is_metadata = ".dist-info/" in file.filename
        kind = "metadata" if is_metadata else Path(file.filename).suffix or "other"
        sizes[(kind,)] += file.compress_size
    return sizes


def main():
    parser = make_parser(__doc__)
    parser.add_argument("library", type=Path, help="lib_core.so with symbols")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--least", type=float, default=0.005, help="least share that has a line")
    options = parser.parse_args()
    sizes = Counter()
    for size, name in functions_of(options.library):
        sizes[part_of(name)] += size
    shares(sizes, options.least)
    if options.wheel:
        print()
        shares(kinds_of(options.wheel), 0)


if __name__ == "__main__":
    main()
