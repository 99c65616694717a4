import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { ISSUER, transactionOf } from "../../oauth/test_server.ts";
import { addUser } from "../../oauth/users/user.ts";
import { createTrivet, type Trivet } from "../../trivet.ts";
import { gateway } from "../gateway.ts";
import {
  allow,
  browse,
  type Browser,
  consent,
  newUpstream,
  sendTo,
  type TestUpstream,
  UPSTREAM,
  UPSTREAM_URL,
} from "./test_credentials.ts";

const test = suite("gateway/credentials, a whole gateway");
const REDIRECT_URI = "https://app.example/cb";
const NAMES = ["alice", "mallory"] as const;

/** A server with one upstream, and two users at each. */
async function newTrivet(upstream: TestUpstream): Promise<Trivet> {
  const store = memoryStore();
  for (const username of NAMES) await addUser(store, { username, password: `${username} here` }, 1000);
  const fetch = (url: string, init?: RequestInit) => sendTo(upstream, new Request(url, init));
  return createTrivet({
    issuer: ISSUER,
    store,
    skills: false,
    mcp: { auth: "required" },
    oauth: {
      passwordIterations: 1000,
      clients: [{ id: "app", secret: "s", redirect_uris: [REDIRECT_URI] }],
    },
    gateway: gateway({
      mcpServers: { up: { url: UPSTREAM_URL, auth: { type: "oauth" } } },
      hold: false,
      connect: fetch,
      fetch,
      launch: () => {
        throw new Error("No process here");
      },
    }),
  });
}

async function signedIn(trivet: Trivet, upstream: TestUpstream, name: string): Promise<Browser> {
  const browser = browse((request) =>
    new URL(request.url).origin === ISSUER ? trivet.fetch(request) : sendTo(upstream, request)
  );
  await browser.post(`${ISSUER}/login`, { username: name, password: `${name} here` });
  await browser.post(`${UPSTREAM}/login`, { username: name, password: `${name} there` });
  return browser;
}

/** An access token of this server for its tools. */
async function tokenOf(trivet: Trivet, browser: Browser): Promise<string> {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "app",
    redirect_uri: REDIRECT_URI,
    resource: `${ISSUER}/mcp`,
  });
  const page = await browser.get(`${ISSUER}/oauth/authorize?${query}`);
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const allowed = await browser.post(`${ISSUER}/oauth/authorize`, form);
  const code = new URL(allowed.headers.get("location")!).searchParams.get("code")!;
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: REDIRECT_URI,
    client_id: "app",
    client_secret: "s",
  });
  const response = await trivet.fetch(new Request(`${ISSUER}/oauth/token`, { method: "POST", body }));
  return (await response.json()).access_token;
}

// Tests read responses of any shape.
// deno-lint-ignore no-explicit-any
async function rpc(trivet: Trivet, token: string, method: string, params: object = {}): Promise<any> {
  const request = new Request(`${ISSUER}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = await (await trivet.fetch(request)).json();
  return result ?? error;
}

/** The names of the tools, when the one that is expected is there: the gateway connects after the user has. */
async function namesOf(trivet: Trivet, token: string, expected: string): Promise<string[]> {
  for (let tries = 0;; tries++) {
    const { tools } = await rpc(trivet, token, "tools/list");
    const names: string[] = tools.map(({ name }: { name: string }) => name);
    if (names.includes(expected) || tries === 200) return names;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("each user connects an upstream from the call of a tool, and calls its tools as the same user there", async () => {
  const upstream = await newUpstream({ clientMetadataDocuments: false });
  const trivet = await newTrivet(upstream);
  try {
    const tokens: string[] = [];
    for (const name of NAMES) {
      const browser = await signedIn(trivet, upstream, name);
      const token = await tokenOf(trivet, browser);
      tokens.push(token);
      assert.equal(await namesOf(trivet, token, "up_connect"), ["up_connect"]);
      const refused = await rpc(trivet, token, "tools/call", { name: "up_connect", arguments: {} });
      const [url] = /https:\/\/as\.example\/account\/connections\/connect\?link=[\w-]+/.exec(
        JSON.stringify(refused),
      )!;
      const callback = await allow(browser, await consent(browser, url));
      assert.is((await browser.get(callback)).status, 303);
      assert.match(await (await browser.get(`${ISSUER}/account`)).text(), "/account/connections");
    }
    for (const [i, name] of NAMES.entries()) {
      assert.equal(await namesOf(trivet, tokens[i]!, "up_whoami"), ["up_whoami"]);
      const called = await rpc(trivet, tokens[i]!, "tools/call", { name: "up_whoami", arguments: {} });
      assert.is(called.content[0].text, upstream.users[name]!);
    }
    // Neither token of this server has reached the upstream.
    for (const request of upstream.requests) {
      const sent = `${request.url} ${JSON.stringify([...request.headers])}`;
      for (const token of tokens) assert.not.ok(sent.includes(token));
    }
  } finally {
    await trivet.gateway!.close();
  }
});

test("an upstream that is replaced by a command or disabled cannot be connected any more", async () => {
  const upstream = await newUpstream({ clientMetadataDocuments: false });
  const trivet = await newTrivet(upstream);
  try {
    const browser = await signedIn(trivet, upstream, "alice");
    const isOffered = async () =>
      (await (await browser.get(`${ISSUER}/account/connections`)).text()).includes("/connect?upstream=up");
    const withUrl = { url: UPSTREAM_URL, auth: { type: "oauth" } } as const;
    for (const other of [{ command: "up" }, { ...withUrl, disabled: true }]) {
      trivet.gateway!.add("up", withUrl);
      assert.is(await isOffered(), true);
      trivet.gateway!.add("up", other);
      assert.is(await isOffered(), false, JSON.stringify(other));
    }
  } finally {
    await trivet.gateway!.close();
  }
});

test.run();
