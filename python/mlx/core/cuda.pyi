"""CUDA devices."""



def is_available() -> bool:
    """Is there a CUDA device?"""
