"""Formulas as ONNX graphs in double precision, so that onnxruntime scores rows."""
