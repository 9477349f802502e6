"""Names of databases, known without a parser."""

import pytest
from sqlglot.dialects.dialect import Dialects

from dbagenteval.cases import Case
from dbagenteval.dialects import DIALECT_OF, DIALECTS
from dbagenteval.rules.query.dialects import from_system_name


def test_all_dialects_of_the_parser_are_known():
    """And no others, so that what a case may name is what rules can read."""
    assert {dialect.value for dialect in Dialects if dialect.value} == DIALECTS
    assert set(DIALECT_OF.values()) <= DIALECTS


@pytest.mark.parametrize("name", ["postgres", "PostgreSQL", "microsoft.sql_server", "spark2"])
def test_a_case_names_its_database_as_databases_do(name):
    """Rules find the dialect by that name."""
    assert from_system_name(Case("q", dialect=name).dialect)
