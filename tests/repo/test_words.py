"""What must not stand in the project: hosts of package indexes, paths of a machine, secrets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from harness.cassettes.redact import scan

ROOT = Path(__file__).parent.parent.parent
INDEX_HOSTS = re.compile(r"pypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian" + r"\.org")
MACHINE_PATHS = re.compile(
    "|".join(re.escape(f"{path}/") for path in {ROOT.parent, Path.home(), Path("/root")} if len(path.parts) > 1)
)
OWN = "tests/repo/test_words.py"


def tracked() -> list[Path]:
    """Every text file under version control, this one apart."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and name != OWN and (ROOT / name).is_file()]


def text_of(path: Path) -> str:
    """The text of a file; binary files have none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_host_of_a_package_index() -> None:
    """No file names the host of a package index, lock files included."""
    assert [] == [str(path.relative_to(ROOT)) for path in tracked() if INDEX_HOSTS.search(text_of(path))]


def test_no_path_of_a_machine() -> None:
    """No file carries a path of the machine that it was written on."""
    assert [] == [str(path.relative_to(ROOT)) for path in tracked() if MACHINE_PATHS.search(text_of(path))]


def test_no_secret_in_data() -> None:
    """No cassette, golden set, script or report holds anything that looks like a key."""
    data = [path for path in tracked() if path.suffix in {".yaml", ".json", ".jsonl", ".toml"}]

    assert [] == [str(path.relative_to(ROOT)) for path in data if scan(text_of(path))]
