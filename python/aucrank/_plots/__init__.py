"""Pictures of models and curves, drawn with matplotlib."""
