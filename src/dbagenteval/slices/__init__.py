"""A few rows of a few tables that still show a failure, as a SQL script, and runs on them."""

from dbagenteval.slices.case_data import on_case_data, replay_on
from dbagenteval.slices.dataset import Dataset, dataset_executor
from dbagenteval.slices.failed_trace import slice_failure
from dbagenteval.slices.failing import (
    Failure,
    SameFailure,
    leaks_tenant,
    result_shown,
    rows_differ,
    sql_fails,
)
from dbagenteval.slices.slicing import DataSlice, StillFails, slice_data

__all__ = [
    "DataSlice",
    "Dataset",
    "Failure",
    "SameFailure",
    "StillFails",
    "dataset_executor",
    "leaks_tenant",
    "on_case_data",
    "replay_on",
    "result_shown",
    "rows_differ",
    "slice_data",
    "slice_failure",
    "sql_fails",
]
