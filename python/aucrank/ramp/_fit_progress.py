"""Progress of a fit of `AURORA`: printed lines, and the callbacks of scikit-learn."""

from typing import Any

#: With ``verbose=1``, a line is printed after so many terms.
_EVERY = 10

#: Ramp statistic and AUC.
Statistics = tuple[float, float]


class FitProgress:
    """Told by the core after each term of a search.

    Parameters
    ----------
    estimator : AURORA
        The one that is fitted.
    context : sklearn.callback.CallbackContext or None, default=None
        The task that is the whole fit, if there may be callbacks.
    """

    def __init__(self, estimator: Any, context: Any = None) -> None:
        self._estimator = estimator
        self._context = context
        self._search: Any = None

    def chosen(
        self,
        radius: float,
        fold: int | None,
        n_terms: int,
        train: Statistics,
        validation: Statistics | None,
        /,
    ) -> bool:
        """Tell of a term; return whether the search goes on."""
        verbose = self._estimator.verbose
        if verbose > 1 or (verbose == 1 and n_terms % _EVERY == 0):
            print(_line(radius, fold, n_terms, train, validation))
        if self._context is None:
            return True
        if n_terms == 1:
            self.end_search()
            self._search = self._context.subcontext(
                task_name="search", max_subtasks=self._estimator.max_features
            )
            self._search.call_on_fit_task_begin(estimator=self._estimator)
        term = self._search.subcontext(task_name="term")
        term.call_on_fit_task_begin(estimator=self._estimator)
        found = {
            "radius": radius,
            "fold": fold,
            "n_terms": n_terms,
            "train_ramp": train[0],
            "train_auc": train[1],
            "validation_ramp": None if validation is None else validation[0],
            "validation_auc": None if validation is None else validation[1],
        }
        return not term.call_on_fit_task_end(estimator=self._estimator, metadata=found)

    def end_search(self) -> None:
        """Tell that no term will be added to the last search."""
        if self._search is not None:
            self._search.call_on_fit_task_end(estimator=self._estimator)
            self._search = None


def _line(
    radius: float,
    fold: int | None,
    n_terms: int,
    train: Statistics,
    validation: Statistics | None,
) -> str:
    where = f"radius {radius:.4g}" + ("" if fold is None else f", fold {fold + 1}")
    size = "1 term" if n_terms == 1 else f"{n_terms} terms"
    line = f"[AURORA] {where}: {size}, ramp {train[0]:.4f}, AUC {train[1]:.4f}"
    if validation is not None:
        line += f"; held out: ramp {validation[0]:.4f}, AUC {validation[1]:.4f}"
    return line
