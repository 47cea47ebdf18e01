"""Addresses of this node, by which processes of other nodes reach it."""

import os
import socket
import sys

import ray

__all__ = ["node_address", "use_interface"]


def node_address() -> str:
    """Return the address of this node in the cluster."""
    return str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]


def use_interface() -> None:
    """Let gloo use the network interface of this node's address, here and in programs started here.

    Without it, gloo takes the address of the machine's name, which other nodes need not reach.
    """
    interface = _interface(node_address())
    if interface:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)


def _interface(address: str) -> str:
    """Return the network interface with an IPv4 address, or an empty string if unknown."""
    if sys.platform != "linux":
        return ""
    import fcntl
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            asked = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(probe.fileno(), 0x8915, asked)  # SIOCGIFADDR
            except OSError:
                continue  # it has no IPv4 address
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return ""
