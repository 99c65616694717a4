import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { newKey } from "../test_keys.ts";
import { listLinkedUsers } from "./linked_account.ts";
import { entra } from "./entra.ts";
import { github } from "./github.ts";
import { google } from "./google.ts";
import { oidc } from "./oidc.ts";
import type { SignInProvider } from "./provider.ts";
import {
  CLIENT,
  newBrowser,
  newProvider,
  newSignInServer,
  PROVIDER,
  signIn,
  type TestProvider,
} from "./test_provider.ts";

const test = suite("oauth/sign_in providers");

/** The status of a sign-in, and the user. */
async function signInAt(provider: TestProvider, at: SignInProvider) {
  const server = await newSignInServer(provider, [at]);
  const { status } = await signIn(newBrowser(server), provider, `/login/${at.id}?redirect=%2Fdevice`);
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  return { status, user };
}

test("domains admits verified addresses of exactly these domains", async () => {
  const rows: readonly [claims: Record<string, unknown>, status: number][] = [
    [{ email: "jane@example.com", email_verified: true }, 302],
    [{ email: "jane@EXAMPLE.com", email_verified: "true" }, 302],
    [{ email: "jane@example.com", email_verified: false }, 403],
    [{ email: "jane@example.com" }, 403],
    [{ email: "jane@sub.example.com", email_verified: true }, 403],
    [{ email: "jane@evil-example.com", email_verified: true }, 403],
    [{ email: "jane@example.com@evil.example", email_verified: true }, 403],
    [{ email: "example.com", email_verified: true }, 403],
    [{ email: 7, email_verified: true }, 403],
  ];
  for (const [claims, status] of rows) {
    const provider = await newProvider();
    provider.claims = { sub: "1", ...claims };
    const at = oidc({ issuer: PROVIDER, ...CLIENT, domains: ["example.com"] });
    assert.is((await signInAt(provider, at)).status, status, JSON.stringify(claims));
  }
});

test("groups, admits and roles read the groups of the user", async () => {
  const provider = await newProvider();
  provider.claims["groups"] = ["staff", "writers"];
  const settings = { issuer: PROVIDER, ...CLIENT };
  const roles = { author: ["writers"], admin: ["owners"] };
  assert.is((await signInAt(provider, oidc({ ...settings, groups: ["staff"], roles }))).user!.role, "author");
  assert.is((await signInAt(provider, oidc({ ...settings, groups: ["owners"] }))).status, 403);
  assert.is(
    (await signInAt(provider, oidc({ ...settings, admits: () => Promise.resolve(false) }))).status,
    403,
  );
  provider.claims["groups"] = "owners";
  assert.is((await signInAt(provider, oidc({ ...settings, roles }))).user!.role, "admin");
  provider.claims = { sub: "1", teams: ["owners"] };
  const renamed = oidc({ ...settings, roles, groupsClaim: "teams" });
  assert.is((await signInAt(provider, renamed)).user!.role, "admin");
});

test("a role follows the groups at the next sign-in", async () => {
  const provider = await newProvider();
  const at = oidc({ issuer: PROVIDER, ...CLIENT, roles: { admin: ["owners"] } });
  const server = await newSignInServer(provider, [at]);
  const role = async () => (await Array.fromAsync(listLinkedUsers(server.store)))[0]!.role;
  provider.claims["groups"] = ["owners"];
  await signIn(newBrowser(server), provider);
  assert.is(await role(), "admin");
  provider.claims["groups"] = [];
  await signIn(newBrowser(server), provider);
  assert.is(await role(), undefined);
});

test("an address that is not verified is not stored", async () => {
  const provider = await newProvider();
  provider.claims = { sub: "1", email: "boss@example.com", email_verified: false };
  const { user } = await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }));
  assert.is(user!.email, "");
});

test("UserInfo is asked when the ID token has no address", async () => {
  const provider = await newProvider();
  provider.claims = { sub: "1" };
  provider.userInfo = { email: "jane@example.com", email_verified: true, name: "Jane" };
  const { user } = await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }));
  assert.equal([user!.name, user!.email], ["Jane", "jane@example.com"]);
});

test("the client secret is sent in the body where the provider lists no HTTP Basic", async () => {
  const provider = await newProvider();
  provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post", "private_key_jwt"];
  assert.is((await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }))).status, 302);
  const { init } = provider.requests.find(({ url }) => url.endsWith("/token"))!;
  assert.is(new Headers(init.headers).has("authorization"), false);
});

test("metadata of another issuer, or that leads into the network of this server, is refused", async () => {
  for (
    const member of [
      { issuer: "https://evil.example" },
      { token_endpoint: undefined },
      { jwks_uri: "http://127.0.0.1/keys" },
      { jwks_uri: "https://127.0.0.1/keys" },
      { token_endpoint: "https://10.0.0.7/token" },
      { token_endpoint: "https://[fd00::1]/token" },
      { userinfo_endpoint: "https://169.254.169.254/latest/meta-data" },
      { userinfo_endpoint: "https://vault/userinfo" },
      { revocation_endpoint: "https://vault.internal/revoke" },
      { jwks_uri: "https://user:password@idp.example/keys" },
      { authorization_endpoint: "javascript:alert(1)" },
    ]
  ) {
    const provider = await newProvider();
    provider.metadata = member;
    const server = await newSignInServer(provider);
    assert.is((await newBrowser(server).get("/login/oidc")).status, 502, JSON.stringify(member));
  }
});

test("an issuer in the operator's network may name its own host, and public ones", async () => {
  const rows: readonly [issuer: string, token_endpoint: string, status: number][] = [
    ["https://sso.corp.internal", "https://sso.corp.internal:8443/token", 302],
    ["https://sso.corp.internal", "https://login.example.com/token", 302],
    ["https://sso.corp.internal", "https://vault.corp.internal/token", 502],
    ["https://10.0.0.5", "https://10.0.0.6/token", 502],
    ["http://127.0.0.1:9000", "http://localhost:9000/token", 302],
    ["http://127.0.0.1:9000", "https://10.0.0.6/token", 502],
  ];
  for (const [issuer, token_endpoint, status] of rows) {
    const provider = await newProvider(issuer);
    provider.metadata = { token_endpoint };
    const server = await newSignInServer(provider, [oidc({ issuer, ...CLIENT })]);
    assert.is((await newBrowser(server).get("/login/oidc")).status, status, token_endpoint);
  }
});

for (const kid of ["second", "first", undefined]) {
  test(`keys that the provider changed are fetched again, with the kid ${kid}`, async () => {
    const provider = await newProvider();
    provider.key = await newKey("ES256", "first");
    if (kid === undefined) provider.header["kid"] = undefined;
    const server = await newSignInServer(provider);
    assert.is((await signIn(newBrowser(server), provider)).status, 302);
    provider.key = await newKey("ES256", kid ?? "first");
    provider.header["kid"] = kid;
    // At most once a minute.
    const fetched = () => provider.requests.filter(({ url }) => url.endsWith("/keys")).length;
    assert.equal([(await signIn(newBrowser(server), provider)).status, fetched()], [403, 1]);
    server.advance(61);
    assert.equal([(await signIn(newBrowser(server), provider)).status, fetched()], [302, 2]);
  });
}

for (const alg of ["Ed25519", "EdDSA"] as const) {
  test(`an ID token that is signed with ${alg} has another at_hash`, async () => {
    const provider = await newProvider();
    provider.key = await newKey(alg, "first");
    const digest = new Uint8Array(
      await crypto.subtle.digest("SHA-512", new TextEncoder().encode("an access token")),
    );
    provider.tokens["access_token"] = "an access token";
    provider.idToken["at_hash"] = encodeBase64url(digest.subarray(0, 32));
    assert.is((await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }))).status, 302);
    provider.tokens["access_token"] = "another access token";
    assert.is((await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }))).status, 403);
  });
}

test("the error code of a provider is in the event, its description is not", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const refusal = { error: "invalid_client", error_description: "secret s:e%c+r&t is wrong" };
  provider.answers.set(`${PROVIDER}/token`, () => Response.json(refusal, { status: 401 }));
  assert.is((await signIn(newBrowser(server), provider)).status, 403);
  const [event] = server.events.filter(({ type }) => type === "sign_in_failed");
  assert.is("reason" in event! && event.reason, "The token endpoint answered invalid_client");
});

test("invalid settings are named", async () => {
  const provider = await newProvider();
  const rows: readonly [() => unknown, RegExp][] = [
    [() => oidc({ issuer: "http://idp.example", ...CLIENT }), /issuer/],
    [() => oidc({ issuer: PROVIDER, clientId: "" }), /clientId/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, scope: "email" }), /openid/],
    [() => entra({ tenant: "contoso", ...CLIENT }), /tenant/],
    [() => github({ ...CLIENT, server: "http://github.example" }), /address/],
    [() => google({ ...CLIENT, hostedDomains: [] }), /google\.hostedDomains/],
    [() => github({ ...CLIENT, organizations: [] }), /github\.groups/],
    [() => github({ ...CLIENT, groups: [""] }), /github\.groups/],
    [() => github({ ...CLIENT, roles: { admin: [""] } }), /github\.roles\.admin/],
    [() => github({ ...CLIENT, organizations: "acme" as never }), /github\.organizations/],
    [() => google({ ...CLIENT, hostedDomains: "example.com" as never }), /google\.hostedDomains/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, domains: "example.com" as never }), /oidc\.domains/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, domains: ["@example.com"] }), /oidc\.domains/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, domains: ["*.example.com"] }), /oidc\.domains/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, domains: ["a.example, b.example"] }), /oidc\.domains/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, groups: "staff" as never }), /oidc\.groups/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, roles: { admin: "staff" as never } }), /oidc\.roles\.admin/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, roles: { owner: ["x"] } as never }), /oidc\.roles\.owner/],
    [() => oidc({ issuer: PROVIDER, ...CLIENT, scopes: { "s": "staff" as never } }), /oidc\.scopes\.s/],
  ];
  for (const [make, message] of rows) assert.throws(make, message);
  for (const ids of [["UPPER"], ["a/b"], ["same", "same"]]) {
    const made = await newSignInServer(provider, ids.map((id) => oidc({ issuer: PROVIDER, ...CLIENT, id })))
      .then(() => undefined, (error) => error);
    assert.instance(made, TypeError);
  }
});

test("passwordLogin: false leaves the fields out and refuses passwords", async () => {
  const { newServer } = await import("../test_server.ts");
  const server = await newServer({ signIn: [oidc({ issuer: PROVIDER, ...CLIENT })], passwordLogin: false });
  assert.is((await (await server.send("/login")).text()).includes("password"), false);
  const response = await server.send("/login", { form: { username: "alice", password: "wonderland" } });
  assert.is(response.status, 403);
  assert.is(response.headers.has("set-cookie"), false);
});

test.run();
