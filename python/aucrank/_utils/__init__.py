"""What needs nothing else of the package: checks of parameters, threads, warnings, files."""
