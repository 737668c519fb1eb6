"""Arguments of a comparison, checked before anything is fitted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike

from aucrank._compare.contestants import Chosen, choose, make_contestants
from aucrank._compare.facts import LeaderboardFacts
from aucrank._compare.folds import RepeatedFolds, deal
from aucrank._compare.of_dataset import MOST_ROWS, sampled_rows
from aucrank._compare.outcome import Outcome
from aucrank._compare.progress import Say
from aucrank._compare.running import Parallel, RunOptions, run
from aucrank._compare.sample import LabelledSample, read_sample
from aucrank._compare.standings import standings
from aucrank._compare.store import Store
from aucrank._utils.params import check_choice, check_real, check_seed
from aucrank._utils.threads import effective_n_threads
from aucrank._utils.words import listed
from aucrank.data import Dataset
from aucrank.data._dataset import refuse_with_dataset
from aucrank.metrics._inference import check_confidence


class Request:
    """A checked comparison that has not begun.

    Attributes
    ----------
    sample : LabelledSample
        The rows.
    folds : RepeatedFolds
        The folds.
    chosen : Chosen
        The models.
    notes : list of str
        Remarks on the rows.
    """

    def __init__(
        self,
        sample: LabelledSample,
        folds: RepeatedFolds,
        chosen: Chosen,
        plan: RunOptions,
        confidence: float,
        seed: int,
        notes: Sequence[str] = (),
    ) -> None:
        self.sample = sample
        self.folds = folds
        self.chosen = chosen
        self.notes = list(notes)
        self._plan = plan
        self._confidence = confidence
        self._seed = seed

    def open_store(self, path: str | os.PathLike[str] | None) -> Store | None:
        """Open the file to resume from, if there is one."""
        if path is None:
            return None
        return Store(path, self.sample.fingerprint, self.folds.fingerprint())

    def run(self, outcomes: list[Outcome], store: Store | None, say: Say) -> None:
        """Fit all models; see `aucrank._compare.running.run`."""
        contestants = make_contestants(self.chosen.models, self.sample, self._seed)
        run(contestants, self.sample, self.folds, self._plan, outcomes, store, say)

    def facts(
        self,
        outcomes: Sequence[Outcome],
        store: Store | None,
        labels: tuple[str, str] | None = None,
    ) -> LeaderboardFacts:
        """Compute the results so far."""
        sample = self.sample
        ranked, others = standings(outcomes, sample, self.folds, self._confidence)
        notes = self.notes + [
            f"without {listed(names)}: {reason}" for reason, names in self.chosen.left_out.items()
        ]
        if self._plan.time_limit is not None and any(
            other.error is None and other.cut_off is None for other in others
        ):
            notes.append(f"no fit was begun after {self._plan.time_limit:g} s")
        first = int(np.argmax(sample.positive))
        given = str(sample.y[np.argmin(sample.positive)]), str(sample.y[first])
        return LeaderboardFacts(
            ranked,
            others,
            sample.n_rows,
            int(sample.positive.sum()),
            given if labels is None else labels,
            self.folds.says,
            sample.weight is not None,
            sample.time is not None,
            self._confidence,
            notes + ([] if store is None else store.says()),
        )


def read_request(
    X: Any,
    y: ArrayLike | None,
    *,
    models: Any = None,
    peers: bool | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    gap: Any = None,
    categorical_features: Any = "from_dtype",
    confidence: float = 0.95,
    time_limit: float | None = None,
    peer_time_limit: float | None = None,
    parallel: Parallel = "threads",
    n_jobs: int | None = None,
    random_state: int | RandomState | None = 0,
    are_groups_timed: bool = False,
) -> Request:
    """Check the arguments of `compare`; nothing is fitted.

    ``are_groups_timed`` is for times of rows that were read from a data set with groups, too.
    """
    level = check_confidence(confidence)
    check_choice(parallel, "parallel", ("threads", "folds"))
    if parallel is None:
        raise ValueError("parallel must be 'threads' or 'folds', got None")
    limit = check_real(time_limit, "time_limit", low=0.0, low_open=True, optional=True)
    peer_limit = check_real(
        peer_time_limit, "peer_time_limit", low=0.0, low_open=True, optional=True
    )
    effective_n_threads(n_jobs)
    # A number is used as the seed itself, so that the folds are those of scikit-learn for it.
    is_seed = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    drawn = check_seed(random_state)
    seed = int(random_state) if is_seed else drawn  # type: ignore[arg-type]
    notes: list[str] = []
    if isinstance(X, Dataset):
        refuse_with_dataset(y=y, sample_weight=sample_weight, groups=groups, time=time, gap=gap)
        rows = sampled_rows(X, MOST_ROWS, categorical_features, n_jobs)
        if rows.are_few:
            notes.append(f"on a sample of {len(rows.positive):,} of {rows.n_all:,} rows")
        are_groups_timed = X.groups is not None and X.time is not None
        X, y, sample_weight = rows.X.to_native(), rows.y, rows.weight
        groups, time = rows.groups, rows.time
        categorical_features = "from_dtype"
    elif y is None:
        raise ValueError("y is None: labels may be left out only with a Dataset, which has its own")
    sample = read_sample(
        X,
        y,
        sample_weight,
        groups,
        categorical_features,
        time,
        are_groups_timed=are_groups_timed,
    )
    folds = deal(sample, cv, n_repeats, seed, gap)
    chosen = choose(models, peers, sample.n_values)
    plan = RunOptions(n_jobs, parallel, limit, peer_limit)
    return Request(sample, folds, chosen, plan, level, seed, notes)
