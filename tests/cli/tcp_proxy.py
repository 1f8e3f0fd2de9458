"""A way to a server that breaks as ways do.

    client --UP--> Proxy --UP--> server
    client <-DOWN- Proxy <-DOWN- server

It never changes or reorders bytes. It keeps all that came by.
"""

import socket
import threading
import time

UP = 0
DOWN = 1
CHUNK_SIZE = 1 << 16


class Proxy:
    """At a loopback port, before the one of the server.

    cut = (UP or DOWN, count): after so many bytes of that direction all breaks, for ever.
    half_close = (UP or DOWN, count): that direction alone ends so.
    delay_s: each piece waits so long.
    loses_answer_to: the answer to what holds these bytes is not handed on, and all breaks. Servers
        send it when they have done what was asked.
    is_mute: nothing is handed on.
    """

    def __init__(self, port, cut=None, half_close=None, delay_s=0.0, loses_answer_to=None, is_mute=False):
        self.server_port = port
        self.cut = cut
        self.half_close = half_close
        self.delay_s = delay_s
        self.loses_answer_to = loses_answer_to
        self.is_mute = is_mute
        self.recorded = [bytearray(), bytearray()]
        self.accepted = 0
        self.is_broken = False
        self.lock = threading.Lock()
        self.sockets = []
        self.threads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self._begin(self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.break_all()
        for thread in self.threads:
            thread.join(10)

    def _begin(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def break_all(self):
        """Ends all connections, and takes none any more."""
        with self.lock:
            self.is_broken = True
            for each in (self.listener, *self.sockets):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # It has ended itself.
                each.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            server = client if self.is_mute else socket.create_connection(("127.0.0.1", self.server_port))
            with self.lock:
                self.sockets += [client, server]
            if not self.is_mute:
                self._begin(self._carry, UP, client, server)
                self._begin(self._carry, DOWN, server, client)

    def _carry(self, way, source, sink):
        try:
            while piece := source.recv(CHUNK_SIZE):
                if self.delay_s > 0:
                    time.sleep(self.delay_s)
                if not self._hand_on(way, piece, sink):
                    return
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The other direction has broken all, or one side has gone.

    def _hand_on(self, way, piece, sink):
        """False when this direction has ended."""
        if way == DOWN and self.loses_answer_to and self.loses_answer_to in self.recorded[UP]:
            self.break_all()
            return False
        for limit, end in ((self.cut, self.break_all), (self.half_close, lambda: sink.shutdown(socket.SHUT_WR))):
            left = limit[1] - len(self.recorded[way]) if limit and limit[0] == way else len(piece)
            if left < len(piece):
                self.recorded[way] += piece[:left]
                sink.sendall(piece[:left])
                end()
                return False
        self.recorded[way] += piece
        sink.sendall(piece)
        return True
