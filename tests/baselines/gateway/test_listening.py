import socket

from hexathlon.baselines.gateway.listening import without_delay


def test_accepted_connections_send_at_once():
    with without_delay(socket.create_server(("127.0.0.1", 0))) as listening:
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
