"""Models that take long: here alone, so that the command line can tell without scikit-learn."""

#: Models whose fit takes long, and how many values, rows times columns, the data may have for them
#: to be compared without being asked for.
MOST_VALUES = {
    "AURORA": 5_000,
    "CatBoostClassifier": 500_000,
    "ExplainableBoostingClassifier": 200_000,
    "RankOpt": 1_000_000,
}
