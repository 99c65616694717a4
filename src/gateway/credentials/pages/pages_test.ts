import { suite } from "uvu";
import * as assert from "uvu/assert";
import { exportUserData } from "../../../oauth/account/user_data.ts";
import { ISSUER } from "../../../oauth/test_server.ts";
import {
  connectUser,
  newBrowser,
  newGateway,
  newUpstream,
  signedIn,
  UPSTREAM_URL,
} from "../test_credentials.ts";

const test = suite("gateway/credentials/pages");
const LIST = `${ISSUER}/account/connections`;

async function newPair(options: object = {}) {
  const upstream = await newUpstream({ clientMetadataDocuments: false });
  const gateway = await newGateway({ upstream, options });
  const { credentials } = gateway;
  credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  credentials.add("key", { url: "https://api.example.com/mcp", auth: { type: "secret" } });
  credentials.add("open", { url: "https://open.example.com/mcp" });
  credentials.add("process", {});
  return { upstream, gateway, browser: await signedIn(gateway, upstream, "alice") };
}

test("the list has the upstreams that users connect, with their state", async () => {
  const { browser } = await newPair();
  const before = await (await browser.get(LIST)).text();
  for (const text of ["<strong>up</strong>", "<strong>key</strong>", "api.example.com"]) {
    assert.match(before, text);
  }
  for (const text of ["open.example.com", "process", "/disconnect"]) assert.not.match(before, text);
  assert.is(before.match(/Not connected/g)!.length, 2);
  await connectUser(browser);
  await browser.post(`${LIST}/connect`, { upstream: "key", secret: "hush" });
  const after = await browser.get(LIST);
  const text = await after.text();
  assert.is(text.match(/Connected on/g)!.length, 2);
  assert.match(text, "Replace the secret");
  assert.not.match(text, "hush");
  const policy = after.headers.get("content-security-policy")!;
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"]) {
    assert.match(policy, rule);
  }
  assert.not.match(policy, "script-src");
  assert.match(after.headers.get("cache-control")!, "no-store");
});

test("what was done is said to the session that did it only", async () => {
  const { upstream, gateway, browser } = await newPair();
  const response = await connectUser(browser);
  const location = ISSUER + response.headers.get("location")!;
  assert.match(await (await browser.get(location)).text(), 'role="status"');
  const other = await signedIn(gateway, upstream, "mallory");
  assert.not.match(await (await other.get(location)).text(), 'role="status"');
});

test("the overview of the account links the list where there is a gateway, and only there", async () => {
  const { browser } = await newPair();
  assert.match(await (await browser.get(`${ISSUER}/account`)).text(), 'href="/account/connections"');
  const { browser: other } = await newPair({ connections: undefined });
  assert.not.match(await (await other.get(`${ISSUER}/account`)).text(), "/account/connections");
  assert.is((await other.get(LIST)).status, 404);
});

test("without account pages there are those of connections", async () => {
  const { browser } = await newPair({ account: false });
  assert.is((await browser.get(`${ISSUER}/account`)).status, 404);
  const list = await browser.get(LIST);
  assert.is(list.status, 200);
  assert.not.match(await list.text(), 'href="/account"');
});

test("a disconnected upstream stays disconnected, and of another user nothing is", async () => {
  const { upstream, gateway, browser } = await newPair();
  await connectUser(browser);
  const mallory = await signedIn(gateway, upstream, "mallory");
  const path = `${LIST}/disconnect`;
  assert.is((await mallory.post(path, { upstream: "up" })).status, 404);
  assert.is((await mallory.get(`${path}?upstream=up`)).status, 404);
  assert.is((await gateway.store.list(["upstream_connection"])).length, 1);
  assert.is((await browser.post(path, { upstream: "up" })).status, 303);
  assert.is((await browser.post(path, { upstream: "up" })).status, 404);
  await Promise.all(gateway.work);
});

test("paths, methods and parameters that there are not are refused", async () => {
  const { upstream, gateway, browser } = await newPair();
  for (
    const path of ["/connect", "/disconnect", "/connect?upstream=open", "/connect?upstream=process", "/other"]
  ) {
    assert.is((await browser.get(LIST + path)).status, 404, path);
  }
  assert.is((await browser.post(`${LIST}/connect`, { upstream: "open" })).status, 404);
  assert.is((await browser.get(`${LIST}/connect?upstream=up&upstream=key`)).status, 400);
  assert.is((await browser.get(`${LIST}/callback/x?state=a&state=b`)).status, 400);
  assert.is((await browser.get(`${LIST}/callback/x`)).status, 400);
  const stranger = newBrowser(gateway, upstream);
  for (const path of ["", "/connect?upstream=up", "/disconnect?upstream=up"]) {
    const response = await stranger.get(LIST + path);
    assert.is(response.status, 302);
    const back = new URL(response.headers.get("location")!, ISSUER).searchParams.get("redirect");
    assert.is(ISSUER + back, LIST + path);
  }
  assert.is((await stranger.post(`${LIST}/connect`, { upstream: "up" })).status, 302);
});

test("the copy of a user's data has the connections, without secrets", async () => {
  const { gateway, browser } = await newPair();
  await browser.post(`${LIST}/connect`, { upstream: "key", secret: "hush" });
  const data = await exportUserData(gateway.store, gateway.alice, { issuer: ISSUER });
  assert.equal(data!.connections.map(({ upstream, url }) => [upstream, url]), [
    ["key", "https://api.example.com/mcp"],
  ]);
  assert.not.match(JSON.stringify(data), /hush|sealed/);
});

test("the client metadata document is public, names itself, and has one redirect URI", async () => {
  const { gateway: { credentials } } = await newPair();
  const tag = "A".repeat(22);
  const url = `${ISSUER}/connections/${tag}/client.json`;
  const response = await credentials.service.fetch(new Request(url));
  assert.is(response.headers.get("content-type"), "application/json");
  const { client_id, redirect_uris, token_endpoint_auth_method } = await response.json();
  assert.is(client_id, url);
  assert.equal(redirect_uris, [`${LIST}/callback/${tag}`]);
  assert.is(token_endpoint_auth_method, "none");
  for (const path of ["", "/client.json", `/${tag}/other`, `/${tag}x/client.json`]) {
    assert.is(
      (await credentials.service.fetch(new Request(`${ISSUER}/connections${path}`))).status,
      404,
      path,
    );
  }
  assert.is((await credentials.service.fetch(new Request(url, { method: "POST" }))).status, 405);
});

test.run();
