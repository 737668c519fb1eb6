"""Results of a study in a CSV file, which is gone on with where it was broken off."""

import csv
from contextlib import contextmanager

import pandas as pd


@contextmanager
def resumed(path, keys, figures):
    """Yield the keys of the rows that a file has, and a function that appends a row.

    A row has its keys, then its figures, and is in the file as soon as it is appended.
    """
    done = pd.read_csv(path) if path.exists() else pd.DataFrame()
    known = {tuple(key) for key in done[keys].itertuples(index=False)} if len(done) else set()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow([*keys, *figures])

        def append(*row):
            writer.writerow(row)
            file.flush()

        yield known, append
