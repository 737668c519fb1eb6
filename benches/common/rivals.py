"""What rivals from scikit-learn need to learn from columns of any kind."""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def one_hot(numbers="passthrough"):
    """Return a transformer that makes columns of categories one-hot."""
    return make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder=numbers,
    )


def of_columns(model, *, scaled=False):
    """Return a pipeline that takes columns of any kind with missing values."""
    numbers = [SimpleImputer(strategy="median"), *([StandardScaler()] if scaled else [])]
    return make_pipeline(one_hot(make_pipeline(*numbers)), model)


def score_of(model, X):
    """Score rows, higher first."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]
