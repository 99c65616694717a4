import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ISSUER } from "../../oauth/test_server.ts";
import { lockUser } from "../../oauth/users/user_changes.ts";
import { endUserSessions } from "../../oauth/users/user_sessions.ts";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import { ConnectionRequired } from "./access.ts";
import { newPair, REGISTER, thrownBy } from "./test_connection.ts";
import {
  allow,
  type Browser,
  callerOf,
  connectUrl,
  connectUser,
  consent,
  failuresOf,
  newBrowser,
  signedIn,
  type Tamper,
  type TestGateway,
  type TestUpstream,
  UPSTREAM,
  UPSTREAM_URL,
} from "./test_credentials.ts";

const test = suite("gateway/credentials, attacks");
const CONNECT = `${ISSUER}/account/connections/connect`;
const WELL_KNOWN = `${UPSTREAM}/.well-known`;

async function isConnected({ credentials }: TestGateway, user: string): Promise<boolean> {
  try {
    await credentials.accessFor("up").headers(callerOf(user));
    return true;
  } catch (error) {
    if (error instanceof ConnectionRequired) return false;
    throw error;
  }
}

/** Answers of these URLs as JSON, with changes to what the upstream says. */
function changing(changes: Readonly<Record<string, Record<string, unknown>>>): Tamper {
  return (request, pass) => {
    const change = changes[request.url];
    return change && pass().then(async (response) => Response.json({ ...await response.json(), ...change }));
  };
}

/** The status of the page after the consent of alice, and the reasons of the failures. */
async function tryToConnect(upstream: TestUpstream, gateway: TestGateway, browser?: Browser) {
  const alice = browser ?? await signedIn(gateway, upstream, "alice");
  const response = await alice.post(CONNECT, { upstream: "up" });
  return {
    status: response.status,
    location: response.headers.get("location"),
    reasons: failuresOf(gateway),
  };
}

test("a forwarded link does not connect the account of the victim to the attacker", async () => {
  const { upstream, gateway } = await newPair();
  const link = await connectUrl(gateway, gateway.mallory);
  const victim = await signedIn(gateway, upstream, "alice");
  const page = await victim.get(link);
  assert.is(page.status, 403);
  assert.not.match(await page.text(), 'name="link"');
  const form = { link: new URL(link).searchParams.get("link")! };
  assert.is((await victim.post(CONNECT, form)).status, 403);
  assert.equal(await gateway.store.list(["upstream_attempt"]), []);
  assert.equal(failuresOf(gateway), ["other_user", "other_user"]);
});

test("a link leads a browser without a session to the login, and back", async () => {
  const { upstream, gateway } = await newPair();
  const link = await connectUrl(gateway, gateway.alice);
  const response = await newBrowser(gateway, upstream).get(link);
  assert.is(response.status, 302);
  const back = new URL(response.headers.get("location")!, ISSUER).searchParams.get("redirect")!;
  assert.is(ISSUER + back, link);
});

test("the address of the authorization server, forwarded, connects nothing to the attacker", async () => {
  const { upstream, gateway } = await newPair();
  const attacker = await signedIn(gateway, upstream, "mallory");
  const location = await consent(attacker, await connectUrl(gateway, gateway.mallory));
  // The victim allows it there: the code comes to the browser of the victim.
  for (const here of ["alice", undefined] as const) {
    const victim = here ? await signedIn(gateway, upstream, here) : newBrowser(gateway, upstream);
    await victim.post(`${UPSTREAM}/login`, { username: "alice", password: "alice there" });
    assert.is((await victim.get(await allow(victim, location))).status, 400);
  }
  assert.not.ok(await isConnected(gateway, gateway.mallory));
  assert.not.ok(await isConnected(gateway, gateway.alice));
});

test("the answer of the attacker's authorization, forwarded, connects nothing to the victim", async () => {
  const { upstream, gateway } = await newPair();
  const attacker = await signedIn(gateway, upstream, "mallory");
  const callback = await allow(attacker, await consent(attacker, await connectUrl(gateway, gateway.mallory)));
  const victim = await signedIn(gateway, upstream, "alice");
  assert.is((await victim.get(callback)).status, 400);
  assert.not.ok(await isConnected(gateway, gateway.alice));
  assert.ok(failuresOf(gateway).includes("state_invalid"));
});

test("an answer counts only in the session that began, not in another one of the same user", async () => {
  const { upstream, gateway } = await newPair();
  const [first, second] = [
    await signedIn(gateway, upstream, "alice"),
    await signedIn(gateway, upstream, "alice", "mallory"),
  ];
  const callback = await allow(first, await consent(first, await connectUrl(gateway, gateway.alice)));
  assert.is((await second.get(callback)).status, 400);
  assert.not.ok(await isConnected(gateway, gateway.alice));
  assert.is((await first.get(callback)).status, 303);
});

test("a session that ends, or a user who is locked, while the authorization server is asked connects nothing", async () => {
  for (const end of [endUserSessions, lockUser]) {
    const { upstream, gateway } = await newPair();
    const browser = await signedIn(gateway, upstream, "alice");
    const callback = await allow(browser, await consent(browser, await connectUrl(gateway, gateway.alice)));
    upstream.tamper = async (request, pass) => {
      if (request.url === `${UPSTREAM}/oauth/token`) await end(gateway.store, gateway.alice);
      return await pass();
    };
    assert.is((await browser.get(callback)).status, 400, end.name);
    assert.not.ok(await isConnected(gateway, gateway.alice), end.name);
    assert.equal(failuresOf(gateway), ["state_invalid"], end.name);
  }
});

test("a session that ends before the commit of its form changes no connection", async () => {
  const { upstream, gateway } = await newPair();
  gateway.credentials.add("key", { url: "https://api.example.com/mcp", auth: { type: "secret" } });
  const browser = await signedIn(gateway, upstream, "alice");
  await connectUser(browser);
  const before = await gateway.store.list(["upstream_connection"]);
  const forms = [
    [CONNECT, { upstream: "key", secret: "hush" }],
    [`${ISSUER}/account/connections/disconnect`, { upstream: "up" }],
  ] as const;
  for (const [url, form] of forms) {
    await browser.post(`${ISSUER}/login`, { username: "alice", password: "wonderland" });
    const ended = beforeNextCommit(gateway.store, () => endUserSessions(gateway.store, gateway.alice));
    assert.is((await browser.post(url, form)).status, 403, url);
    assert.ok(ended.isDone, url);
    assert.equal(await gateway.store.list(["upstream_connection"]), before, url);
  }
});

test("a state serves once, also for two answers at once", async () => {
  const { upstream, gateway } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  const callback = await allow(browser, await consent(browser, await connectUrl(gateway, gateway.alice)));
  const statuses = (await Promise.all([1, 2, 3].map(() => browser.get(callback)))).map(({ status }) =>
    status
  );
  assert.equal(statuses.sort(), [303, 400, 400]);
  assert.is((await browser.get(callback)).status, 400);
});

test("a state serves for ten minutes", async () => {
  const { upstream, gateway } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  const callback = await allow(browser, await consent(browser, await connectUrl(gateway, gateway.alice)));
  gateway.server.advance(601);
  assert.is((await browser.get(callback)).status, 400);
});

test("a link that was changed, made by another server, or has expired is refused", async () => {
  const { upstream, gateway } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  const link = await connectUrl(gateway, gateway.alice);
  const changed = link.slice(0, -2) + (link.endsWith("AA") ? "BB" : "AA");
  for (const each of [changed, `${CONNECT}?link=`, `${CONNECT}?link=${"A".repeat(7000)}`]) {
    assert.is((await browser.get(each)).status, 400);
  }
  assert.is((await browser.get(`${CONNECT}?upstream=unknown`)).status, 404);
  gateway.server.advance(25 * 3600);
  assert.is((await (await signedIn(gateway, upstream, "alice")).get(link)).status, 400);
});

test("attack: a link whose upstream named its own authorization server serves another upstream of the name", async () => {
  const { upstream, gateway } = await newPair();
  const evil = gateway.credentials.add("up", { url: "https://evil.example/mcp", auth: { type: "oauth" } });
  const challenge = `Bearer resource_metadata="https://evil.example/metadata"`;
  const refusal = { status: 401, challenge, url: "https://evil.example/mcp", used: {} };
  const { url } = await thrownBy(evil.refused(callerOf(gateway.alice), refusal)) as ConnectionRequired;
  gateway.credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  const browser = await signedIn(gateway, upstream, "alice");
  const location = await consent(browser, url);
  assert.is(new URL(location).origin, UPSTREAM);
  assert.equal(gateway.fetched.filter((each) => each.includes("evil.example")), []);
});

test("a form of another site connects and disconnects nothing", async () => {
  const { upstream, gateway } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  for (const path of [CONNECT, `${ISSUER}/account/connections/disconnect`]) {
    for (const site of ["cross-site", "same-site"]) {
      assert.is((await browser.post(path, { upstream: "up" }, site)).status, 403);
    }
  }
  assert.equal(await gateway.store.list(["upstream_attempt"]), []);
});

test("an answer of another issuer is refused before its code is used", async () => {
  for (const iss of ["https://evil.example", undefined]) {
    const { upstream, gateway } = await newPair();
    const browser = await signedIn(gateway, upstream, "alice");
    const location = await consent(browser, await connectUrl(gateway, gateway.alice));
    const callback = new URL(await allow(browser, location));
    if (iss === undefined) callback.searchParams.delete("iss");
    else callback.searchParams.set("iss", iss);
    assert.is((await browser.get(callback.href)).status, 502);
    assert.equal(failuresOf(gateway), ["iss_mismatch"]);
    assert.not.ok(upstream.requests.some(({ url }) => url.endsWith("/oauth/token")));
  }
});

test("a code that comes to the redirect URI of another authorization server is not used (mix-up)", async () => {
  const { upstream, gateway } = await newPair();
  const metadata = { authorization_response_iss_parameter_supported: false };
  upstream.tamper = changing({ [`${WELL_KNOWN}/oauth-authorization-server`]: metadata });
  const browser = await signedIn(gateway, upstream, "alice");
  const location = await consent(browser, await connectUrl(gateway, gateway.alice));
  const callback = new URL(await allow(browser, location));
  callback.searchParams.delete("iss");
  const own = callback.href;
  callback.pathname = callback.pathname.replace(/[^/]+$/, "A".repeat(22));
  assert.is((await browser.get(callback.href)).status, 400);
  assert.not.ok(upstream.requests.some(({ url }) => url.endsWith("/oauth/token")));
  assert.is((await browser.get(own)).status, 303);
});

const BAD_METADATA: Readonly<Record<string, Readonly<Record<string, Record<string, unknown>>>>> = {
  issuer_mismatch: { [`${WELL_KNOWN}/oauth-authorization-server`]: { issuer: "https://other.example" } },
  no_pkce: { [`${WELL_KNOWN}/oauth-authorization-server`]: { code_challenge_methods_supported: ["plain"] } },
  no_registration: { [`${WELL_KNOWN}/oauth-authorization-server`]: { registration_endpoint: undefined } },
  resource_mismatch: {
    [`${WELL_KNOWN}/oauth-protected-resource/mcp`]: { resource: "https://other.example/mcp" },
  },
  own_issuer: { [`${WELL_KNOWN}/oauth-protected-resource/mcp`]: { authorization_servers: [`${ISSUER}/`] } },
  metadata_invalid: { [`${WELL_KNOWN}/oauth-protected-resource/mcp`]: { authorization_servers: [] } },
};

for (const [reason, changes] of Object.entries(BAD_METADATA)) {
  test(`metadata that would mislead is refused: ${reason}`, async () => {
    const { upstream, gateway } = await newPair();
    upstream.tamper = changing(changes);
    const { status, reasons } = await tryToConnect(upstream, gateway);
    assert.is(status, 502);
    assert.equal(reasons, [reason]);
    assert.not.ok(upstream.requests.some(({ url }) => url.endsWith("/oauth/register")));
  });
}

test("PKCE is required when the metadata does not mention it", async () => {
  const { upstream, gateway } = await newPair();
  const metadata = { code_challenge_methods_supported: undefined };
  upstream.tamper = changing({ [`${WELL_KNOWN}/oauth-authorization-server`]: metadata });
  assert.equal((await tryToConnect(upstream, gateway)).reasons, ["no_pkce"]);
});

test("a resource on the same host must be a path above the upstream", async () => {
  for (
    const resource of [`${UPSTREAM}/mc`, `${UPSTREAM}/mcp/admin`, `${UPSTREAM_URL}#a`, `${UPSTREAM}:8443/mcp`]
  ) {
    const { upstream, gateway } = await newPair();
    upstream.tamper = changing({ [`${WELL_KNOWN}/oauth-protected-resource/mcp`]: { resource } });
    assert.equal((await tryToConnect(upstream, gateway)).reasons, ["resource_mismatch"], resource);
  }
});

test("an upstream cannot choose another authorization server than the configured one", async () => {
  const { upstream, gateway } = await newPair(REGISTER, { issuer: "https://login.example" });
  assert.equal((await tryToConnect(upstream, gateway)).reasons, ["issuer_not_allowed"]);
});

test("URLs of an upstream lead to no private address", async () => {
  const privates = [
    "http://127.0.0.1:1/x",
    "https://10.0.0.1/x",
    "https://metadata.internal/x",
    "http://a.example/x",
  ];
  for (const url of privates) {
    const server = `${WELL_KNOWN}/oauth-authorization-server`;
    const changes: Tamper[] = [
      changing({ [`${WELL_KNOWN}/oauth-protected-resource/mcp`]: { authorization_servers: [url] } }),
      changing({ [server]: { token_endpoint: url } }),
      changing({ [server]: { registration_endpoint: url } }),
      changing({ [server]: { revocation_endpoint: url } }),
      changing({ [server]: { authorization_endpoint: url } }),
      (request) =>
        request.url === UPSTREAM_URL
          ? new Response(null, {
            status: 401,
            headers: { "www-authenticate": `Bearer resource_metadata="${url}"` },
          })
          : undefined,
    ];
    const { upstream, gateway } = await newPair();
    const browser = await signedIn(gateway, upstream, "alice");
    for (const [i, tamper] of changes.entries()) {
      upstream.tamper = tamper;
      const { status } = await tryToConnect(upstream, gateway, browser);
      assert.is(status, 502, `${url} ${i}`);
    }
    assert.not.ok(gateway.fetched.some((each) => each === url));
    assert.equal(failuresOf(gateway), changes.map(() => "metadata_invalid"));
  }
});

test("private addresses are reached with an explicit option only", async () => {
  const { upstream, gateway } = await newPair();
  const url = "http://127.0.0.1:8181/mcp";
  assert.throws(
    () => gateway.credentials.add("dev", { url, auth: { type: "oauth" } }),
    /mcpServers\.dev\.url: .*allowPrivateAddresses/,
  );
  gateway.credentials.add("dev", { url, auth: { type: "oauth", allowPrivateAddresses: true } });
  const browser = await signedIn(gateway, upstream, "alice");
  assert.is((await browser.post(CONNECT, { upstream: "dev" })).status, 502);
  assert.ok(gateway.fetched.includes(url));
});

test("an address of this server is no upstream with credentials of users", async () => {
  const { gateway } = await newPair();
  const settings = { url: `${ISSUER}/mcp`, auth: { type: "oauth" } };
  assert.throws(() => gateway.credentials.add("self", settings), /mcpServers\.self\.url: /);
});

test("a refusal of the user, and another error of the server, connect nothing", async () => {
  for (
    const [error, reason, status] of [["access_denied", "access_denied", 400], [
      "<b>",
      "authorization_failed",
      502,
    ]] as const
  ) {
    const { upstream, gateway } = await newPair();
    const browser = await signedIn(gateway, upstream, "alice");
    const location = await consent(browser, await connectUrl(gateway, gateway.alice));
    const callback = new URL(await allow(browser, location));
    callback.searchParams.delete("code");
    callback.searchParams.set("error", error);
    const response = await browser.get(callback.href);
    assert.is(response.status, status);
    assert.not.match(await response.text(), "<b>");
    assert.equal(failuresOf(gateway), [reason]);
  }
});

test("a token that cannot be sent, or is bound to a key, is refused", async () => {
  for (const change of [{ access_token: "a\r\nx-evil: 1" }, { token_type: "DPoP" }, { access_token: "" }]) {
    const { upstream, gateway } = await newPair();
    upstream.tamper = changing({ [`${UPSTREAM}/oauth/token`]: change });
    const browser = await signedIn(gateway, upstream, "alice");
    const location = await consent(browser, await connectUrl(gateway, gateway.alice));
    assert.is((await browser.get(await allow(browser, location))).status, 502);
    assert.equal(failuresOf(gateway), ["token_refused"]);
  }
});

test("one user begins a limited number of connections", async () => {
  const { upstream, gateway } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  for (let i = 0; i < 25; i++) await browser.post(CONNECT, { upstream: "up" });
  assert.ok((await gateway.store.list(["upstream_attempt"])).length <= 20);
});

test.run();
