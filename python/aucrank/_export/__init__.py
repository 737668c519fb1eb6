"""Export of models: text, SQL, PMML, ONNX, SHAP, source code."""
