"""Records runs in an MLflow store: parameters, metrics, tags, dataset inputs with digests, files, the check.

The store is an SQLite file (created here when it is missing) or whatever other address MLflow takes. MLflow
is imported when a run is recorded and not before, since that alone takes more than a second.
"""

from experiments.tracking.address import masked
from experiments.tracking.failure import TrackingError
from experiments.tracking.record import DatasetRecord, RunRecord, Status, TrackedRun
from experiments.tracking.runs import track
from experiments.tracking.store import open_store
from experiments.tracking.sweeps import begin_sweep, end_sweep, settle

__all__ = [
    "DatasetRecord",
    "RunRecord",
    "Status",
    "TrackedRun",
    "TrackingError",
    "begin_sweep",
    "end_sweep",
    "masked",
    "open_store",
    "settle",
    "track",
]
