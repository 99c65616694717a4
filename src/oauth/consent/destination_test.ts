import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import type { ConsentView, DestinationView } from "../pages/basic_views.ts";
import { completePages } from "../pages/settings.ts";
import type { View } from "../pages/views.ts";
import { APP_URI, CHALLENGE, newServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/consent destination");
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

/** What the page names, and where the response goes: of a Location, or of the form of `form_post`. */
async function follow(
  client: Parameters<typeof toClient>[0],
  parameters: Record<string, string | undefined>,
) {
  const views: View[] = [];
  const render = (view: View) => void views.push(view);
  const server = await newServer({
    clients: [toClient(client, 0)],
    pages: completePages({ render }),
    responseModes: ["form_post", "jwt"],
  });
  const cookie = await server.signIn();
  const path = server.authorizePath({ client_id: client.id, ...PKCE, ...parameters });
  const page = await server.send(path, { headers: { cookie } });
  if (page.status !== 200) return undefined;
  const text = await page.text();
  const consent = views.find((view): view is ConsentView => view.name === "consent")!;
  const form = { transaction: transactionOf(text), decision: "approve" };
  const response = await server.send("/oauth/authorize", { form, headers: { cookie } });
  const last = views.at(-1)!;
  const target = last.name === "form_post" ? last.action : response.headers.get("location")!;
  return { text, destination: consent.destination, target };
}

const web = (uri: string) => ({ id: "c", secret: "s", redirect_uris: [uri] });
const native = (uri: string) => ({ id: "c", redirect_uris: [uri] });
const onDomain = { id: "c", secret: "s", domain: "app.example" };
const onLoopback = { id: "c", secret: "s", domain: "localhost" };

const CASES: readonly (readonly [
  name: string,
  client: Parameters<typeof toClient>[0],
  redirect_uri: string | undefined,
  destination: DestinationView,
  more?: Record<string, string>,
])[] = [
  ["https", web("https://web.example/cb"), "https://web.example/cb", { kind: "host", host: "web.example" }],
  ["https with a port", web("https://web.example:8443/cb"), "https://web.example:8443/cb", {
    kind: "host",
    host: "web.example:8443",
  }],
  ["the only registered URI", web("https://web.example/cb"), undefined, {
    kind: "host",
    host: "web.example",
  }],
  ["a query that looks like a host", web("https://web.example/?https://bank.example/"), undefined, {
    kind: "host",
    host: "web.example",
  }],
  ["a host that begins like another", web("https://bank.example.evil.example/"), undefined, {
    kind: "host",
    host: "bank.example.evil.example",
  }],
  ["a host with letters of other scripts", web("https://xn--pple-43d.example/cb"), undefined, {
    kind: "host",
    host: "xn--pple-43d.example",
  }],
  ["a host with a final dot", web("https://web.example./cb"), undefined, {
    kind: "host",
    host: "web.example.",
  }],
  ["an address", web("https://192.0.2.1/cb"), undefined, { kind: "host", host: "192.0.2.1" }],
  ["any path on a domain", onDomain, "https://app.example/any/@bank.example", {
    kind: "host",
    host: "app.example",
  }],
  ["http on loopback", native("http://127.0.0.1/cb"), "http://127.0.0.1:52111/cb", {
    kind: "device_host",
    host: "127.0.0.1:52111",
  }],
  ["http on loopback, IPv6", native("http://[::1]/cb"), "http://[::1]:52111/cb", {
    kind: "device_host",
    host: "[::1]:52111",
  }],
  ["http on localhost", native("http://localhost/cb"), "http://localhost:52111/cb", {
    kind: "device_host",
    host: "localhost:52111",
  }],
  ["a domain on loopback", onLoopback, "http://localhost:3000/bank.example", {
    kind: "device_host",
    host: "localhost:3000",
  }],
  ["a private-use scheme", native("com.example.app:/cb"), undefined, {
    kind: "scheme",
    scheme: "com.example.app",
  }],
  ["a private-use scheme with what looks like a host", native("com.evil.app://bank.example/cb"), undefined, {
    kind: "scheme",
    scheme: "com.evil.app",
  }],
  ["the scheme of an editor", native("cursor://bank.example/cb"), undefined, {
    kind: "scheme",
    scheme: "cursor",
  }],
  ["form_post", onDomain, APP_URI, { kind: "host", host: "app.example" }, { response_mode: "form_post" }],
  ["fragment.jwt", onDomain, APP_URI, { kind: "host", host: "app.example" }, {
    response_mode: "fragment.jwt",
  }],
];

for (const [name, client, redirect_uri, destination, more] of CASES) {
  test(`the page names where the code goes: ${name}`, async () => {
    const followed = await follow(client, { redirect_uri, ...more });
    assert.ok(followed, "the page is shown");
    assert.equal(followed.destination, destination);
    const { protocol, host } = new URL(followed.target);
    if (destination.kind === "scheme") {
      assert.is(protocol, `${destination.scheme}:`);
      assert.match(followed.text, `<strong>${destination.scheme}:</strong>`);
    } else {
      assert.match(protocol, /^https?:$/);
      assert.is(host, destination.host);
      assert.match(followed.text, `<strong>${destination.host}</strong>`);
    }
  });
}

for (
  const redirect_uri of [
    "https://app.example@evil.example/",
    "https://evil.example\\@app.example/",
    "https://app.example:1234/",
    "https://APP.example/",
    "https://app.example.evil.example/",
    "//app.example/",
    "javascript:alert(1)//app.example",
  ]
) {
  test(`no page is shown for ${redirect_uri}, which browsers read differently`, async () => {
    assert.is(await follow(onDomain, { redirect_uri }), undefined);
  });
}

test.run();
