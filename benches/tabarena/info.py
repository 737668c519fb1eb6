"""What TabArena's registry knows of AucrankModel.

In a checkout of TabArena this is `models/aucrank/info.py` with the imports of the model and of its
search space changed. `suite`, `date` and `config_default` are those of a run, and so are filled in
after it.
"""

from tabarena.models._method_metadata import ModelDescriptor
from tabarena.models._model_info import ModelInfo

from benches.tabarena.hpo import gen_aucrank
from benches.tabarena.model import AucrankModel

aucrank_descriptor = ModelDescriptor(
    display_name="aucrank",
    compute="cpu",
    is_bag=True,
    reference_url="https://github.com/aucrank/aucrank",
)

aucrank_method_metadata = aucrank_descriptor.method_metadata(
    method="aucrank", ag_key=AucrankModel.ag_key, can_hpo=True, verified=False
)

aucrank_info = ModelInfo(
    model_cls=AucrankModel,
    search_space=gen_aucrank,
    method_metadata=aucrank_method_metadata,
    pip_extra=("aucrank==0.1.0",),
)
