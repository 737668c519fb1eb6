"""What a case takes of time and memory: each contestant in processes of its own, in turn."""

from datetime import UTC, datetime

from benches.common.own_process import in_own_process
from benches.common.rivals import is_installed, version_of
from benches.common.usage import usage
from benches.speed.cases import CASES

#: Work that has taken so long, repeats included, is not repeated again.
MOST_SECONDS_TO_REPEAT = 30


def prepare(key, name, setting):
    """Do all but the work of a contestant, so that its models are fitted."""
    CASES[key].contestants[name].prepare(setting)


def take(key, name, setting):
    """Do the work of a contestant in this process; return what it takes."""
    contestant = CASES[key].contestants[name]
    contestant.prepare(setting.of_few_rows())()
    work = contestant.prepare(setting)
    taken, result = usage(work)
    contestant.keep(setting, result)
    return taken


def in_turn(key, names, setting, repeats, time_limit):
    """Return what each contestant takes, the least of each figure, and the failures by name."""
    runs, failures = {name: [] for name in names}, {}
    for repeat in range(repeats):
        for name in names:
            taken = runs[name]
            is_long = sum(run["seconds"] for run in taken) > MOST_SECONDS_TO_REPEAT
            if name in failures or is_long:
                continue
            arguments = key, name, setting
            try:
                if CASES[key].contestants[name].fits_first and not repeat:
                    in_own_process(prepare, *arguments, time_limit=time_limit)
                taken.append(in_own_process(take, *arguments, time_limit=time_limit))
            except RuntimeError as error:
                failures[name] = str(error).splitlines()[0]
    least = {
        name: {what: min(run[what] for run in taken) for what in taken[0]} | {"runs": len(taken)}
        for name, taken in runs.items()
        if taken and name not in failures
    }
    return least, failures


def record_of(key, setting, repeats, time_limit):
    """Return the record of a case: what all take that are installed."""
    case = CASES[key]
    modules = {name: one.modules for name, one in case.contestants.items()}
    missing = {module for names in modules.values() for module in names if not is_installed(module)}
    installed = [name for name, names in modules.items() if not missing.intersection(names)]
    figures, failures = in_turn(key, installed, setting, repeats, time_limit)
    return {
        "title": case.title,
        "rows": setting.rows,
        "features": setting.features,
        "threads": setting.threads,
        "date": datetime.now(UTC).date().isoformat(),
        "ours": case.ours.name,
        "contestants": figures,
        "failed": failures,
        "missing": sorted(missing),
        "versions": {module: version_of(module) for name in installed for module in modules[name]},
    }


def is_complete(key, record, setting):
    """Whether a record is of this setting, and has all that are installed now."""
    sizes = (setting.rows, setting.features, setting.threads)
    return (
        (record["rows"], record["features"], record["threads"]) == sizes
        and record["title"] == CASES[key].title
        and not record["failed"]
        and not any(map(is_installed, record["missing"]))
    )
