"""Slow models, listed separately so that the command line can read them without scikit-learn."""

#: Models whose fit is slow, and the maximal number of values (rows times columns) for which they
#: are compared by default.
MOST_VALUES = {
    "AURORA": 5_000,
    "CatBoostClassifier": 500_000,
    "ExplainableBoostingClassifier": 200_000,
    "RankOpt": 1_000_000,
    "RuleList": 5_000,
}
