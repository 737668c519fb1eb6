"""What comes in and goes out as data: columns, labels, weights, scores and tables."""
