"""The OTLP receiver: sockets only; what arrives goes to a sink."""

from dbagenteval.receiver.config import Address, Limits, ReceiverConfig, parse_address
from dbagenteval.receiver.ingest import SpanSink
from dbagenteval.receiver.receiver import Receiver, check_addresses

__all__ = [
    "Address",
    "Limits",
    "Receiver",
    "ReceiverConfig",
    "SpanSink",
    "check_addresses",
    "parse_address",
]
