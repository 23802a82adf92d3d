"""Metal devices."""



def is_available() -> bool:
    """Is there a Metal device?"""

def device_info() -> dict:
    """Deprecated: use :func:`mlx.core.device_info`."""

def get_active_memory() -> int: ...

def get_peak_memory() -> int: ...

def get_cache_memory() -> int: ...

def reset_peak_memory() -> None: ...

def clear_cache() -> None: ...

def set_cache_limit(limit: int) -> int: ...

def set_memory_limit(limit: int) -> int: ...

def set_wired_limit(limit: int) -> int: ...

def start_capture(path: str) -> None:
    """Does nothing without Metal."""

def stop_capture() -> None:
    """Does nothing without Metal."""
