"""Every way to store and restore a fitted model."""

import copy
import pickle

import aucrank
import joblib


def through_file(model, tmp_path):
    model.save(tmp_path / "model.json")
    return aucrank.load(tmp_path / "model.json")


def through_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    return joblib.load(tmp_path / "model.joblib")


STORES = {
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "old pickle": lambda model, _: pickle.loads(pickle.dumps(model, protocol=2)),
    "deepcopy": lambda model, _: copy.deepcopy(model),
    "copy": lambda model, _: copy.copy(model),
    "joblib": through_joblib,
    "file": through_file,
}
