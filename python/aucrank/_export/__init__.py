"""A model in other languages: words, SQL, PMML, SHAP."""
