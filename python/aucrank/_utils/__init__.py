"""Helpers without dependencies in the package: checks of parameters, threads, warnings, files."""
