"""What every estimator shares: fitting, saving, and the list of all of them."""
