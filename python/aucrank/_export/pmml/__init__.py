"""Models in PMML 4.4, which the decision systems of banks read."""
