"""Tables of measurements against bars, as text, Markdown and JSON."""

import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path

COLUMNS = ["what", "bar", "measured", "met"]


@dataclass(frozen=True)
class Row:
    """One measurement; `bar` is empty and `met` is `None` where nothing is asked for."""

    what: str
    measured: str
    bar: str = ""
    met: bool | None = None
    values: dict[str, float] = field(default_factory=dict)

    def cells(self) -> list[str]:
        """Returns the cells of the table."""
        met = {True: "yes", False: "NO", None: "–"}[self.met]
        return [self.what, self.bar or "–", self.measured, met]


def below(what: str, value: float, limit: float, unit: str, note: str = "") -> Row:
    """Returns a row whose bar is an upper limit."""
    digits = 0 if value >= 100 else 1
    measured = f"{value:.{digits}f} {unit}" + (f" ({note})" if note else "")
    return Row(what, measured, f"< {limit:g} {unit}", value < limit, {unit: value})


def machine(version: str) -> dict[str, str | int | float]:
    """Describes the machine and the binary that the numbers come from."""
    cpu = platform.processor()
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        models = [line for line in cpu_info.read_text(encoding="utf-8").splitlines() if "model name" in line]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "skillmux": version,
        "cpu": cpu,
        "cores": os.cpu_count() or 0,
        "memory_gib": round(memory_bytes / 2**30, 1),
        "os": platform.platform(),
        "python": platform.python_version(),
    }


def to_text(rows: list[Row]) -> str:
    """Lays the rows out in columns."""
    table = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(COLUMNS))]
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in table
    )
    return "\n".join(lines)


def to_markdown(rows: list[Row], about: dict[str, str | int | float]) -> str:
    """Writes the rows as a Markdown table above the machine."""
    table = [COLUMNS, ["---"] * len(COLUMNS), *(row.cells() for row in rows)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in table]
    return "\n".join([*lines, "", *(f"- {name}: {value}" for name, value in about.items())]) + "\n"


def write(out: Path, rows: list[Row], about: dict[str, str | int | float]) -> None:
    """Writes `out` with the endings `.md` and `.json`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_name(out.name + ".md").write_text(to_markdown(rows, about), encoding="utf-8")
    content = {"machine": about, "rows": [asdict(row) for row in rows]}
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    out.with_name(out.name + ".json").write_text(text, encoding="utf-8")
