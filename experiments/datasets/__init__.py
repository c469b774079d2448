"""Sources of labelled scenes, one module each."""
