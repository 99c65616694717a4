import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "./client.ts";
import {
  checkRedirectScheme,
  EDITOR_SCHEMES,
  findRedirectUri,
  findRedirectUriProblem,
} from "./redirect_uri.ts";

const test = suite("oauth/redirect_uri");
const byDomain = toClient({ id: "d", secret: "s", domain: "app.example" }, 0);
const byUri = toClient({ id: "u", redirect_uris: ["https://app.example/cb", "com.example.app:/cb"] }, 0);
const native = toClient({
  id: "n",
  redirect_uris: ["http://127.0.0.1/cb", "http://localhost:1234/cb", "http://[::1]/", "http://127.0.0.1"],
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

test("registered redirect URIs are compared character by character", () => {
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

test("RFC 8252 section 7.3: a loopback URI matches with any port, and in all other parts exactly", () => {
  for (
    const uri of [
      "http://127.0.0.1/cb",
      "http://127.0.0.1:51004/cb",
      "http://localhost:1/cb",
      "http://[::1]:9/",
      "http://[::1]:9",
      "http://127.0.0.1:33418/",
      "http://127.0.0.1:33418",
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

test("RFC 6749 section 3.1.2.3: redirect_uri may be omitted only when exactly one URI is registered", () => {
  const one = toClient({ id: "o", redirect_uris: ["https://app.example/cb"] }, 0);
  assert.is(findRedirectUri(one, undefined), "https://app.example/cb");
  assert.is(findRedirectUri(byUri, undefined), undefined);
  assert.is(findRedirectUri(byDomain, undefined), undefined);
});

test("a loopback domain allows http on any port, for development", () => {
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
  const [registration, term] of [
    [{ redirect_uris: ["http://app.example/cb"] }, "http"],
    [{ redirect_uris: ["https://app.example/cb#x"] }, "fragment"],
    [{ redirect_uris: ["https://u:p@app.example/cb"] }, "user"],
    [{ redirect_uris: ["javascript:alert(1)"] }, "javascript:"],
    [{ redirect_uris: ["myapp:/cb"] }, "private-use"],
    [{ redirect_uris: ["/cb"] }, "absolute"],
    [{ redirect_uris: ["https://app.example/ü"] }, "RFC 3986"],
    [{ domain: "0x7f.1" }, "domain"],
    [{ domain: "127.1" }, "domain"],
    [{ domain: "http://app.example" }, "domain"],
    [{ domain: "app.example/path" }, "domain"],
    [{ domain: "*.example" }, "domain"],
    [{ domain: "" }, "domain"],
  ] as const
) {
  test(`registration of ${JSON.stringify(registration)} is refused with an error that has "${term}"`, () => {
    assert.throws(
      () => toClient({ id: "x", secret: "s", ...registration }, 0),
      (error: Error) => error instanceof TypeError && error.message.includes(term),
    );
  });
}

const NOT_NORMALIZED = [
  "https://good.example\\@evil.example/cb",
  "https://good.example\\.evil.example/cb",
  "http://0x7f.1/cb",
  "http://127.1/cb",
  "http://2130706433/cb",
  "http://0177.0.0.1/cb",
  "http://127.0.0.1:080/cb",
  "http://[0:0:0:0:0:0:0:1]/cb",
  "http://LOCALHOST/cb",
  "https://App.example/cb",
  "HTTPS://app.example/cb",
  "https://app.example:443/cb",
  "http://127.0.0.1:80/cb",
  "https://app.example:/cb",
  "https://app.example/a/../cb",
  "https://app.example/./cb",
  "https://app.example/%2e%2e/cb",
  "https://app.example/..",
  "https:app.example/cb",
  "https:/app.example/cb",
  "https:///app.example/cb",
  "https:\\\\app.example\\cb",
  "https://%61pp.example/cb",
  "https://app%2eexample/cb",
  "https://good.example%2f@evil.example/cb",
  "https://user@app.example/cb",
  "https://@app.example/cb",
  "https://:@app.example/cb",
  "https://b\u00fccher.example/cb",
  "https://app\u3002example/cb",
  "https://\u0430pp.example/cb",
  "https://app.example/c b",
  "https://app.example/cb\n",
  " https://app.example/cb",
  "https://app.exa\tmple/cb",
  "https://app.example/cb?x='y",
  "https://app.example/%zz",
  "https://app.example/{x}",
  "https://app.example/|x",
  "https://app.example/^x",
  "COM.example.app:/cb",
  "com.example.app:/a/../cb",
  "com.example.app://user@host/cb",
  "com.example.app://host\\cb",
  "com.example.app:/cb#x",
  "blob:https://app.example/x",
  "filesystem:https://app.example/x",
  "view-source:https://app.example/x",
];
test("a redirect URI is registered only in the spelling that URL parsers keep", () => {
  for (const uri of NOT_NORMALIZED) {
    assert.is(findRedirectUriProblem(uri)?.kind, "uri", JSON.stringify(uri));
    assert.throws(() => toClient({ id: "x", secret: "s", redirect_uris: [uri] }, 0), TypeError, uri);
  }
  for (
    const uri of [
      "https://app.example",
      "https://app.example/",
      "https://app.example?x=1",
      "https://app.example:8443",
      "https://app.example/cb?a=b&c=%20d",
      "https://xn--bcher-kva.example/cb",
      "https://my_host.example/cb",
      "http://127.0.0.1",
      "http://127.0.0.1/",
      "http://[::1]:3000/cb",
      "http://localhost:3000/cb",
      "com.example.app:/cb",
      "com.example.app://claude.ai/cb",
      "com.example.app:cb",
    ]
  ) assert.is(findRedirectUriProblem(uri), undefined, uri);
});

test("only the schemes without a dot that the operator allows are registered, and their URIs are matched exactly", () => {
  for (const scheme of EDITOR_SCHEMES) assert.is(findRedirectUriProblem(`${scheme}://x.y/cb`), undefined);
  assert.is(findRedirectUriProblem("myapp://cb")?.kind, "scheme");
  assert.is(findRedirectUriProblem("cursor://x.y/cb", [])?.kind, "scheme");
  assert.is(findRedirectUriProblem("myapp://cb", ["myapp"]), undefined);
  const uri = "cursor://anysphere.cursor-mcp/oauth/callback";
  const client = toClient({ id: "c", redirect_uris: [uri] }, 0);
  assert.is(findRedirectUri(client, uri), uri);
  for (const other of [uri + "/", uri + "?x", "cursor://evil/oauth/callback", "Cursor" + uri.slice(6)]) {
    assert.is(findRedirectUri(client, other), undefined);
  }
  assert.throws(() => toClient({ id: "c", redirect_uris: [uri] }, 0, []), TypeError);
  for (const scheme of ["javascript", "https", "http", "data", "Cursor", "cursor:", "", "1x"]) {
    assert.throws(() => checkRedirectScheme(scheme), TypeError, scheme);
  }
});

test.run();
