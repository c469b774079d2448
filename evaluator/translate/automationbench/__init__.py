"""AutomationBench: its assertions as checks, its worlds in one shape, its scoring rule."""
