import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { countingStore } from "../store/test_counting_store.ts";
import type { AuthorizationServerOptions } from "./authorization_server.ts";
import { completeOpenId, OPENID_SCOPES } from "./openid/options.ts";
import { toClient } from "./clients/client.ts";
import { ENDPOINT_BUDGETS } from "./request_budget.ts";
import { createProof, newKey } from "./test_keys.ts";
import { WEB } from "./endpoints/test_registration.ts";
import { APP_URI, CHALLENGE, CLIENTS, ISSUER, newServer, transactionOf, VERIFIER } from "./test_server.ts";

const test = suite("oauth/request_budget");
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
/** Those that exist or store something with OpenID Connect only. */
const OPENID_ENDPOINTS = ["/oauth/userinfo", "/logout", "/oauth/logout"];
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

/** A server that counts the store calls and stored bytes of each request. */
async function newMeter(options: Partial<AuthorizationServerOptions> = {}) {
  const { store, calls, written } = countingStore(memoryStore());
  const server = await newServer({
    store,
    clients: [
      ...CLIENTS.map((client) => toClient(client, 0)),
      toClient({ id: "tv", grant_types: [DEVICE, "refresh_token"] }, 0),
      toClient({ id: "exchanger", secret: "s", grant_types: [EXCHANGE, "client_credentials"] }, 0),
    ],
    ...options,
  });
  /** The highest cost of a request to each endpoint. */
  const maxCosts = new Map<string, { storeCalls: number; storedBytes: number }>();
  async function send(
    path: string,
    init: {
      method?: string;
      form?: Record<string, string> | string;
      headers?: Record<string, string>;
      ip?: string;
    } = {},
  ): Promise<Response> {
    const { form, headers = {}, ip = "2001:db8:1:2::1" } = init;
    const body = form === undefined || typeof form === "string" ? form : new URLSearchParams(form);
    const method = init.method ?? (form === undefined ? "GET" : "POST");
    const type = typeof form === "string" ? { "content-type": "application/json" } : undefined;
    const request = new Request(ISSUER + path, {
      method,
      headers: { ...type, ...headers },
      ...(body && { body }),
    });
    const [callsBefore, writtenBefore] = [calls(), written()];
    const response = await server.service.fetch(request, { ip });
    const endpoint = new URL(ISSUER + path).pathname.replace(/^(\/oauth\/register\/).*/, "$1:id");
    const before = maxCosts.get(endpoint) ?? { storeCalls: 0, storedBytes: 0 };
    maxCosts.set(endpoint, {
      storeCalls: Math.max(before.storeCalls, calls() - callsBefore),
      storedBytes: Math.max(before.storedBytes, written() - writtenBefore),
    });
    return response;
  }
  return { server, send, maxCosts };
}

test("no request makes more store calls or stores more than its endpoint's budget", async () => {
  const { server, send, maxCosts } = await newMeter();
  const app = { client_id: "app", client_secret: "app secret:&%+" };

  // Failed and successful logins, from an IPv6 network, which is counted twice.
  for (let i = 0; i < 8; i++) await send("/login", { form: { username: `user-${i}`, password: "wrong" } });
  for (let i = 0; i < 40; i++) {
    await send("/login", { form: { username: `user-${i}`, password: "wrong" }, ip: "2001:db8:1:3::1" });
  }
  const login = await send("/login", { form: { username: "alice", password: "wonderland" } });
  const cookies = login.headers.getSetCookie().map((field) => field.split(";")[0]!).join("; ");
  const again = await send("/login", {
    form: { username: "alice", password: "wonderland" },
    headers: { cookie: cookies },
  });
  const cookie = again.headers.getSetCookie().map((field) => field.split(";")[0]!).join("; ");
  const signedIn = { headers: { cookie } };

  // The code flow of a dynamically registered client, with a pushed request, DPoP proofs and a long state.
  const metadata = {
    ...WEB,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
  };
  const registration = await send("/oauth/register", { form: JSON.stringify(metadata) });
  const { client_id, registration_access_token } = await registration.json();
  const managed = { headers: { authorization: `Bearer ${registration_access_token}` } };
  await send(`/oauth/register/${client_id}`, managed);
  await send(`/oauth/register/${client_id}`, {
    ...managed,
    method: "PUT",
    form: JSON.stringify({ ...metadata, client_id }),
  });
  const key = await newKey();
  const proof = (path: string) => createProof(key, ISSUER + path);
  const parameters = {
    client_id,
    response_type: "code",
    redirect_uri: WEB.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const { request_uri } = await (await send("/oauth/par", {
    form: { ...parameters, state: "x".repeat(7000) },
    headers: { dpop: await proof("/oauth/par") },
  })).json();
  const page = await send(`/oauth/authorize?${new URLSearchParams({ client_id, request_uri })}`, signedIn);
  const allowed = await send("/oauth/authorize", {
    ...signedIn,
    form: { transaction: transactionOf(await page.text()), decision: "approve" },
  });
  const code = new URL(allowed.headers.get("location")!).searchParams.get("code")!;
  const redeem = {
    client_id,
    grant_type: "authorization_code",
    code,
    redirect_uri: parameters.redirect_uri,
    code_verifier: VERIFIER,
  };
  const token = async (form: Record<string, string>) =>
    await (await send("/oauth/token", { form, headers: { dpop: await proof("/oauth/token") } })).json();
  const tokens = await token(redeem);
  const refreshed = await token({
    client_id,
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token,
  });
  assert.ok(refreshed.refresh_token, JSON.stringify(refreshed));
  await token(redeem);

  // The code flow of an operator's client, with a login in between.
  const authorize = "/oauth/authorize?" + new URLSearchParams({
    response_type: "code",
    client_id: "app",
    redirect_uri: APP_URI,
    scope: "read profile",
    prompt: "login",
    state: "x".repeat(4000),
  });
  await send(authorize);
  await send(authorize, signedIn);
  const credentials =
    await (await send("/oauth/token", { form: { ...app, grant_type: "client_credentials" } })).json();
  for (const path of ["/oauth/introspect", "/oauth/revoke"]) {
    await send(path, { form: { ...app, token: credentials.access_token } });
  }
  await send("/oauth/revoke", { form: { client_id, token: refreshed.refresh_token } });
  await send("/api/user", { headers: { authorization: `Bearer ${(await server.tokens()).access_token}` } });

  // The device flow.
  const device = await (await send("/oauth/device_authorization", { form: { client_id: "tv" } })).json();
  await send("/device", signedIn);
  for (let i = 0; i < 3; i++) await send("/device", { ...signedIn, form: { user_code: "BBBB-BBBB" } });
  const poll = { client_id: "tv", grant_type: DEVICE, device_code: device.device_code };
  await send("/oauth/token", { form: poll });
  const question = await send("/device", { ...signedIn, form: { user_code: device.user_code } });
  await send("/device", {
    ...signedIn,
    form: { transaction: transactionOf(await question.text()), decision: "approve" },
  });
  server.advance(10);
  const connected = await (await send("/oauth/token", { form: poll })).json();
  await send("/oauth/token", {
    form: {
      client_id: "exchanger",
      client_secret: "s",
      grant_type: EXCHANGE,
      subject_token: connected.access_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    },
  });
  await send("/logout", { method: "POST", ...signedIn });
  await send(`/oauth/register/${client_id}`, { ...managed, method: "DELETE" });
  for (
    const path of ["/.well-known/oauth-authorization-server", "/.well-known/jwks.json", "/login", "/logout"]
  ) await send(path);

  assertWithinBudgets(maxCosts);
  for (const endpoint of Object.keys(ENDPOINT_BUDGETS)) {
    // `mail/mail_budget_test.ts` and `account/account_budget_test.ts` measure the others.
    const isMeasured = maxCosts.has(endpoint) || OPENID_ENDPOINTS.includes(endpoint);
    assert.ok(isMeasured || /^\/(login\/|account(\/|$))/.test(endpoint), endpoint);
  }
});

test("with OpenID Connect: a session with the most clients, and its end", async () => {
  const rps = Array.from({ length: 100 }, (_, i) => ({
    id: `rp-${String(i).padStart(3, "0")}-${"x".repeat(240)}`,
    secret: "s",
    redirect_uris: [APP_URI],
    backchannel_logout_uri: "https://rp.example/logout",
    userinfo_signed_response_alg: "RS256" as const,
  }));
  const { send, maxCosts } = await newMeter({
    openid: completeOpenId(true),
    scopes: { profile: "See your name", read: "Read your data", ...OPENID_SCOPES },
    // The notices of an operator's client would go over the network.
    clients: rps.map((client) => ({ ...toClient(client, 0), source: "registration" })),
  });
  const signIn = async () => {
    const login = await send("/login", { form: { username: "alice", password: "wonderland" } });
    return {
      headers: { cookie: login.headers.getSetCookie().map((field) => field.split(";")[0]!).join("; ") },
    };
  };
  for (const path of OPENID_ENDPOINTS) {
    const signedIn = await signIn();
    let tokens: Record<string, string> = {};
    for (const { id } of path === "/oauth/userinfo" ? rps.slice(0, 1) : rps) {
      const query = { response_type: "code", client_id: id, redirect_uri: APP_URI, scope: "openid profile" };
      const asked = await send(`/oauth/authorize?${new URLSearchParams(query)}`, signedIn);
      // The second time the consent is remembered.
      const allowed = asked.status === 200
        ? await send("/oauth/authorize", {
          ...signedIn,
          form: { transaction: transactionOf(await asked.text()), decision: "approve" },
        })
        : asked;
      const code = new URL(allowed.headers.get("location")!).searchParams.get("code")!;
      const redeem = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
      const response = await send("/oauth/token", { form: { ...redeem, client_id: id, client_secret: "s" } });
      tokens = await response.json();
    }
    if (path === "/oauth/userinfo") {
      await send(path, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    } else if (path === "/logout") {
      await send(path, { method: "POST", ...signedIn });
    } else {
      await send(`${path}?id_token_hint=${tokens.id_token}`, signedIn);
    }
  }
  assertWithinBudgets(maxCosts);
});

function assertWithinBudgets(
  maxCosts: ReadonlyMap<string, { readonly storeCalls: number; readonly storedBytes: number }>,
): void {
  for (const [endpoint, { storeCalls, storedBytes }] of maxCosts) {
    const budget = ENDPOINT_BUDGETS[endpoint] ?? { storeCalls: 0, storedBytes: 0 };
    assert.ok(storeCalls <= budget.storeCalls, `${endpoint}: ${storeCalls} store calls`);
    assert.ok(storedBytes <= budget.storedBytes, `${endpoint}: ${storedBytes} bytes stored`);
  }
}

test("no request body blocks the event loop for longer than the limit", async () => {
  const { send } = await newMeter();
  const forms = [
    "a=" + "%41".repeat(5000),
    Array.from({ length: 3000 }, (_, i) => `p${i}=1`).join("&"),
    "scope=" + "read+".repeat(3200),
    "resource=" + "https://as.example/".repeat(800),
    `authorization_details=${encodeURIComponent("[".repeat(5000))}`,
    `client_id=app&client_secret=${"%25".repeat(5000)}`,
    `client_assertion_type=x&client_assertion=${"a.".repeat(7000)}`,
    `username=${"\u00e9".repeat(2000)}&password=${"\ufdfa".repeat(1000)}`,
    `token=${"x".repeat(16_000)}`,
    `user_code=${"B-".repeat(2000)}`,
  ];
  const type = { "content-type": "application/x-www-form-urlencoded" };
  for (
    const path of Object.keys(ENDPOINT_BUDGETS).filter((path) =>
      path.startsWith("/oauth/") || path === "/login"
    )
  ) {
    await assertLoopIsFree(async () => {
      for (const form of forms) await (await send(path, { method: "POST", form, headers: type })).text();
    });
  }
  const metadata = [
    JSON.stringify({ redirect_uris: Array.from({ length: 2500 }, (_, i) => `https://a.example/${i}`) }),
    JSON.stringify({ ...WEB, scope: "read ".repeat(10_000) }),
    "[".repeat(60_000),
    `{"a":${'{"a":'.repeat(10_000)}`,
    JSON.stringify({
      ...WEB,
      jwks: { keys: new Array(600).fill({ kty: "EC", crv: "P-256", x: "a", y: "b" }) },
    }),
    JSON.stringify({ redirect_uris: [`https://${"a.".repeat(20_000)}example/`] }),
  ];
  for (const form of metadata) {
    await assertLoopIsFree(async () => void await (await send("/oauth/register", { form })).text());
  }
});

test.run();
