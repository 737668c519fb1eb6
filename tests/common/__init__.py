"""Shared by several rooms: estimators, data, oracles, and ways to run a process."""
