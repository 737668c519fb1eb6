"""Shared base of all estimators: fitting, saving, and the registry."""
