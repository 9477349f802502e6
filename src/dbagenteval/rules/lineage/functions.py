"""Functions that only work on their arguments; any other may read more than the query shows."""

from __future__ import annotations

import re

from sqlglot import exp

__all__ = ["is_table_function", "unknown_function"]

_TABLE_FUNCTIONS = (
    exp.GenerateSeries,
    exp.GenerateDateArray,
    exp.GenerateTimestampArray,
    exp.Unnest,
    exp.Explode,
    exp.Posexplode,
    exp.Flatten,
)
_TABLE_FUNCTION_NAMES = frozenset(
    """
    generate_series range unnest flatten json_each jsonb_each json_array_elements
    jsonb_array_elements regexp_split_to_table string_to_table
    """.split()  # noqa: SIM905 a list of words reads best as words
)
# Names that the parser keeps as they are; each only computes from its arguments.
_HARMLESS = frozenset(
    """
    age ascii bar base64 bit_length btrim cardinality ceil ceiling char chr
    clock_timestamp concat_ws contains cos cot damerau_levenshtein date date_add date_bin
    date_part date_sub datepart datetime day dayname dayofmonth dayofweek dayofyear decade
    editdist3 ends_with epoch epoch_ms error even extract factorial format format_date
    formatdatetime fsum gamma gcd greatest hamming hour ifnull iif initcap instr isfinite
    isnull isodow isoyear jaccard jaro_similarity jaro_winkler_similarity julian julianday
    justify_days justify_hours justify_interval last_day lcase lcm least left len length
    levenshtein lgamma list_aggregate list_concat list_contains list_count list_distinct
    list_filter list_has list_max list_min list_reverse list_sort list_sum list_unique
    list_value ln log log10 log2 lower lpad ltrim make_date make_interval make_time
    make_timestamp md5 mean median microsecond millisecond minute mod mode month monthname
    multiply nextafter nullif octet_length overlay parse_dirname pi position power printf
    quantile quantile_cont quantile_disc quarter quote_ident quote_literal radians
    regexp_extract regexp_full_match regexp_matches regexp_replace repeat replace reverse
    right round row_number rpad rtrim second setseed sign sin split split_part sqrt
    starts_with strftime string_split strip_accents strlen strpos strptime substr
    substring substring_index tan time time_bucket timestamp to_base64 to_char to_date
    to_days to_hours to_minutes to_months to_number to_seconds to_timestamp to_weeks
    to_years today total translate trim trunc try_strptime typeof ucase unicode unixepoch
    upper week weekday weekofyear width_bucket year yearweek zeroifnull
    """.split()  # noqa: SIM905 a list of words reads best as words
)
# The parser knows these, but they read files, state or settings.
_READS_MORE = re.compile(
    r"AI[A-Z]|Generate(Embedding|Table|Text|Bool|Double|Int)|(Read|Load|ToFile|NextValueFor|"
    r"DynamicIdentifier|SessionParameter|XMLTable|JSONTable|OpenJSON|Predict|ML|VectorSearch|"
    r"FeaturesAtTime)"
)
"""Classes of functions that the parser knows, but that read files, models, settings or state."""


def is_table_function(node: exp.Expr) -> bool:
    """Say whether a source only spreads its arguments into rows."""
    if isinstance(node, _TABLE_FUNCTIONS):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in _TABLE_FUNCTION_NAMES


def unknown_function(node: exp.Expr) -> str:
    """Give the name of a function that is not known to be harmless, else the empty string."""
    if isinstance(node, exp.Func) and _READS_MORE.match(type(node).__name__):
        return type(node).__name__.lower()
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        name = str(node.this).lower()
        known = name in _HARMLESS or name in _TABLE_FUNCTION_NAMES
        return "" if known else name
    return ""
