"""What this project adds to Hydra."""
