"""Rankers that learn from a sample of the rows of a `Dataset`."""

from sklearn.utils.validation import check_is_fitted

from aucrank._base.core_estimator import CoreEstimator


class SampledFitMixin(CoreEstimator):
    """Of rankers that need rows, not sums of them: a `Dataset` gives its common sample."""

    _fits_dataset = "sample"

    @property
    def sampled_rows_(self) -> tuple[int, int] | None:
        """Return how many rows were learned from, where they are a sample.

        Returns
        -------
        tuple of int, or None
            Number of rows of the sample, and of all rows of the `Dataset`; None where all were
            learned from.
        """
        check_is_fitted(self)
        found: tuple[int, int] | None = self.__dict__.get("_sampled_rows")
        return found
