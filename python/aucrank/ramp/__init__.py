"""Rankers that climb the ramp statistic, an area under the ROC curve that has a slope."""

__all__: list[str] = []
