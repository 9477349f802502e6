"""What a query reads: tables, and columns by lineage."""
