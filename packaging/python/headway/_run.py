import json
import pathlib

import pyarrow
import pyarrow.ipc


class Run:
    """A recorded run: its folder, `summary` and `plan` (dictionaries, as in the JSON documents), and its records."""

    def __init__(self, folder):
        self.folder = folder
        self.summary = _document(folder / "summary.json")
        self.plan = _document(folder / "plan.json")

    def arrow(self):
        """The records as a `pyarrow.Table`. Of a run that was killed, all that was written completely.

        Raises FileNotFoundError where the run kept no records (`--no-log`).
        """
        path = self.folder / "records.arrow"
        if not path.exists():
            raise FileNotFoundError(f"{path}: the run kept no records (--no-log)")
        return records(path)[0]

    def pandas(self):
        """The records as a `pandas.DataFrame`. Needs pandas."""
        return self.arrow().to_pandas()

    def polars(self):
        """The records as a `polars.DataFrame`. Needs polars."""
        import polars

        return polars.from_arrow(self.arrow())

    def __repr__(self):
        return f"Run({str(self.folder)!r})"


def read(run):
    """The run of that folder.

    Raises FileNotFoundError where there is no such folder, or none that `headway run` wrote.
    """
    folder = pathlib.Path(run)
    if not (folder / "plan.json").exists():
        raise FileNotFoundError(f"{folder}: not a run folder of Headway: it has no plan.json")
    return Run(folder)


def _document(path):
    # A run that was killed has no summary; `headway report` makes one.
    return json.loads(path.read_text()) if path.exists() else None


def records(log):
    """The records of a log as a `pyarrow.Table`, and whether it has its end: of a run that was killed, all that was written completely."""
    file = pyarrow.memory_map(str(log))
    try:
        return pyarrow.ipc.open_file(file).read_all(), True
    except pyarrow.ArrowInvalid:
        return without_end(file), False


def without_end(file):
    """The records of an open log as a `pyarrow.Table`, to its last complete batch: without its footer it is a stream behind the eight bytes of its magic."""
    file.seek(8)
    reader = pyarrow.ipc.open_stream(file)
    batches = []
    try:
        while True:
            batches.append(reader.read_next_batch())
    except (StopIteration, pyarrow.ArrowInvalid, OSError):
        return pyarrow.Table.from_batches(batches, reader.schema)
