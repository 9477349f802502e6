"""Long options may be cut short, as far as it is clear which one is meant."""

from __future__ import annotations

import click

__all__ = ["CommandWithAbbreviations"]


class CommandWithAbbreviations(click.Command):
    """A command that takes `--conc 1` for `--concurrency 1`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write the options out before click reads them."""
        known = [
            name
            for parameter in self.get_params(ctx)
            for name in parameter.opts
            if name.startswith("--")
        ]
        return super().parse_args(ctx, [_written_out(word, known) for word in args])


def _written_out(word: str, known: list[str]) -> str:
    name, equals, value = word.partition("=")
    if not name.startswith("--") or len(name) < 3 or name in known:
        return word
    meant = [option for option in known if option.startswith(name)]
    return f"{meant[0]}{equals}{value}" if len(meant) == 1 else word
