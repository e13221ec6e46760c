"""The notebook of the documentation: it runs from its first cell to its last, prints what it shows, and draws its pictures."""

import os

from harness import HEADWAY, ROOT, Skipped, check, environment, equal, expect

NOTEBOOK = ROOT / "docs/examples/notebook.ipynb"


def shown(notebook):
    """What each cell of code prints, and how many pictures it draws."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            text = "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")
            cells.append((text, sum("image/png" in output.get("data", {}) for output in cell.outputs)))
    return cells


@check("notebook: the one of the documentation runs, prints the numbers that it shows and draws its pictures")
def notebook(tmp):
    try:
        import nbclient
        import nbformat
    except ImportError as error:
        raise Skipped(f"{error}: pip install nbclient ipykernel matplotlib pandas") from error
    written = nbformat.read(NOTEBOOK, as_version=4)
    before = shown(written)
    expect(sum(pictures for _, pictures in before) == 4 and any(text for text, _ in before), f"the notebook shows {before}")
    # The kernel has the environment of this process.
    saved = dict(os.environ)
    os.environ.update(environment(), HEADWAY=str(HEADWAY), PYTHONPATH=str(ROOT / "packaging/python"), IPYTHONDIR=str(tmp / "ipython"))
    try:
        nbclient.NotebookClient(written, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp)}}).execute()
    finally:
        os.environ.clear()
        os.environ.update(saved)
    equal(shown(written), before, "what the cells show")
