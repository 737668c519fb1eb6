"""What several rooms share: estimators, data, oracles, and ways to run a process."""
