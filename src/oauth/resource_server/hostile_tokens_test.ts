import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { newKey, sign } from "../test_keys.ts";
import { API, CREDENTIALS, newIssuer, outcome, type TestIssuer, URLS, withToken } from "./test_issuer.ts";

const test = suite("oauth/resource_server: hostile tokens");
const encode = (value: unknown) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));
const seconds = () => Math.floor(Date.now() / 1000);

/** A token that is signed by HMAC with these bytes as the secret. */
async function hmac(issuer: TestIssuer, secret: Uint8Array<ArrayBuffer>): Promise<string> {
  const signed = `${encode({ alg: "HS256", typ: "at+jwt", kid: "first" })}.${encode(issuer.claims())}`;
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed));
  return `${signed}.${encodeBase64url(new Uint8Array(signature))}`;
}

/** Each is refused with 401 invalid_token. `keys` is how many times the key set may be fetched because of it. */
const HOSTILE: readonly [
  name: string,
  make: (issuer: TestIssuer) => Promise<string> | string,
  keys: number,
][] = [
  ["alg none", (issuer) => `${encode({ alg: "none", typ: "at+jwt" })}.${encode(issuer.claims())}.`, 0],
  [
    "alg none in capitals",
    (issuer) => `${encode({ alg: "NONE", typ: "at+jwt" })}.${encode(issuer.claims())}.`,
    0,
  ],
  [
    "HS256 with the public key as JSON",
    (issuer) => hmac(issuer, new TextEncoder().encode(JSON.stringify(issuer.keys[0]!.jwk))),
    0,
  ],
  [
    "HS256 with the x of the public key",
    (issuer) => hmac(issuer, new TextEncoder().encode(issuer.keys[0]!.jwk.x!)),
    0,
  ],
  ["RS256 named for an EC key", (issuer) => issuer.token({}, { alg: "RS256" }), 0],
  ["EdDSA named for an EC key", (issuer) => issuer.token({}, { alg: "EdDSA" }), 1],
  ["Ed25519 named for an EC key", (issuer) => issuer.token({}, { alg: "Ed25519" }), 1],
  [
    "a key in the header",
    async (issuer) => {
      const own = await newKey("ES256", "first");
      return await issuer.token({}, { jwk: own.jwk, jku: "https://evil.example/keys" }, own);
    },
    1,
  ],
  [
    "another key with the kid of the issuer",
    async (issuer) => issuer.token({}, {}, await newKey("ES256", "first")),
    1,
  ],
  ["no kid, another key", async (issuer) => issuer.token({}, { kid: undefined }, await newKey()), 1],
  ["typ JWT, such as an ID token", (issuer) => issuer.token({}, { typ: "JWT" }), 0],
  ["no typ", (issuer) => issuer.token({}, { typ: undefined }), 0],
  ["typ dpop+jwt", (issuer) => issuer.token({}, { typ: "dpop+jwt" }), 0],
  ["crit", (issuer) => issuer.token({}, { crit: ["exp"], exp: 1 }), 0],
  ["an empty crit", (issuer) => issuer.token({}, { crit: [] }), 0],
  ["another issuer", (issuer) => issuer.token({ iss: "https://login.example/other" }), 0],
  ["the issuer with a slash", (issuer) => issuer.token({ iss: "https://login.example/tenant/" }), 0],
  ["no issuer", (issuer) => issuer.token({ iss: undefined }), 0],
  ["another audience", (issuer) => issuer.token({ aud: "https://api.example/invoices" }), 0],
  ["an audience that begins like the resource", (issuer) => issuer.token({ aud: `${API}/1` }), 0],
  ["an audience in an object", (issuer) => issuer.token({ aud: { 0: API } }), 0],
  ["no audience", (issuer) => issuer.token({ aud: undefined }), 0],
  ["expired", (issuer) => issuer.token({ exp: seconds() - 31 }), 0],
  ["no exp", (issuer) => issuer.token({ exp: undefined }), 0],
  ["exp as a string", (issuer) => issuer.token({ exp: String(seconds() + 300) }), 0],
  ["exp null", (issuer) => issuer.token({ exp: null }), 0],
  ["nbf in the future", (issuer) => issuer.token({ nbf: seconds() + 90 }), 0],
  ["nbf as a string", (issuer) => issuer.token({ nbf: "0" }), 0],
  ["issued in the future", (issuer) => issuer.token({ iat: seconds() + 90 }), 0],
  ["no sub", (issuer) => issuer.token({ sub: undefined }), 0],
  ["no client_id", (issuer) => issuer.token({ client_id: undefined }), 0],
  ["cnf of an unknown kind", (issuer) => issuer.token({ cnf: { jwk: { kty: "EC" } } }), 1],
  ["an empty cnf", (issuer) => issuer.token({ cnf: {} }), 1],
  [
    "cnf with an unknown member beside a known one",
    (issuer) => issuer.token({ cnf: { jkt: "x", kid: "y" } }),
    1,
  ],
  ["cnf as a string", (issuer) => issuer.token({ cnf: "jkt" }), 1],
  ["bound to a key, sent as a bearer token", (issuer) => issuer.token({ cnf: { jkt: "x" } }), 1],
  ["bound to a certificate that was not sent", (issuer) => issuer.token({ cnf: { "x5t#S256": "x" } }), 1],
  [
    "changed claims",
    async (issuer) => {
      const [header, , signature] = (await issuer.token()).split(".");
      return `${header}.${encode(issuer.claims({ scope: "admin" }))}.${signature}`;
    },
    1,
  ],
  [
    "an exp that becomes Infinity",
    async (issuer) => {
      const claims = JSON.stringify(issuer.claims({ exp: 0 })).replace('"exp":0', '"exp":1e999');
      const [header, , signature] = (await issuer.token()).split(".");
      return `${header}.${encodeBase64url(new TextEncoder().encode(claims))}.${signature}`;
    },
    0,
  ],
  ["a signature cut off", async (issuer) => (await issuer.token()).slice(0, -4), 0],
  ["no signature", async (issuer) => (await issuer.token()).replace(/[^.]*$/, ""), 0],
  ["four parts", async (issuer) => await issuer.token() + ".x", 0],
  ["five parts, as an encrypted JWT", () => "a.b.c.d.e", 0],
  ["not a JWT", () => "opaque", 0],
  ["claims that are a list", (issuer) => sign(issuer.keys[0]!, { typ: "at+jwt" }, [] as never), 0],
  ["too long", (issuer) => issuer.token({ padding: "x".repeat(20_000) }), 0],
];

for (const [name, make, keys] of HOSTILE) {
  test(`a token is refused: ${name}`, async () => {
    const issuer = await newIssuer();
    const guard = issuer.guard();
    const token = await make(issuer);
    assert.is(await outcome(guard, withToken(token)), "401 invalid_token");
    assert.is(await guard.authenticate(withToken(token)), undefined);
    assert.ok(issuer.requested.filter((url) => url === URLS.keys).length <= keys, issuer.requested.join(" "));
    // The same guard accepts a valid token afterwards.
    assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  });
}

test("valid tokens are accepted in every form that RFC 9068 allows", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  for (
    const token of [
      await issuer.token(),
      await issuer.token({}, { typ: "application/at+jwt" }),
      await issuer.token({}, { typ: "AT+JWT" }),
      await issuer.token({}, { kid: undefined }),
      await issuer.token({ aud: ["https://other.example", API] }),
      await issuer.token({ exp: seconds() - 20 }),
      await issuer.token({ nbf: seconds() + 20, scope: undefined }),
    ]
  ) assert.is(await outcome(guard, withToken(token)), "ok", token);
  assert.is(await outcome(guard, withToken("opaque", {}, "Basic")), "401");
  assert.is(await outcome(guard, new Request(API)), "401");
});

for (const alg of ["Ed25519", "EdDSA", "RS256", "PS256"] as const) {
  test(`${alg} is accepted unless "algorithms" omits it`, async () => {
    const issuer = await newIssuer();
    issuer.keys.unshift(await newKey(alg, "other"));
    const token = await issuer.token();
    assert.is(await outcome(issuer.guard(), withToken(token)), "ok");
    assert.is(await outcome(issuer.guard({ algorithms: ["ES256"] }), withToken(token)), "401 invalid_token");
  });
}

/** Introspection responses with which the token is refused. */
const ANSWERS: readonly [name: string, claims: Record<string, unknown>][] = [
  ["another issuer", { iss: "https://evil.example" }],
  ["another audience", { aud: "https://api.example/invoices" }],
  ["no audience", { aud: undefined }],
  ["expired", { exp: seconds() - 31 }],
  ["exp as a string", { exp: "never" }],
  ["nbf in the future", { nbf: seconds() + 90 }],
  ["bound to a key, sent as a bearer token", { cnf: { jkt: "x" } }],
  ["of the type DPoP without a key", { token_type: "DPoP" }],
  ["with an unknown confirmation method", { cnf: { jwk: {} } }],
  ["a sub that is not a string", { sub: 7 }],
];

for (const [name, claims] of ANSWERS) {
  test(`an introspected token is refused: ${name}`, async () => {
    const issuer = await newIssuer();
    issuer.active.set("good", issuer.claims());
    issuer.active.set("bad", JSON.parse(JSON.stringify(issuer.claims(claims))));
    const guard = issuer.guard({ introspection: CREDENTIALS });
    assert.is(await outcome(guard, withToken("bad")), "401 invalid_token");
    assert.is(await outcome(guard, withToken("good")), "ok");
  });
}

test.run();
