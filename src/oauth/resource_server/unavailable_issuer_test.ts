import { suite } from "uvu";
import * as assert from "uvu/assert";
import { IssuerUnavailableError } from "../../resource_server.ts";
import { newKey } from "../test_keys.ts";
import { CREDENTIALS, ISSUER, newIssuer, outcome, type TestIssuer, URLS, withToken } from "./test_issuer.ts";

const test = suite("oauth/resource_server: keys, rotation, and an unavailable issuer");
const fetchesOf = (issuer: TestIssuer, url: string) => issuer.requested.filter((each) => each === url).length;

test("concurrent requests fetch metadata and keys once", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  const token = await issuer.token();
  const all = await Promise.all(Array.from({ length: 50 }, () => outcome(guard, withToken(token))));
  assert.equal(new Set(all), new Set(["ok"]));
  assert.equal(issuer.requested, [URLS.metadata, URLS.keys]);
});

test("a new key is fetched at its first token", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  issuer.advance(61);
  issuer.keys = [await newKey("ES256", "second"), ...issuer.keys];
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  assert.is(fetchesOf(issuer, URLS.keys), 2);
});

test("a withdrawn key is refused within ten minutes", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  const [first] = issuer.keys;
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  issuer.keys = [await newKey("ES256", "second")];
  issuer.advance(601);
  assert.is(await outcome(guard, withToken(await issuer.token({}, {}, first))), "401 invalid_token");
});

test("many unknown key ids cause one fetch a minute, and valid tokens do not wait for it", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  const good = await issuer.token();
  assert.is(await outcome(guard, withToken(good)), "ok");
  issuer.advance(61);
  let release = () => {};
  const slow = new Promise<void>((resolve) => release = resolve);
  issuer.answers.set(URLS.keys, async () => {
    await slow;
    return Response.json({ keys: issuer.keys.map(({ jwk }) => jwk) });
  });
  const storm = Promise.all(
    Array.from(
      { length: 30 },
      async (_, n) => outcome(guard, withToken(await issuer.token({}, { kid: `x${n}` }))),
    ),
  );
  while (fetchesOf(issuer, URLS.keys) < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(await outcome(guard, withToken(good)), "ok", "during the fetch");
  release();
  assert.equal(new Set(await storm), new Set(["401 invalid_token"]));
  assert.is(fetchesOf(issuer, URLS.keys), 2);
});

const BROKEN: readonly [string, (issuer: TestIssuer) => void][] = [
  [
    "the metadata cannot be fetched",
    ({ answers }) => answers.set(URLS.metadata, () => Promise.reject(new Error("down"))),
  ],
  [
    "the metadata names another issuer",
    ({ answers }) =>
      answers.set(
        URLS.metadata,
        () => Response.json({ issuer: "https://evil.example", jwks_uri: URLS.keys }),
      ),
  ],
  [
    "the metadata has an http jwks_uri",
    ({ answers, keys }) => {
      answers.set(URLS.metadata, () => Response.json({ issuer: ISSUER, jwks_uri: "http://127.0.0.1/keys" }));
      answers.set("http://127.0.0.1/keys", () => Response.json({ keys: keys.map(({ jwk }) => jwk) }));
    },
  ],
  [
    "the metadata has no jwks_uri",
    ({ answers }) => answers.set(URLS.metadata, () => Response.json({ issuer: ISSUER })),
  ],
  [
    "jwks_uri responds with 500",
    ({ answers }) => answers.set(URLS.keys, () => new Response(null, { status: 500 })),
  ],
  [
    "jwks_uri redirects",
    ({ answers }) =>
      answers.set(URLS.keys, () => new Response(null, { status: 302, headers: { location: URLS.metadata } })),
  ],
  [
    "the key set is too large",
    ({ answers }) => answers.set(URLS.keys, () => new Response(`{"keys":[],"x":"${"x".repeat(300_000)}"}`)),
  ],
  ["the key set is not JSON", ({ answers }) => answers.set(URLS.keys, () => new Response("<html>"))],
];

for (const [name, breakIt] of BROKEN) {
  test(`a request gets 503, not 401, when ${name}`, async () => {
    const issuer = await newIssuer();
    const guard = issuer.guard();
    const request = withToken(await issuer.token());
    breakIt(issuer);
    const answer = await guard.protect(request) as Response;
    assert.is(answer.status, 503);
    assert.match(answer.headers.get("retry-after")!, /^[1-9]\d*$/);
    assert.is(answer.headers.get("www-authenticate"), null);
    assert.is((await answer.json()).error, "temporarily_unavailable");
    assert.equal(issuer.events.map(({ type }) => type), ["issuer_unavailable"]);
    const error = await guard.authenticate(request).catch((thrown) => thrown);
    assert.instance(error, IssuerUnavailableError);
    // A caller with an invalid token is still refused.
    assert.is(await outcome(guard, withToken("opaque")), "401 invalid_token");
    issuer.answers.clear();
    issuer.advance(301);
    assert.is(await outcome(guard, request), "ok", "the issuer is available again");
  });
}

test("after repeated failures the issuer is not requested for some time", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ jwksUri: URLS.keys });
  issuer.answers.set(URLS.keys, () => new Response(null, { status: 500 }));
  const token = await issuer.token();
  for (let n = 0; n < 20; n++) assert.is(await outcome(guard, withToken(token)), "503");
  assert.is(fetchesOf(issuer, URLS.keys), 3);
  for (let n = 0; n < 20; n++) {
    issuer.advance(11);
    assert.is(await outcome(guard, withToken(token)), "503");
  }
  issuer.answers.clear();
  issuer.advance(11);
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok", "ten seconds after it is back");
});

test("an issuer with only OpenID Connect metadata is supported", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  issuer.answers.set(URLS.metadata, () => new Response(null, { status: 404 }));
  issuer.answers.set(
    `${ISSUER}/.well-known/openid-configuration`,
    () => Response.json({ issuer: ISSUER, jwks_uri: URLS.keys }),
  );
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  assert.is(issuer.requested.length, 3);
});

test("configured keys are not fetched", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ jwks: { keys: [issuer.keys[0]!.jwk] } });
  assert.is(await outcome(guard, withToken(await issuer.token())), "ok");
  assert.is(await outcome(guard, withToken(await issuer.token({}, { kid: "unknown" }))), "401 invalid_token");
  assert.equal(issuer.requested, []);
});

test("an introspection response is cached for ten seconds, and not after exp", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ introspection: { ...CREDENTIALS, endpoint: URLS.introspection } });
  issuer.active.set("long", issuer.claims());
  for (let n = 0; n < 5; n++) assert.is(await outcome(guard, withToken("long")), "ok");
  assert.is(fetchesOf(issuer, URLS.introspection), 1);
  issuer.active.delete("long");
  issuer.advance(11);
  assert.is(await outcome(guard, withToken("long")), "401 invalid_token", "revoked");
  issuer.active.set("short", issuer.claims({ exp: (issuer.claims().exp as number) - 298 }));
  assert.is(await outcome(guard, withToken("short")), "ok");
  const before = fetchesOf(issuer, URLS.introspection);
  issuer.advance(3);
  await outcome(guard, withToken("short"));
  assert.is(fetchesOf(issuer, URLS.introspection), before + 1);
});

test("isStillValid() of an introspected principal is false after the token is revoked", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ introspection: CREDENTIALS });
  issuer.active.set("token", issuer.claims());
  const caller = await guard.authenticate(withToken("token"));
  assert.is(await caller!.isStillValid!(), true);
  issuer.active.clear();
  issuer.advance(11);
  assert.is(await caller!.isStillValid!(), false);
});

test("isStillValid() of an introspected principal is false after the token lost a scope", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ introspection: CREDENTIALS });
  const answer = async (scope: string) => {
    issuer.active.set("token", issuer.claims({ scope }));
    issuer.advance(11);
    return await guard.authenticate(withToken("token"));
  };
  const caller = await answer("read write");
  await answer("write read admin");
  assert.is(await caller!.isStillValid!(), true);
  await answer("read");
  assert.is(await caller!.isStillValid!(), false);
});

for (
  const [name, answer] of [
    ["refuses this API", () => new Response(null, { status: 401 })],
    ["answers with an error", () => new Response(null, { status: 500 })],
    ["answers without active", () => Response.json({ scope: "admin" })],
    ["answers with active as a string", () => Response.json({ active: "true" })],
    ["answers with text that is not JSON", () => new Response("true")],
    ["redirects", () => new Response(null, { status: 307, headers: { location: "https://evil.example/" } })],
  ] as const
) {
  test(`a request gets 503 when introspection ${name}`, async () => {
    const issuer = await newIssuer();
    const guard = issuer.guard({ introspection: CREDENTIALS });
    issuer.answers.set(URLS.introspection, answer);
    assert.is(await outcome(guard, withToken("token")), "503");
    assert.equal(issuer.events.map(({ type }) => type), ["issuer_unavailable"]);
  });
}

test("with keys and introspection, JWTs are verified locally and other tokens are introspected", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ jwksUri: URLS.keys, introspection: CREDENTIALS });
  issuer.active.set("opaque", issuer.claims());
  const jwt = await issuer.token();
  assert.is(await outcome(guard, withToken(jwt)), "ok");
  assert.is(fetchesOf(issuer, URLS.introspection), 0);
  assert.is(await outcome(guard, withToken("opaque")), "ok");
  const introspecting = issuer.guard({ introspection: CREDENTIALS });
  assert.is(await outcome(introspecting, withToken(jwt)), "401 invalid_token", "the issuer does not know it");
});

test("at most 64 tokens are introspected at once; more are answered with 503 at once", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ introspection: { ...CREDENTIALS, endpoint: URLS.introspection } });
  let release = () => {};
  const slow = new Promise<void>((resolve) => release = resolve);
  issuer.answers.set(URLS.introspection, async () => {
    await slow;
    return Response.json({ active: false });
  });
  const waiting = Array.from({ length: 64 }, (_, n) => outcome(guard, withToken(`token${n}`)));
  while (fetchesOf(issuer, URLS.introspection) < 64) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(await outcome(guard, withToken("one-more")), "503");
  release();
  assert.equal(new Set(await Promise.all(waiting)), new Set(["401 invalid_token"]));
  assert.is(await outcome(guard, withToken("one-more")), "401 invalid_token", "there is room again");
});

test.run();
