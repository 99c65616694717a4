/**
 * The floor of each operation: bare `node:http`, the digests and random values that the operation needs, and its reads and
 * its commit in the memory store, with records of the size that Trivet stores. It checks nothing, and finds parameters that
 * are not encoded by a search in the text.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { equalInConstantTime, randomId, randomSecret, secretDigest } from "../../../src/crypto/secret.ts";
import { hmacSha256, sha256After } from "../../../src/crypto/sha256.ts";
import { encodeBase64url } from "../../../src/crypto/base64url.ts";
import { memoryStore } from "../../../src/mod.ts";
import "../../../src/runtime/native_digest.ts";
import { CLIENT, LIFETIME_SECONDS, SCOPE, serveParent } from "./child.ts";

const store = memoryStore();
const clientDigest = secretDigest(CLIENT.secret);
const session = randomSecret("");
const user = randomId("");
const serverKey = sha256After(new Uint8Array(64));
const encoder = new TextEncoder();
const authentication = {
  auth_time: 1_700_000_000,
  acr: "password",
  amr: ["pwd"],
};
const expires = Date.now() + LIFETIME_SECONDS * 1000;
await store.commit({
  set: [
    {
      key: ["session", secretDigest(session)],
      value: { user, created: 0, seen: 0, acr: "password" },
    },
    { key: ["user", user], value: { id: user, username: "alice" } },
    {
      key: ["consent", user, CLIENT.id],
      value: { scope: SCOPE, fingerprint: session, given: 0 },
    },
  ],
});

interface TokenRecord {
  readonly scope: string;
  readonly issued: number;
}

function valueOf(text: string, name: string): string {
  const start = text.indexOf(name + "=") + name.length + 1;
  const end = text.indexOf("&", start);
  return end < 0 ? text.slice(start) : text.slice(start, end);
}

function authenticateClient(form: string): void {
  if (
    !equalInConstantTime(
      secretDigest(valueOf(form, "client_secret")),
      clientDigest,
    )
  ) {
    throw new Error("wrong secret");
  }
}

function accessToken(secret: string) {
  const value = {
    client_id: CLIENT.id,
    scope: SCOPE,
    issued: Date.now(),
    expires,
  };
  return { key: ["token", secretDigest(secret)], value, expires };
}

/** A refresh token with its authentication code, and its digest. */
function refreshToken(
  grant: string,
  secret: string,
): { refresh_token: string; digest: string } {
  const code = encodeBase64url(serverKey(`${grant}.${secret}`)).slice(0, 22);
  const refresh_token = `rt_${grant}.${secret}${code}`;
  return { refresh_token, digest: secretDigest(refresh_token) };
}

async function clientCredentials(): Promise<object> {
  const access_token = randomSecret("at_");
  await store.commit({ set: [accessToken(access_token)] });
  return {
    access_token,
    token_type: "Bearer",
    expires_in: LIFETIME_SECONDS,
    scope: SCOPE,
  };
}

async function exchange(form: string): Promise<object> {
  const code = (await store.get(["code", secretDigest(valueOf(form, "code"))]))!;
  await store.get(["user", user]);
  secretDigest(valueOf(form, "code_verifier"));
  const grant = randomId("");
  const access_token = randomSecret("at_");
  const { refresh_token, digest } = refreshToken(grant, randomSecret(""));
  const created = Date.now();
  const value = {
    client_id: CLIENT.id,
    user,
    scope: SCOPE,
    created,
    authentication,
    refresh: { digest, expires },
  };
  await store.commit({
    check: [{ key: code.key, version: code.version }],
    set: [
      { key: code.key, value: { client_id: CLIENT.id, user, grant }, expires },
      { key: ["grant", grant], value, expires },
      { key: ["user_grant", user, grant], value: true, expires },
      accessToken(access_token),
    ],
  });
  return {
    access_token,
    token_type: "Bearer",
    expires_in: LIFETIME_SECONDS,
    refresh_token,
    scope: SCOPE,
  };
}

async function refresh(form: string): Promise<object> {
  const presented = valueOf(form, "refresh_token");
  const grant = presented.slice(3, presented.indexOf("."));
  const entry = (await store.get<{ readonly refresh: { readonly digest: string } }>([
    "grant",
    grant,
  ]))!;
  await store.get(["user", user]);
  const digest = secretDigest(presented);
  if (!equalInConstantTime(digest, entry.value.refresh.digest)) {
    throw new Error("wrong refresh token");
  }
  const root = encodeBase64url(
    hmacSha256(encoder.encode(presented), randomId("")),
  );
  const access_token = "at_" + secretDigest("access " + root);
  const next = refreshToken(grant, secretDigest("refresh " + root));
  const previous = {
    digest,
    until: expires,
    answer: { token_type: "Bearer", scope: SCOPE },
  };
  const value = {
    ...entry.value,
    refresh: { digest: next.digest, expires },
    previous,
  };
  await store.commit({
    check: [{ key: entry.key, version: entry.version }],
    set: [{ key: entry.key, value, expires }, accessToken(access_token)],
  });
  const { refresh_token } = next;
  return {
    access_token,
    token_type: "Bearer",
    expires_in: LIFETIME_SECONDS,
    refresh_token,
    scope: SCOPE,
  };
}

async function introspect(form: string): Promise<object> {
  const entry = await store.get<TokenRecord>([
    "token",
    secretDigest(valueOf(form, "token")),
  ]);
  if (!entry) return { active: false };
  const { scope, issued } = entry.value;
  const times = {
    iat: Math.floor(issued / 1000),
    exp: Math.floor(expires / 1000),
  };
  const who = {
    client_id: CLIENT.id,
    sub: CLIENT.id,
    aud: "http://127.0.0.1",
    iss: "http://127.0.0.1",
  };
  return { active: true, scope, token_type: "Bearer", ...times, ...who };
}

/** The code in a redirect to the client. The session is the same in every request. */
async function authorize(query: string): Promise<string> {
  await store.get(["session", secretDigest(session)]);
  await store.get(["user", user]);
  await store.get(["consent", user, CLIENT.id]);
  const code = randomSecret("ac_");
  const request = {
    redirect_uri: CLIENT.redirect_uri,
    scope: SCOPE,
    code_challenge: valueOf(query, "code_challenge"),
  };
  const unspent = { request, authentication, until: expires };
  const value = { client_id: CLIENT.id, user, grant: randomId(""), unspent };
  await store.commit({
    set: [{ key: ["code", secretDigest(code)], value, expires }],
  });
  return `${CLIENT.redirect_uri}?code=${code}&state=${valueOf(query, "state")}`;
}

const JSON_FIELDS = [
  "content-type",
  "application/json",
  "cache-control",
  "no-store",
  "pragma",
  "no-cache",
];

async function post(
  path: string,
  form: string,
  response: ServerResponse,
): Promise<void> {
  authenticateClient(form);
  const answer = path === "/introspect"
    ? introspect(form)
    : form.includes("grant_type=client_credentials")
    ? clientCredentials()
    : form.includes("grant_type=refresh_token")
    ? refresh(form)
    : exchange(form);
  const text = JSON.stringify(await answer);
  response.writeHead(200, [
    ...JSON_FIELDS,
    "content-length",
    String(text.length),
  ]).end(text);
}

const server = createServer((request: IncomingMessage, response) => {
  const { method, url = "" } = request;
  if (method === "GET") {
    return void authorize(url).then((location) => response.writeHead(302, ["location", location]).end());
  }
  let form = "";
  request.on("data", (chunk) => form += chunk);
  request.on("end", () => void post(url, form, response));
});
server.listen(
  0,
  "127.0.0.1",
  () => serveParent((server.address() as AddressInfo).port, clientCredentials),
);
