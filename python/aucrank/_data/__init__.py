"""Input and output data: columns, labels, weights, scores and tables."""
