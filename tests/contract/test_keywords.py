"""An unknown keyword is answered with the one that is meant."""

import copy
import inspect
import pickle

import aucrank
import pytest
from aucrank import data as _data
from aucrank import inspection as _inspection
from aucrank import metrics as _metrics
from aucrank._base import registry as _registry
from aucrank.tree import CrossValidatedPruning, LeafRank
from sklearn.base import clone

FUNCTIONS = {
    name: getattr(room, name)
    for room in (_metrics, _inspection, aucrank)
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
}
TAKE_GROUPS = {n: f for n, f in FUNCTIONS.items() if "groups" in inspect.signature(f).parameters}
TAKE_GROUPS |= {
    name: getattr(_data.Dataset, name) for name in ("from_csv", "from_parquet", "from_batches")
}
TAKE_GROUPS |= {
    f"{name}.fit": cls().fit
    for name, cls in _registry.public_estimators().items()
    if "groups" in inspect.signature(cls.fit).parameters
}


@pytest.mark.parametrize("name", _registry.public_names())
def test_a_misspelt_parameter_is_named_and_a_constructor_is_what_it_was(name):
    cls = _registry.get_estimator(name)
    names = list(inspect.signature(cls).parameters)
    assert names == list(inspect.signature(cls.__init__).parameters)[1:]
    for meant in names:
        with pytest.raises(TypeError, match=rf"argument '{meant}s'; did you mean '{meant}'\?"):
            cls(**{f"{meant}s": 1})
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'qqqq'$"):
        cls(qqqq=1)
    if "estimator" not in names or name == "Scorecard":
        model = cls()
        for again in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert again.get_params() == model.get_params()


@pytest.mark.parametrize(
    ("cls", "given", "meant"),
    [
        (aucrank.Scorecard, "monotonic_cst", "monotone"),
        (aucrank.Scorecard, "monotone_constraints", "monotone"),
        (aucrank.GradientBoostingRanker, "monotone", "monotonic_cst"),
        (aucrank.GradientBoostingRanker, "eta", "learning_rate"),
        (aucrank.GradientBoostingRanker.additive, "n_trees", "n_rounds"),
        (aucrank.RankingForest, "n_trees", "n_estimators"),
        (aucrank.RankingForest, "mtry", "max_features"),
        (aucrank.TreeRank, "num_leaves", "max_leaves"),
        (aucrank.GradientBoostingRanker, "reg_lambda", "l2"),
        (aucrank.RankingEnsemble, "seed", "random_state"),
        (CrossValidatedPruning, "cv", "n_folds"),
        (LeafRank, "depth", "max_depth"),
    ],
)
def test_a_parameter_of_another_package_names_that_of_this_one(cls, given, meant):
    with pytest.raises(TypeError, match=rf"argument '{given}'; did you mean '{meant}'\?"):
        cls(**{given: 1})


@pytest.mark.parametrize("name", TAKE_GROUPS)
def test_patients_are_groups(name):
    for given in ("patients", "subject_id", "Cluster", "group"):
        with pytest.raises(TypeError, match=rf"argument '{given}'; did you mean 'groups'\?"):
            TAKE_GROUPS[name](**{given: 1})


def test_a_statistic_keeps_its_signature_and_its_name():
    assert "groups" in inspect.signature(_metrics.auc_interval).parameters
    assert _metrics.auc_interval.__name__ == "auc_interval"
    assert pickle.loads(pickle.dumps(_metrics.auc_interval)) is _metrics.auc_interval
    with pytest.raises(TypeError, match="did you mean 'confidence'"):
        _metrics.auc_interval([0, 1], [0.1, 0.2], conf_level=0.9)


def test_a_subclass_may_take_any_keyword():
    class Tree(aucrank.TreeRank):
        def __init__(self, **params):
            self.given = params
            super().__init__(max_depth=params.pop("depth"))

    assert Tree(depth=3).max_depth == 3
