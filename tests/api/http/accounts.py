"""Sockets of another account, which only root can make."""

import ctypes
import os
import socket

import pytest

NOBODY = 65534


def foreign_socket(family: socket.AddressFamily = socket.AF_INET) -> socket.socket:
    """A socket as another account has it: the kernel remembers who made it. Only this thread is somebody else."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a socket of another account")
    libc = ctypes.CDLL(None)
    libc.setfsuid(NOBODY)
    try:
        return socket.socket(family, socket.SOCK_STREAM)
    finally:
        libc.setfsuid(0)
