import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ISSUER } from "../../oauth/test_server.ts";
import { oidc } from "../../oauth/sign_in/oidc.ts";
import { keepProviderTokens } from "../../oauth/sign_in/provider_tokens.ts";
import { linkIdentity, unlinkIdentity } from "../../oauth/sign_in/user_identity.ts";
import { findUser } from "../../oauth/users/user.ts";
import { AccessDenied, AccessUnavailable, ConnectionRequired } from "./access.ts";
import { thrownBy } from "./test_connection.ts";
import {
  callerOf,
  connectUser,
  newGateway,
  newUpstream,
  sendTo,
  signedIn,
  type TestGateway,
  type TestUpstream,
  UPSTREAM,
  UPSTREAM_URL,
  whoami,
} from "./test_credentials.ts";

const test = suite("gateway/credentials/exchange_access");
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const CLIENT = { clientId: "trivet", clientSecret: "its secret" };
const TOKEN_ENDPOINT = `${UPSTREAM}/oauth/token`;
const IDENTITY = {
  issuer: UPSTREAM,
  subject: "42",
  name: "Alice",
  emailVerified: false,
  groups: [],
  claims: {},
};

/** A gateway whose users sign in at the upstream, whose tokens are kept. */
async function newPair(store?: TestGateway["store"], given?: TestUpstream) {
  const upstream: TestUpstream = given ?? await newUpstream({
    clientMetadataDocuments: false,
    clients: [{
      id: "trivet",
      secret: "its secret",
      redirect_uris: [`${ISSUER}/account/connections/callback/direct`],
      grant_types: ["authorization_code", "refresh_token", EXCHANGE, BEARER],
    }],
    trustedIssuers: [{
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
      requireIdJag: true,
      user: (claims) => findUser(upstream.store, upstream.users[String(claims["sub"])] ?? ""),
    }],
    connect: (url) => gateway.server.service.fetch(new Request(url)),
  });
  const gateway: TestGateway = await newGateway({
    upstream,
    ...(store && { store }),
    options: {
      signIn: [oidc({ issuer: UPSTREAM, ...CLIENT, keepTokens: true })],
      signInFetch: (url, init) => sendTo(upstream, new Request(url, init)),
    },
  });
  return { upstream, gateway };
}

/** Keeps a token of the upstream for a user, as a sign-in there does. */
async function keepToken(
  { server, store }: TestGateway,
  user: string,
  access_token: string,
  subject = user,
): Promise<void> {
  const identity = { ...IDENTITY, subject };
  await linkIdentity(store, user, identity, { provider: "oidc", now: Date.now() });
  await keepProviderTokens(server.service.providerAccess, user, "oidc", identity, { access_token });
}

/** A token that the upstream issued to this server for a user. */
async function tokenOf(gateway: TestGateway, upstream: TestUpstream, name: "alice" | "mallory") {
  const { credentials } = gateway;
  const auth = { type: "oauth", ...CLIENT, issuer: UPSTREAM };
  const access = credentials.add("direct", { url: UPSTREAM_URL, auth });
  const browser = await signedIn(gateway, upstream, name);
  assert.is((await connectUser(browser, "direct")).status, 303);
  return (await access.headers(callerOf(gateway[name])))["Authorization"]!.slice("Bearer ".length);
}

async function formsOf({ requests }: TestUpstream, type: string): Promise<URLSearchParams[]> {
  const sent = requests.filter(({ url }) => url === TOKEN_ENDPOINT);
  const forms = await Promise.all(sent.map(async (each) => new URLSearchParams(await each.clone().text())));
  return forms.filter((form) => form.get("grant_type") === type);
}

const EXCHANGED = {
  url: UPSTREAM_URL,
  auth: {
    type: "token-exchange",
    ...CLIENT,
    tokenEndpoint: TOKEN_ENDPOINT,
    subject: { provider: "oidc" },
    scopes: ["read"],
  },
};

test("the token of a sign-in is exchanged for one of the upstream, once for all instances", async () => {
  const { upstream, gateway } = await newPair();
  const { gateway: other } = await newPair(gateway.store, upstream);
  const accesses = [gateway, other].map(({ credentials }) => credentials.add("up", EXCHANGED));
  const caller = callerOf(gateway.alice);
  const error = await thrownBy(accesses[0]!.headers(caller));
  assert.instance(error, ConnectionRequired);
  const subject = await tokenOf(gateway, upstream, "alice");
  await keepToken(gateway, gateway.alice, subject);
  const calls = Array.from({ length: 20 }, (_, i) => accesses[i % 2]!.headers(caller));
  const fields = new Set((await Promise.all(calls)).map((headers) => headers["Authorization"]!));
  assert.is(fields.size, 1);
  const [field] = fields;
  assert.is.not(field, `Bearer ${subject}`);
  assert.is(await whoami(upstream, { Authorization: field! }), upstream.users["alice"]!);
  const forms = await formsOf(upstream, EXCHANGE);
  assert.is(forms.length, 1);
  assert.is(forms[0]!.get("subject_token"), subject);
  assert.is(forms[0]!.get("resource"), UPSTREAM_URL);
});

test("an exchanged token is of one user, and ends with the token that it was exchanged for", async () => {
  const { upstream, gateway } = await newPair();
  const access = gateway.credentials.add("up", EXCHANGED);
  const { store, alice, mallory } = gateway;
  await keepToken(gateway, alice, await tokenOf(gateway, upstream, "alice"));
  const first = await access.headers(callerOf(alice));
  assert.instance(await thrownBy(access.headers(callerOf(mallory))), ConnectionRequired);
  await keepToken(gateway, mallory, await tokenOf(gateway, upstream, "mallory"));
  assert.is(await whoami(upstream, await access.headers(callerOf(mallory))), upstream.users["mallory"]!);
  assert.is(await whoami(upstream, await access.headers(callerOf(alice))), upstream.users["alice"]!);
  // Another sign-in: another token is exchanged.
  await keepToken(gateway, alice, await tokenOf(gateway, upstream, "alice"));
  assert.is.not((await access.headers(callerOf(alice)))["Authorization"], first["Authorization"]);
  const identity = { issuer: UPSTREAM, subject: alice };
  assert.is(
    await unlinkIdentity(store, alice, identity, () => Promise.resolve([]), () => Promise.resolve(true)),
    "unlinked",
  );
  assert.instance(await thrownBy(access.headers(callerOf(alice))), ConnectionRequired);
});

test("an exchanged token that is refused is replaced, and a refusal of the exchange is no reason to connect", async () => {
  const { upstream, gateway } = await newPair();
  const access = gateway.credentials.add("up", EXCHANGED);
  const caller = callerOf(gateway.alice);
  await keepToken(gateway, gateway.alice, await tokenOf(gateway, upstream, "alice"));
  const used = await access.headers(caller);
  const refusal = { status: 401, challenge: "Bearer", url: UPSTREAM_URL, used };
  assert.is(await access.refused(caller, refusal), false);
  gateway.server.advance(60);
  assert.is(await access.refused(caller, refusal), true);
  const next = await access.headers(caller);
  assert.is.not(next["Authorization"], used["Authorization"]);
  assert.is(await access.refused(caller, { ...refusal, status: 403, used: next }), false);
  gateway.server.advance(60);
  assert.is(await access.refused(caller, { ...refusal, used: next }), true);
  // Also after a clock that was ahead is corrected.
  const last = await access.headers(caller);
  gateway.server.advance(-600);
  assert.is(await access.refused(caller, { ...refusal, used: last }), true);
  upstream.tamper = ({ url }) =>
    url === TOKEN_ENDPOINT ? Response.json({ error: "invalid_target" }, { status: 400 }) : undefined;
  const error = await thrownBy(access.headers(caller));
  assert.instance(error, AccessUnavailable);
  assert.instance(await thrownBy(access.headers(undefined)), AccessDenied);
});

test("a token of an earlier configuration is not used after its scopes were changed", async () => {
  const { upstream, gateway } = await newPair();
  const { credentials, alice } = gateway;
  upstream.users[alice] = upstream.users["alice"]!;
  await keepToken(gateway, alice, await tokenOf(gateway, upstream, "alice"));
  const idJag = { url: UPSTREAM_URL, auth: { type: "id-jag", ...CLIENT, issuer: UPSTREAM } };
  for (const settings of [EXCHANGED, idJag]) {
    const tokens = new Set<string>();
    for (const scopes of [["read"], ["write"], ["write"]]) {
      const access = credentials.add("up", { ...settings, auth: { ...settings.auth, scopes } });
      tokens.add((await access.headers(callerOf(alice)))["Authorization"]!);
    }
    const forms = await formsOf(upstream, settings === EXCHANGED ? EXCHANGE : BEARER);
    assert.equal(forms.map((form) => form.get("scope")), ["read", "write"]);
    assert.is(tokens.size, 2);
  }
});

test("tokens that a user connected are revoked when the upstream gets exchanged ones instead", async () => {
  const { upstream, gateway } = await newPair();
  const { credentials, alice, store } = gateway;
  const connected = credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  const subject = await tokenOf(gateway, upstream, "alice");
  await connectUser(await signedIn(gateway, upstream, "alice"));
  const before = await connected.headers(callerOf(alice));
  await keepToken(gateway, alice, subject);
  const access = credentials.add("up", EXCHANGED);
  assert.is(await whoami(upstream, await access.headers(callerOf(alice))), upstream.users["alice"]!);
  await credentials.revokeEnded();
  assert.is(await whoami(upstream, before), "401");
  assert.equal(await store.list(["upstream_revocation"]), []);
});

test("this server identifies its user to the authorization server of the upstream (ID-JAG)", async () => {
  const { upstream, gateway } = await newPair();
  const access = gateway.credentials.add("up", {
    url: UPSTREAM_URL,
    auth: { type: "id-jag", ...CLIENT, issuer: UPSTREAM, scopes: ["read"] },
  });
  const { users } = upstream;
  users[gateway.alice] = users["alice"]!;
  assert.is(await whoami(upstream, await access.headers(callerOf(gateway.alice))), users["alice"]!);
  const [form] = await formsOf(upstream, BEARER);
  const assertion = form!.get("assertion")!;
  assert.is((await formsOf(upstream, BEARER)).length, 1);
  // It is for the other server: here it is no token, and identifies no user.
  const headers = { authorization: `Bearer ${assertion}` };
  for (const resource of [`${ISSUER}/mcp`, ISSUER]) {
    const found = await gateway.server.service.identify(new Request(resource, { headers }), {}, resource);
    assert.is((found as { error?: string }).error, "invalid_token");
  }
  // A user whom the other server does not know gets no token.
  assert.instance(await thrownBy(access.headers(callerOf(gateway.mallory))), AccessUnavailable);
});

test("the provider's identity assertion is requested with the ID token", async () => {
  const { upstream, gateway } = await newPair();
  const IDP = "https://idp.example/token";
  const access = gateway.credentials.add("up", {
    url: UPSTREAM_URL,
    auth: {
      type: "id-jag",
      ...CLIENT,
      issuer: UPSTREAM,
      provider: { id: "oidc", clientId: "at the provider", clientSecret: "other", tokenEndpoint: IDP },
    },
  });
  const { users } = upstream;
  users[gateway.alice] = users["alice"]!;
  const { server, store, alice } = gateway;
  await linkIdentity(store, alice, IDENTITY, { provider: "oidc", now: Date.now() });
  const tokens = { access_token: "not sent", id_token: "an id token" };
  await keepProviderTokens(server.service.providerAccess, alice, "oidc", IDENTITY, tokens);
  let form = new URLSearchParams();
  upstream.tamper = (request) =>
    request.url !== IDP ? undefined : request.text().then(async (text) => {
      form = new URLSearchParams(text);
      const access_token = await server.service.issueIdentityAssertion(alice, {
        audience: form.get("audience")!,
        client_id: "trivet",
        resource: form.get("resource")!,
      });
      const issued_token_type = "urn:ietf:params:oauth:token-type:id-jag";
      return Response.json({ access_token, issued_token_type, token_type: "N_A" });
    });
  assert.is(await whoami(upstream, await access.headers(callerOf(alice))), users["alice"]!);
  assert.equal(
    ["subject_token", "subject_token_type", "requested_token_type", "audience"].map((name) => form.get(name)),
    [
      "an id token",
      "urn:ietf:params:oauth:token-type:id_token",
      "urn:ietf:params:oauth:token-type:id-jag",
      UPSTREAM,
    ],
  );
});

test("the token of a sign-in is passed through to its hosts only", async () => {
  const { upstream, gateway } = await newPair();
  const auth = { type: "provider-token", provider: "oidc", hosts: ["upstream.example"] };
  const access = gateway.credentials.add("up", { url: UPSTREAM_URL, auth });
  assert.throws(
    () => gateway.credentials.add("evil", { url: "https://evil.example/mcp", auth }),
    /mcpServers\.evil\.auth\.hosts: /,
  );
  const caller = callerOf(gateway.alice);
  const token = await tokenOf(gateway, upstream, "alice");
  assert.instance(await thrownBy(access.headers(caller)), ConnectionRequired);
  await keepToken(gateway, gateway.alice, token);
  const used = await access.headers(caller);
  assert.equal(used, { Authorization: `Bearer ${token}` });
  assert.is(await whoami(upstream, used), upstream.users["alice"]!);
  assert.instance(await thrownBy(access.headers(callerOf(gateway.mallory))), ConnectionRequired);
  const refusal = { status: 401, challenge: null, url: UPSTREAM_URL, used };
  assert.instance(await thrownBy(access.refused(caller, refusal)), ConnectionRequired);
  assert.is(await access.refused(caller, { ...refusal, status: 403 }), false);
  assert.is(await access.refused(caller, { ...refusal, used: {} }), true);
  // The page says at which provider to sign in, and has no form.
  const browser = await signedIn(gateway, upstream, "mallory");
  const page = await (await browser.get(`${ISSUER}/account/connections/connect?upstream=up`)).text();
  assert.match(page, 'href="/login/oidc?redirect=%2Faccount%2Fconnections"');
  assert.not.match(page, "<form");
  assert.is((await browser.post(`${ISSUER}/account/connections/connect`, { upstream: "up" })).status, 404);
});

test.run();
