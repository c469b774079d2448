"""Candidate literals, one module an operator family, read off the labelled scenes alone."""
