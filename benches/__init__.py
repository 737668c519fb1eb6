"""Benchmarks (`speed`) and studies on real data (`studies`), run from the checkout as modules."""
