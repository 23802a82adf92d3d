"""Says whether this Python can build mlx: >= 3.10, with venv and the C headers."""

import os
import sys
import sysconfig

if sys.version_info < (3, 10):
    sys.exit(
        "mlx needs Python >= 3.10, got %d.%d at %s; choose another: make PYTHON=python3.12 ..."
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit("%s has no venv module (Debian: apt-get install python3-venv)" % sys.executable)
if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
    sys.exit("%s has no C headers (Debian: apt-get install python3-dev)" % sys.executable)
