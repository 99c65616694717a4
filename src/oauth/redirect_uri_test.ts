import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "./client.ts";
import { findRedirectUri } from "./redirect_uri.ts";

const test = suite("oauth/redirect_uri");
const byDomain = toClient({ id: "d", secret: "s", domain: "app.example" }, 0);
const byUri = toClient({ id: "u", redirect_uris: ["https://app.example/cb", "com.example.app:/cb"] }, 0);
const native = toClient({
  id: "n",
  redirect_uris: ["http://127.0.0.1/cb", "http://localhost:1234/cb", "http://[::1]/"],
}, 0);

for (
  const uri of [
    "https://app.example",
    "https://app.example/",
    "https://app.example/cb",
    "https://app.example/a/b?c=d&e=%20",
    "https://app.example:443/cb",
  ]
) {
  test(`a client with a domain may use ${uri}`, () => assert.is(findRedirectUri(byDomain, uri), uri));
}

const HOSTILE = [
  "http://app.example/cb",
  "https://evil.example/cb",
  "https://evilapp.example/cb",
  "https://sub.app.example/cb",
  "https://app.example.evil.example/cb",
  "https://app.example./cb",
  "https://APP.example/cb",
  "HTTPS://app.example/cb",
  "https://app.example:8443/cb",
  "https://app.example:443443/cb",
  "https://app.example@evil.example/cb",
  "https://good@app.example/cb",
  "https://app.example:x@evil.example/cb",
  "https://evil.example\\@app.example/cb",
  "https://app.example\\.evil.example/cb",
  "https://app.example/cb#fragment",
  "https://app.example/cb#",
  "https://app.example/../cb",
  "https://app.example/%2e%2e/cb",
  "https://app.example/a/..;/cb",
  "https://app.example/cb\r\nSet-Cookie: a=b",
  "https://app.example/c b",
  " https://app.example/cb",
  "https://app.example\t/cb",
  "//app.example/cb",
  "/cb",
  "https:app.example/cb",
  "https:///app.example/cb",
  "https://",
  "javascript://app.example/%0aalert(1)",
  "data:text/html,x",
  "https://аpp.example/cb",
  "https://app。example/cb",
  "https://[::1]/cb",
  "https://0x7f.1/cb",
  "",
];
for (const uri of HOSTILE) {
  test(`a client with a domain may not use ${JSON.stringify(uri)}`, () => {
    assert.is(findRedirectUri(byDomain, uri), undefined);
  });
}

test("a client with redirect URIs matches letter by letter", () => {
  assert.is(findRedirectUri(byUri, "https://app.example/cb"), "https://app.example/cb");
  assert.is(findRedirectUri(byUri, "com.example.app:/cb"), "com.example.app:/cb");
  for (
    const uri of [
      ...HOSTILE,
      "https://app.example/cb/",
      "https://app.example/cb?x=1",
      "https://app.example/CB",
      "https://app.example/cb%20",
      "https://app.example:443/cb",
      "com.example.app:/cb/",
      "COM.example.app:/cb",
    ]
  ) assert.is(findRedirectUri(byUri, uri), undefined, uri);
});

test("RFC 8252 section 7.3: the port of a loopback URI is free, nothing else is", () => {
  for (
    const uri of [
      "http://127.0.0.1/cb",
      "http://127.0.0.1:51004/cb",
      "http://localhost:1/cb",
      "http://[::1]:9/",
    ]
  ) {
    assert.is(findRedirectUri(native, uri), uri);
  }
  for (
    const uri of [
      "http://127.0.0.1:51004/other",
      "http://127.0.0.1:51004/cb?x",
      "https://127.0.0.1:51004/cb",
      "http://127.0.0.2/cb",
      "http://127.0.0.1:99999/cb",
      "http://localhost.evil.example:1/cb",
      "http://localhost@evil.example/cb",
      "http://[::1]:9/cb",
      "http://127.1/cb",
      "http://2130706433/cb",
    ]
  ) assert.is(findRedirectUri(native, uri), undefined, uri);
});

test("RFC 6749 section 3.1.2.3: only the one registered URI may be left out", () => {
  const one = toClient({ id: "o", redirect_uris: ["https://app.example/cb"] }, 0);
  assert.is(findRedirectUri(one, undefined), "https://app.example/cb");
  assert.is(findRedirectUri(byUri, undefined), undefined);
  assert.is(findRedirectUri(byDomain, undefined), undefined);
});

test("a loopback domain takes http on any port, for development", () => {
  for (const domain of ["localhost", "localhost:9094", "http://localhost:9094"]) {
    const client = toClient({ id: "l", secret: "s", domain }, 0);
    assert.is(
      findRedirectUri(client, "http://localhost:9094/oauth2"),
      "http://localhost:9094/oauth2",
      domain,
    );
    assert.is(findRedirectUri(client, "http://127.0.0.1:9094/oauth2"), undefined, domain);
  }
});

for (
  const [registration, reason] of [
    [{ redirect_uris: ["http://app.example/cb"] }, "https, or http on loopback"],
    [{ redirect_uris: ["https://app.example/cb#x"] }, "fragment"],
    [{ redirect_uris: ["https://u:p@app.example/cb"] }, "user name"],
    [{ redirect_uris: ["javascript:alert(1)"] }, "lead to an application"],
    [{ redirect_uris: ["myapp:/cb"] }, "private-use scheme with a dot"],
    [{ redirect_uris: ["/cb"] }, "absolute URI"],
    [{ redirect_uris: ["https://app.example/ü"] }, "printable ASCII"],
    [{ domain: "http://app.example" }, "domain"],
    [{ domain: "app.example/path" }, "domain"],
    [{ domain: "*.example" }, "domain"],
    [{ domain: "" }, "domain"],
  ] as const
) {
  test(`registering ${JSON.stringify(registration)} is refused: ${reason}`, () => {
    assert.throws(
      () => toClient({ id: "x", secret: "s", ...registration }, 0),
      (error: Error) => error.message.includes(reason),
    );
  });
}

test.run();
