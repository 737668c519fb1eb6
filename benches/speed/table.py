"""The results of `python -m benches.speed` as a table, and as a part of the page of benchmarks."""

from pathlib import Path

HEADS = (
    "case",
    "rows",
    "time",
    "rival",
    "its time",
    "ratio",
    "CPU ratio",
    "memory",
    "its memory",
)

#: Packages as people call them, by the name of the module.
PACKAGES = {
    "aucrank": "aucrank",
    "numpy": "NumPy",
    "sklearn": "scikit-learn",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "chimeraboost": "ChimeraBoost",
    "hessboost": "hessboost",
    "numba": "Numba",
    "optbinning": "optbinning",
    "interpret": "interpret (EBM)",
}

#: The part of the page without its figures.
SECTION = Path(__file__).with_name("section.md").read_text("utf-8")


def seconds_text(seconds):
    """Write a time with two or three digits."""
    if seconds < 0.1:
        return f"{1000 * seconds:#.2g} ms".replace(". ", " ")
    return f"{seconds:#.2g} s".replace(". ", " ") if seconds < 99.5 else f"{seconds:.0f} s"


def bytes_text(n_bytes):
    """Write a number of bytes."""
    if n_bytes < 1e6:
        return "< 1 MB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 9.995e8 else f"{n_bytes / 1e9:.1f} GB"


def ratio_text(theirs, ours):
    """Write how often our figure goes into theirs, in bold where ours is greater."""
    if not ours:
        return ""
    ratio = theirs / ours
    text = f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"
    return f"**{text}**" if ratio < 1 else text


def rows_text(record):
    """Write how many rows there are, and how many columns."""
    features = record["features"]
    return f"{record['rows']:,}" + (f" x {features}" if features > 1 else "")


def lines_of(record):
    """Return the cells of each line of a case: one for each rival, or one without."""
    names = list(record["contestants"])
    ours = record["contestants"].get(record["ours"])
    if ours is None:
        return []
    head = [record["title"], rows_text(record), seconds_text(ours["seconds"])]
    memory = bytes_text(ours["bytes"])
    lines = []
    for name in names:
        if name == record["ours"]:
            continue
        rival = record["contestants"][name]
        ratios = [ratio_text(rival[what], ours[what]) for what in ("seconds", "processor_seconds")]
        times = [name, seconds_text(rival["seconds"]), *ratios]
        lines.append([*head, *times, memory, bytes_text(rival["bytes"])])
    return lines or [[*head, "", "", "", "", memory, ""]]


def table(cases):
    """Return the table of records of cases."""
    lines = [HEADS, ["---"] * len(HEADS)]
    for record in cases.values():
        lines += lines_of(record)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def joined(words):
    """Write words one after another, each once."""
    return " and ".join(sorted(set(words)))


def gaps_text(cases):
    """Write which packages are missing, and what failed."""
    missing = {PACKAGES.get(name, name) for one in cases.values() for name in one["missing"]}
    text = f" Not installed, and so left out: {', '.join(sorted(missing))}." if missing else ""
    for record in cases.values():
        for name, reason in record["failed"].items():
            text += f" {record['title']}: {name} is left out ({reason})."
    return text


def machine_text(here):
    """Write what a machine is."""
    return (
        f"{here['processors']} processors ({here['processor']}) with {here['gigabytes']} GB of"
        f" memory, {here['system']}"
    )


def section(results):
    """Return the part of the page."""
    cases, here = results["cases"], results["machine"]
    versions = {}
    for record in cases.values():
        for module, version in record["versions"].items():
            versions.setdefault(module, set()).add(version)
    named = (f"{name} {joined(versions[m])}" for m, name in PACKAGES.items() if m in versions)
    dates = sorted({record["date"] for record in cases.values()})
    threads = joined(str(record["threads"]) for record in cases.values())
    return SECTION.format(
        dates=f"on {dates[0]}" if len(dates) == 1 else f"from {dates[0]} to {dates[-1]}",
        machine=machine_text(here),
        threads=f"{threads} threads",
        python=here["python"],
        versions=", ".join(named),
        gaps=gaps_text(cases),
        repeats=max(one["runs"] for r in cases.values() for one in r["contestants"].values()),
        table=table(cases),
    )
