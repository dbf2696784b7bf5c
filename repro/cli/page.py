"""Write trained models into a page that translates in a browser."""

from pathlib import Path

import click

from repro.cli.options import RESULTS, check_ours
from repro.errors import InputError
from repro.files import check_plain, check_writable, write_atomic
from repro.runs import gallery


@click.command(short_help="Write a page in which models translate by themselves.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("page.html"),
    show_default=True,
    help="The file to write.",
)
@RESULTS
def page(runs: tuple[str, ...], out: Path, results: Path) -> None:
    """Write the models of RUN... into one HTML file in which every head can be switched off.

    The file needs no server and no network. It holds all parameters in half precision, and what the
    folder of records says of heads, of pruning and of the claims. Where there is no such folder,
    the page leaves that out.

    \b
      repro page gallery/base --out page.html
    """
    check_out(out)
    found = {name.removeprefix("gallery/"): gallery.find(name) for name in runs}
    if len(found) < len(runs):
        raise InputError("RUN", "a model is named twice", "name each model once")

    from repro.page.page import page_html

    text = page_html(found, results).encode()
    write_atomic(out, text)
    click.echo(f"{out}  {len(text) / 1e6:.1f} MB")


def check_out(out: Path) -> None:
    """Refuse a file that is not to be written, before any work.

    Raises:
        InputError: it is a folder, has another ending, or was not written by this command.
        MachineError: the disk refuses.
    """
    if out.suffix != ".html":
        raise InputError("--out", f"{out} is not the name of a page", "name it .html")
    if out.is_dir():
        raise InputError("--out", f"{out} is a folder", f"name a file in it: {out / 'page.html'}")
    check_plain(out)
    check_ours(out)
    check_writable(out.parent)
