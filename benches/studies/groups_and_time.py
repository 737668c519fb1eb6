"""What folds promise and what new rows hold, where rows belong together or come in time.

    python -m benches.studies.groups_and_time FOLDER [--sets musk1] [--max-rows 20000]

FOLDER holds Parquet files with columns and a 0/1 column `target`, and in `keys` files of the same
names with a column `group` or `time`. Of each set new rows are kept back: three tenths of the
groups, or the latest three tenths. The other rows are fitted twice, with random folds and with
folds by group or time. The table has the AUC that each leaderboard promises, of the best of the
members and of the ensemble, and what the same models reach on the new rows.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import RankingEnsemble
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupShuffleSplit

from benches.studies.gradient_boosting import with_categories


def split(keys):
    """Return rows to fit to and new rows, and what the former are dealt by."""
    if "group" in keys:
        groups = keys["group"].to_numpy()
        parts = GroupShuffleSplit(1, test_size=0.3, random_state=0)
        train, test = next(parts.split(groups, groups=groups))
        return train, test, {"groups": groups[train]}
    time = keys["time"].to_numpy()
    order = np.argsort(time, kind="stable")
    first_new = time[order[int(0.7 * len(order))]]
    train, test = np.flatnonzero(time < first_new), np.flatnonzero(time >= first_new)
    return train, test, {"time": time[train]}


def promises(model):
    """Return the AUC that the leaderboard shows of the ensemble, and of the latest rows."""
    table = model.leaderboard_
    own = table["name"] == "ensemble"
    latest = table["auc_latest"][own][0] if "auc_latest" in table else np.nan
    return table["auc"][own][0], latest


def main():
    """Print a row for each set and way to deal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--max-rows", type=int, default=20_000)
    args = parser.parse_args()
    rows = []
    for path in sorted((args.folder / "keys").glob("*.parquet")):
        if args.sets and path.stem not in args.sets:
            continue
        keys, frame = pd.read_parquet(path), pd.read_parquet(args.folder / path.name)
        step = -(-len(frame) // args.max_rows)
        keys, frame = (part.iloc[::step].reset_index(drop=True) for part in (keys, frame))
        y = frame.pop("target").to_numpy()
        X = with_categories(frame)
        train, test, dealt = split(keys)
        for name, given in (("random", {}), (next(iter(dealt)), dealt)):
            model = RankingEnsemble(random_state=0).fit(X.iloc[train], y[train], **given)
            promised, latest = promises(model)
            found = roc_auc_score(y[test], model.decision_function(X.iloc[test]))
            rows.append((path.stem, len(train), name, promised, latest, found))
            print(f"{path.stem}, {name}: promised {promised:.4f}, found {found:.4f}", flush=True)
    columns = ["set", "rows", "folds", "promised", "latest", "new rows"]
    print(pd.DataFrame(rows, columns=columns).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
