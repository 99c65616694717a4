"""The example methods of the specification on jsonrpclib-pelix's own HTTP server, the one with threads.

Debian package python3-jsonrpclib-pelix; run with Debian's own interpreter.

    /usr/bin/python3 server.py PORT
"""

import logging
import sys

from jsonrpclib.SimpleJSONRPCServer import PooledJSONRPCServer


def require_numbers(*values):
    """The library turns a TypeError into -32602."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError("not a number")


def subtract(minuend, subtrahend):
    require_numbers(minuend, subtrahend)
    return minuend - subtrahend


def add_up(*values):
    require_numbers(*values)
    return sum(values)


logging.disable()
server = PooledJSONRPCServer(("127.0.0.1", int(sys.argv[1])), logRequests=False)
server.register_function(subtract)
server.register_function(add_up, "sum")
server.register_function(lambda: ["hello", 5], "get_data")
for name in ("update", "notify_hello", "notify_sum"):
    server.register_function(lambda *values: None, name)
server.serve_forever()
