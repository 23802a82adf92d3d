"""Says whether this Python can build mlx: >= 3.10, with venv and the C headers."""

import importlib.util
import os
import sys
import sysconfig

if sys.version_info < (3, 10):
    sys.exit(
        "mlx needs Python >= 3.10, got {}.{} at {}; choose another by `make PYTHON=python3.12 …`".format(
            sys.version_info[0], sys.version_info[1], sys.executable
        )
    )
if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
    sys.exit(f"{sys.executable} has no venv module (Debian: apt-get install python3-venv)")
if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
    sys.exit(f"{sys.executable} has no C headers (Debian: apt-get install python3-dev)")
