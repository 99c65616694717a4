"""Django OAuth Toolkit in a Django project of one file, set up as in its tutorial: its own views and its consent page,
Django's login page, PKCE required of public clients, introspection and revocation; other settings are the
defaults. The database is a temporary file, and password hashing is fast, because a run signs in a thousand times.

Debian package python3-django-oauth-toolkit; run with Debian's own interpreter.

    /usr/bin/python3 server.py PORT
"""

import datetime
import json
import os
import pathlib
import signal
import sys
import tempfile
from wsgiref.simple_server import WSGIRequestHandler, make_server

try:
    import django
    import oauth2_provider  # noqa: F401
    from django.conf import settings
except ImportError as missing:
    sys.exit(f"{missing}: this target takes Debian's package python3-django-oauth-toolkit")

PORT = int(sys.argv[1])
VARS = json.loads(pathlib.Path(__file__).with_name("target.json").read_text())["vars"]

# With an exit handler, Python removes the folder.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
folder = tempfile.TemporaryDirectory()
login_form = pathlib.Path(folder.name, "registration", "login.html")
login_form.parent.mkdir()
login_form.write_text('<form method="post">{% csrf_token %}{{ form }}<button>Sign in</button></form>')


def is_public(client_id):
    return Application.objects.filter(client_id=client_id, client_type="public").exists()


settings.configure(
    SECRET_KEY=os.urandom(24).hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "oauth2_provider",
    ],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [folder.name],
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder.name}/django.sqlite"}},
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    LOGIN_REDIRECT_URL="/",
    OAUTH2_PROVIDER={
        "SCOPES": {"profile": "Your profile", "read": "Reading", "admin": "Everything"},
        "DEFAULT_SCOPES": ["profile"],
        "PKCE_REQUIRED": is_public,
    },
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.utils import timezone  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402
from oauth2_provider.views.generic import ScopedProtectedResourceView  # noqa: E402

real_now = timezone.now
offset = datetime.timedelta()
timezone.now = lambda: real_now() + offset


class Profile(ScopedProtectedResourceView):
    required_scopes = ["profile"]

    def get(self, request, *args, **kwargs):
        return JsonResponse({"name": request.resource_owner.username})


class Admin(Profile):
    required_scopes = ["admin"]


@csrf_exempt
def advance(request):
    global offset
    offset += datetime.timedelta(seconds=json.loads(request.body)["seconds"])
    return HttpResponse(status=204)


urlpatterns = [
    path("", lambda request: HttpResponse(request.user.username)),
    path("accounts/", include("django.contrib.auth.urls")),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("me", Profile.as_view()),
    path("admin", Admin.as_view()),
    path("control/advance", advance),
]

GRANTS = {"service": "client-credentials", "odd_secret": "client-credentials", "no_code": "client-credentials"}

call_command("migrate", verbosity=0)
for user in VARS["users"].values():
    User.objects.create_user(user["name"], password=user["password"])
for name, known in VARS["clients"].items():
    Application.objects.create(
        name=known.get("name", known["id"]),
        client_id=known["id"],
        client_secret=known.get("secret", ""),
        client_type="confidential" if "secret" in known else "public",
        authorization_grant_type=GRANTS.get(name, "authorization-code"),
        redirect_uris=" ".join(known[key] for key in ("redirect_uri", "second_redirect_uri") if key in known),
    )


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


application = get_wsgi_application()


def serve(environ, start_response):
    # The standard library's server leaves the body of HEAD to the application.
    body = application(environ, start_response)
    return [] if environ["REQUEST_METHOD"] == "HEAD" else body


# Single-threaded, so that the results of races are stable.
make_server("127.0.0.1", PORT, serve, handler_class=Quiet).serve_forever()
