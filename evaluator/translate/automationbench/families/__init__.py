"""The rule families of AutomationBench: each a short function from parameters to a check."""
