"""Experiments: learn checks as a configuration says, grade them on unseen scenes, track the runs."""
