"""Models in PMML 4.4, which decision systems of banks read."""
