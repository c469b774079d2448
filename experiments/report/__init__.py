"""Reports of finished runs and sweeps: one HTML file each, which needs nothing else to be read."""

from experiments.report.files import ReportError, RunFiles, read_run
from experiments.report.run_page import render_run

__all__ = ["ReportError", "RunFiles", "read_run", "render_run"]
