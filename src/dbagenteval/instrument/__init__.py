"""What an agent needs to tag its own spans; plain opentelemetry-sdk is enough without it."""

from dbagenteval.instrument.stage import StageSpan, stage

__all__ = ["StageSpan", "stage"]
