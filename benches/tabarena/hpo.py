"""Search space of AucrankModel: the default, then random configurations.

In a checkout of TabArena this is `models/aucrank/hpo.py` with the import of the model changed.
"""

from autogluon.common.space import Categorical, Real
from tabarena.utils.config_utils import ConfigGenerator

from benches.tabarena.model import AucrankModel

#: Ranges around the defaults of GradientBoostingRanker. Rates are numbers here, since "auto" is one
#: of them, so that more rounds than by default may be needed; the validation rows choose.
SEARCH_SPACE = {
    "n_rounds": 10_000,
    "n_iter_no_change": 100,
    "learning_rate": Real(0.02, 0.2, log=True),
    "max_leaves": Categorical(32, 4, 8, 16, 64, 128),
    "min_samples_leaf": Categorical("auto", 1, 2, 4, 8, 16, 32, 64),
    "l2": Real(0.01, 10.0, log=True),
    "cuts": Categorical("random", "best"),
    "subsample": Real(0.5, 1.0),
    "max_features": Real(0.3, 1.0),
    "category_pairs": Categorical("auto", False),
    "interactions": Categorical(None, None, None, 0),
}

gen_aucrank = ConfigGenerator(
    model_cls=AucrankModel, manual_configs=[{}], search_space=SEARCH_SPACE
)
