"""Glewlwyd with its OpenID Connect plugin on a temporary SQLite file. Scopes, users, clients and the plugin are registered
by its administration API, on another port, before it serves. Its pages call the API from the browser, and so does the
target: sign in, grant, continue.

Debian package glewlwyd (with sqlite3's schema in dbconfig-common's folder); openssl makes the key.

    /usr/bin/python3 server.py PORT
"""

import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

CONFIGURATION = pathlib.Path("/etc/glewlwyd/glewlwyd.conf")
SCHEMA = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
if shutil.which("glewlwyd") is None or not CONFIGURATION.exists() or not SCHEMA.exists():
    sys.exit("This target needs the Debian package glewlwyd")

PORT = int(sys.argv[1])
ISSUER = f"http://127.0.0.1:{PORT}/api/glwd"
VARS = json.loads(pathlib.Path(__file__).with_name("target.json").read_text())["vars"]
SCOPES = ["openid", "read", "write", "admin"]

folder = tempfile.mkdtemp()
database = os.path.join(folder, "glewlwyd.sqlite")
with sqlite3.connect(database) as connection:
    connection.executescript(SCHEMA.read_text())


def start(port):
    """Starts it with Debian's configuration file and these changes."""
    text = CONFIGURATION.read_text()
    text = re.sub(r"(?m)^@include.*$", f'database = {{ type = "sqlite3"; path = "{database}"; }};', text)
    text = re.sub(r"(?m)^port=.*$", f'port={port}\nbind_address="127.0.0.1"', text)
    text = re.sub(r"(?m)^external_url=.*$", f'external_url="http://127.0.0.1:{PORT}"', text)
    text = re.sub(r"(?m)^log_mode=.*$", 'log_mode="console"', text)
    text = re.sub(r"(?m)^log_level=.*$", 'log_level="ERROR"', text)
    path = os.path.join(folder, "glewlwyd.conf")
    pathlib.Path(path).write_text(text)
    return subprocess.Popen(["glewlwyd", f"--config-file={path}"])


cookie = None


def call(path, body, port=PORT + 1):
    global cookie
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/{path}",
        json.dumps(body).encode(),
        {"content-type": "application/json", **({"cookie": cookie} if cookie else {})},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            cookie = cookie or answer.headers.get("set-cookie", "").split(";")[0]
    except urllib.error.HTTPError as error:
        sys.exit(f"Glewlwyd refuses {path}: {error.code} {error.read().decode()}")


def sign_in():
    for _ in range(100):
        try:
            return call("auth/", {"username": "admin", "password": "password"})
        except urllib.error.URLError:
            time.sleep(0.1)
    sys.exit("Glewlwyd does not answer")


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=True).stdout


GRANTS = {
    "service": ["client_credentials"],
    "odd_secret": ["client_credentials"],
    "no_code": ["client_credentials"],
    "code_only": ["code"],
}


def register():
    sign_in()
    for scope in SCOPES[1:]:
        call("scope/", {"name": scope, "display_name": scope, "password_required": False, "scheme": {}})
    for user in VARS["users"].values():
        own = {"username": user["name"], "password": user["password"], "name": user["name"], "enabled": True}
        call("user/", {**own, "scope": [*SCOPES, "g_profile"]})
    for name, known in VARS["clients"].items():
        secret = known.get("secret")
        grants = GRANTS.get(name, ["code", "refresh_token"] + (["client_credentials"] if secret else []))
        client = {
            "client_id": known["id"],
            "name": known.get("name", known["id"]),
            "enabled": True,
            "confidential": secret is not None,
            "redirect_uri": [known[key] for key in ("redirect_uri", "second_redirect_uri") if key in known],
            "authorization_type": grants,
            "scope": ["read", "write"],
        }
        if secret is not None:
            methods = ["client_secret_basic", "client_secret_post"]  # both, as its discovery document says
            client |= {"client_secret": secret, "token_endpoint_auth_method": methods}
        call("client/", client)
    key = os.path.join(folder, "key.pem")
    openssl("genrsa", "-out", key, "2048")
    parameters = {
        "iss": ISSUER,
        "jwt-type": "rsa",
        "jwt-key-size": "256",
        "key": pathlib.Path(key).read_text(),
        "cert": openssl("rsa", "-in", key, "-pubout"),
        "access-token-duration": 3600,
        "refresh-token-duration": 1209600,
        "code-duration": 600,
        "refresh-token-rolling": True,
        "refresh-token-one-use": "always",
        "allow-non-oidc": True,
        "auth-type-code-enabled": True,
        "auth-type-code-revoke-replayed": True,
        "auth-type-client-enabled": True,
        "auth-type-refresh-enabled": True,
        "auth-type-token-enabled": False,
        "auth-type-id-token-enabled": False,
        "auth-type-password-enabled": False,
        "auth-type-none-enabled": False,
        "pkce-allowed": True,
        "pkce-required-public-client": True,
        "pkce-method-plain-allowed": False,
        "introspection-revocation-allowed": True,
        "introspection-revocation-allow-target-client": True,
        "oauth-as-iss-id": True,
        "jwks-show": True,
        "subject-type": "public",
        "allowed-scope": SCOPES,
    }
    call("mod/plugin/", {"module": "oidc", "name": "glwd", "display_name": "OpenID Connect", "parameters": parameters})


def end(*_):
    raise SystemExit(0)


def stop():
    server.terminate()
    server.wait()


signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
server = start(PORT + 1)
try:
    register()
    stop()
    server = start(PORT)
    sys.exit(server.wait())
finally:
    stop()
    shutil.rmtree(folder, ignore_errors=True)
