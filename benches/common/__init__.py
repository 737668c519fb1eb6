"""What several benchmarks and studies share."""
