"""The page of benchmarks, from stored results."""
