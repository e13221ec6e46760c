from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

import pyarrow
import pyarrow.ipc

if TYPE_CHECKING:
    import pandas
    import polars

Path = Union[str, "os.PathLike[str]"]


class Run:
    """A recorded run: its folder, `summary` and `plan` (dictionaries, as in the JSON documents), and its records."""

    folder: pathlib.Path
    summary: Optional[dict[str, Any]]
    plan: Optional[dict[str, Any]]

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        # A run that was killed has no summary; `headway report` makes one.
        self.summary = _document(folder / "summary.json")
        self.plan = _document(folder / "plan.json")

    def arrow(self) -> pyarrow.Table:
        """The records as a `pyarrow.Table`. Of a run that was killed, all that was written completely.

        Raises FileNotFoundError where the run kept no records (`--no-log`).
        """
        path = self.folder / "records.arrow"
        if not path.exists():
            raise FileNotFoundError(f"{path}: the run kept no records (--no-log)")
        return records(path)[0]

    def pandas(self) -> pandas.DataFrame:
        """The records as a `pandas.DataFrame`. Needs pandas."""
        return self.arrow().to_pandas()

    def polars(self) -> polars.DataFrame:
        """The records as a `polars.DataFrame`. Needs polars."""
        import polars

        return polars.from_arrow(self.arrow())

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"


class Document:
    """What a study, a search or a comparison wrote: `document`, a dictionary as in its JSON document, and its rows as tables."""

    path: pathlib.Path
    document: dict[str, Any]

    def __init__(self, path: pathlib.Path, document: dict[str, Any]) -> None:
        self.path, self.document = path, document

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the document, each with names such as `response.p99`."""
        raise NotImplementedError

    def arrow(self) -> pyarrow.Table:
        """The rows as a `pyarrow.Table`."""
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pyarrow.table({name: [row.get(name) for row in rows] for name in names})

    def pandas(self) -> pandas.DataFrame:
        """The rows as a `pandas.DataFrame`. Needs pandas."""
        return self.arrow().to_pandas()

    def polars(self) -> polars.DataFrame:
        """The rows as a `polars.DataFrame`. Needs polars."""
        import polars

        return polars.from_arrow(self.arrow())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


class Study(Document):
    """Points that were played again and again: a row each."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each point, with the parameters by their names, as texts (`rate`), and numbers such as `response.p99.mean`."""
        names = [parameter["name"] for parameter in self.document["parameters"]]
        rows = []
        for point in self.document["points"]:
            rest = {name: inner for name, inner in point.items() if name != "values"}
            rows.append({**dict(zip(names, point["values"])), **_flat(rest)})
        return rows


class Search(Document):
    """A search for what a target can take: `estimate` and `interval`, in requests a second (users of closed ones), and its trials as rows."""

    @property
    def estimate(self) -> Optional[float]:
        """The knee; None where none was found (`document["outcome"]` says why)."""
        estimate: Optional[float] = self.document["estimate"]
        return estimate

    @property
    def interval(self) -> Optional[list[float]]:
        """The 95 % interval of the knee; None where there is none."""
        interval: Optional[list[float]] = self.document["interval"]
        return interval

    def rows(self) -> list[dict[str, Any]]:
        """A row for each trial."""
        return [_flat(trial) for trial in self.document["trials"]]


class Comparison(Document):
    """Runs that were compared: a row for each number of each pair."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each number that was compared, with `base` and `other` of its pair as `pair.base` and `pair.other`."""
        return [
            {"pair.base": pair["base"], "pair.other": pair["other"], **_flat(row)}
            for pair in self.document["pairs"]
            for row in pair["rows"]
        ]


_KINDS: dict[str, type[Union[Study, Search, Comparison]]] = {"headway.study": Study, "headway.search": Search, "headway.comparison": Comparison}


def read(path: Path) -> Union[Run, Study, Search, Comparison]:
    """The run, study, search or comparison of that folder, or of that JSON document.

    Raises FileNotFoundError where there is none, and ValueError where a document is of another kind.
    """
    place = pathlib.Path(path)
    if (place / "plan.json").exists():
        return Run(place)
    if place.is_dir():
        found = next((place / name for name in ("study.json", "search.json", "comparison.json") if (place / name).exists()), None)
        if found is None:
            raise FileNotFoundError(f"{place}: not a folder of Headway: it has no plan.json, study.json, search.json or comparison.json")
        place = found
    if not place.exists():
        raise FileNotFoundError(f"{place}: there is no such folder or file")
    document = json.loads(place.read_text())
    schema = str(document.get("schema", "")) if isinstance(document, dict) else ""
    kind = _KINDS.get(schema.split("/")[0])
    if kind is None:
        raise ValueError(f"{place}: its schema is {schema!r}, and read takes {', '.join(_KINDS)}, or the folder of a run")
    return kind(place, document)


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Numbers, texts and truths of a document by their paths; the items of short lists by their places; lists of objects are left out."""
    found: dict[str, Any] = {}
    for name, inner in value.items():
        path = f"{prefix}{name}"
        if isinstance(inner, dict):
            found.update(_flat(inner, f"{path}."))
        elif isinstance(inner, list):
            if all(not isinstance(item, (dict, list)) for item in inner):
                found.update({f"{path}.{i}": item for i, item in enumerate(inner)})
        else:
            found[path] = inner
    return found


def _document(path: pathlib.Path) -> Optional[dict[str, Any]]:
    return json.loads(path.read_text()) if path.exists() else None


def records(log: Path) -> Tuple[pyarrow.Table, bool]:
    """The records of a log as a `pyarrow.Table`, and whether it has its end: of a run that was killed, all that was written completely."""
    file = pyarrow.memory_map(str(log))
    try:
        return pyarrow.ipc.open_file(file).read_all(), True
    except pyarrow.ArrowInvalid:
        return without_end(file), False


def without_end(file: Any) -> pyarrow.Table:
    """The records of an open log as a `pyarrow.Table`, to its last complete batch: without its footer it is a stream behind the eight bytes of its magic."""
    file.seek(8)
    reader = pyarrow.ipc.open_stream(file)
    batches = []
    try:
        while True:
            batches.append(reader.read_next_batch())
    except (StopIteration, pyarrow.ArrowInvalid, OSError):
        return pyarrow.Table.from_batches(batches, reader.schema)
