"""The conventions of aucrank, each with its verifiers.

`python -m tests.common.conventions` prints the table that `docs/conventions.md` has;
`tests/contract/test_conventions.py` compares it with the page, and sees to it that all that is
named here exists.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Convention:
    """A convention and its verifiers."""

    name: str
    #: Functions of the tests, as ``file::function`` below ``tests/``.
    tests: tuple[str, ...] = ()
    #: Checks that scikit-learn runs on every estimator, in several settings of each.
    checks: tuple[str, ...] = ()
    #: Targets of the Makefile.
    targets: tuple[str, ...] = ()


CONVENTIONS = [
    Convention(
        "The contract of estimators: parameters are stored and nothing else, `clone`, `fit` returns"
        " the estimator and may be repeated, nothing that is passed is changed, one row, one"
        " feature, read-only memory, labels of any kind",
        (
            "contract/test_common.py::test_scikit_learn_contract",
            "contract/test_common.py::test_no_public_estimator_is_left_out",
            "base/test_base.py::test_labels_of_any_kind_give_the_same_ranking_and_are_predicted",
        ),
        (
            "check_no_attributes_set_in_init",
            "check_estimator_cloneable",
            "check_estimators_fit_returns_self",
            "check_fit_idempotent",
            "check_dict_unchanged",
            "check_methods_sample_order_invariance",
            "check_fit2d_1sample",
            "check_fit2d_1feature",
            "check_readonly_memmap_input",
            "check_classifiers_classes",
        ),
    ),
    Convention(
        "A weight of k is a row written k times, a weight of 0 is not a row",
        (
            "tree/test_tree.py::test_integer_weights_equal_copies_and_threads_do_not_matter",
            "contract/test_level_rates.py::test_weights_equal_copies_in_shrunken_rates_too",
        ),
        ("check_sample_weight_equivalence_on_dense_data", "check_all_zero_sample_weights_error"),
    ),
    Convention(
        "`class_weight` multiplies the weights of rows",
        ("contract/test_class_weight.py::test_a_class_weight_multiplies_the_weights_of_rows",),
        ("check_class_weight_classifiers",),
    ),
    Convention(
        "Missing values are data; a sparse matrix is the dense one that it stands for, and is"
        " refused in words where a transformer does not take it",
        (
            "contract/test_bad_input.py::test_missing_values_are_data",
            "contract/test_sparse.py::test_the_model_and_its_scores_equal_those_of_the_dense_matrix",
            "contract/test_sparse.py::test_a_transformer_rejects_sparse_matrices_like_scikit_learn",
        ),
        (
            "check_estimator_sparse_tag",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
        ),
    ),
    Convention(
        "Columns are known by name, and others are refused; frames of pandas, polars and pyarrow",
        (
            "contract/test_common.py::test_column_names_are_checked_as_scikit_learn_does",
            "contract/test_bad_input.py::test_every_estimator_needs_the_columns_of_the_fit",
            "base/test_input.py::test_numeric_columns_of_any_library_are_the_same_floats",
            "base/test_as_frame.py::test_every_estimator_reads_a_table_like_the_equal_frame",
        ),
    ),
    Convention(
        "Transformers name their features and give frames on request",
        (
            "contract/test_transformers.py::test_scikit_learn_contract",
            "contract/test_transformers.py::test_column_names_follow_the_convention_of_scikit_learn",
            "contract/test_transformers.py::test_set_output_gives_frames_with_names",
        ),
    ),
    Convention(
        "Parameters are checked by `fit` and named in the error",
        (
            "contract/test_parameters.py::test_every_value_is_restored_from_every_store",
            "base/test_base.py::test_fit_rejects_a_bad_parameter",
            "contract/test_params_after_fit.py::test_invalid_values_set_after_the_fit_have_no_effect_or_raise_an_error",
        ),
        ("check_do_not_raise_errors_in_init_or_set_params",),
    ),
    Convention(
        "Docstrings have numpydoc's form and name what there is; their examples run",
        ("contract/test_with_scikit_learn.py::test_weights_are_described_alike_by_all",),
        targets=("lint-python", "test"),
    ),
    Convention(
        "Weights reach the estimator through pipelines and searches by metadata routing",
        ("contract/test_with_scikit_learn.py::test_weights_are_routed_to_it",),
    ),
    Convention(
        "`Pipeline`, `ColumnTransformer`, `GridSearchCV`, `cross_val_score`",
        (
            "contract/test_with_scikit_learn.py::test_a_pipeline_and_a_column_transformer_pass_frames_on",
            "contract/test_with_scikit_learn.py::test_a_search_and_a_scorer_rank_by_the_decision_function",
        ),
        ("check_pipeline_consistency",),
    ),
    Convention(
        "`CalibratedClassifierCV`, `FrozenEstimator`, `TunedThresholdClassifierCV`,"
        " `FixedThresholdClassifier`, `StackingClassifier`",
        (
            "contract/test_with_scikit_learn.py::test_calibration_and_threshold_wrappers_accept_it",
            "contract/test_with_scikit_learn.py::test_it_can_be_a_member_of_a_stack",
        ),
    ),
    Convention(
        "`permutation_importance`, `partial_dependence`, `RocCurveDisplay`",
        ("contract/test_with_scikit_learn.py::test_inspection_and_display_functions_accept_it",),
    ),
    Convention(
        "`predict`, `decision_function` and `predict_proba` never contradict each other",
        ("contract/test_common.py::test_the_three_outputs_never_contradict_each_other",),
        ("check_decision_proba_consistency",),
    ),
    Convention(
        "`n_jobs` is a number of threads that changes no bit; processes of joblib share the cores",
        (
            "contract/test_with_scikit_learn.py::test_threads_do_not_change_a_bit",
            "base/test_base.py::test_n_jobs_is_a_number_of_threads",
            "base/test_base.py::test_a_worker_process_of_joblib_takes_its_share",
            "contract/test_robustness.py::test_worker_processes_give_the_results_of_one_process",
        ),
    ),
    Convention(
        "The same `random_state` gives the same model",
        ("contract/test_golden.py::test_a_stored_model_of_any_family_scores_the_same_bits",),
        ("check_fit_idempotent",),
    ),
    Convention(
        "`warm_start` goes on as one longer fit; `n_iter_` counts",
        (
            "boosting/test_gradient_boosting.py::test_a_warm_start_equals_one_longer_fit",
            "boosting/test_auc_boost.py::test_warm_start_continues_the_fit",
            "tree/test_forest.py::test_a_warm_start_without_new_trees_keeps_the_forest_and_a_cold_one_refits",
        ),
        ("check_non_transformer_estimators_n_iter",),
    ),
    Convention(
        "`verbose` and the callbacks of scikit-learn 1.9 see every part of a long fit",
        (
            "contract/test_callbacks.py::test_callbacks_see_every_part_and_change_nothing",
            "contract/test_callbacks.py::test_verbose_prints_every_tenth_part_or_all",
        ),
    ),
    Convention(
        "Shown as text and in notebooks",
        ("contract/test_with_scikit_learn.py::test_it_is_shown_in_a_notebook",),
        ("check_estimator_repr",),
    ),
    Convention(
        "Pickle, joblib, `copy`, skops and saved files give back all of a model; files of every"
        " format are still read",
        (
            "contract/test_robustness.py::test_every_store_restores_a_model_completely",
            "base/test_base.py::test_skops_loads_a_model_if_its_class_is_trusted",
            "contract/test_golden.py::test_a_tree_of_format_1_scores_the_same_bits",
            "contract/test_golden.py::test_there_is_a_stored_model_of_every_estimator_that_saves",
        ),
        ("check_estimators_pickle",),
    ),
    Convention(
        "Threads may share a model and fit their own; Python runs on during a fit",
        (
            "contract/test_robustness.py::test_threads_may_share_a_fitted_model",
            "contract/test_robustness.py::test_threads_may_fit_estimators_of_their_own",
            "contract/test_robustness.py::test_other_threads_run_during_a_fit",
        ),
    ),
    Convention(
        "Ctrl-C ends a call soon and leaves the estimator unfitted",
        (
            "contract/test_robustness.py::test_ctrl_c_ends_a_long_fit_soon_and_leaves_it_unfitted",
            "contract/test_interrupts.py::test_ctrl_c_ends_a_long_call_soon",
        ),
    ),
    Convention(
        "A forked child fits what its parent fits",
        ("contract/test_robustness.py::test_a_fit_in_a_forked_child_is_that_of_its_parent",),
    ),
    Convention(
        "Types: `py.typed`, mypy in strict form, stubs that are those of the compiled module",
        ("base/test_packaging.py::test_types_are_shipped",),
        targets=("lint-python",),
    ),
    Convention(
        "`aucrank` and `python -m aucrank`",
        (
            "base/test_packaging.py::test_the_command_prints_its_version",
            "cli/test_cli.py::test_the_module_runs_as_a_program",
        ),
    ),
    Convention(
        "Importing is light: five packages are required, and no other is loaded",
        (
            "base/test_packaging.py::test_only_packages_of_the_quick_start_are_required",
            "base/test_packaging.py::test_import_loads_no_optional_package_that_scikit_learn_does_not_load",
            "base/test_base.py::test_importing_the_package_imports_no_slow_module",
        ),
    ),
    Convention(
        "The wheel and the source package hold what they should",
        (
            "base/test_packaging.py::test_the_source_package_holds_the_whole_workspace",
            "base/test_packaging.py::test_both_licences_are_shipped_and_named",
        ),
        targets=("check-wheel",),
    ),
    Convention(
        "The crate stands alone: documented, packaged, compiled by the oldest Rust, scores what"
        " Python saved",
        ("contract/test_rust_scoring.py::test_scores_equal_those_of_python_to_the_bit",),
        targets=("rust-test", "lint-rust", "msrv"),
    ),
    Convention(
        "The oldest versions of what is required are enough",
        ("base/test_packaging.py::test_the_docs_state_the_oldest_python_and_rust",),
        targets=("minimum-versions",),
    ),
    Convention("The documentation is built without a warning, its examples run", targets=("docs",)),
]


def table() -> str:
    """Return the table as Markdown."""
    lines = ["| convention | verified by |", "| --- | --- |"]
    for convention in CONVENTIONS:
        parts = [
            *[f"`tests/{test}`" for test in convention.tests],
            *[f"scikit-learn's `{check}`" for check in convention.checks],
            *[f"`make {target}`" for target in convention.targets],
        ]
        lines.append(f"| {convention.name} | {', '.join(parts)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
