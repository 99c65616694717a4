/**
 * What the documentation of providers says about how they differ, each as a fixture: Okta, GitLab, Keycloak, Auth0, Google,
 * Microsoft Entra ID, Apple, GitHub.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type JwsKey, verifyJws } from "../../crypto/jws.ts";
import { apple } from "./apple.ts";
import { entra } from "./entra.ts";
import { github } from "./github.ts";
import { google } from "./google.ts";
import { listLinkedUsers } from "./linked_account.ts";
import { oidc } from "./oidc.ts";
import type { SignInProvider } from "./provider.ts";
import { readProviderTokens, revokeProviderTokens } from "./provider_tokens.ts";
import {
  CLIENT,
  newBrowser,
  newProvider,
  newSignInServer,
  PROVIDER,
  signIn,
  type TestProvider,
} from "./test_provider.ts";

const test = suite("oauth/sign_in quirks of providers");

/** The status of a sign-in, the user, and why it failed. */
async function signInAt(provider: TestProvider, at: SignInProvider) {
  const server = await newSignInServer(provider, [at]);
  const { status } = await signIn(newBrowser(server), provider, `/login/${at.id}?redirect=%2Fdevice`);
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  const failure = server.events.find(({ type }) => type === "sign_in_failed");
  return { status, user, server, reason: failure && "reason" in failure ? failure.reason : undefined };
}

// https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/: beside an access token the ID token is thin.
test("Okta: name, address and groups are at the UserInfo endpoint", async () => {
  const issuer = "https://dev-1.okta.com/oauth2/default";
  const provider = await newProvider(issuer);
  provider.claims = { sub: "00uid4BxXw6I6TV4m0g3", preferred_username: "jane@example.com" };
  provider.userInfo = {
    name: "Jane",
    email: "jane@example.com",
    email_verified: true,
    groups: ["Everyone", "Ops"],
  };
  const at = oidc({ issuer, ...CLIENT, scope: "openid profile email groups", roles: { author: ["Ops"] } });
  const { user } = await signInAt(provider, at);
  assert.equal([user!.name, user!.email, user!.role], ["Jane", "jane@example.com", "author"]);
});

// https://docs.gitlab.com/integration/openid_connect_provider: `groups` is at the UserInfo endpoint only.
test("GitLab: groups are at the UserInfo endpoint, though the ID token has name and address", async () => {
  const issuer = "https://gitlab.com";
  const provider = await newProvider(issuer);
  provider.claims["groups_direct"] = ["other"];
  provider.userInfo = { groups: ["acme/owners"] };
  const at = oidc({ issuer, ...CLIENT, groups: ["acme/owners"] });
  assert.is((await signInAt(provider, at)).status, 302);
  assert.is((await signInAt(provider, oidc({ issuer, ...CLIENT, groups: ["other"] }))).status, 403);
});

test("UserInfo is not asked when the ID token has all that counts", async () => {
  const provider = await newProvider();
  await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }));
  assert.is(provider.requests.filter(({ url }) => url.endsWith("/userinfo")).length, 0);
});

test("that an address is verified counts for the address of the same answer", async () => {
  const rows: readonly [idToken: object, userInfo: object, email: string][] = [
    [{ email: "boss@example.com" }, { email: "mine@example.com", email_verified: true }, ""],
    [{ email: "boss@example.com", email_verified: false }, {
      email: "boss@example.com",
      email_verified: true,
    }, ""],
    [{ email: "me@example.com" }, { email: "me@example.com", email_verified: true }, "me@example.com"],
    [{ email_verified: true }, { email: "boss@example.com" }, ""],
  ];
  for (const [idToken, userInfo, email] of rows) {
    const provider = await newProvider();
    provider.claims = { sub: "1", ...idToken };
    provider.userInfo = { ...userInfo };
    const { user } = await signInAt(provider, oidc({ issuer: PROVIDER, ...CLIENT }));
    assert.is(user!.email, email, JSON.stringify([idToken, userInfo]));
  }
});

// https://www.keycloak.org/docs/latest/server_admin/: roles of a realm are a list in an object.
test("Keycloak: roles of the realm by a path, and iss in the callback", async () => {
  const issuer = "https://sso.example.com/realms/acme";
  const provider = await newProvider(issuer);
  provider.metadata["authorization_response_iss_parameter_supported"] = true;
  provider.callback = { iss: issuer, session_state: "5f3c" };
  provider.claims = {
    ...provider.claims,
    typ: "ID",
    azp: CLIENT.clientId,
    realm_access: { roles: ["owner"] },
  };
  const at = oidc({ issuer, ...CLIENT, groupsClaim: "realm_access.roles", roles: { admin: ["owner"] } });
  assert.is((await signInAt(provider, at)).user!.role, "admin");
  // A path ends at what is no object.
  const none = oidc({ issuer, ...CLIENT, groupsClaim: "realm_access.roles.length", groups: ["1"] });
  assert.is((await signInAt(provider, none)).status, 403);
});

// https://auth0.com/docs: the issuer ends with a slash, and custom claims are named by a URL.
test("Auth0: an issuer with a slash at its end, and a claim whose name has dots", async () => {
  const issuer = "https://acme.eu.auth0.com/";
  const provider = await newProvider(issuer, "https://acme.eu.auth0.com");
  provider.claims["https://acme.example/roles"] = ["owner"];
  const at = oidc({ issuer, ...CLIENT, groupsClaim: "https://acme.example/roles", groups: ["owner"] });
  assert.is((await signInAt(provider, at)).status, 302);
});

// Glewlwyd does not form-decode what is in HTTP Basic (RFC 6749 §2.3.1).
test("a secret that Basic encodes is sent in the body, where the provider takes it there", async () => {
  const rows: readonly [clientSecret: string, methods: string[] | undefined, isBasic: boolean][] = [
    [CLIENT.clientSecret, ["client_secret_basic", "client_secret_post"], false],
    [CLIENT.clientSecret, ["client_secret_basic"], true],
    [CLIENT.clientSecret, undefined, true],
    ["plain-secret_1.2", ["client_secret_basic", "client_secret_post"], true],
  ];
  for (const [clientSecret, methods, isBasic] of rows) {
    const provider = await newProvider();
    if (methods) provider.metadata["token_endpoint_auth_methods_supported"] = methods;
    await signInAt(provider, oidc({ issuer: PROVIDER, clientId: CLIENT.clientId, clientSecret }));
    const { init } = provider.requests.find(({ url }) => url.endsWith("/token"))!;
    assert.is(new Headers(init.headers).has("authorization"), isBasic, `${clientSecret} ${methods}`);
    assert.is(new URLSearchParams(init.body as string).has("client_secret"), !isBasic);
  }
});

// https://developers.google.com/identity/protocols/oauth2/web-server: a refresh token takes access_type=offline.
test("Google: offline access is asked for where its tokens are kept", async () => {
  const provider = await newProvider("https://accounts.google.com");
  const ask = async (at: SignInProvider) => {
    const { headers } = await newBrowser(await newSignInServer(provider, [at])).get("/login/google");
    const { access_type, prompt } = Object.fromEntries(new URL(headers.get("location")!).searchParams);
    return [access_type, prompt];
  };
  assert.equal(await ask(google(CLIENT)), [undefined, undefined]);
  assert.equal(await ask(google({ ...CLIENT, keepTokens: true })), ["offline", undefined]);
  const always = google({ ...CLIENT, keepTokens: true, parameters: { prompt: "consent" } });
  assert.equal(await ask(always), ["offline", "consent"]);
});

test("Google: its ID token has all that it says, also where the domain counts", async () => {
  const provider = await newProvider("https://accounts.google.com");
  provider.claims["hd"] = "example.com";
  const at = google({ ...CLIENT, hostedDomains: ["example.com"] });
  assert.is((await signInAt(provider, at)).status, 302);
  assert.is(provider.requests.filter(({ url }) => url.endsWith("/userinfo")).length, 0);
});

const MICROSOFT = "https://login.microsoftonline.com";
const TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad";
const GRAPH = "https://graph.microsoft.com/v1.0/me/getMemberObjects";

async function newEntra(claims: Record<string, unknown> = {}) {
  const provider = await newProvider(`${MICROSOFT}/${TENANT}/v2.0`);
  provider.claims = { sub: "1", tid: TENANT, name: "Jane", email: "jane@example.com", ...claims };
  return provider;
}

// https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference: more than 200 groups are left out.
test("Entra: too many groups for the ID token are read from Microsoft Graph, wherever the token points", async () => {
  const provider = await newEntra({
    _claim_names: { groups: "src1" },
    _claim_sources: { src1: { endpoint: "https://10.0.0.7/steal" } },
  });
  const at = entra({ tenant: TENANT, ...CLIENT, roles: { admin: ["owners"] } });
  provider.answers.set(GRAPH, ({ headers, body }) => {
    const isRight = /^Bearer ./.test(new Headers(headers).get("authorization") ?? "") &&
      JSON.parse(body as string).securityEnabledOnly === false;
    return isRight ? Response.json({ value: ["staff", "owners"] }) : new Response(null, { status: 400 });
  });
  assert.is((await signInAt(provider, at)).user!.role, "admin");
  assert.is(provider.requests.some(({ url }) => url.includes("10.0.0.7")), false);
  const { headers } = await newBrowser(await newSignInServer(provider, [at])).get("/login/entra");
  assert.is(new URL(headers.get("location")!).searchParams.get("scope"), "openid profile email User.Read");
  // Where groups do not count nothing is asked.
  const graph = () => provider.requests.filter(({ url }) => url === GRAPH).length;
  const before = graph();
  assert.is((await signInAt(provider, entra({ tenant: TENANT, ...CLIENT }))).status, 302);
  assert.is(graph(), before);
});

test("Entra: a user whose groups cannot be read is not taken for one without groups", async () => {
  const provider = await newEntra({ _claim_names: { groups: "src1" } });
  provider.answers.set(
    GRAPH,
    () => Response.json({ error: { code: "Authorization_RequestDenied" } }, { status: 403 }),
  );
  const { status, reason } = await signInAt(
    provider,
    entra({ tenant: TENANT, ...CLIENT, roles: { admin: ["o"] } }),
  );
  assert.is(status, 403);
  assert.match(reason!, "User.Read");
});

test("Entra: personal accounts are one directory, which the metadata of consumers names", async () => {
  const issuer = `${MICROSOFT}/${CONSUMERS}/v2.0`;
  const provider = await newProvider(issuer, `${MICROSOFT}/consumers/v2.0`);
  provider.claims["tid"] = CONSUMERS;
  const at = entra({ tenant: "consumers", ...CLIENT });
  assert.is((await signInAt(provider, at)).status, 302);
  provider.idToken = { iss: `${MICROSOFT}/${TENANT}/v2.0`, tid: TENANT };
  assert.is((await signInAt(provider, at)).status, 403);
});

// https://learn.microsoft.com/entra/identity-platform/access-tokens: "Validate the signing key issuer".
test("Entra: keys have no alg, and one of personal accounts signs no token of an organization", async () => {
  const common = `${MICROSOFT}/{tenantid}/v2.0`;
  const rows: readonly [key: string | undefined, status: number][] = [
    [undefined, 302],
    [common, 302],
    [`${MICROSOFT}/${TENANT}/v2.0`, 302],
    [`${MICROSOFT}/${CONSUMERS}/v2.0`, 403],
  ];
  for (const [issuer, status] of rows) {
    const provider = await newProvider(common, `${MICROSOFT}/common/v2.0`);
    provider.idToken = { iss: `${MICROSOFT}/${TENANT}/v2.0`, tid: TENANT };
    const { alg: _, ...jwk } = provider.key.jwk;
    provider.answers.set(
      `${MICROSOFT}/common/v2.0/keys`,
      () =>
        Response.json({ keys: [{ ...jwk, use: "sig", x5t: "x", x5c: ["MIIC"], ...(issuer && { issuer }) }] }),
    );
    assert.is((await signInAt(provider, entra({ tenant: "common", ...CLIENT }))).status, status, issuer);
  }
});

const APPLE = "https://appleid.apple.com";

async function newApple() {
  const provider = await newProvider(APPLE);
  provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"];
  provider.metadata["userinfo_endpoint"] = undefined;
  provider.claims = {
    sub: "001.a",
    email: "x@privaterelay.appleid.com",
    email_verified: "true",
    is_private_email: true,
  };
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const base64 = btoa(String.fromCharCode(...pkcs8)).replace(/(.{64})/g, "$1\n");
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----\n`;
  const key: JwsKey = { kid: "KEY1", alg: "ES256", key: pair.publicKey };
  provider.isSecret = async (secret) => {
    const claims = secret === null ? undefined : await verifyJws(key, undefined, secret);
    const now = Date.now() / 1000;
    return claims?.["iss"] === "TEAM1" && claims["sub"] === CLIENT.clientId && claims["aud"] === APPLE &&
      Number(claims["exp"]) > now && Number(claims["exp"]) < now + 15_777_000;
  };
  const at = apple({ clientId: CLIENT.clientId, teamId: "TEAM1", keyId: "KEY1", privateKey });
  return { provider, server: await newSignInServer(provider, [at]) };
}

// https://developer.apple.com/documentation/signinwithapplerestapi/request-an-authorization-to-the-sign-in-with-apple-server.
test("Apple: the callback is a form of another site, the name comes once, the secret is a JWT", async () => {
  const { provider, server } = await newApple();
  const signInBy = async (more: Record<string, string> = {}) => {
    const browser = newBrowser(server);
    const begun = await browser.get("/login/apple?redirect=%2Fdevice");
    const asked = new URL(begun.headers.get("location")!);
    assert.is(asked.searchParams.get("response_mode"), "form_post");
    assert.is(asked.searchParams.get("scope"), "openid name email");
    const { searchParams, pathname } = provider.authorize(asked.href);
    // Another site posts it: without a cookie.
    const form = { ...Object.fromEntries(searchParams), ...more };
    const posted = await server.send(pathname, { form, headers: { "sec-fetch-site": "cross-site" } });
    assert.is(posted.status, 303);
    const location = posted.headers.get("location")!;
    assert.match(location, /^\/login\/apple\/callback\?/);
    assert.is((await server.send(location)).status, 400);
    const done = await browser.get(location);
    assert.equal([done.status, done.headers.get("location")], [302, "/device"]);
    return (await Array.fromAsync(listLinkedUsers(server.store)))[0]!;
  };
  const user = JSON.stringify({ name: { firstName: "Jane", lastName: "Doe" }, email: "boss@example.com" });
  const first = await signInBy({ user });
  assert.equal([first.name, first.email], ["Jane Doe", "x@privaterelay.appleid.com"]);
  assert.equal(await signInBy(), first);
  assert.is((await signInBy({ user: "{" })).name, "Jane Doe");
});

test("Apple: settings that are missing are named", () => {
  const settings = { clientId: "app", teamId: "T", keyId: "K", privateKey: "no key" };
  assert.throws(() => apple(settings), /privateKey/);
  assert.throws(() => apple({ ...settings, teamId: "" }), /teamId/);
});

test("a posted callback with a repeated or a long parameter, or for no provider, goes nowhere", async () => {
  const { server } = await newApple();
  const post = async (form: string, id = "apple") =>
    (await server.send(`/login/${id}/callback`, { form })).status;
  assert.is(await post("code=a&code=b&state=c"), 400);
  assert.is(await post(`code=a&state=${"c".repeat(7000)}`), 400);
  assert.is(await post(`code=${"a".repeat(17_000)}`), 413);
  assert.is(await post("code=a&state=b", "unknown"), 404);
});

const GITHUB = "https://github.com";

async function newGithub(emails: () => Response) {
  const provider = await newProvider(GITHUB);
  const tokens = { access_token: "gho_1", token_type: "bearer", scope: "read:user" };
  provider.answers.set(`${GITHUB}/login/oauth/access_token`, () => Response.json(tokens));
  provider.answers.set("https://api.github.com/user", () => Response.json({ id: 583231, login: "octocat" }));
  provider.answers.set("https://api.github.com/user/emails?per_page=100", emails);
  return provider;
}

// https://docs.github.com/rest/users/emails: a GitHub App needs a permission for it.
test("GitHub: an application that may not read addresses signs in users without one", async () => {
  for (const status of [403, 404]) {
    const provider = await newGithub(() => Response.json({ message: "Not accessible" }, { status }));
    const { user } = await signInAt(provider, github(CLIENT));
    assert.equal([user!.name, user!.email], ["octocat", ""]);
    const limited = github({ ...CLIENT, domains: ["example.com"] });
    assert.is((await signInAt(provider, limited)).status, 403);
  }
});

test("GitHub: the error of the token endpoint, which has status 200, is named", async () => {
  const provider = await newGithub(() => Response.json([]));
  const error = { error: "bad_verification_code", error_description: "The code is incorrect." };
  provider.answers.set(`${GITHUB}/login/oauth/access_token`, () => Response.json(error));
  const { status, reason } = await signInAt(provider, github(CLIENT));
  assert.equal([status, reason], [403, "The token endpoint answered bad_verification_code"]);
});

// https://docs.github.com/rest/apps/oauth-applications#delete-an-app-token
test("GitHub: kept tokens are deleted by its API", async () => {
  const provider = await newGithub(() => Response.json([]));
  const { server, user } = await signInAt(provider, github({ ...CLIENT, keepTokens: true }));
  const url = "https://api.github.com/applications/trivet/token";
  const deleted: RequestInit[] = [];
  provider.answers.set(url, (init) => {
    deleted.push(init);
    return new Response(null, { status: 204 });
  });
  const access = server.service.providerAccess;
  await revokeProviderTokens(access, user!.id, await readProviderTokens(access, user!.id));
  const [{ method, body, headers }] = deleted as [RequestInit];
  assert.equal([method, body], ["DELETE", '{"access_token":"gho_1"}']);
  assert.is(new Headers(headers).get("authorization"), `Basic ${btoa("trivet:s:e%c+r&t")}`);
  assert.equal(server.events.filter(({ type }) => type === "provider_tokens_ended"), []);
});

test.run();
