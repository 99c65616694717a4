"""An authorization server of Authlib on Flask, set up as in Authlib's documentation: its models for SQLAlchemy, its grants
and endpoints with the methods of its examples, PKCE required of public clients, refresh token rotation. Sign-in and
consent are two small pages of the application; the database is a temporary file.

Long because an Authlib application defines its models, grants and endpoints itself.

Debian packages python3-authlib and python3-flask-sqlalchemy; run with Debian's own interpreter.

    /usr/bin/python3 server.py PORT [bare]

bare: without the two precautions that the other vectors need. Requests run in threads, and registration always knows the
supported grant and response types.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import urllib.parse

REAL_TIME = time.time
offset = 0
time.time = lambda: REAL_TIME() + offset

try:
    from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
    from authlib.integrations.sqla_oauth2 import (
        OAuth2AuthorizationCodeMixin,
        OAuth2ClientMixin,
        OAuth2TokenMixin,
        create_bearer_token_validator,
        create_query_client_func,
        create_query_token_func,
        create_revocation_endpoint,
        create_save_token_func,
    )
    from authlib.oauth2 import OAuth2Error
    from authlib.oauth2.rfc6749 import grants
    from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
    from authlib.oauth2.rfc7636 import CodeChallenge
    from authlib.oauth2.rfc7662 import IntrospectionEndpoint
    from flask import Flask, jsonify, redirect, render_template_string, request, session
    from flask_sqlalchemy import SQLAlchemy
except ImportError as missing:
    sys.exit(f"{missing}: this target takes Debian's packages python3-authlib and python3-flask-sqlalchemy")

# Only loopback is served.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

PORT = int(sys.argv[1])
BARE = sys.argv[2:] == ["bare"]
BASE = f"http://127.0.0.1:{PORT}"
SCOPES = ["profile", "read", "admin"]
VARS = json.loads(pathlib.Path(__file__).with_name("target.json").read_text())["vars"]

# With an exit handler, Python removes the folder.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
folder = tempfile.TemporaryDirectory()
app = Flask(__name__)
app.secret_key = os.urandom(24)
app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{folder.name}/authlib.sqlite"
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_SCOPES_SUPPORTED"] = SCOPES
db = SQLAlchemy(app)


class User(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(40), unique=True)
    password = db.Column(db.String(40))

    def get_user_id(self):
        return self.id


class Client(db.Model, OAuth2ClientMixin):
    id = db.Column(db.Integer, primary_key=True)


class AuthorizationCode(db.Model, OAuth2AuthorizationCodeMixin):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.Integer, db.ForeignKey("user.id"))


class Token(db.Model, OAuth2TokenMixin):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.Integer, db.ForeignKey("user.id"))
    user = db.relationship("User")


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

    def save_authorization_code(self, code, request):
        item = AuthorizationCode(
            code=code,
            client_id=request.client.client_id,
            redirect_uri=request.redirect_uri,
            scope=request.scope,
            user_id=request.user.id,
            code_challenge=request.data.get("code_challenge"),
            code_challenge_method=request.data.get("code_challenge_method"),
        )
        db.session.add(item)
        db.session.commit()
        return item

    def query_authorization_code(self, code, client):
        item = AuthorizationCode.query.filter_by(code=code, client_id=client.client_id).first()
        return item if item and not item.is_expired() else None

    def delete_authorization_code(self, authorization_code):
        db.session.delete(authorization_code)
        db.session.commit()

    def authenticate_user(self, authorization_code):
        return db.session.get(User, authorization_code.user_id)


class RefreshTokenGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        item = Token.query.filter_by(refresh_token=refresh_token).first()
        return item if item and not item.refresh_token_revoked_at else None

    def authenticate_user(self, credential):
        return db.session.get(User, credential.user_id)

    def revoke_old_credential(self, credential):
        credential.access_token_revoked_at = credential.refresh_token_revoked_at = int(time.time())
        db.session.add(credential)
        db.session.commit()


class Revocation(create_revocation_endpoint(db.session, Token)):
    CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]


class Introspection(IntrospectionEndpoint):
    def query_token(self, token, token_type_hint):
        return create_query_token_func(db.session, Token)(token, token_type_hint)

    def check_permission(self, token, client, request):
        return token.check_client(client)

    def introspect_token(self, token):
        return {
            "client_id": token.client_id,
            "username": token.user.name if token.user else None,
            "token_type": token.token_type,
            "scope": token.get_scope(),
            "iss": BASE,
            "iat": token.issued_at,
            "exp": token.issued_at + token.expires_in,
        }


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, request):
        return "open registration"

    def get_server_metadata(self):
        # Lists grant and response types only to clients that send theirs: otherwise a client without them gets status 500.
        sent = request.get_json()
        kinds = [f"{name}_supported" for name in ("grant_types", "response_types") if BARE or name in sent]
        names = ["scopes_supported", "token_endpoint_auth_methods_supported", *kinds]
        return {name: METADATA[name] for name in names}

    def save_client(self, client_info, client_metadata, request):
        client = Client(**client_info)
        client.set_client_metadata(client_metadata)
        db.session.add(client)
        db.session.commit()
        return client


server = AuthorizationServer(
    app,
    query_client=create_query_client_func(db.session, Client),
    save_token=create_save_token_func(db.session, Token),
)
server.register_grant(AuthorizationCodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshTokenGrant)
server.register_grant(grants.ClientCredentialsGrant)
for endpoint in (Revocation, Introspection, Registration):
    server.register_endpoint(endpoint)
require_oauth = ResourceProtector()
require_oauth.register_token_validator(create_bearer_token_validator(db.session, Token)())

METADATA = {
    "issuer": BASE,
    "authorization_endpoint": f"{BASE}/oauth/authorize",
    "token_endpoint": f"{BASE}/oauth/token",
    "introspection_endpoint": f"{BASE}/oauth/introspect",
    "revocation_endpoint": f"{BASE}/oauth/revoke",
    "registration_endpoint": f"{BASE}/oauth/register",
    "scopes_supported": SCOPES,
    "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "code_challenge_methods_supported": ["plain", "S256"],
}

LOGIN = """<!doctype html><title>Sign in</title>
<form method="post"><input name="username"><input name="password" type="password"><button>Sign in</button></form>"""
CONSENT = """<!doctype html><title>Allow?</title><p>{{ client.client_name }} asks for {{ scope }}.</p>
<form method="post"><button name="confirm" value="yes">Yes</button><button name="confirm" value="">No</button></form>"""


@app.route("/login", methods=["GET", "POST"])
def login():
    if request.method == "GET":
        return LOGIN
    user = User.query.filter_by(name=request.form["username"], password=request.form["password"]).first()
    if user is None:
        return LOGIN, 403
    session["user"] = user.id
    after = request.args.get("next", "/")
    return redirect(after if after.startswith("/oauth/authorize?") else "/", 303)


@app.route("/")
def home():
    return "Signed in" if "user" in session else "Not signed in"


@app.route("/oauth/authorize", methods=["GET", "POST"])
def authorize():
    # The documentation says "Login is required"; its example project requires it first.
    user = db.session.get(User, session.get("user", 0))
    if user is None:
        return redirect("/login?next=" + urllib.parse.quote(request.full_path))
    if request.method == "POST":
        return server.create_authorization_response(grant_user=user if request.form.get("confirm") else None)
    try:
        grant = server.get_consent_grant(end_user=user)
    except OAuth2Error as error:
        # Like create_authorization_response.
        return server.handle_error_response(server.create_oauth2_request(None), error)
    scope = grant.client.get_allowed_scope(grant.request.scope)
    return render_template_string(CONSENT, client=grant.client, scope=scope)


@app.route("/oauth/token", methods=["POST"])
def issue_token():
    return server.create_token_response()


@app.route("/oauth/revoke", methods=["POST"])
def revoke_token():
    return server.create_endpoint_response("revocation")


@app.route("/oauth/introspect", methods=["POST"])
def introspect_token():
    return server.create_endpoint_response("introspection")


@app.route("/oauth/register", methods=["POST"])
def register_client():
    return server.create_endpoint_response("client_registration")


@app.route("/.well-known/oauth-authorization-server")
def metadata():
    return jsonify(METADATA)


@app.route("/me")
@require_oauth("profile")
def me():
    return jsonify(name=current_token.user.name)


@app.route("/admin")
@require_oauth("admin")
def admin():
    return jsonify(name=current_token.user.name)


@app.route("/control/advance", methods=["POST"])
def advance():
    global offset
    offset += request.get_json()["seconds"]
    return "", 204


GRANTS = {
    "service": ["client_credentials"],
    "odd_secret": ["client_credentials"],
    "no_code": ["client_credentials"],
    "code_only": ["authorization_code"],
}


def register_known():
    db.create_all()
    for user in VARS["users"].values():
        db.session.add(User(**user))
    for name, known in VARS["clients"].items():
        secret = known.get("secret")
        own = ["authorization_code", "refresh_token"] + (["client_credentials"] if secret else [])
        kinds = GRANTS.get(name, own)
        client = Client(client_id=known["id"], client_secret=secret or "")
        client.set_client_metadata(
            {
                "client_name": known.get("name", known["id"]),
                "redirect_uris": [known[key] for key in ("redirect_uri", "second_redirect_uri") if key in known],
                "scope": "profile read",
                "grant_types": kinds,
                "response_types": ["code"] if "authorization_code" in kinds else [],
                "token_endpoint_auth_method": "client_secret_basic" if secret else "none",
            }
        )
        db.session.add(client)
    db.session.commit()


with app.app_context():
    register_known()
# Single-threaded: as documented, the steps of a grant are not atomic, and the results of races would vary.
app.run("127.0.0.1", PORT, threaded=BARE)
