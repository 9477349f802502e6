"""The OTLP receiver: sockets only; what arrives goes to a sink."""

from dbagenteval.receiver.auth import INGEST, READ, TOKEN_VARIABLE, Tokens
from dbagenteval.receiver.config import Address, Limits, ReceiverConfig, parse_address
from dbagenteval.receiver.ingest import SpanSink
from dbagenteval.receiver.receiver import Receiver, check_addresses
from dbagenteval.receiver.tls import TlsFiles

__all__ = [
    "INGEST",
    "READ",
    "TOKEN_VARIABLE",
    "Address",
    "Limits",
    "Receiver",
    "ReceiverConfig",
    "SpanSink",
    "TlsFiles",
    "Tokens",
    "check_addresses",
    "parse_address",
]
