"""A case that names its data is run on it."""

from __future__ import annotations

from dbagenteval.cases import Case
from dbagenteval.slices.dataset import Dataset, dataset_executor
from dbagenteval.slices.judging import on_data
from dbagenteval.traces import Trace

__all__ = ["on_case_data"]


def on_case_data(trace: Trace, case: Case) -> tuple[Trace, Dataset]:
    """Give the trace as it would be on the data of its case, and what runs SQL there.

    Args:
        trace: What the agent did, on whatever database.
        case: Its `data` is the path of a script.

    Raises:
        SliceError: The script can't be read or loaded.
    """
    data = dataset_executor(case.data or "", dialect=case.dialect)
    return on_data(trace, data), data
