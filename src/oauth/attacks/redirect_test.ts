/**
 * Attacks by redirect URIs that are similar to a registered one. Each test performs one from outside and checks
 * that it fails. The numbers are those of the table in `../README.md`.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { CHALLENGE, newServer } from "../test_server.ts";

const test = suite("attacks by redirect URIs");
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

/** Redirect URIs that other servers accepted: by suffix, by prefix, by a lenient parser, by parsing twice. */
const URIS: Readonly<Record<string, readonly string[]>> = {
  "https://good.example/cb": [
    "https://good.example/cb/",
    "https://good.example/cb?x=1",
    "https://good.example/cb#x",
    "https://good.example/CB",
    "https://GOOD.example/cb",
    "https://good.example./cb",
    "https://good.example:443/cb",
    "https://evilgood.example/cb",
    "https://good.example.evil.test/cb",
    "https://sub.good.example/cb",
    "https://good.example@evil.test/cb",
    "https://evil.test@good.example/cb",
    "https://good.example:a@evil.test/cb",
    "https://a@b@good.example/cb",
    "https://good.example\\@evil.test/cb",
    "https://good.example/\\evil.test/cb",
    "https://good.example/x/../cb",
    "https://good.example/x/..;/cb",
    "https://good.example/%2e%2e/cb",
    "https://good.example/cb%00",
    "https://good.example/cb%0d%0aset-cookie:a=b",
    " https://good.example/cb",
    "https://good.example/cb ",
    "https://good\u3002example/cb",
    "https://\uff47ood.example/cb",
    "https://xn--good.example/cb",
    "http://good.example/cb",
    "//good.example/cb",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,x",
    "good.example/cb",
  ],
  "http://127.0.0.1/cb": [
    "http://127.0.0.1.evil.test/cb",
    "http://127.0.0.1@evil.test/cb",
    "http://127.0.0.1:80@evil.test/cb",
    "http://localhost/cb",
    "http://[::1]/cb",
    "http://0x7f.1/cb",
    "http://2130706433/cb",
    "http://127.1/cb",
    "http://127.0.0.1:99999/cb",
    "http://127.0.0.1:/cb",
    "https://127.0.0.1/cb",
    "http://127.0.0.1:1234/other",
  ],
  "http://localhost/cb": [
    "http://localhost.evil.test/cb",
    "http://localhost:1@evil.test/cb",
    "http://evil.localhost/cb",
  ],
  "com.example.app:/cb": [
    "com.example.app://evil.test/cb",
    "com.example.app:/cb/",
    "com.example.appx:/cb",
    "COM.example.app:/cb",
  ],
};

for (const [registered, uris] of Object.entries(URIS)) {
  test(`2. ${registered} is matched exactly (CVE-2026-7504, -3872, -18211, CVE-2024-8883, GHSA-86j7-9j95-vpqj)`, async () => {
    const server = await newServer({
      clients: [toClient({ id: "app", redirect_uris: [registered, "https://other.example/"] }, 0)],
    });
    const cookie = await server.signIn();
    const ask = (redirect_uri: string) =>
      server.send(server.authorizePath({ redirect_uri, ...PKCE }), { headers: { cookie } });
    assert.is((await ask(registered)).status, 200);
    for (const uri of uris) {
      const response = await ask(uri);
      assert.equal([response.status, response.headers.get("location")], [400, null], uri);
    }
  });
}

test("2. a registered domain allows exactly that host over https, no suffix, no subdomain (go-oauth2's HasSuffix)", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (
    const host of [
      "evilapp.example",
      "x.app.example",
      "app.example.evil.test",
      "app.example:8443",
      "app.example@evil.test",
      "app.example%00.evil.test",
    ]
  ) {
    const response = await server.send(server.authorizePath({ redirect_uri: `https://${host}/cb` }), {
      headers: { cookie },
    });
    assert.is(response.status, 400, host);
  }
});

test.run();
