"""The checks of scikit-learn that depend on the settings of an estimator."""

from sklearn.utils.estimator_checks import estimator_checks_generator

#: What the setting of an estimator may break.
OF_SETTINGS = {
    "check_class_weight_classifiers",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
}


def checks(estimator, *, of_settings=False, failing=None):
    """Yield the parameters of a test for each check, or for each that depends on settings."""
    for case in estimator_checks_generator(
        estimator, expected_failed_checks=failing or {}, mark="xfail"
    ):
        # With a mark, it is a `pytest.param`.
        check = getattr(case, "values", case)[1]
        if not of_settings or check.func.__name__ in OF_SETTINGS:
            yield case
