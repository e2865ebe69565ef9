"""
Loading Python files by path, under private names: agents, worlds' tools and projects' own contracts.

Nothing is imported by a name that an installed package could have, and whatever the file does while it is loaded (leaving
by `sys.exit` included) becomes an error that names file and line.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, TracebackType

from harness.errors import BadFileError, HarnessError
from harness.records.digest import digest_bytes


def load_module(path: Path, *, kind: str, code: str, package: bool = False) -> ModuleType:
    """
    Load the file at *path*, once a process.

    Args:
        path: The Python file.
        kind: What it is, as a part of the module's private name: `_harness_<kind>_<folder or stem>_<digest>`.
        code: The code of the error where it does not load.
        package: Whether relative imports inside its folder work; the name is then the folder's.

    Raises:
        BadFileError: It is not there, or raises or leaves while it is loaded; *at* names file and line.
    """
    path = path.resolve()
    called = path.parent.name if package else path.stem
    name = f"_harness_{kind}_{called}_{digest_bytes(str(path).encode())[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    folders = [str(path.parent)] if package else None
    spec: ModuleSpec | None = spec_from_file_location(name, path, submodule_search_locations=folders)
    if spec is None or spec.loader is None or not path.is_file():
        raise BadFileError(code, "there is no such Python file", at=str(path))
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        _forget(name)
        if isinstance(error, HarnessError) or not isinstance(error, (Exception, SystemExit)):
            raise
        at = _line_of(error, error.__traceback__, path.parent) or str(path)
        raise BadFileError(code, f"does not load: {type(error).__name__}: {error}", at=at) from error
    return module


def _forget(name: str) -> None:
    for loaded in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        del sys.modules[loaded]


def _line_of(error: BaseException, trace: TracebackType | None, folder: Path) -> str:
    """Where *error* came from: the line of a syntax error, else the last line of the traceback in *folder*."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    last = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        last = f"{file}:{trace.tb_lineno}" if file.startswith(str(folder)) else last
        trace = trace.tb_next
    return last
