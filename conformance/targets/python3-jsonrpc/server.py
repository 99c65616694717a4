"""The example methods of the specification on json-rpc's response manager, behind the standard library's WSGI server.

Debian package python3-jsonrpc; run with Debian's own interpreter.

    /usr/bin/python3 server.py PORT
"""

import logging
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from jsonrpc import Dispatcher, JSONRPCResponseManager
from jsonrpc.exceptions import JSONRPCDispatchException

methods = Dispatcher()


def require_numbers(*values):
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise JSONRPCDispatchException(code=-32602, message="Invalid params")


@methods.add_method
def subtract(minuend, subtrahend):
    require_numbers(minuend, subtrahend)
    return minuend - subtrahend


@methods.add_method
def sum(*values):
    require_numbers(*values)
    return __builtins__.sum(values)


@methods.add_method
def get_data():
    return ["hello", 5]


@methods.add_method
def update(*values):
    return None


@methods.add_method
def notify_hello(*values):
    return None


@methods.add_method
def notify_sum(*values):
    return None


def application(environ, start_response):
    text = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    response = JSONRPCResponseManager.handle(text, methods)
    if response is None:
        start_response("204 No Content", [])
        return []
    start_response("200 OK", [("Content-Type", "application/json")])
    return [response.json.encode()]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


logging.disable()
make_server("127.0.0.1", int(sys.argv[1]), application, handler_class=Quiet).serve_forever()
