#!/usr/bin/env python3
"""A second runner for the vectors, written from FORMAT.md: one file, the standard library, Python 3.10 or later.

    python3 run.py SUITE... [--target FILE] [--only TEXT] [--seed TEXT] [--timeout SECONDS] [--jobs N] [--slow]

It writes the report as JSON (result.schema.json) to standard output, a summary to standard error. It does not detect
features, so a target file lists them, and it does not run modules. The tests of `runners/` compare its
verdicts with those of the reference runner. Section numbers in comments are those of FORMAT.md.
"""

import argparse
import base64
import collections
import concurrent.futures
import datetime
import email.utils
import hashlib
import hmac
import json
import math
import os
import pathlib
import queue
import re
import secrets
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Absent:
    """The value of a place that has none; `None` is JSON's null."""

    def __repr__(self):
        return "nothing"


ABSENT = Absent()


class ExpectationFailed(Exception):
    """The server did not do what the step expects."""

    def __init__(self, message, mismatches=(), expected=None, view=None, excess=False):
        super().__init__(message)
        self.mismatches, self.expected, self.view, self.excess = list(mismatches), expected, view, excess


class ProcedureFailed(ExpectationFailed):
    """A procedure of the target failed, so the vector could not test the server."""


class KitError(Exception):
    """A fault of the vector or the kit."""


class NotClaimed(Exception):
    """The vector needs something that the target does not declare."""


class Broken(Exception):
    """The exchange failed. `response` is the part that was received."""

    def __init__(self, kind, why, response=None):
        super().__init__(why)
        self.kind, self.why, self.response = kind, why, response or {}


# --- JSON and text ---


def to_number(text):
    """A number as a 64-bit float. Whole ones become `int`, so that 1 and 1.0 are equal."""
    value = float(text)
    return int(value) if math.isfinite(value) and value.is_integer() else value


def refuse_constant(text):
    raise ValueError(text)


MAX_JSON_VALUES = 1_000_000


def parse_json(text):
    if len(text) > MAX_JSON_VALUES and sum(map(text.count, ",:[{")) > MAX_JSON_VALUES:
        return ABSENT
    try:
        return json.loads(text, parse_int=to_number, parse_float=to_number, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return ABSENT


def read_json(path):
    return json.loads(pathlib.Path(path).read_text("utf-8"), parse_int=to_number, parse_float=to_number)


def number_text(value):
    """A number as ECMAScript writes it."""
    number = float(value)
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    digits, exponent = f"{number!r}e0".split("e")[:2]
    power = int(exponent)
    if power == 0:
        return digits
    if -7 <= power < 0:
        return f"{number:.{len(digits.lstrip('-').replace('.', '')) - 1 - power}f}"
    return f"{digits}e{'+' if power > 0 else '-'}{abs(power)}"


def write_string(text):
    return re.sub(r"[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def write_json(value):
    """JSON text without spaces, members in their order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{write_string(name)}:{write_json(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_json, value)) + "]"
    if isinstance(value, str):
        return write_string(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number_text(value) if math.isfinite(value) else "null"


def canonical(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{write_string(name)}:{canonical(value[name])}" for name in sorted(value)) + "}"
    return "[" + ",".join(map(canonical, value)) + "]" if isinstance(value, list) else write_json(value)


def utf8(text):
    """UTF-8. Lone surrogates are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def strict_text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def loose_text(data):
    return data.decode("utf-8", "replace")


def b64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_b64url(text):
    if not re.fullmatch(r"[A-Za-z0-9+/_-]*={0,2}", text) or len(text.rstrip("=")) % 4 == 1:
        raise ValueError("invalid base64url")
    plain = text.rstrip("=").replace("+", "-").replace("/", "_")
    return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))


def plain(value, what="Cannot convert a value"):
    """A string, number or boolean as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    raise KitError(f"{what}: {value!r} is not a string, number or boolean")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def equal(one, other):
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if is_number(one) and is_number(other):
        return one == other
    return type(one) is type(other) and one == other


def member(value, name):
    """The member of an object or item of a list, or ABSENT."""
    if isinstance(value, dict):
        return value.get(name, ABSENT)
    if isinstance(value, list) and re.fullmatch(r"0|[1-9]\d*", name) and int(name) < len(value):
        return value[int(name)]
    return ABSENT


def pointer(text, value):
    """JSON Pointer (RFC 6901)."""
    if text == "":
        return value
    for part in text[1:].split("/"):
        value = member(value, part.replace("~1", "/").replace("~0", "~"))
    return value


# --- URLs: the URL Standard, for the schemes and hosts that vectors use ---

SPECIAL = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
C0 = "".join(map(chr, range(0x21)))
SETS = {"fragment": ' "<>`', "query": ' "#<>', "special_query": " \"#<>'", "path": ' "#<>?`{}^', "userinfo": ' "#<>?`{}/:;=@[\\]^|'}


def percent(text, kind):
    out = []
    for letter in text:
        if ord(letter) > 0x7E or ord(letter) < 0x20 or letter in SETS[kind]:
            out.extend(f"%{byte:02X}" for byte in utf8(letter))
        else:
            out.append(letter)
    return "".join(out)


def parse_host(text, special):
    if text.startswith("["):
        try:
            packed = socket.inet_pton(socket.AF_INET6, text[1:-1]) if text.endswith("]") else None
        except (OSError, ValueError):
            packed = None
        return None if packed is None else f"[{socket.inet_ntop(socket.AF_INET6, packed)}]"
    if not special:
        return None if re.search(r"[\0\t\n\r #/<>?@\[\\\]^|]", text) else percent(text, "fragment")
    decoded = re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), utf8(text)).decode("utf-8", "replace")
    try:
        host = decoded.lower() if decoded.isascii() else decoded.encode("idna").decode().lower()
    except UnicodeError:
        return None
    if host == "" or re.search(r"[\0-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]", host):
        return None
    parts = host.rstrip(".").split(".") if host.endswith(".") else host.split(".")
    if not re.fullmatch(r"\d+|0x[0-9a-f]*", parts[-1]):
        return host
    try:
        numbers = [0 if p == "0x" else int(p, 16) if p.startswith("0x") else int(p, 8) if len(p) > 1 and p[0] == "0" else int(p) for p in parts]
    except ValueError:
        return None
    if len(numbers) > 4 or any(n > 255 for n in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    whole = numbers[-1] + sum(n << 8 * (3 - at) for at, n in enumerate(numbers[:-1]))
    return socket.inet_ntoa(struct.pack(">I", whole))


class Url:
    """A parsed URL. `path` is a text; `opaque` if the scheme has no hierarchy."""

    def __init__(self, **parts):
        self.scheme, self.user, self.host, self.port = "", "", None, None
        self.path, self.query, self.fragment, self.opaque = "", None, None, False
        self.__dict__.update(parts)

    @property
    def authority(self):
        return (self.host or "") + (f":{self.port}" if self.port is not None else "")

    @property
    def origin(self):
        return f"{self.scheme}://{self.authority}" if self.scheme in SPECIAL else None

    @property
    def target(self):
        return self.path + (f"?{self.query}" if self.query else "")

    def __str__(self):
        host = "" if self.host is None else f"//{self.user}{self.authority}"
        query = "" if self.query is None else f"?{self.query}"
        return f"{self.scheme}:{host}{self.path}{query}" + ("" if self.fragment is None else f"#{self.fragment}")


def parse_url(text, base=None):
    """A `Url`, or None if the text is not one."""
    text = re.sub(r"[\t\n\r]", "", text.strip(C0))
    rest, _, fragment = text.partition("#")
    fragment = percent(fragment, "fragment") if "#" in text else None
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", rest)
    if found:
        scheme, rest = found[1].lower(), rest[found.end():]
        special = scheme in SPECIAL
        if special and base is not None and base.scheme == scheme and not re.match(r"[/\\]", rest):
            return parse_relative(rest, base, fragment)
        if special:
            return parse_authority(scheme, re.sub(r"^[/\\]*", "", rest), True, fragment)
        if rest.startswith("//"):
            return parse_authority(scheme, rest[2:], False, fragment)
        path, _, query = rest.partition("?")
        query = percent(query, "query") if "?" in rest else None
        if rest.startswith("/"):
            return Url(scheme=scheme, path=normal_path(path, False), query=query, fragment=fragment)
        return Url(scheme=scheme, path="".join(f"%{b:02X}" if b > 0x7E or b < 0x20 else chr(b) for b in utf8(path)), query=query, fragment=fragment, opaque=True)
    if base is None or base.opaque and rest != "":
        return None
    return parse_relative(rest, base, fragment)


def parse_authority(scheme, rest, special, fragment):
    end = re.search(r"[/\\?]" if special else r"[/?]", rest)
    authority, rest = (rest, "") if not end else (rest[:end.start()], rest[end.start():])
    user, at, address = authority.rpartition("@")
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?", address)
    if not found or found[2] and int(found[2]) > 65535:
        return None
    host = parse_host(found[1], special)
    if host is None:
        return None
    port = int(found[2]) if found[2] else None
    if port == SPECIAL.get(scheme):
        port = None
    name, colon, password = user.partition(":")
    login = percent(name, "userinfo") + (f":{percent(password, 'userinfo')}" if password else "")
    path, _, query = rest.partition("?")
    return Url(
        scheme=scheme, user=f"{login}@" if login else "", host=host, port=port, path=normal_path(path, special),
        query=percent(query, "special_query" if special else "query") if "?" in rest else None, fragment=fragment,
    )


def parse_relative(rest, base, fragment):
    special = base.scheme in SPECIAL
    slashes = r"[/\\]" if special else "/"
    if re.match(slashes + slashes, rest):
        return parse_authority(base.scheme, re.sub(r"^[/\\]*", "", rest) if special else rest[2:], special, fragment)
    path, mark, query = rest.partition("?")
    query = percent(query, "special_query" if special else "query") if mark else None
    if path == "":
        whole, query = base.path, query if mark else base.query
    elif re.match(slashes, path):
        whole = normal_path(path, special)
    else:
        whole = normal_path(base.path.rpartition("/")[0] + "/" + path, special)
    return Url(scheme=base.scheme, user=base.user, host=base.host, port=base.port, path=whole, query=query, fragment=fragment, opaque=base.opaque)


def normal_path(path, special):
    if path == "":
        return "/" if special else ""
    parts = re.split(r"[/\\]" if special else "/", path)[1 if re.match(r"[/\\]" if special else "/", path) else 0:]
    kept = []
    for at, part in enumerate(parts):
        dots, last = part.lower().replace("%2e", "."), at == len(parts) - 1
        if dots == "..":
            kept[-1:] = []
        if dots in (".", ".."):
            kept.extend([""] if last else [])
        else:
            kept.append(percent(part, "path"))
    return "/" + "/".join(kept)


FORM_SAFE = set(b"*-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def form_encode(text):
    return "".join(chr(b) if b in FORM_SAFE else "+" if b == 0x20 else f"%{b:02X}" for b in utf8(text))


def form_decode(text):
    data = re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), utf8(text.replace("+", " ")))
    return loose_text(data)


def parameters(text):
    """The parameters of a query or fragment."""
    pairs = (pair.partition("=") for pair in filter(None, text.split("&")))
    return collect((form_decode(name), form_decode(value)) for name, _, value in pairs)


def collect(pairs):
    """Names with their values. A repeated name has a list."""
    found = {}
    for name, value in pairs:
        found[name] = value if name not in found else (found[name] if isinstance(found[name], list) else [found[name]]) + [value]
    return found


def to_form(members):
    return "&".join(
        f"{form_encode(name)}={form_encode(plain(each))}"
        for name, value in members.items() for each in (value if isinstance(value, list) else [value]) if each is not None
    )


# --- Keys and signatures (section 4: key, jwt, dpop) ---

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296, 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def ec_add(one, other):
    """Adds points of P-256."""
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2:
        if (y1 + y2) % P == 0:
            return None
        slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) % P
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, P) % P
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def multiply(times, point, add, zero=None):
    total = zero
    while times:
        if times & 1:
            total = add(total, point)
        point, times = add(point, point), times >> 1
    return total


def es256_sign(key, data):
    digest, private = int.from_bytes(hashlib.sha256(data).digest(), "big"), int.from_bytes(from_b64url(key["d"]), "big")
    once = secrets.randbelow(N - 1) + 1
    r = multiply(once, G, ec_add)[0] % N
    s = pow(once, -1, N) * (digest + r * private) % N
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def es256_verify(key, data, signature):
    x, y = (int.from_bytes(from_b64url(key[name]), "big") for name in "xy")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if len(signature) != 64 or not (0 < r < N and 0 < s < N) or (y * y - x**3 + 3 * x - B) % P:
        return False
    digest, inverse = int.from_bytes(hashlib.sha256(data).digest(), "big"), pow(s, -1, N)
    point = ec_add(multiply(digest * inverse % N, G, ec_add), multiply(r * inverse % N, (x, y), ec_add))
    return point is not None and point[0] % N == r


Q = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, Q) % Q


def ed_add(one, other):
    """Adds points of Ed25519 (RFC 8032) in extended coordinates."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a, b = (y1 - x1) * (y2 - x2) % Q, (y1 + x1) * (y2 + x2) % Q
    c, d = 2 * t1 * t2 * D % Q, 2 * z1 * z2 % Q
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % Q, g * h % Q, f * g % Q, e * h % Q


def ed_point(data):
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, Q) % Q
    x = pow(square, (Q + 3) // 8, Q)
    if (x * x - square) % Q:
        x = x * pow(2, (Q - 1) // 4, Q) % Q
    if (x * x - square) % Q:
        raise ValueError("not a point")
    x = Q - x if x & 1 != odd else x
    return x, y, 1, x * y % Q


ED_BASE = ed_point((4 * pow(5, -1, Q) % Q).to_bytes(32, "little"))
ED_ZERO = (0, 1, 1, 0)


def ed_bytes(point):
    inverse = pow(point[2], -1, Q)
    x, y = point[0] * inverse % Q, point[1] * inverse % Q
    return (y | (x & 1) << 255).to_bytes(32, "little")


def ed_secret(seed):
    digest = hashlib.sha512(seed).digest()
    return int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254, digest[32:]


def ed_hash(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % L


def eddsa_sign(key, data):
    scalar, prefix = ed_secret(from_b64url(key["d"]))
    public, once = ed_bytes(multiply(scalar, ED_BASE, ed_add, ED_ZERO)), ed_hash(prefix, data)
    r = ed_bytes(multiply(once, ED_BASE, ed_add, ED_ZERO))
    return r + ((once + ed_hash(r, public, data) * scalar) % L).to_bytes(32, "little")


def eddsa_verify(key, data, signature):
    public = from_b64url(key["x"])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= L:
        return False
    right = ed_add(ed_point(signature[:32]), multiply(ed_hash(signature[:32], public, data), ed_point(public), ed_add, ED_ZERO))
    return ed_bytes(multiply(s, ED_BASE, ed_add, ED_ZERO)) == ed_bytes(right)


def rsa_padded(data, size):
    digest = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(data).digest()
    return b"\0\1" + b"\xff" * (size - len(digest) - 3) + b"\0" + digest


def rsa_numbers(key, *names):
    return [int.from_bytes(from_b64url(key[name]), "big") for name in names]


def rs256_sign(key, data):
    n, d = rsa_numbers(key, "n", "d")
    size = (n.bit_length() + 7) // 8
    return pow(int.from_bytes(rsa_padded(data, size), "big"), d, n).to_bytes(size, "big")


def rs256_verify(key, data, signature):
    n, e = rsa_numbers(key, "n", "e")
    size = (n.bit_length() + 7) // 8
    return len(signature) == size and pow(int.from_bytes(signature, "big"), e, n).to_bytes(size, "big") == rsa_padded(data, size)


def find_prime(bits):
    while True:
        candidate = secrets.randbits(bits) | 3 << bits - 2 | 1
        if any(candidate % small == 0 for small in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)) or candidate % 65537 == 1:
            continue
        odd, twos = candidate - 1, 0
        while odd % 2 == 0:
            odd, twos = odd // 2, twos + 1

        def passes():
            value = pow(secrets.randbelow(candidate - 3) + 2, odd, candidate)
            if value in (1, candidate - 1):
                return True
            for _ in range(twos - 1):
                value = value * value % candidate
                if value == candidate - 1:
                    return True
            return False

        if all(passes() for _ in range(12)):
            return candidate


def whole_bytes(number):
    return b64url(number.to_bytes((number.bit_length() + 7) // 8, "big"))


def hs256_sign(key, data):
    return hmac.new(from_b64url(key["k"]), data, hashlib.sha256).digest()


ALGORITHMS = {
    "ES256": ("EC", es256_sign, es256_verify),
    "RS256": ("RSA", rs256_sign, rs256_verify),
    "Ed25519": ("OKP", eddsa_sign, eddsa_verify),
    "EdDSA": ("OKP", eddsa_sign, eddsa_verify),
    "HS256": ("oct", hs256_sign, lambda key, data, signature: hmac.compare_digest(hs256_sign(key, data), signature)),
}


def get_algorithm(alg):
    if alg not in ALGORITHMS:
        raise KitError(f'Unsupported algorithm "{alg}"')
    return ALGORITHMS[alg]


def fits_key(alg, key):
    return alg in ALGORITHMS and key.get("kty") == ALGORITHMS[alg][0] and (alg != "ES256" or key.get("crv") == "P-256")


def generate_key(alg):
    get_algorithm(alg)
    if alg == "HS256":
        return {"private": {"kty": "oct", "alg": alg, "k": b64url(secrets.token_bytes(32))}}
    if alg == "ES256":
        d = secrets.randbelow(N - 1) + 1
        x, y = (b64url(part.to_bytes(32, "big")) for part in multiply(d, G, ec_add))
        public, private = {"crv": "P-256", "kty": "EC", "x": x, "y": y}, {"d": b64url(d.to_bytes(32, "big"))}
    elif alg in ("Ed25519", "EdDSA"):
        seed = secrets.token_bytes(32)
        x = ed_bytes(multiply(ed_secret(seed)[0], ED_BASE, ed_add, ED_ZERO))
        public, private = {"crv": "Ed25519", "kty": "OKP", "x": b64url(x)}, {"d": b64url(seed)}
    else:
        p, q, e = find_prime(1024), find_prime(1024), 65537
        d = pow(e, -1, (p - 1) * (q - 1))
        public = {"e": whole_bytes(e), "kty": "RSA", "n": whole_bytes(p * q)}
        crt = {"d": d, "p": p, "q": q, "dp": d % (p - 1), "dq": d % (q - 1), "qi": pow(q, -1, p)}
        private = {name: whole_bytes(number) for name, number in crt.items()}
    thumbprint = b64url(hashlib.sha256(utf8(write_json(public))).digest())
    return {"private": {**public, **private, "alg": alg}, "public": {**public, "alg": alg}, "thumbprint": thumbprint}


def sign_jws(header, claims, key):
    alg = header.get("alg", key.get("alg", "none") if key else "none")
    parts = [{"alg": alg, **header}, {} if claims is None else claims]
    data = ".".join(b64url(utf8(write_json(part))) for part in parts)
    if not key or alg == "none":
        return f"{data}."
    signer = alg if isinstance(alg, str) and fits_key(alg, key) else key.get("alg", plain(alg))
    return f"{data}.{b64url(get_algorithm(signer)[1](key, data.encode()))}"


def parse_jws(text):
    parts = text.split(".")
    if len(parts) != 3:
        return None
    try:
        header, claims = (parse_json(loose_text(from_b64url(part))) for part in parts[:2])
    except ValueError:
        return None
    return None if header is ABSENT or claims is ABSENT else (header, claims)


def verify_jws(text, keys):
    header = (parse_jws(text) or [None])[0]
    alg = header.get("alg") if isinstance(header, dict) else None
    if not isinstance(alg, str) or alg not in ALGORITHMS:
        return False
    every = keys["keys"] if isinstance(keys, dict) and isinstance(keys.get("keys"), list) else [keys]
    data, _, signature = text.rpartition(".")
    for key in every:
        try:
            if isinstance(key, dict) and fits_key(alg, key) and ALGORITHMS[alg][2](key, utf8(data), from_b64url(signature)):
                return True
        except (ValueError, KeyError, TypeError):
            continue
    return False


# --- Patterns (section 3) ---

Mismatch = collections.namedtuple("Mismatch", "path expected actual")


def find_length(value):
    return len(value) if isinstance(value, (str, list)) else None


def find_size(value):
    size = value if is_number(value) else find_length(value)
    return math.nan if size is None else size


def bound(value):
    if not is_number(value):
        raise KitError(f"Invalid bound {value!r}")
    return value


def json_type(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names = {str: "string", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "undefined")


def lower_ascii(text):
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), text)


def compile_pattern(source):
    """An I-Regexp (RFC 9485): `$` is the end of the string, and `.` excludes line ends."""
    out, inside, at = [], False, 0
    while at < len(source):
        letter = source[at]
        if letter == "\\":
            out.append(source[at:at + 2])
            at += 2
            continue
        if inside:
            inside = letter != "]"
            out.append("\\[" if letter == "[" else letter)
        else:
            inside = letter == "["
            out.append({"$": r"\Z", ".": "[^\n\r\u2028\u2029]"}.get(letter, letter))
        at += 1
    try:
        return re.compile("".join(out), re.ASCII)
    except re.error as error:
        raise KitError(f'Invalid regular expression "{source}": {error}') from error


def url_view(text):
    url = parse_url(text)
    if url is None:
        return None
    port = url.port if url.port is not None else {"http": 80, "https": 443}.get(url.scheme, ABSENT)
    view = {"scheme": url.scheme, "host": url.host or "", "port": port, "path": url.path}
    view.update(query=parameters(url.query or ""), fragment=url.fragment or "")
    return {name: value for name, value in view.items() if value is not ABSENT}


def match_contains(pattern, value, variables, path):
    if isinstance(value, str):
        return isinstance(pattern, str) and pattern in value
    return isinstance(value, list) and any(first_mismatch(pattern, item, variables, path) is None for item in value)


def match_every(pattern, value, variables, path):
    if not isinstance(value, list):
        return False
    return next(filter(None, (first_mismatch(pattern, item, variables, f"{path}.{at}") for at, item in enumerate(value))), True)


def match_all(patterns, value, variables, path):
    return next(filter(None, (first_mismatch(each, value, variables, path) for each in patterns)), True)


def match_part(part, pattern, variables, path):
    return part is not None and part is not ABSENT and (first_mismatch(pattern, part, variables, path) or True)


def match_jwt(wanted, value, variables, path):
    parsed = parse_jws(value) if isinstance(value, str) else None
    if parsed is None:
        return False
    for name, part in zip(("header", "claims"), parsed):
        found = name in wanted and first_mismatch(wanted[name], part, variables, f"{path}.{name}")
        if found:
            return found
    return "keys" not in wanted or verify_jws(value, wanted["keys"]) or Mismatch(path, ABSENT, "an invalid signature")


MATCHERS = {
    "$absent": lambda _, value, *more: value is ABSENT,
    "$any": lambda _, value, *more: value is not ABSENT,
    "$oneOf": lambda patterns, value, *more: any(first_mismatch(each, value, *more) is None for each in patterns),
    "$all": match_all,
    "$not": lambda pattern, value, *more: value is not ABSENT and first_mismatch(pattern, value, *more) is not None,
    "$type": lambda name, value, *more: json_type(value) == name or name == "number" and is_number(value),
    "$startsWith": lambda start, value, *more: isinstance(value, str) and value.startswith(start),
    "$endsWith": lambda end, value, *more: isinstance(value, str) and value.endswith(end),
    "$contains": match_contains,
    "$containsIgnoreCase": lambda part, value, *more: isinstance(value, str) and lower_ascii(part) in lower_ascii(value),
    "$every": match_every,
    "$length": lambda pattern, value, variables, path: match_part(find_length(value), pattern, variables, f"{path}.length"),
    "$min": lambda least, value, *more: find_size(value) >= bound(least),
    "$max": lambda most, value, *more: find_size(value) <= bound(most),
    "$pattern": lambda source, value, *more: isinstance(value, str) and compile_pattern(source).search(value) is not None,
    "$eq": lambda wanted, value, *more: equal(wanted, value),
    "$sameAs": lambda name, value, variables, path: equal(get_variable(name, variables), value),
    "$differsFrom": lambda name, value, variables, path: value is not ABSENT and not equal(get_variable(name, variables), value),
    "$unique": lambda _, value, *more: isinstance(value, list) and len(set(map(canonical, value))) == len(value),
    "$json": lambda pattern, value, variables, path: isinstance(value, str) and match_part(parse_json(value), pattern, variables, f"{path}.$json"),
    "$url": lambda pattern, value, variables, path: isinstance(value, str) and match_part(url_view(value), pattern, variables, f"{path}.$url"),
    "$jwt": match_jwt,
}


def first_mismatch(pattern, value, variables, path=""):
    """The first place where a value differs from a pattern, or None."""
    if isinstance(pattern, dict):
        if pattern and all(name.startswith("$") for name in pattern):
            for name, operand in pattern.items():
                if name not in MATCHERS:
                    raise KitError(f'Unknown matcher "{name}"')
                result = MATCHERS[name](operand, value, variables, path)
                if isinstance(result, Mismatch):
                    return result
                if not result:
                    return Mismatch(path, {name: operand}, value)
            return None
        if not isinstance(value, dict):
            return Mismatch(path, pattern, value)
        for name, wanted in pattern.items():
            if name.startswith("$"):
                raise KitError(f'The matcher "{name}" is beside other names')
            found = first_mismatch(wanted, value.get(name, ABSENT), variables, f"{path}.{name}" if path else name)
            if found:
                return found
        return None
    if isinstance(pattern, list):
        if not isinstance(value, list) or not value and pattern:
            return Mismatch(path, pattern, value)
        if len(pattern) != len(value):
            return Mismatch(f"{path}.length", len(pattern), len(value))
        return next(filter(None, (first_mismatch(each, item, variables, f"{path}.{at}") for at, (each, item) in enumerate(zip(pattern, value)))), None)
    return None if equal(pattern, value) else Mismatch(path, pattern, value)


def all_mismatches(pattern, value, variables, path=""):
    """Every place that differs; a matcher other than `$all` is one, and violations inside of `$contains`."""
    if isinstance(pattern, list) and isinstance(value, list) and len(pattern) == len(value):
        return [each for at, (wanted, item) in enumerate(zip(pattern, value)) for each in all_mismatches(wanted, item, variables, f"{path}.{at}")]
    if isinstance(pattern, dict) and isinstance(value, dict) and not any(name.startswith("$") for name in pattern):
        return [
            each for name, wanted in pattern.items()
            for each in all_mismatches(wanted, value.get(name, ABSENT), variables, f"{path}.{name}" if path else name)
        ]
    if isinstance(pattern, dict) and list(pattern) == ["$all"] and isinstance(pattern["$all"], list):
        return [each for part in pattern["$all"] for each in all_mismatches(part, value, variables, path)]
    found = first_mismatch(pattern, value, variables, path)
    return [found, *violations_inside(pattern, value, variables, path)] if found else []


def violations_inside(pattern, value, variables, path):
    """The prohibited values in the nearest items of a list that has no item as `$contains` asks for."""
    wanted = pattern.get("$contains") if isinstance(pattern, dict) and list(pattern) == ["$contains"] else None
    if not isinstance(wanted, dict) or not isinstance(value, list):
        return []
    compared = [all_mismatches(wanted, item, variables, f"{path}.{at}") for at, item in enumerate(value)]
    fewest = min(map(len, compared), default=0)
    return [each for found in compared if len(found) == fewest for each in found if is_violation(each)]


# --- Expectations: one view, or several counted (section 3) ---


def mentions(pattern, name):
    if isinstance(pattern, list):
        return any(mentions(each, name) for each in pattern)
    return isinstance(pattern, dict) and (name in pattern or any(mentions(pattern.get(each), name) for each in ("$oneOf", "$all", "$not")))


def to_pattern(expected):
    """`status` may be a list, and header names have any case."""
    if isinstance(expected, list):
        return list(map(to_pattern, expected))
    if not isinstance(expected, dict):
        return expected
    pattern = {}
    for name, value in expected.items():
        if name == "status" and isinstance(value, list):
            value = {"$oneOf": value}
        elif name == "headers" and isinstance(value, dict):
            value = {field if field.startswith("$") else field.lower(): each for field, each in value.items()}
        elif name.startswith("$"):
            value = to_pattern(value)
        pattern[name] = value
    return pattern


def only_broken(pattern):
    """For a failed exchange, only the alternatives that name `broken`."""
    if not isinstance(pattern, dict):
        return pattern
    kept = dict(pattern)
    if isinstance(pattern.get("$oneOf"), list) and mentions(pattern["$oneOf"], "broken"):
        kept["$oneOf"] = [only_broken(each) for each in pattern["$oneOf"] if mentions(each, "broken")]
    if isinstance(pattern.get("$all"), list):
        kept["$all"] = list(map(only_broken, pattern["$all"]))
    return kept


def pattern_for(expected, view):
    return to_pattern(only_broken(expected) if "broken" in view else expected)


def check_view(expected, view, variables):
    if "broken" in view and not mentions(expected, "broken"):
        raise ExpectationFailed(f"the exchange failed ({view['broken']}): {view.get('why')}", expected=expected, view=view)
    if expected is None:
        return
    pattern = pattern_for(expected, view)
    if first_mismatch(pattern, view, variables):
        pattern, found = nearest(pattern, view, variables)
        path, wanted, actual = found[0]
        message = f"{path or 'response'}: expected {show(wanted)}, got {show(actual)}"
        raise ExpectationFailed(message, mismatches=found, expected=pattern, view=view)


MAX_ALTERNATIVES = 64


def nearest(pattern, view, variables):
    """The alternatives of the response's kind (all if there are none) with the fewest values that must be absent, then
    those that differ in the fewest places; and these places."""
    alternatives, refused = expand_alternatives(pattern) or [pattern], is_refusal(view)
    near = [each for each in alternatives if expects_refusal(each) == refused] or alternatives
    compared = [(each, all_mismatches(each, view, variables)) for each in near]
    ranks = [(sum(map(is_violation, found)), len(found)) for _, found in compared]
    best = [each for each, rank in zip(compared, ranks) if rank == min(ranks)]
    expected = best[0][0] if len(best) == 1 else {"$oneOf": [each for each, _ in best]}
    return expected, [mismatch for _, found in best for mismatch in found]


def expand_alternatives(pattern):
    """The patterns that a pattern with alternatives inside stands for; None if there are too many."""
    if isinstance(pattern, list):
        return combine(list(map(expand_alternatives, pattern)))
    if not isinstance(pattern, dict):
        return [pattern]
    if list(pattern) == ["$oneOf"] and isinstance(pattern["$oneOf"], list) and any(map(is_structured, pattern["$oneOf"])):
        found = list(map(expand_alternatives, pattern["$oneOf"]))
        every = None if None in found else [each for group in found for each in group]
        return every if every is not None and len(every) <= MAX_ALTERNATIVES else None
    if list(pattern) == ["$all"] and isinstance(pattern["$all"], list):
        parts = combine(list(map(expand_alternatives, pattern["$all"])))
        return None if parts is None else [{"$all": each} for each in parts]
    if any(name.startswith("$") for name in pattern):
        return [pattern]
    members = combine([expand_alternatives(each) for each in pattern.values()])
    return None if members is None else [dict(zip(pattern, each)) for each in members]


def combine(choices):
    """Every way to take one of each."""
    found = [[]]
    for choice in choices:
        if choice is None or len(found) * len(choice) > MAX_ALTERNATIVES:
            return None
        found = [before + [each] for before in found for each in choice]
    return found


def is_structured(pattern):
    """Whether a pattern has members or items."""
    if isinstance(pattern, list):
        return True
    return isinstance(pattern, dict) and any(
        not name.startswith("$")
        or name in ("$oneOf", "$all") and isinstance(operand, list) and any(map(is_structured, operand))
        or name in ("$contains", "$every") and is_structured(operand)
        for name, operand in pattern.items()
    )


def show(value):
    text = "nothing" if value is ABSENT else write_json(value)
    return text if len(text) <= 200 else text[:200] + "…"


def check_tally(rows, views, variables):
    counts, first = [0] * len(rows), None
    for view in views:
        for at, row in enumerate(rows):
            pattern = {name: each for name, each in row.items() if name != "count"}
            if "broken" in view and not mentions(pattern, "broken"):
                continue
            if first_mismatch(pattern_for(pattern, view), view, variables) is None:
                break
        else:
            expected, found = None, []
            if "broken" not in view:
                patterns = [pattern_for({name: each for name, each in row.items() if name != "count"}, view) for row in rows]
                expected, found = nearest({"$oneOf": patterns}, view, variables)
            message = f"one of {len(views)} responses matches no row of the tally: {show(view.get('status'))}"
            raise ExpectationFailed(message, mismatches=found, expected=expected, view=view)
        if at == 0 and first is None:
            first = view
        counts[at] += 1
    for at, row in enumerate(rows):
        if first_mismatch(row["count"], counts[at], variables):
            # By convention the first row counts the successes.
            excess = at == 0 and counts[at] > 1 and not expects_refusal(to_pattern(rows[0]))
            raise ExpectationFailed(f"tally row {at + 1}: expected {show(row['count'])}, got {counts[at]} of {len(views)}", excess=excess)
    return first or views[0]


def check_views(expected, views, variables):
    """The view that captures read."""
    if expected is None or not isinstance(expected, dict):
        expected = None
    if expected and isinstance(expected.get("distinct"), dict):
        for place, count in expected["distinct"].items():
            found = len({canonical(value) for value in (pointer(place, view) for view in views) if value is not ABSENT})
            if first_mismatch(count, found, variables):
                raise ExpectationFailed(f"{place}: expected {show(count)} different values, got {found}")
        expected = {name: each for name, each in expected.items() if name != "distinct"}
    tally = expected.get("tally") if expected else None
    if tally is not None:
        expected = {name: each for name, each in expected.items() if name != "tally"} or None
        for view in views if expected else []:
            check_view(expected, view, variables)
        return check_tally(tally, views, variables)
    for view in views:
        check_view(expected, view, variables)
    return views[0] if views else {}


# --- Verdicts (section 7) ---


def is_error_status(status):
    if is_number(status):
        return status >= 400
    if isinstance(status, list):
        return all(map(is_error_status, status))
    return isinstance(status, dict) and (is_error_status(status.get("$oneOf")) or is_error_status(status.get("$min")))


def expects_error(pattern):
    if isinstance(pattern, list):
        return any(map(expects_error, pattern))
    if not isinstance(pattern, dict):
        return False
    error = pattern.get("error", ABSENT)
    if error is not ABSENT and not (isinstance(error, dict) and "$absent" in error):
        return True
    return any(expects_error(pattern.get(name)) for name in ("query", "fragment", "json", "$contains", "$every", "$all"))


def expects_refusal(expected):
    if not isinstance(expected, dict) or isinstance(expected.get("tally"), list):
        return False
    if isinstance(expected.get("$oneOf"), list):
        return all(map(expects_refusal, expected["$oneOf"]))
    if isinstance(expected.get("$all"), list) and any(map(expects_refusal, expected["$all"])):
        return True
    return "status" in expected and is_error_status(expected["status"]) or any(expects_error(expected.get(name)) for name in ("redirect", "json", "messages", "events"))


def is_refusal(view):
    def has_error(value):
        return isinstance(value, dict) and "error" in value

    redirect, messages, events = view.get("redirect"), view.get("messages"), view.get("events")
    return (
        is_number(view.get("status")) and view["status"] >= 400 or has_error(view.get("json"))
        or isinstance(redirect, dict) and (has_error(redirect.get("query")) or has_error(redirect.get("fragment")))
        or isinstance(messages, list) and any(map(has_error, [one for each in messages for one in (each if isinstance(each, list) else [each])]))
        or isinstance(events, list) and any(has_error(event.get("json")) for event in events)
    )


def is_prohibition(pattern):
    if not isinstance(pattern, dict):
        return False
    return any(name in pattern for name in ("$absent", "$not", "$differsFrom", "$sameAs", "$unique")) or any(
        isinstance(pattern.get(name), list) and all(map(is_prohibition, pattern[name])) for name in ("$oneOf", "$all")
    )


def names_prohibition(pattern):
    if isinstance(pattern, list):
        return any(map(names_prohibition, pattern))
    return isinstance(pattern, dict) and (is_prohibition(pattern) or any(map(names_prohibition, pattern.values())))


def is_violation(mismatch):
    """Whether a value is present that must not be."""
    return is_prohibition(mismatch.expected) and mismatch.actual is not ABSENT


def is_absence(pattern):
    return isinstance(pattern, dict) and "$absent" in pattern


def leads_elsewhere(view):
    """Whether a response redirects to another origin than that of the request."""
    redirect = member(view, "redirect")
    if not isinstance(redirect, dict):
        return False
    to, origin = (re.match(r"[^:]*://[^/?#]*", str(url)) for url in (redirect.get("to"), view.get("url")))
    return to is None or origin is None or to[0] != origin[0]


MESSAGE_COUNT = "messages.length"
# Places that tell one error from another: the status, an `error`, or a whole member of the view.
ERROR_PLACE = re.compile(r"^(\w*|messages\.\d+)\Z|(^|\.)error(\.code)?\Z", re.ASCII)


def expects_messages(expected):
    if not isinstance(expected, dict):
        return False
    if "messages" in expected:
        return expected["messages"] != []
    one, every = expected.get("$oneOf"), expected.get("$all")
    return isinstance(one, list) and all(map(expects_messages, one)) or isinstance(every, list) and any(map(expects_messages, every))


def is_unparsable(message):
    return isinstance(message, dict) and list(message) == ["unparsable"]


def without_messages(expected, view):
    """Whether messages are expected and none was received: nothing, or what is not JSON."""
    if view is None:
        return False
    messages, events = view.get("messages"), view.get("events")
    received = (
        "json" in view
        or isinstance(messages, list) and not all(map(is_unparsable, messages))
        or isinstance(events, list) and any("json" in each for each in events)
    )
    return not received and (expects_messages(expected) or "broken" not in view and expects_protocol(expected))


def expects_protocol(expected):
    """Whether the JSON of a body or event is expected to be a JSON-RPC message."""
    if not isinstance(expected, dict):
        return False
    one, every = expected.get("$oneOf"), expected.get("$all")
    if isinstance(one, list):
        return all(map(expects_protocol, one))
    return isinstance(every, list) and any(map(expects_protocol, every)) or names_protocol(expected.get("json")) or names_protocol(expected.get("events"))


def names_protocol(pattern):
    if isinstance(pattern, list):
        return any(map(names_protocol, pattern))
    return isinstance(pattern, dict) and any(
        not is_absence(each) if name == "jsonrpc" else name != "$not" and names_protocol(each) for name, each in pattern.items()
    )


def holds_protocol(view):
    """Whether a response has a message with `jsonrpc`."""
    def flat(value):
        return [one for each in value for one in flat(each)] if isinstance(value, list) else [value]

    found = [view.get("json"), view.get("messages"), [each.get("json") for each in view.get("events") or []]]
    return any(isinstance(each, dict) and "jsonrpc" in each for each in flat(found))


def holds_content(view):
    """Whether a response came that has content."""
    return "broken" not in view and bool(view.get("body") or view.get("messages") or view.get("events"))


def is_about_protocol(row):
    return any(about["at"].endswith(".jsonrpc") and "value" not in about for about in row.get("about", []))


LOOSE = ("$type", "$any", "$min", "$max", "$length", "$pattern", "$absent")


def names_value(pattern):
    if isinstance(pattern, list):
        return any(map(names_value, pattern))
    if isinstance(pattern, dict):
        return any(name not in LOOSE and names_value(each) for name, each in pattern.items())
    return pattern is not ABSENT


def states(pattern, value):
    """Whether a pattern names a value; for `*`, whether it names none; for `$absent`, whether it forbids any."""
    if value == "$absent":
        return is_absence(pattern)
    if value == "*":
        return not names_value(pattern)
    if isinstance(pattern, list):
        return any(states(each, value) for each in pattern)
    if isinstance(pattern, dict):
        return any(name != "$not" and states(each, value) for name, each in pattern.items())
    return equal(pattern, value)


def patterns_at(pattern, place):
    if not place:
        return [pattern]
    if isinstance(pattern, list):
        return [len(pattern)] * (place == ["length"]) + [found for each in pattern for found in patterns_at(each, place)]
    if not isinstance(pattern, dict):
        return []
    inside = [found for name, each in pattern.items() if name.startswith("$") and name != "$not" for found in patterns_at(each, place)]
    return inside + (patterns_at(pattern[place[0]], place[1:]) if place[0] in pattern else [])


def governs(about, path, pattern):
    """Whether a row about form governs a differing place: there, below it, or above if the pattern contains the place."""
    at, value = about["at"], about.get("value", ABSENT)
    path = re.sub(r"\.\d+(?=\.|\Z)", "", path, flags=re.ASCII)
    if path == at or path.startswith(at + "."):
        return value is ABSENT or states(pattern, value)
    # What must not be like this must not have this place.
    if value == "$absent" and isinstance(pattern, dict) and "$not" in pattern and (path == "" or at.startswith(path + ".")):
        return len(patterns_at(pattern["$not"], (at if path == "" else at[len(path) + 1:]).split("."))) > 0
    if path != "" and not at.startswith(path + "."):
        return False
    rest = at if path == "" else at[len(path) + 1:]
    # Where the whole is missing, what has to be absent is absent.
    found = [each for each in patterns_at(pattern, rest.split(".")) if path == "" or not is_absence(each)]
    return any(value is ABSENT or states(each, value) for each in found)


def strength_of(level):
    if re.match("MUST|SHALL|REQUIRED", level):
        return "MUST"
    return "MAY" if re.match("MAY|OPTIONAL", level) else "SHOULD"


def strongest(rows):
    every = {strength_of(row["level"]) for row in rows}
    return next((strength for strength in ("MUST", "SHOULD") if strength in every), "MAY")


def is_of_redirect(mismatch):
    """Whether a mismatch is that there is a redirect, or where it leads."""
    if mismatch.path in ("headers.location", "redirect", "redirect.to"):
        return True
    pattern = mismatch.expected
    prohibited = pattern.get("$not") if mismatch.path == "" and isinstance(pattern, dict) else None
    if not isinstance(prohibited, dict) or list(prohibited) != ["redirect"]:
        return False
    redirect = prohibited["redirect"]
    return isinstance(redirect, dict) and all(name == "to" for name in redirect)


WHOLE_PLACES = {"redirect": ("redirect", "redirect.to"), "json": ("json",)}


def names_one(about):
    return about.get("value", "*") not in ("*", "$absent")


def list_values(pattern):
    if isinstance(pattern, list):
        return [value for each in pattern for value in list_values(each)]
    if isinstance(pattern, dict):
        return [value for each in pattern.values() for value in list_values(each)]
    return [pattern]


def find_blamed(mismatches, governing, view):
    """The rows about form that a refusal with another error fails: those whose subject was seen."""
    of_status = [each for each in mismatches if each.path == "status"]
    status = view.get("status")
    server_error = is_number(status) and status >= 500 and any(map(governing, of_status))
    redirected = member(member(view, "redirect"), "to") is not ABSENT
    first, found = {}, []
    for each in of_status if server_error else mismatches:
        rows = governing(each)
        whole = each.path.split(".")[0]
        missing = whole not in view or whole == "redirect" and not redirected
        places = WHOLE_PLACES.get(whole, ()) if missing else ()
        rows = [row for row in rows if any(about["at"] in places for about in row["about"])] or rows
        values = list_values(each.expected)
        seen = {row["id"]: [about for about in row["about"] if governs(about, each.path, each.expected)] for row in rows}
        named = [about for abouts in seen.values() for about in abouts if names_one(about)]

        def order(about):
            return next((at for at, value in enumerate(values) if equal(value, about["value"])), -1)

        for about in sorted(named, key=order):
            first.setdefault(about["at"], about["value"])
        found += [row for row in rows if any(not names_one(about) or equal(first[about["at"]], about["value"]) for about in seen[row["id"]])]
    return found


def is_list_pattern(pattern):
    return isinstance(pattern, list) or isinstance(pattern, dict) and ("$length" in pattern or "$contains" in pattern)


def is_other_form(mismatch, view):
    """Whether one message came where a list is expected, or a list where one is."""
    found, pattern = re.search(r"^messages\.(\d+)\Z", mismatch.path, re.ASCII), mismatch.expected
    messages = member(view, "messages")
    if not found or not isinstance(messages, list):
        return False
    if not is_list_pattern(pattern) and not (isinstance(pattern, dict) and not any(name.startswith("$") for name in pattern)):
        return False
    message = member(messages, found[1])
    is_one = isinstance(message, dict) and not is_unparsable(message)
    return (is_one or isinstance(message, list)) and isinstance(message, list) != is_list_pattern(pattern)


def count_responses(pattern):
    count = len(pattern) if isinstance(pattern, list) else member(pattern, "$length")
    return count if is_number(count) else 0


def judge(failure, rows, covers, flags):
    """Outcome, class, observed flags and failed rows of a step that failed."""
    unseen = not failure.mismatches and member(failure.view, "broken") in ("refused", "garbled")
    if covers == [] or unseen:
        return {"outcome": "setup"}
    covered = [row for row in rows if covers is None or row["id"] in covers]
    form = [row for row in covered if "about" in row]
    rules = [row for row in covered if "about" not in row] or [row for row in covered if not is_about_protocol(row)] or covered
    view, mismatches = failure.view, failure.mismatches
    asks = expects_refusal(failure.expected)
    refused, broken = view is not None and is_refusal(view), view is not None and "broken" in view

    # Where a message came, only its jsonrpc is about JSON-RPC as such; where nothing came, nothing is.
    message = view is not None and holds_protocol(view)
    other_content = view is not None and not message and holds_content(view)

    def governing(each):
        found = [row for row in form if any(governs(about, each.path, each.expected) for about in row["about"])]
        return [row for row in found if other_content or not is_about_protocol(row) or message and each.path.endswith(".jsonrpc")]

    def is_about(violation):
        """Whether a violation is one of form: a row governs it, and if the value must be absent, says so."""
        found = governing(violation)
        if is_absence(violation.expected):
            return any(about.get("value") == "$absent" for row in found for about in row["about"])
        return len(found) > 0

    counting = [row for row in form if any(about["at"] == MESSAGE_COUNT for about in row["about"])]
    missing = without_messages(failure.expected, view)
    other_forms = [each for each in mismatches if is_other_form(each, view)]
    miscounted = any(re.search(r"^messages(\.\d+)?\.length\Z", each.path, re.ASCII) for each in mismatches) or missing and (len(counting) > 0 or not refused)
    miscounted = miscounted or any(count_responses(each.expected) > 1 for each in other_forms)
    violations = list(filter(is_violation, mismatches))
    violated = not all(map(is_about, violations))
    other = asks and refused and not violated and not miscounted and not other_forms and len(mismatches) > 0

    if other:
        # What an error status of HTTP has for a body need not be a message.
        free = is_number(view.get("status")) and view["status"] >= 400 and not message
        found = find_blamed(mismatches, lambda each: [row for row in governing(each) if not free or not is_about_protocol(row)], view)
    elif miscounted:
        found = counting or [row for row in form if missing and other_content and is_about_protocol(row)] or rules
    elif asks or refused or broken or not mismatches:
        found = rules
    else:
        found = [row for each in mismatches for row in (governing(each) or rules)]
    failed = list({row["id"]: row for row in found}.values())

    accepted = asks and not refused and not broken and not miscounted
    status = view.get("status") if view is not None else None
    # An error in place of a success is no value that came out.
    observed = violated and (asks or not refused)
    # A redirect alone shows that the browser was sent, and nothing else.
    harmed = observed and not all(map(is_of_redirect, violations)) or failure.excess or accepted and not names_prohibition(failure.expected) and not (is_number(status) and status >= 300)

    def is_harm(flag):
        if flag == "interop":
            return not asks and (refused or broken)
        if flag == "exhaustion":
            return broken
        if flag == "leak":
            return observed
        if flag == "open-redirect":
            return leads_elsewhere(view) and (other and any(map(is_of_redirect, mismatches)) or observed or accepted)
        return harmed

    harm = list(filter(is_harm, flags))
    if not failed:
        return {"outcome": "observe", "class": "other-refusal", "harm": harm, "failed": []}
    strength = strongest(failed)
    other_error = other and not violations and any(ERROR_PLACE.search(each.path) for each in mismatches)
    kind = "other-refusal" if other_error else "broken" if strength == "MUST" else "advice"
    return {"outcome": OUTCOME_OF[strength], "class": kind, "harm": harm, "failed": [row["id"] for row in failed]}


OUTCOME_OF = {"MUST": "fail", "SHOULD": "warn", "MAY": "observe"}

# --- Variables and let (section 4) ---

TEMPLATE = re.compile(r"\{\{([^{}]+)\}\}")


def find_variable(path, variables):
    value = variables
    for name in path.strip().split("."):
        value = member(value, name)
    return value


def get_variable(path, variables):
    value = find_variable(path, variables)
    if value is ABSENT:
        raise KitError(f"Unknown variable {{{{{path}}}}}")
    return value


def fill_text(text, variables):
    whole = TEMPLATE.fullmatch(text)
    if whole:
        return get_variable(whole[1], variables)
    return TEMPLATE.sub(lambda found: plain(get_variable(found[1], variables), f'Cannot insert {found[0]} into "{text}"'), text)


def to_name(value):
    return plain(value) if not isinstance(value, str) else value


def fill(value, variables):
    if isinstance(value, str):
        return fill_text(value, variables)
    if isinstance(value, list):
        return [fill(item, variables) for item in value]
    if isinstance(value, dict):
        return {to_name(fill_text(name, variables)): fill(item, variables) for name, item in value.items()}
    return value


def fill_fields(fields, variables):
    """Header fields; one that inserts null becomes null and is not sent."""
    if not isinstance(fields, dict):
        raise KitError('"headers" must be an object')

    def inserts_null(value):
        return isinstance(value, str) and any(get_variable(found[1], variables) is None for found in TEMPLATE.finditer(value))

    return {to_name(fill_text(name, variables)): None if inserts_null(value) else fill(value, variables) for name, value in fields.items()}


def merge(objects):
    whole = {}
    for at, each in enumerate(objects):
        if not isinstance(each, dict):
            raise KitError("Cannot merge: every item must be an object")
        for name, value in each.items():
            if value is None and at > 0:
                whole.pop(name, None)
            else:
                whole[name] = value
    return whole


def random_text(length, scope):
    if not is_number(length):
        raise KitError(f"Invalid length {length!r}")
    text, counter = "", 0
    while len(text) < length:
        text += b64url(hashlib.sha256(utf8(f"{scope.seed}/{scope.name}/{counter}")).digest())
        counter += 1
    return text[:length]


def make_uuid(_, scope):
    data = bytearray(hashlib.sha256(utf8(f"{scope.seed}/{scope.name}/uuid")).digest()[:16])
    data[6], data[8] = data[6] & 0x0F | 0x40, data[8] & 0x3F | 0x80
    return re.sub(r"^(.{8})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-", data.hex())


def concat(parts, _):
    if parts and all(isinstance(part, list) for part in parts):
        return [item for part in parts for item in part]
    return "".join(map(plain, parts))


def alter(operand, _):
    text = plain(operand)
    middle = len(text) // 2
    return text[:middle] + ("B" if text[middle:middle + 1] == "A" else "A") + text[middle + 1:]


def make_dpop(operand, scope):
    header = merge([{"typ": "dpop+jwt", "jwk": operand["key"]["public"]}, operand.get("header", {})])
    claims = {"jti": random_text(22, scope), "htm": operand["method"], "htu": operand["url"], "iat": math.floor(scope.now())}
    if "token" in operand:
        claims["ath"] = b64url(hashlib.sha256(utf8(operand["token"])).digest())
    if "nonce" in operand:
        claims["nonce"] = operand["nonce"]
    return sign_jws(header, merge([claims, operand.get("claims", {})]), operand["key"]["private"])


def data_of(text):
    return utf8(plain(text))


def swap_case(text):
    if not re.search("[A-Za-z]", text):
        raise NotClaimed("a value with an ASCII letter, for swapcase")
    return re.sub("[A-Za-z]", lambda letter: letter[0].swapcase(), text)


OPERATIONS = {
    "value": lambda operand, scope: operand,
    "merge": lambda operand, scope: merge(operand),
    "known": lambda operand, scope: operand[1] if find_variable(operand[0], scope.variables) is ABSENT else find_variable(operand[0], scope.variables),
    "random": random_text,
    "uuid": make_uuid,
    "s256": lambda text, scope: b64url(hashlib.sha256(data_of(text)).digest()),
    "sha256": lambda text, scope: hashlib.sha256(data_of(text)).hexdigest(),
    "base64": lambda text, scope: base64.b64encode(data_of(text)).decode(),
    "base64url": lambda text, scope: b64url(data_of(text)),
    "unbase64url": lambda text, scope: loose_text(from_b64url(plain(text))),
    "urlencode": lambda text, scope: form_encode(plain(text)),
    "basic": lambda pair, scope: "Basic " + base64.b64encode(":".join(form_encode(plain(each)) for each in pair).encode()).decode(),
    "json": lambda value, scope: write_json(value),
    "repeat": lambda operand, scope: plain(operand[0]) * operand[1],
    "concat": concat,
    "alter": alter,
    "shorten": lambda text, scope: plain(text)[:-1],
    "swapcase": lambda text, scope: swap_case(plain(text)),
    "percent": lambda text, scope: re.sub("[0-9A-Za-z]", lambda each: f"%{ord(each[0]):02X}", plain(text)),
    "now": lambda offset, scope: math.floor(scope.now()) + offset,
    "key": lambda alg, scope: generate_key(alg),
    "jwt": lambda operand, scope: sign_jws(operand.get("header", {}), operand.get("claims"), operand.get("key")),
    "dpop": make_dpop,
}


class Scope:
    def __init__(self, seed, name, variables, now):
        self.seed, self.name, self.variables, self.now = seed, name, variables, now


def compute(lets, context):
    for name, wanted in (lets or {}).items():
        if not isinstance(wanted, dict):
            context.variables[name] = fill(wanted, context.variables)
            continue
        if len(wanted) != 1 or next(iter(wanted)) not in OPERATIONS:
            raise KitError(f'Cannot compute "{name}": expected one operation, got {list(wanted)}')
        ((operation, operand),) = wanted.items()
        filled = fill(operand, context.variables)
        try:
            scope = Scope(f"{context.seed}/{context.name}", name, context.variables, context.now)
            context.variables[name] = OPERATIONS[operation](filled, scope)
        except (KitError, NotClaimed):
            raise
        except Exception as error:
            raise KitError(f'Cannot compute "{name}" by "{operation}": {error!r}') from error


# --- Requests (section 5) ---


def build_content(described):
    """Media type (or None) and bytes, or None without a body."""
    if "json" in described:
        return "application/json", utf8(write_json(described["json"]))
    if "text" in described:
        return "text/plain;charset=UTF-8", utf8(plain(described["text"]))
    if "base64" in described:
        return None, base64.b64decode(described["base64"])
    if "repeat" in described:
        return "text/plain;charset=UTF-8", utf8(described["repeat"][0] * described["repeat"][1])
    if "zip" in described:
        return "application/zip", build_archive(described["zip"])
    return None


METHODS = {"store": 0, "deflate": 8}


def entry_name(entry):
    if "path_base64" in entry:
        return base64.b64decode(entry["path_base64"])
    return utf8(entry["path"]) if "path" in entry else None


def override(header, by):
    if not isinstance(by, dict):
        return header
    changed = dict(header)
    name = entry_name(by)
    changed.update({} if name is None else {"name": name})
    changed.update({key: by[key] for key in ("bits", "crc", "size") if key in by})
    if "method" in by:
        changed["method"] = METHODS.get(by["method"], by["method"])
    if "compressed_size" in by:
        changed["compressed"] = by["compressed_size"]
    if "extra_base64" in by:
        changed["extra"] = base64.b64decode(by["extra_base64"])
    return changed


DOS_DATE = 0x5A21


def common_header(header, sizes=True):
    crc, compressed, size = (header[name] & 0xFFFFFFFF if sizes else 0 for name in ("crc", "compressed", "size"))
    return struct.pack("<HHHHIIIHH", header["bits"], header["method"], 0, DOS_DATE, crc, compressed, size, len(header["name"]), len(header["extra"]))


def build_archive(described):
    out, offsets, placed = bytearray(utf8(described.get("prefix", ""))), [], []
    for entry in described["entries"]:
        content = (build_content(entry) or (None, b""))[1]
        packer = zlib.compressobj(wbits=-15)
        data = packer.compress(content) + packer.flush() if entry.get("method") == "deflate" else content
        method, descriptor = entry.get("method", "store"), entry.get("descriptor") is True
        header = {
            "name": entry_name(entry) or b"", "method": METHODS.get(method, method),
            "bits": entry.get("bits", 0) | (0x800 if entry.get("utf8", True) else 0) | (8 if descriptor else 0),
            "crc": entry.get("crc", zlib.crc32(content)), "size": entry.get("size", len(content)),
            "compressed": entry.get("compressed_size", len(data)), "extra": base64.b64decode(entry.get("extra_base64", "")),
        }
        if "data_of" in entry:
            if not 0 <= entry["data_of"] < len(offsets):
                raise KitError('Invalid archive: "data_of" must be the position of an earlier entry')
            offset = offsets[entry["data_of"]]
        else:
            offset = len(out)
            if entry.get("local") is not False:
                local = override(header, entry.get("local"))
                out += b"PK\3\4" + struct.pack("<H", 20) + common_header(local, not descriptor) + local["name"] + local["extra"]
            out += data
            if descriptor:
                out += b"PK\7\x08" + struct.pack("<III", header["crc"], header["compressed"], header["size"])
            out += utf8(entry.get("skip", ""))
        offsets.append(offset)
        if entry.get("central") is not False:
            is_folder = header["name"].endswith(b"/")
            central, host = override(header, entry.get("central")), entry.get("made_by", 3)
            mode = int(entry.get("mode", "040755" if is_folder else "100644"), 8)
            folder = 16 if central["name"].endswith(b"/") else 0
            attributes = (mode << 16 | folder) & 0xFFFFFFFF if host == 3 else folder
            comment = utf8(entry.get("comment", ""))
            tail = struct.pack("<HHHII", len(comment), 0, 0, attributes, entry.get("offset", offset))
            placed.append(b"PK\1\2" + struct.pack("<HH", host << 8 | 20, 20) + common_header(central) + tail + central["name"] + central["extra"] + comment)
    start, directory = len(out), b"".join(placed)
    out += directory
    count, comment, here = described.get("count", len(placed)), utf8(described.get("comment", "")), len(out)
    if described.get("zip64") is True:
        out += b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(directory), start)
        out += b"PK\6\7" + struct.pack("<IQI", 0, here, 1)
    numbers = (0, 0, count & 0xFFFF, count & 0xFFFF, len(directory) & 0xFFFFFFFF, start & 0xFFFFFFFF, len(comment))
    out += b"PK\5\6" + struct.pack("<HHHHIIH", *numbers) + comment + utf8(described.get("suffix", ""))
    return bytes(out[:len(out) - described.get("cut", 0)])


def build_multipart(parts, boundary, unclosed):
    def escape(name):
        return plain(name).replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")

    out = b""
    for part in parts:
        kind, data = build_content(part) or (None, b"")
        fields = part.get("headers")
        if fields is None:
            file = f'; filename="{escape(part["filename"])}"' if "filename" in part else ""
            fields = {"Content-Disposition": f'form-data; name="{escape(part.get("name", ""))}"{file}'}
            kind = part.get("type", (kind or "application/octet-stream") if "filename" in part else None)
            fields.update({} if kind is None else {"Content-Type": kind})
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        out += utf8(f"--{boundary}\r\n{head}\r\n") + data + b"\r\n"
    return out if unclosed else out + utf8(f"--{boundary}--\r\n")


class Request:
    def __init__(self, method, url, fields, without, body, raw=False, wire=None):
        self.method, self.url, self.fields, self.without = method, url, fields, without
        self.body, self.raw, self.wire = body, raw, wire

    def to_bytes(self):
        if self.wire is not None:
            return self.wire
        written = {name.lower() for name, _ in self.fields} | set(self.without)
        length = len(self.body) if self.body is not None else 0 if self.method in ("POST", "PUT") else None
        usual = [("Host", self.url.authority), ("Accept", "*/*"), ("User-Agent", "trivet-conformance-python")]
        usual += [] if length is None else [("Content-Length", str(length))]
        usual = [each for each in [*usual, ("Connection", "close")] if each[0].lower() not in written]
        fields = self.fields if self.raw else usual[:1] + self.fields + usual[1:]
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        return utf8(f"{self.method} {self.url.target} HTTP/1.1\r\n{head}\r\n") + (self.body or b"")


def build_request(described, base, raw):
    text = described.get("url", "")
    url = parse_url(text, parse_url(base if base.endswith("/") or text.startswith("/") else base + "/"))
    if url is None:
        raise KitError(f'Invalid request URL "{text}"')
    more = to_form(described.get("query") or {})
    if more:
        url.query = f"{url.query}&{more}" if url.query else more
    if "form" in described:
        content = "application/x-www-form-urlencoded", to_form(described["form"]).encode()
    elif "multipart" in described:
        boundary = described.get("boundary", "----conformance-7d1f0c2ab4")
        content = f"multipart/form-data; boundary={boundary}", build_multipart(described["multipart"], boundary, described.get("unclosed") is True)
    else:
        content = build_content(described)
    fields, without = [], []
    has_type = content is None or content[0] is None or raw
    for name, value in described.get("headers", {}).items():
        has_type = has_type or name.lower() == "content-type"
        if value is None:
            without.append(name.lower())
        else:
            fields.extend((name, plain(each)) for each in (value if isinstance(value, list) else [value]))
    if not has_type:
        fields.append(("content-type", content[0]))
    wire = utf8(described["wire"]) if "wire" in described else None
    method = described.get("method", "POST" if content else "GET")
    return Request(method, url, fields, without, content[1] if content else None, raw, wire)


# --- HTTP over a socket ---

MAX_LINE = 256 * 1024
MAX_FIELDS = 2000


class Source:
    """The bytes of a connection, until a deadline."""

    def __init__(self, connection, deadline):
        self.connection, self.deadline, self.rest = connection, deadline, b""

    def fill(self):
        if self.rest:
            return True
        try:
            self.connection.settimeout(max(self.deadline - time.monotonic(), 0.001))
            self.rest = self.connection.recv(65536)
        except (TimeoutError, ssl.SSLWantReadError):
            raise Broken("hung", "The response took too long") from None
        except OSError:
            return False
        return bool(self.rest)

    def chunk(self, most=None):
        if not self.fill():
            return None
        most = len(self.rest) if most is None else most
        part, self.rest = self.rest[:most], self.rest[most:]
        return part

    def line(self, closed):
        parts, size = [], 0
        while True:
            if not self.fill():
                raise Broken("closed", closed)
            end = self.rest.find(b"\n")
            if end >= 0:
                parts.append(self.rest[:end])
                self.rest = self.rest[end + 1:]
                line = loose_text(b"".join(parts))
                return line[:-1] if line.endswith("\r") else line
            size += len(self.rest)
            if size > MAX_LINE:
                raise Broken("flooded", "A line is too long")
            parts.append(self.rest)
            self.rest = b""


class Response:
    """A response whose body is still arriving: `next` returns its chunks, then None."""

    def __init__(self, status, fields, chunks, close):
        self.status, self.fields, self.chunks, self.close = status, fields, chunks, close

    def next(self, deadline):
        return self.chunks(deadline)


def read_head(source):
    start = source.line("The server closed the connection without a response")
    found = re.match(r"HTTP/1\.[01] (\d{3})(?: |\Z)", start)
    if not found:
        raise Broken("garbled", f"The response is not HTTP/1.1: {start[:60]!r}")
    fields, size = [], 0
    while True:
        line = source.line("The connection closed within the header fields")
        size += len(line)
        if size > MAX_LINE or len(fields) >= MAX_FIELDS:
            raise Broken("flooded", "The header fields are too long")
        if line == "":
            return int(found[1]), fields
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name):
            raise Broken("garbled", f"Invalid header field: {line[:60]!r}")
        fields.append((name, value.strip()))


def read_body(source, method, status, fields):
    """Yields the chunks of a body."""

    def every(name):
        return [value for each, value in fields if each.lower() == name]

    def end():
        if source.rest:
            raise Broken("garbled", "Bytes follow the end of the response")

    if method == "HEAD" or status in (204, 304):
        return end()
    if any(re.search(r"\bchunked\s*\Z", value, re.I) for value in every("transfer-encoding")):
        first = True
        while True:
            if not first and source.line("The connection closed after a chunk") != "":
                raise Broken("garbled", "A chunk is longer than its size")
            first = False
            line = source.line("The connection closed before the last chunk")
            found = re.fullmatch(r"([0-9a-fA-F]{1,12})(?:[ \t]*(?:;.*)?)", line)
            if not found:
                raise Broken("garbled", f"Invalid chunk size: {line[:60]!r}")
            left = int(found[1], 16)
            if left == 0:
                while source.line("The connection closed within the trailer fields") != "":
                    pass
                return end()
            while left > 0:
                chunk = source.chunk(left)
                if chunk is None:
                    raise Broken("closed", "The connection closed within a chunk")
                left -= len(chunk)
                yield chunk
    lengths = set(every("content-length"))
    if not lengths:
        while True:
            chunk = source.chunk()
            if chunk is None:
                return
            yield chunk
    left = int(next(iter(lengths)))
    while left > 0:
        chunk = source.chunk(left)
        if chunk is None:
            raise Broken("closed", f"The body ended {left} bytes early")
        left -= len(chunk)
        yield chunk
    end()


def connect(url, seconds):
    port = url.port or SPECIAL.get(url.scheme, 80)
    host = url.host.strip("[]")
    try:
        connection = socket.create_connection((host, port), timeout=seconds)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if url.scheme == "https":
            settings = ssl.create_default_context()
            if re.fullmatch(r"localhost|127\.[\d.]+|::1", host):
                settings.check_hostname, settings.verify_mode = False, ssl.CERT_NONE
            connection = settings.wrap_socket(connection, server_hostname=host)
        return connection
    except OSError as error:
        raise Broken("refused", f"Cannot connect to {url.authority}: {error}") from None


def open_http(request, limits, deadline):
    data = request.to_bytes()
    for attempt in range(5):
        connection = connect(request.url, limits["seconds"])
        sent = threading.Event()

        def write():
            try:
                connection.sendall(data)
                sent.set()
            except OSError:
                pass

        if len(data) > 32768:
            threading.Thread(target=write, daemon=True).start()
        else:
            write()
        source, fields, status = Source(connection, deadline), [], 0
        try:
            for _ in range(32):
                status, fields = read_head(source)
                if status == 101 or status >= 200:
                    break
            else:
                raise Broken("flooded", "Too many interim responses")
            lengths = {value for name, value in fields if name.lower() == "content-length"}
            chunked = any(re.search(r"\bchunked\s*\Z", value, re.I) for name, value in fields if name.lower() == "transfer-encoding")
            bodyless = request.method == "HEAD" and request.wire is None or status in (204, 304)
            if not bodyless and not chunked and lengths and (len(lengths) > 1 or not re.fullmatch(r"\d+", next(iter(lengths)), re.ASCII)):
                raise Broken("garbled", "Invalid Content-Length", {"status": status, "fields": fields})
        except Broken as error:
            connection.close()
            # A server may respond early to a long body and close; the reset can discard its response.
            if error.kind == "closed" and not sent.is_set() and attempt < 4:
                continue
            raise
        body = read_body(source, "GET" if request.wire is not None else request.method, status, fields)

        def chunks(until):
            source.deadline = until
            return next(body, None)

        def close():
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()

        return Response(status, fields, chunks, close)
    raise Broken("closed", "The server closed the connection")


class Scripted:
    """The responses that a step of `self/` states in `answers`, in order (section 2)."""

    def __init__(self, answers):
        self.answers, self.lock = list(answers), threading.Lock()

    def open(self, request):
        with self.lock:
            if not self.answers:
                raise KitError('The step sends more requests than "answers" has items')
            answer = self.answers.pop(0)
        if "status" not in answer and answer.get("echo") is not True:
            raise Broken(answer.get("broken", "closed"), "stated by the vector")
        fields = [(name, plain(each)) for name, value in answer.get("headers", {}).items() for each in (value if isinstance(value, list) else [value])]
        texts = answer.get("chunks", [answer["body"]] if "body" in answer else [])
        pieces = [utf8(write_json(echo_of(request)))] if answer.get("echo") is True else list(map(utf8, texts))

        def produce():
            yield from pieces
            if "broken" in answer:
                raise Broken(answer["broken"], "stated by the vector")

        body = produce()
        return Response(answer.get("status", 200), fields, lambda deadline: next(body, None), lambda: None)


def open_request(context, request, deadline):
    if context.script is not None:
        return context.script.open(request)
    if context.target.stdio or context.target.is_self:
        raise NotClaimed("http")
    return open_http(request, context.target.limits, deadline)


def exchange(context, request):
    """Sends a request and reads the whole response. `Broken` has the part that arrived."""
    limits = context.target.limits
    deadline = time.monotonic() + limits["seconds"]
    opened = open_request(context, request, deadline)
    return read_whole(opened, limits, deadline, end_of_events(opened, request, context))


def end_of_events(opened, request, context):
    """For an event stream: whether a chunk completes the response to the JSON-RPC message of the request."""
    text = loose_text(request.body or b"")
    if not EVENT_STREAM.match(join_fields(opened.fields).get("content-type", "")) or not is_message(parse_json(text)):
        return lambda chunk: False
    reader, messages, is_enough = EventReader(), [], EndCheck([text], ABSENT, context)

    def is_end(chunk):
        messages.extend(event.get("json", ABSENT) for event in reader.push(chunk))
        return bool(messages) and is_enough(messages)

    return is_end


def read_whole(opened, limits, deadline, is_end=lambda chunk: False):
    body = bytearray()
    try:
        while (chunk := opened.next(deadline)) is not None:
            body += chunk
            if len(body) > limits["bytes"]:
                raise Broken("flooded", "The body is too long")
            if is_end(chunk):
                break
        return {"status": opened.status, "fields": opened.fields, "body": bytes(body)}
    except Broken as error:
        raise Broken(error.kind, error.why, {"status": opened.status, "fields": opened.fields, "body": bytes(body)}) from None
    finally:
        opened.close()


# --- The view (section 3) ---


class EventReader:
    """Reads text/event-stream from chunks."""

    def __init__(self):
        self.line, self.after_cr, self.begun, self.event, self.data, self.valid = b"", False, False, {}, [], True

    def push(self, chunk):
        found = []
        if self.after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self.after_cr = chunk.endswith(b"\r")
        lines = re.split(rb"\r\n|\r|\n", self.line + chunk)
        self.line = lines.pop()
        for line in lines:
            event = self.end_line(line)
            if event is not None:
                found.append(event)
        return found

    def end_line(self, data):
        line = strict_text(data)
        self.valid = self.valid and line is not None
        line = loose_text(data) if line is None else line
        if not self.begun and line.startswith("\ufeff"):
            line = line[1:]
        self.begun = True
        if line == "":
            event, valid = self.event, self.valid
            if self.data:
                event["data"] = "\n".join(self.data)
            self.event, self.data, self.valid = {}, [], True
            if "data" not in event and "id" not in event:
                return None
            value = parse_json(event["data"]) if valid and "data" in event else ABSENT
            return event if value is ABSENT else {**event, "json": value}
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self.data.append(value)
        elif name in ("event", "id"):
            self.event[name] = value
        elif name == "retry" and re.fullmatch(r"\d+", value, re.ASCII):
            self.event["retry"] = int(value)
        return None


def join_fields(fields):
    headers = {}
    for name, value in fields:
        name = name.lower()
        if name != "set-cookie":
            headers[name] = value if name not in headers else f"{headers[name]}, {value}"
    return headers


def parse_cookie(field):
    pair, *attributes = field.split(";")
    name, equals, value = pair.partition("=")
    cookie = {"value": (value if equals else name).strip()}
    for attribute in attributes:
        key, mark, text = attribute.partition("=")
        key = key.strip().lower()
        if key not in ("value", ""):
            cookie[key] = text.strip() if mark else True
    return name.strip() if equals else "", cookie


def to_redirect(location, base):
    url = parse_url(location, base if isinstance(base, Url) else parse_url(base))
    if url is None:
        return {"to": location, "query": {}, "fragment": {}}
    query, fragment = parameters(url.query or ""), parameters(url.fragment or "")
    url.query = url.fragment = None
    return {"to": str(url), "query": query, "fragment": fragment}


EVENT_STREAM = re.compile(r"text/event-stream\b", re.I)
HTML = re.compile(r"(text/html|application/xhtml\+xml)\b", re.I)


def to_view(response, url, broken=None):
    view = {"url": str(url)}
    if broken:
        view.update(broken=broken.kind, why=broken.why)
    if "status" in response:
        view["status"] = response["status"]
    fields = response.get("fields", [])
    view["headers"] = headers = join_fields(fields)
    view["cookies"] = dict(parse_cookie(value) for name, value in fields if name.lower() == "set-cookie")
    if "location" in headers:
        view["redirect"] = to_redirect(headers["location"], str(url))
    body = response.get("body")
    if body is not None:
        view.update(body=loose_text(body), size=len(body), sha256=hashlib.sha256(body).hexdigest())
        text = strict_text(body)
        value = ABSENT if text is None else parse_json(text)
        if value is not ABSENT:
            view["json"] = value
        if EVENT_STREAM.match(headers.get("content-type", "")):
            view["events"] = events = EventReader().push(body)
            view["messages"] = [event["json"] for event in events if "json" in event]
        elif value is not ABSENT:
            view["messages"] = [value]
        if HTML.match(headers.get("content-type", "")):
            view["forms"] = to_forms(view["body"], str(url))
    return view


def to_forms(page, base):
    """The forms of a page, as a browser sends them: HTML may be written in many ways."""
    found = []
    for form in parse_page(page)[0]:
        action = parse_url(form.action or "", parse_url(base))
        method = "POST" if form.method == "POST" else "GET"
        found.append({"action": form.action if action is None else str(action), "method": method, "fields": collect(form.fields)})
    return found


ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def decode_entities(text):
    def decode(found):
        if found[3]:
            return ENTITIES[found[3].lower()]
        point = int(found[1], 16) if found[1] else int(found[2])
        return chr(point) if point <= 0x10FFFF else found[0]

    return re.sub(r"&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));", decode, text, flags=re.I | re.A)


def read_capture(source, view):
    ((kind, where),) = source.items()
    if kind == "json":
        return pointer(where, view["json"]) if "json" in view else ABSENT
    if kind == "message":
        return pointer(where, view["messages"]) if "messages" in view else ABSENT
    if kind == "response":
        return pointer(where, next(filter(is_response, view.get("messages", [])), ABSENT))
    if kind == "view":
        return pointer(where, view)
    if kind == "header":
        return member(view.get("headers", {}), where.lower())
    if kind == "cookie":
        return member(member(view.get("cookies", {}), where), "value")
    if kind == "redirect":
        redirect = view.get("redirect")
        found = member(member(redirect, "query"), where)
        return member(member(redirect, "fragment"), where) if found is ABSENT else found
    if kind == "between":
        body, (start, end) = view.get("body", ""), where
        begin = body.find(start)
        stop = -1 if begin < 0 else body.find(end, begin + len(start))
        return ABSENT if stop < 0 else decode_entities(body[begin + len(start):stop])
    return ABSENT


class CookieJar:
    """Cookies by host, path and name, without `Domain` and `Secure`."""

    def __init__(self):
        self.kept = {}

    def field(self, url):
        def fits(path):
            return url.path == path or url.path.startswith(path if path.endswith("/") else path + "/")

        fitting = [(path, name, value) for (host, path, name), value in self.kept.items() if host == url.host and fits(path)]
        fitting.sort(key=lambda each: -len(each[0]))
        return "; ".join(f"{name}={value}" for _, name, value in fitting) or None

    def apply(self, url, fields):
        for field, text in fields:
            if field.lower() != "set-cookie":
                continue
            name, cookie = parse_cookie(text)
            path = cookie.get("path")
            if not isinstance(path, str) or not path.startswith("/"):
                path = re.sub(r"/[^/]*\Z", "", url.path) or "/"
            if is_expired(cookie):
                self.kept.pop((url.host, path, name), None)
            else:
                self.kept[url.host, path, name] = cookie["value"]


def is_expired(cookie):
    if "max-age" in cookie:
        try:
            return float(cookie["max-age"]) <= 0
        except (TypeError, ValueError):
            return cookie["max-age"] == ""
    try:
        until = email.utils.parsedate_to_datetime(cookie["expires"].replace("-", " "))
        return (until if until.tzinfo else until.replace(tzinfo=datetime.timezone.utc)).timestamp() < time.time()
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


# --- JSON-RPC messages (section 6) ---

MAX_MESSAGES = 10_000


def is_request(value):
    return isinstance(value, dict) and isinstance(value.get("method"), str) and (isinstance(value.get("id"), str) or is_number(value.get("id")))


def is_response(value):
    return isinstance(value, dict) and "method" not in value and ("result" in value or "error" in value)


def is_message(value):
    return any(map(is_message, value)) if isinstance(value, list) else isinstance(value, dict) and "jsonrpc" in value


class EndCheck:
    """Whether the messages received so far end a `send`."""

    def __init__(self, lines, until, context):
        sent = list(map(parse_json, lines))
        self.until, self.variables, self.seen = until, context.variables, 0
        self.open = {write_json(each["id"]) for each in sent if is_request(each)}
        self.batches = sum(isinstance(each, list) and any(map(is_request, each)) for each in sent)

    def __call__(self, messages):
        fresh, self.seen = messages[self.seen:], len(messages)
        if self.until is not ABSENT:
            return any(first_mismatch(self.until, message, self.variables) is None for message in fresh)
        for message in fresh:
            if isinstance(message, list):
                self.batches -= 1
            elif is_response(message):
                self.open.discard(write_json(message.get("id")))
        return self.batches <= 0 and not self.open


class StdioServer:
    """A server on standard input and output: one message per line."""

    def __init__(self, command, limits):
        self.limits, self.arrived, self.over = limits, queue.Queue(), None
        env = {**os.environ, **command.get("env", {})}
        try:
            self.process = subprocess.Popen(
                command["command"], cwd=command["cwd"], env=env, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            self.process, self.over = None, Broken("refused", f"Cannot start the server: {error}")
            return
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        size = count = 0
        for line in iter(self.process.stdout.readline, b""):
            size, count = size + len(line), count + 1
            if size > self.limits["bytes"] or count > MAX_MESSAGES:
                self.arrived.put(Broken("flooded", "Too many messages"))
                self.kill_group()
                return
            if not line.endswith(b"\n"):
                break
            text = strict_text(line[:-1])
            value = ABSENT if text is None else parse_json(text)
            self.arrived.put(({"unparsable": loose_text(line[:-1])} if value is ABSENT else value,))
        self.arrived.put(Broken("closed", "The server closed its standard output"))

    def send(self, lines):
        try:
            for line in lines if self.process else []:
                self.process.stdin.write(utf8(line) + b"\n")
                self.process.stdin.flush()
        except OSError:
            pass

    def receive(self, is_enough):
        """Messages, and why the exchange failed, if it did."""
        messages, deadline = [], time.monotonic() + self.limits["seconds"]
        while not is_enough(messages):
            if self.over:
                return messages, self.over
            try:
                item = self.arrived.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                return messages, Broken("hung", "The response took too long")
            if isinstance(item, Broken):
                self.over = item
            else:
                messages.append(item[0])
        return messages, None

    def end(self):
        if self.process is None:
            raise self.over
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            code = self.process.wait(self.limits["seconds"])
        except subprocess.TimeoutExpired:
            raise Broken("hung", "The server did not exit") from None
        messages, deadline = [], time.monotonic() + 1
        while not self.over and time.monotonic() < deadline:
            try:
                item = self.arrived.get(timeout=0.5)
            except queue.Empty:
                break
            if isinstance(item, Broken):
                break
            messages.append(item[0])
        return {"exit": code if code >= 0 else -1, "messages": messages}

    def kill_group(self):
        stop_process(self.process, signal.SIGKILL)

    def kill(self):
        if self.process is None:
            return
        try:
            self.process.stdin.close()
        except OSError:
            pass
        for sign, seconds in ((signal.SIGTERM, 0.3), (signal.SIGKILL, 0.7)):
            try:
                self.process.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                stop_process(self.process, sign)
        self.kill_group()
        self.process.wait()
        self.process.stdout.close()


def stop_process(process, sign):
    try:
        os.killpg(process.pid, sign)
    except OSError:
        pass


# --- Steps (section 2) ---


class Context:
    """One vector while it runs."""

    def __init__(self, target, name, seed, is_self=False):
        self.target, self.name, self.seed, self.is_self = target, name, seed, is_self
        self.variables = json.loads(json.dumps(target.variables))
        self.jars, self.streams, self.stdio, self.script, self.last = {}, {}, None, None, {}
        self.exchanges = []

    def now(self):
        return time.time() + self.target.advanced

    def jar(self, name):
        return self.jars.setdefault(name, CookieJar())

    def close(self):
        for opened, _, _ in self.streams.values():
            opened.close()
        if self.stdio:
            self.stdio.kill()


def run_step(step, context):
    variables = context.variables
    if "when" in step and first_mismatch(to_pattern(fill(step["when"], variables)), context.last, variables):
        return
    compute(step.get("let"), context)
    views = run_action(step, context)
    expected = fill(step["expect"], variables) if "expect" in step else None
    if not views:
        if expected is None and "capture" not in step:
            return
        views = [context.last]
    context.last = views[0]
    context.last = view = check_views(expected, views, variables)
    for name, source in step.get("capture", {}).items():
        filled = fill(source, variables)
        otherwise = filled.pop("else", ABSENT)
        value = read_capture(filled, view)
        value = otherwise if value is ABSENT else value
        if value is ABSENT:
            raise ExpectationFailed(f'Cannot capture "{name}": the response has no {show(source)}')
        variables[name] = value


def run_action(step, context):
    if "answers" in step:
        return run_scripted(step, context)
    if "call" in step:
        compute(step.get("with"), context)
        before = context.variables.get("answer")
        call_procedure(step["call"], context)
        answer = context.variables.get("answer")
        if not isinstance(answer, dict) or answer is before:
            return []
        context.last = {**context.last, "redirect": answer}
        errors = [member(answer.get(part), "error") for part in ("query", "fragment")]
        error = next((each for each in errors if each is not ABSENT), ABSENT)
        if step["call"] == "authorize" and "expect" not in step and error is not ABSENT:
            raise ProcedureFailed(f"The server refused the authorization request: {write_json(error)}")
        return []
    if "request" in step or isinstance(step.get("parallel"), list):
        return send_requests(step, context)
    if "send" in step:
        return [send_messages(step, context)]
    if "read" in step:
        events, broken = read_until(get_stream(step["read"], context), step.get("until", ABSENT), context)
        return [{"events": events, **({"broken": broken.kind, "why": broken.why} if broken else {})}]
    if "close" in step:
        get_stream(step["close"], context)[0].close()
        del context.streams[step["close"]]
        return [{}]
    if step.get("end"):
        if not context.stdio:
            raise KitError('"end" needs a "send" before it')
        try:
            return [context.stdio.end()]
        except Broken as error:
            return [{"broken": error.kind, "why": error.why}]
    if "advance" in step:
        seconds = fill(step["advance"], context.variables)
        if not is_number(seconds) or seconds < 0:
            raise KitError('Invalid "advance"')
        if "advance" not in context.target.procedures:
            raise NotClaimed("clock")
        context.variables["seconds"] = seconds
        call_procedure("advance", context)
        context.target.advanced += seconds
    if "answer" in step:
        return [stated_view(step, fill(step["answer"], context.variables), context)]
    return []


def run_scripted(step, context):
    """Runs the action with the responses of `answers`; each must be used."""
    if not context.is_self:
        raise KitError('"answers" is allowed in self/ only')
    context.script = Scripted(fill(step["answers"], context.variables))
    try:
        views = run_action({name: each for name, each in step.items() if name != "answers"}, context)
        if context.script.answers:
            raise KitError(f'The step did not use {len(context.script.answers)} of its "answers"')
        return views
    finally:
        context.script = None


def stated_view(step, answer, context):
    if not context.is_self:
        raise KitError('"answer" is allowed in self/ only')
    url = parse_url(plain(answer.get("url", context.target.base)))
    fields = [(name, plain(each)) for name, value in answer.get("headers", {}).items() for each in (value if isinstance(value, list) else [value])]
    if "as" in step:
        context.jar(step["as"]).apply(url, fields)
    response = {"fields": fields}
    if "status" in answer:
        response["status"] = answer["status"]
    if "body" in answer:
        response["body"] = utf8(plain(answer["body"]))
    return to_view(response, url, Broken(answer["broken"], "stated by the vector") if "broken" in answer else None)


def build_for_target(step, described, context, more=()):
    available = {**context.variables, **dict(more)}
    rest = {name: value for name, value in described.items() if name != "headers"}
    filled = {**fill(rest, available), "headers": fill_fields(described.get("headers", {}), available)}
    request = build_request(filled, context.target.base, step.get("raw") is True)
    if request.url.origin not in context.target.origins:
        raise KitError(f"Cannot send a request to {request.url}: a foreign origin")
    cookies = context.jar(step["as"]).field(request.url) if "as" in step else None
    if cookies is not None:
        request.fields.append(("cookie", cookies))
    return request


def send_requests(step, context):
    parallel = step.get("parallel")
    if parallel is None:
        return [send_one(step, build_for_target(step, step["request"], context), context)]
    described = parallel if isinstance(parallel, list) else [step["request"]] * int(parallel)
    requests = [build_for_target(step, each, context, {"copy": at}) for at, each in enumerate(described)]
    if context.script is not None:
        return [send_one(step, request, context) for request in requests]
    with concurrent.futures.ThreadPoolExecutor(max(1, len(requests))) as pool:
        return list(pool.map(lambda request: send_one(step, request, context), requests))


def echo_of(request):
    body = request.body or b""
    headers = {name.lower(): value for name, value in request.fields}
    return {"method": request.method, "url": str(request.url), "headers": headers, "body": loose_text(body), "base64": base64.b64encode(body).decode()}


def send_one(step, request, context, hops=0):
    if step.get("echo"):
        if not context.is_self:
            raise KitError('"echo" is allowed in self/ only')
        return to_view({"status": 200, "fields": [], "body": utf8(write_json(echo_of(request)))}, request.url)
    if "stream" in step:
        return open_stream(step, request, context)
    broken, events = None, None
    try:
        if "until" in step:
            deadline = time.monotonic() + context.target.limits["seconds"]
            opened = open_request(context, request, deadline)
            response = {"status": opened.status, "fields": opened.fields}
            try:
                events, broken = read_until((opened, EventReader(), []), step["until"], context, deadline)
            finally:
                opened.close()
        else:
            response = exchange(context, request)
    except Broken as error:
        broken, response = error, error.response
    if "as" in step:
        context.jar(step["as"]).apply(request.url, response.get("fields", []))
    record(step, context, request, response, broken)
    view = to_view(response, request.url, broken)
    location = view["headers"].get("location")
    if step.get("follow") and view.get("status") in (301, 302, 303) and location is not None and hops < 10:
        next_url = parse_url(location, request.url)
        if next_url is not None and next_url.origin in context.target.origins:
            following = build_for_target(step, {"url": "{{next}}"}, context, {"next": str(next_url)})
            return send_one(step, following, context, hops + 1)
    return view if events is None else {**view, "events": events}


def record(step, context, request, response, broken):
    answer = f"{response.get('status', '')} {loose_text(response.get('body', b'')[:2000])}"
    shown = {"step": step.get("title", ""), "request": f"{request.method} {request.url}", "answer": answer + (f" ({broken.why})" if broken else "")}
    context.exchanges.append(shown)


def open_stream(step, request, context):
    if step["stream"] in context.streams:
        raise KitError(f'A stream "{step["stream"]}" is open')
    try:
        opened = open_request(context, request, time.monotonic() + context.target.limits["seconds"])
    except Broken as error:
        return to_view(error.response, request.url, error)
    context.streams[step["stream"]] = (opened, EventReader(), [])
    response = {"status": opened.status, "fields": opened.fields}
    if "as" in step:
        context.jar(step["as"]).apply(request.url, opened.fields)
    return to_view(response, request.url)


def get_stream(name, context):
    if name not in context.streams:
        raise KitError(f'No step opened the stream "{name}"')
    return context.streams[name]


def read_until(stream, until, context, deadline=None):
    if until is ABSENT:
        return read_events(stream, context, None, deadline)
    pattern = fill(until, context.variables)
    return read_events(stream, context, lambda events: first_mismatch(pattern, events[-1], context.variables) is None, deadline)


def read_events(stream, context, is_enough, deadline=None):
    """Events up to the one after which `is_enough`; without it, until the end. Also why it failed, if it did."""
    opened, reader, unread = stream
    limits, events, size = context.target.limits, [], 0
    deadline = deadline or time.monotonic() + limits["seconds"]
    try:
        while True:
            while unread:
                events.append(unread.pop(0))
                if is_enough and is_enough(events):
                    return events, None
                if len(events) >= MAX_MESSAGES:
                    raise Broken("flooded", "Too many events")
            chunk = opened.next(deadline)
            if chunk is None:
                if is_enough is None:
                    return events, None
                raise Broken("closed", "The stream ended before the expected event")
            size += len(chunk)
            if size > limits["bytes"]:
                raise Broken("flooded", "The stream is too long")
            unread.extend(reader.push(chunk))
    except Broken as error:
        return events, error


def send_messages(step, context):
    lines = [item if isinstance(item, str) else write_json(item) for item in fill(step["send"], context.variables)]
    until = fill(step["until"], context.variables) if "until" in step else ABSENT
    if context.target.stdio:
        if context.stdio is None:
            context.stdio = StdioServer(context.target.stdio, context.target.limits)
        context.stdio.send(lines)
        messages, broken = context.stdio.receive(EndCheck(lines, until, context))
        context.exchanges.append({"step": step.get("title", ""), "request": "\n".join(lines), "answer": show(messages)})
        return {"messages": messages, **({"broken": broken.kind, "why": broken.why} if broken else {})}
    messages, view = [], {}
    for line in lines:
        request = to_post(step, context, line)
        response, broken, events = post_message(request, context, EndCheck([line], until, context))
        record(step, context, request, response, broken)
        view = to_view(response, request.url, broken)
        if events is not None:
            messages.extend(event["json"] for event in events if "json" in event)
        elif "json" in view:
            messages.append(view["json"])
        elif view.get("size", 0) != 0:
            messages.append({"unparsable": view["body"]})
        if broken:
            break
    return {**view, "messages": messages}


def to_post(step, context, line):
    target, variables = context.target, context.variables
    endpoint = member(variables.get("endpoints"), "rpc")
    fields = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    without = []
    for name, value in fill_fields({**target.send_headers, **step.get("headers", {})}, variables).items():
        fields.pop(name.lower(), None)
        if value is None:
            without.append(name.lower())
        else:
            fields[name.lower()] = plain(value)
    url = parse_url(target.base if endpoint is ABSENT else endpoint, parse_url(target.base))
    if url.origin not in target.origins:
        raise KitError(f"Cannot send a request to {url}: a foreign origin")
    return Request("POST", url, list(fields.items()), without, utf8(line))


def post_message(request, context, is_enough):
    limits = context.target.limits
    deadline = time.monotonic() + limits["seconds"]
    opened = None
    try:
        opened = open_request(context, request, deadline)
        response = {"status": opened.status, "fields": opened.fields}
        if not EVENT_STREAM.match(join_fields(opened.fields).get("content-type", "")):
            return read_whole(opened, limits, deadline), None, None
        messages = []

        def enough(events):
            messages.append(events[-1].get("json", ABSENT))
            return is_enough(messages)

        events, broken = read_events((opened, EventReader(), []), context, enough, deadline)
        if broken:
            return response, broken, None
        text = "".join(f"data: {event.get('data', 'undefined')}\n\n" for event in events)
        return {**response, "body": utf8(text)}, None, events
    except Broken as error:
        response = {"status": opened.status, "fields": opened.fields, **error.response} if opened else error.response
        return response, error, None
    finally:
        if opened:
            opened.close()


# --- Procedures (section 9) ---

REDIRECTING = ("authorize", "deny")


def call_procedure(name, context):
    variables = context.variables
    if name not in context.target.procedures:
        raise NotClaimed(f"procedure:{name}")
    if name in REDIRECTING:
        variables.pop("answer", None)
        variables.pop("code", None)
    try:
        run_procedure(name, context)
    except KitError as error:
        raise ProcedureFailed(f'The procedure "{name}" failed: {error}') from error
    if name not in REDIRECTING:
        return
    if isinstance(variables.get("answer"), str):
        variables["answer"] = to_redirect(variables["answer"], context.target.base)
    answer = variables.get("answer")
    if not isinstance(answer, dict) and "code" not in variables:
        status = context.last.get("status")
        why = f'The procedure "{name}" did not reach the redirect URI; the last status is {status}'
        raise (ExpectationFailed if is_number(status) and status >= 400 else ProcedureFailed)(why)
    code = member(member(answer, "query"), "code")
    if code is not ABSENT and variables.get("code") is None:
        variables["code"] = code


def authorization_url(variables):
    endpoint, query_members = member(variables.get("endpoints"), "authorization"), variables.get("query")
    if not isinstance(endpoint, str) or not isinstance(query_members, dict):
        return {}
    url = parse_url(endpoint, parse_url(variables["base"]))
    more = to_form(query_members)
    url.query = "&".join(filter(None, (url.query, more)))
    return {"url": str(url)}


def run_procedure(name, context):
    procedure, variables = context.target.procedures[name], context.variables
    if isinstance(procedure, list):
        for step in procedure:
            run_step(step, context)
        return
    context.last = {}
    if "exec" in procedure:
        page = {key: value for key, value in procedure.items() if key not in ("exec", "cwd", "seconds", "stays")}
        cookies = [{"host": host, "path": path, "name": key, "value": value} for (host, path, key), value in context.jar("browser").kept.items()]
        given = {**variables, **authorization_url(variables), "procedure": name, "page": fill(page, variables), "cookies": cookies}
        apply_captures(run_program(procedure, given, context.target), context)
    elif isinstance(procedure.get("page"), str):
        walk_pages(fill(procedure, variables), context)
        if name in REDIRECTING:
            variables["answer"] = context.last.get("redirect")
    elif "cookies" in procedure:
        apply_captures(fill(procedure, variables), context)
    else:
        raise NotClaimed("a terminal")


def apply_captures(captured, context):
    cookies = captured.pop("cookies", None)
    context.variables.update(captured)
    host = parse_url(context.target.base).host
    if isinstance(cookies, str):
        pairs = re.split(r";\s*", re.sub(r"^cookie:\s*", "", cookies, flags=re.I))
        cookies = {pair.partition("=")[0].strip(): pair.partition("=")[2].strip() for pair in pairs if "=" in pair}
    if isinstance(cookies, dict):
        cookies = [{"name": name, "value": plain(value)} for name, value in cookies.items()]
    for cookie in cookies or []:
        context.jar("browser").kept[cookie.get("host", host), cookie.get("path", "/"), cookie["name"]] = cookie["value"]


def run_program(program, given, target):
    seconds, cwd = program.get("seconds", 60), program.get("cwd", ".")
    if program.get("stays"):
        return target.call_program(program, given)
    try:
        done = subprocess.run(program["exec"], cwd=cwd, input=utf8(write_json(given)), capture_output=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExpectationFailed(f"The program failed: {error}") from error
    captured = parse_json(loose_text(done.stdout))
    if done.returncode != 0 or not isinstance(captured, dict):
        raise ExpectationFailed(f"The program ended with exit code {done.returncode}: {loose_text(done.stderr)[-500:]}")
    return captured


# Pages as a browser without scripts sees them.

ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?""")
HIDDEN = ("script", "style", "template", "noscript", "title")


def tokenize(html):
    """Yields texts, and (tag, is_end, attributes)."""
    lower, at = html.lower(), 0
    while at < len(html):
        start = html.find("<", at)
        if start < 0:
            break
        if start > at:
            yield html[at:start]
        if html.startswith("<!", start):
            mark = "-->" if html.startswith("<!--", start) else ">"
            end = html.find(mark, start)
            if end < 0:
                return
            at = end + len(mark)
            continue
        found = re.match(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)", html[start:start + 40])
        if not found:
            yield "<"
            at = start + 1
            continue
        end, quote = start, ""
        while end < len(html):
            letter = html[end]
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter == ">":
                break
            end += 1
        tag, at, attributes = found[2].lower(), end + 1, {}
        for each in ATTRIBUTE.finditer(html[start + found.end():end]) if not found[1] else ():
            attributes.setdefault(each[1].lower(), decode_entities(each[2] or each[3] or each[4] or ""))
        yield tag, bool(found[1]), attributes
        if not found[1] and tag in HIDDEN:
            close = lower.find(f"</{tag}", at)
            if close < 0:
                return
            at = close
    if at < len(html):
        yield html[at:]


def normal_text(text):
    return re.sub(r"\s+", " ", decode_entities(text.replace("&nbsp;", " "))).strip()


class Form:
    def __init__(self, attributes):
        self.action, self.method = attributes.get("action"), attributes.get("method", "").upper()
        self.fields, self.names, self.buttons = [], [], []

    def add(self, name, value):
        if name:
            self.names.append(name)
            self.fields.append((name, value))


def parse_page(html):
    """The forms of a page, and the URL of its meta refresh."""
    forms, by_id, current, refresh, inner, select = [], {}, None, None, None, None
    for piece in tokenize(html[:1 << 20]):
        if isinstance(piece, str):
            if inner:
                inner[1] += piece
            continue
        tag, is_end, attributes = piece
        if inner and (inner[0] == tag or is_end and tag in ("form", "select")):
            inner[2](normal_text(inner[1]))
            inner = None
        if is_end:
            if tag == "form":
                current = None
            if tag == "select" and select:
                if current:
                    current.add(select["name"], select.get("value", ""))
                select = None
            continue
        if tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
            found = re.search(r"url\s*=\s*[\"']?([^\"']+)", attributes.get("content", ""), re.I)
            refresh = found[1].strip() if found else None
        if tag == "form":
            current = Form(attributes)
            forms.append(current)
            if "id" in attributes:
                by_id[attributes["id"]] = current
        owner = by_id.get(attributes["form"]) if "form" in attributes else current
        if not owner or "disabled" in attributes:
            continue
        name, value, kind = attributes.get("name", ""), attributes.get("value", ""), attributes.get("type", "").lower()
        if tag == "input":
            if kind in ("submit", "image"):
                owner.buttons.append((name, value, attributes.get("alt", value), attributes.get("formaction")))
            elif kind in ("checkbox", "radio"):
                owner.names.append(name)
                if "checked" in attributes:
                    owner.add(name, attributes.get("value", "on"))
            elif kind not in ("button", "reset", "file"):
                owner.add(name, value)
        elif tag == "button" and kind not in ("button", "reset"):
            inner = [tag, "", lambda text, o=owner, a=attributes: o.buttons.append((a.get("name", ""), a.get("value", ""), text, a.get("formaction")))]
        elif tag == "textarea":
            inner = [tag, "", lambda text, o=owner, n=name: o.add(n, text)]
        elif tag == "select":
            select = {"name": name}
        elif tag == "option" and select is not None and ("value" not in select or "selected" in attributes):
            select["value"] = value
            if "value" not in attributes:
                inner = [tag, "", lambda text, s=select: s.update(value=text)]
    return forms, refresh


def walk_pages(walk, context):
    asked, wanted = walk.get("query"), walk.get("press", [])
    wanted = [text.lower() for text in ([wanted] if isinstance(wanted, str) else wanted)]
    values = walk.get("fields", {})

    def get(request):
        run_step({"as": "browser", "request": request}, context)

    get({"url": walk["page"], **({"query": asked} if asked else {})})
    filled, form_last = {}, False
    url = parse_url(context.last["url"])
    for _ in range(16):
        status, location = context.last.get("status", 0), context.last.get("headers", {}).get("location")
        to = parse_url(location, url) if 300 <= status <= 399 and location is not None else None
        if to is not None:
            back = parse_url(asked["redirect_uri"]) if isinstance(member(asked, "redirect_uri"), str) else None
            if to.origin not in context.target.origins or back and back.origin == to.origin and back.path == to.path:
                return
            get({"url": str(to)})
            url, form_last = to, False
            continue
        forms, refresh = parse_page(context.last.get("body", ""))
        if refresh is not None:
            url = parse_url(refresh, url)
            get({"url": str(url)})
            continue
        form, button = choose_form(forms, values, wanted)
        if form is None:
            if asked is not None or filled and not form_last:
                return
            if status >= 400 or not filled:
                raise ExpectationFailed(f"{url.path} (status {status}) has no named field or button")
            return
        key = write_json([form.action, sorted(set(form.names)), [each[2] or each[1] or each[0] for each in form.buttons]])
        filled[key] = filled.get(key, 0) + 1
        if filled[key] > 2:
            raise ExpectationFailed(f"{url.path} shows the same form again")
        names = [name for name in values if name in form.names]
        pairs = [pair for pair in form.fields if pair[0] not in names] + [(name, values[name]) for name in names]
        if button and button[0]:
            pairs.append((button[0], button[1]))
        sent = {}
        for name, value in pairs:
            sent[name] = value if name not in sent else [*(sent[name] if isinstance(sent[name], list) else [sent[name]]), value]
        url = parse_url((button[3] if button and button[3] is not None else form.action) or "", url)
        url.fragment = None
        if form.method != "POST":
            url.query = None
        get({"method": "POST", "url": str(url), "form": sent} if form.method == "POST" else {"url": str(url), "query": sent})
        form_last = True
    raise ExpectationFailed("stopped after 16 pages")


def choose_form(forms, values, wanted):
    for form in forms:
        for button in form.buttons:
            name, value, text, _ = button
            if any(each.lower() in wanted for each in (name, value, text, f"{name}={value}")):
                return form, button
    fitting = [form for form in forms if any(name in form.names for name in values)]
    if not fitting and not wanted and not values and len(forms) == 1:
        fitting = forms
    return (fitting[0], next(iter(fitting[0].buttons), None)) if fitting else (None, None)


# --- Targets (section 9) ---


class Target:
    def __init__(self, described, is_self=False):
        base = described.get("base", "http://stdio.example")
        slim = json.dumps(base.rstrip("/") if base.endswith("/") else base)[1:-1]
        filled = json.loads(json.dumps([described.get("endpoints", {}), described.get("vars", {})]).replace("{{base}}", slim))
        self.endpoints, own = filled
        self.name, self.version, self.base, self.is_self = described.get("name", base), described.get("version"), base, is_self
        self.variables = json.loads(json.dumps({"base": base, "endpoints": self.endpoints, **own}), parse_int=to_number, parse_float=to_number)
        self.procedures, self.stdio = described.get("procedures", {}), described.get("stdio")
        self.send_headers = described.get("send_headers", {})
        limits = described.get("limits", {})
        self.limits = {"seconds": limits.get("seconds", 10), "bytes": limits.get("bytes", 16 << 20)}
        self.jobs, self.deviations = int(limits.get("jobs", 4)), described.get("deviations", {})
        self.features = set(described.get("features", [])) | {"stdio" if self.stdio else "http"}
        self.features |= {f"procedure:{name}" for name in self.procedures}
        self.features |= {"clock"} if "advance" in self.procedures else set()
        self.features |= {"raw"} if not self.stdio and not is_self else set()
        self.origins = {parse_url(each).origin for each in [base, *described.get("origins", [])]}
        self.advanced, self.process, self.programs, self.lock = 0, None, {}, threading.Lock()

    def call_program(self, program, given):
        """A program that stays: one line per call."""
        key = write_json([program["exec"], program["cwd"]])
        with self.lock:
            process = self.programs.get(key)
            if process is None or process.poll() is not None:
                process = subprocess.Popen(program["exec"], cwd=program["cwd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
                self.programs[key] = process
            late = threading.Timer(program.get("seconds", 60), stop_process, (process, signal.SIGKILL))
            late.start()
            try:
                process.stdin.write(utf8(write_json(given)) + b"\n")
                process.stdin.flush()
                captured = parse_json(loose_text(process.stdout.readline()))
            except OSError as error:
                raise ExpectationFailed(f"The program failed: {error}") from error
            finally:
                late.cancel()
        if not isinstance(captured, dict) or isinstance(captured.get("error"), str):
            raise ExpectationFailed(f"The program failed: {show(captured)}")
        return captured

    def close(self):
        for process in [*self.programs.values(), *([self.process] if self.process else [])]:
            stop_process(process, signal.SIGTERM)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                pass
            stop_process(process, signal.SIGKILL)
            process.wait()


def read_target(path):
    path = pathlib.Path(path).resolve()
    own = read_json(path)
    own.pop("$schema", None)
    declared = {name: own.pop(name) for name in ("clients", "users", "scope") if name in own}
    own["vars"] = {**declared, **own.get("vars", {})}
    own.setdefault("name", own.get("base", str(path)))
    for procedure in own.get("procedures", {}).values():
        if isinstance(procedure, dict) and "exec" in procedure:
            procedure["cwd"] = str(path.parent / procedure.get("cwd", "."))
    if "extends" not in own:
        return own, path.parent
    parent, _ = read_target(path.parent / own["extends"])
    transports = ("module", "start", "stdio", "base")
    if any(name in own for name in transports):
        parent = {name: value for name, value in parent.items() if name not in transports}
    merged = {name: {**parent.get(name, {}), **own.get(name, {})} for name in ("endpoints", "vars", "procedures", "deviations")}
    return {**parent, **own, **merged}, path.parent


def fill_port(described):
    text = json.dumps(described)
    if "{{port}}" not in text:
        return described
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return json.loads(text.replace("{{port}}", str(free.getsockname()[1])), parse_int=to_number, parse_float=to_number)


def fetch(url, limits):
    request = Request("GET", parse_url(url), [], [], None)
    deadline = time.monotonic() + limits["seconds"]
    return read_whole(open_http(request, limits, deadline), limits, deadline)


def open_target(path, seconds, jobs, is_oauth):
    described, folder = read_target(path)
    described = fill_port(described)
    limits = {"seconds": seconds, "jobs": jobs}
    described["limits"] = {**described.get("limits", {}), **{name: value for name, value in limits.items() if value is not None}}
    for name in ("start", "stdio"):
        if name in described:
            described[name] = {**described[name], "cwd": str(folder / described[name].get("cwd", "."))}
    if "features" not in described or "module" in described or "base" not in described and "stdio" not in described:
        raise ValueError('This runner needs a target file with "features", and with "base" or "stdio"')
    target = Target(described)
    if "start" in described:
        target = start_server(described, target)
    try:
        return target if target.stdio else with_metadata(described, target, is_oauth)
    except BaseException:
        target.close()
        raise


def start_server(described, target):
    start = described["start"]
    target.process = subprocess.Popen(
        start["command"], cwd=start["cwd"], env={**os.environ, **start.get("env", {})}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    url, deadline = str(parse_url(start.get("ready", "/"), parse_url(target.base))), time.monotonic() + start.get("seconds", 30)
    while True:
        try:
            fetch(url, {"seconds": 2, "bytes": 16 << 20})
            return target
        except Broken:
            pass
        if target.process.poll() not in (None, 0) or time.monotonic() > deadline:
            target.close()
            raise ValueError(f"The target did not respond at {url}")
        time.sleep(0.1)


def with_metadata(described, target, is_oauth):
    """Completes endpoints and `metadata` by RFC 8414 metadata."""
    endpoints, base = described.get("endpoints", {}), parse_url(target.base)
    if "discover" in described:
        places = [described["discover"]]
    elif "authorization" in endpoints or "token" in endpoints or not is_oauth:
        return target
    else:
        path = base.path.rstrip("/")
        places = [f"/.well-known/oauth-authorization-server{path}", f"/.well-known/openid-configuration{path}", f"{path}/.well-known/openid-configuration"]
    for place in dict.fromkeys(places):
        url = str(parse_url(place, base))
        try:
            response = fetch(url, target.limits)
        except Broken:
            continue
        metadata = parse_json(strict_text(response["body"]) or "")
        if response["status"] != 200 or not isinstance(metadata, dict):
            continue
        found = {"metadata": url}
        if isinstance(metadata.get("issuer"), str):
            found["openid_configuration"] = metadata["issuer"].removesuffix("/") + "/.well-known/openid-configuration"
        for name, value in metadata.items():
            if isinstance(value, str) and (name == "jwks_uri" or name.endswith("_endpoint")):
                found["jwks" if name == "jwks_uri" else name[:-len("_endpoint")]] = value
        completed = Target({**described, "endpoints": {**found, **endpoints}, "vars": {"metadata": metadata, **described.get("vars", {})}})
        completed.process = target.process
        return completed
    if "discover" in described:
        raise ValueError(f"No metadata found at {places[0]}")
    return target


# --- Vectors (sections 1, 8, 9) ---

TARGET_VARIABLES = {"clients", "users", "endpoints", "scopes", "resources", "keys", "metadata"}


def load_rows():
    rows = {}
    for path in sorted((ROOT / "requirements").glob("*.json")):
        for row in read_json(path)["rows"]:
            rows[row["id"]] = row
    return rows


def load_vectors(suites, rows):
    for suite in suites:
        folders = ["oauth", "jsonrpc", "mcp", "skills"] if suite == "all" else [suite]
        paths = [pathlib.Path(suite)] if suite.endswith(".json") else (
            [ROOT / "vectors" / f"{suite}.json"] if "/" in suite else [path for each in folders for path in sorted((ROOT / "vectors" / each).glob("*.json"))]
        )
        if not paths or not all(path.is_file() for path in paths):
            raise ValueError(f'Unknown suite "{suite}". Use a suite, one of its files (oauth/pkce), or the path of a .json file; the server is --target FILE.')
        for path in paths:
            file = read_json(path)
            if file.get("format") != 2 or len(file["vectors"]) != file["count"]:
                raise ValueError(f"{path}: an unsupported format, or not the stated number of vectors")
            file = expand_file(file)
            for vector in file["vectors"]:
                yield load_vector(file, vector, rows)


OMITTED = object()


def expand(value, fragments, values=None, path=()):
    """Puts fragments in place of their uses."""
    if isinstance(value, list):
        return [each for each in (expand(item, fragments, values, path) for item in value) if each is not OMITTED]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$use"), str):
        name = value["$use"]
        given = {slot: each for slot, each in value.items() if slot != "$use"}
        if name not in fragments or name in path or not set(given) <= find_slots(fragments[name]):
            raise ValueError(f'Unknown fragment or slot, or a circle: "{name}"')
        return expand(fragments[name], fragments, expand(given, fragments, values, path), (*path, name))
    if values is not None and isinstance(value.get("$slot"), str):
        otherwise = expand(value["else"], fragments, values, path) if "else" in value else OMITTED
        return values.get(value["$slot"], otherwise)
    members = {name: expand(each, fragments, values, path) for name, each in value.items()}
    return {name: each for name, each in members.items() if each is not OMITTED}


def find_slots(value):
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = {value["$slot"]} if isinstance(value, dict) and isinstance(value.get("$slot"), str) else set()
    return own.union(*map(find_slots, items))


def expand_file(file):
    fragments = file.get("fragments")
    if fragments is None:
        return file
    vectors = [{**vector, "steps": expand(vector["steps"], fragments)} for vector in file["vectors"]]
    return {**file, "vectors": vectors, **({"before": expand(file["before"], fragments)} if "before" in file else {})}


def load_vector(file, vector, rows):
    own = [rows[each] for each in vector["covers"]]

    def asserts(step, row):
        return "expect" in step and any(governs(about, "", to_pattern(step["expect"])) for about in row.get("about", []))

    more = [rows[each] for each in file.get("covers", []) if rows[each] not in own and any(asserts(step, rows[each]) for step in vector["steps"])]
    name = f"{file['suite'].split('/')[0]}/{vector['id']}"
    return {"name": name, "file": file, "vector": vector, "rows": own + more, "strength": strongest(own + more)}


def implied_needs(steps):
    needs, own = [], {name for step in steps for part in ("let", "with", "capture") for name in step.get(part, {})}
    for root, rest in re.findall(r"\{\{([a-z_]+)\.([^{}]+)\}\}", write_json(steps)):
        if root in TARGET_VARIABLES and root not in own:
            needs.append(f"var:{root}.{rest}")
    for step in steps:
        if "call" in step:
            needs.append(f"procedure:{step['call']}")
        needs.extend(["raw"] if step.get("raw") else [])
        needs.extend(["http"] if ("request" in step or isinstance(step.get("parallel"), list)) and not step.get("echo") else [])
        needs.extend(["stdio"] if step.get("end") else [])
        needs.extend(["clock"] if "advance" in step else [])
    return needs


def unmet_needs(needs, target):
    def has(feature):
        return find_variable(feature[4:], target.variables) is not ABSENT if feature.startswith("var:") else feature in target.features

    def is_met(need):
        return any(not has(one[1:]) if one.startswith("!") else has(one) for one in need.split("|"))

    return [need for need in dict.fromkeys(needs) if not is_met(need)]


def run_vector(loaded, target, seed):
    vector, file, started = loaded["vector"], loaded["file"], time.monotonic()
    context = Context(target, loaded["name"], seed, file["suite"].startswith("self/"))

    def result(outcome, step=None, reason=None, more=()):
        found = {"name": loaded["name"], "title": vector["title"], "outcome": outcome, "level": loaded["strength"]}
        found.update(covers=[row["id"] for row in loaded["rows"]], flags=vector.get("flags", []), harm=[], failed=[])
        found.update(more, seconds=round(time.monotonic() - started, 3), exchanges=context.exchanges if outcome not in ("pass", "skip") else [])
        found.update({"step": step} if step is not None else {}, **({"reason": reason} if reason is not None else {}))
        return found

    before, steps = file.get("before", []), vector["steps"]
    lacks = unmet_needs([*file.get("needs", []), *vector.get("needs", []), *implied_needs([*before, *steps])], target)
    if lacks:
        return result("skip", reason=f"the target does not declare {', '.join(lacks)}", more={"lacks": lacks})
    try:
        for at, step in enumerate([*before, *steps]):
            is_before = at < len(before)
            name = step.get("title") or step.get("call") or f"step {(at if is_before else at - len(before)) + 1}"
            try:
                run_step(step, context)
            except NotClaimed as error:
                return result("skip", name, f"the target does not declare {error}")
            except ExpectationFailed as error:
                if is_before or isinstance(error, ProcedureFailed) or "call" in step and "expect" not in step:
                    return result("setup", name, str(error))
                verdict = judge(error, loaded["rows"], step.get("covers"), vector.get("flags", []))
                return result(verdict.pop("outcome"), name, str(error), verdict)
            except Exception as error:
                return result("error", name, f"{type(error).__name__}: {error}")
        return result("pass")
    finally:
        context.close()


def check_outcome(loaded, result):
    """A vector of self/ states the outcome of a correct runner."""
    wanted = loaded["vector"].get("outcome")
    if wanted is None:
        return result
    stated = loaded["vector"].get("verdict")
    found = {name: result[name] for name in ("class", "failed", "harm") if name in result}
    if result["outcome"] == wanted and (stated is None or equal(stated, found)):
        result.pop("class", None)
        return {**result, "outcome": "pass", "harm": [], "failed": [], "exchanges": []}
    reason = f"expected outcome {wanted} {stated or ''}, got {result['outcome']} {found}: {result.get('reason')}"
    return {**result, "outcome": "fail", "class": "broken", "failed": result["covers"], "reason": reason}


def runs_alone(loaded):
    return loaded["vector"].get("alone") is True or any("advance" in step for step in [*loaded["file"].get("before", []), *loaded["vector"]["steps"]])


def run_all(vectors, target, seed):
    results = {}

    def run_one(loaded):
        results[loaded["name"]] = check_outcome(loaded, run_vector(loaded, target, seed))

    def reset():
        if "reset" in target.procedures:
            try:
                call_procedure("reset", Context(target, "reset", seed))
            except Exception as error:
                print(f"reset failed: {error}", file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(max(1, target.jobs)) as pool:
        list(pool.map(run_one, (each for each in vectors if not runs_alone(each))))
    alone = list(filter(runs_alone, vectors))
    for loaded in alone:
        reset()
        run_one(loaded)
    if alone:
        reset()
    return [results[loaded["name"]] for loaded in vectors]


def main():
    parser = argparse.ArgumentParser(description="Runs conformance vectors, and writes the report as JSON.")
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="oauth, jsonrpc, mcp, skills, self or all; one file (oauth/pkce); or a path")
    parser.add_argument("--target", metavar="FILE", help="a target file with features, and with base or stdio; none for self")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="run vectors whose name contains TEXT (repeatable)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="repeat the random values of another run")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="time limit of one exchange")
    parser.add_argument("--jobs", type=int, metavar="N", help="number of vectors that run at the same time")
    parser.add_argument("--slow", action="store_true", help="run slow vectors too")
    args = parser.parse_args()
    started = datetime.datetime.now(datetime.timezone.utc)
    try:
        vectors = [
            each for each in load_vectors(args.suites, load_rows())
            if (not args.only or any(part in each["name"] for part in args.only)) and (args.slow or each["vector"].get("slow") is not True)
        ]
        if not vectors:
            raise ValueError("No vector matches the options")
        if args.target is None:
            target = Target({"name": "none", "base": "http://self.example", "features": ["http"]}, is_self=True)
        else:
            is_oauth = any(each["name"].startswith("oauth/") for each in vectors)
            target = open_target(args.target, args.timeout, args.jobs, is_oauth)
    except (ValueError, OSError, KeyError, Broken) as error:
        print(error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    try:
        results = run_all(vectors, target, args.seed)
    finally:
        target.close()
    for each in results:
        failing = each["outcome"] in ("fail", "setup", "error")
        each["counts"] = failing and each["name"] not in target.deviations
    summary = dict(collections.Counter(each["outcome"] for each in results))
    stale = [each["name"] for each in results if each["outcome"] == "pass" and each["name"] in target.deviations and "race" not in each["flags"]]
    passed = not stale and not any(each["counts"] for each in results)
    document = {
        "format": 2, "runner": "trivet-conformance-python", "suite": " ".join(args.suites), "seed": args.seed,
        "started": started.isoformat(), "seconds": (datetime.datetime.now(datetime.timezone.utc) - started).total_seconds(),
        "target": {"name": target.name, **({"version": target.version} if target.version else {}), "base": target.base, "features": sorted(target.features)},
        "summary": summary, "passed": passed, "stale": stale, "vectors": results,
    }
    sys.stdout.write(json.dumps(document, ensure_ascii=True) + "\n")
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(summary.items())), file=sys.stderr)
    return 2 if set(summary) == {"skip"} else 0 if passed else 1


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    threading.stack_size(256 << 20)
    # The main thread has the stack of the process; a thread of our own has room for deeply nested JSON.
    codes = []
    runner = threading.Thread(target=lambda: codes.append(main()))
    runner.start()
    runner.join()
    sys.exit(codes[0] if codes else 2)
