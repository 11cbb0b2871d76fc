"""``metnos completion``: the script that makes a shell complete our commands."""

import click
from click.shell_completion import get_completion_class

_VARIABLE = "_METNOS_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the shell completion script.

    bash: metnos completion bash > ~/.local/share/bash-completion/completions/metnos

    zsh: metnos completion zsh > "${fpath[1]}/_metnos"

    fish: metnos completion fish > ~/.config/fish/completions/metnos.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion is known for {shell}")
    click.echo(kind(ctx.find_root().command, {}, "metnos", _VARIABLE).source())
