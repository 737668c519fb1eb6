"""Rankers that learn from a sample of the rows of a `Dataset`."""

from sklearn.utils.validation import check_is_fitted

from aucrank._base.core_estimator import CoreEstimator


class SampledFitMixin(CoreEstimator):
    """Mixin for rankers that need rows, not sums of them: they fit the sample of a `Dataset`."""

    _fits_dataset = "sample"

    @property
    def sampled_rows_(self) -> tuple[int, int] | None:
        """Number of rows learned from, where they are a sample.

        Returns
        -------
        tuple of int, or None
            Number of rows of the sample, and of all rows of the `Dataset`; None if the model was
            learned from all of them.
        """
        check_is_fitted(self)
        found: tuple[int, int] | None = self.__dict__.get("_sampled_rows")
        return found
