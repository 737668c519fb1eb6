"""The tests, a room for each room of the package; what several share is in `common`."""
