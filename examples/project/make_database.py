"""Make bakery.duckdb, the database of this example, from bakery.sql."""

from pathlib import Path

import duckdb

HERE = Path(__file__).parent


def make(path: Path = HERE / "bakery.duckdb") -> Path:
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute((HERE / "bakery.sql").read_text(encoding="utf-8"))
    return path


if __name__ == "__main__":
    print(make())
