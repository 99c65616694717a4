import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listAll } from "../../store/store.ts";
import { newProvider } from "../openid/test_provider.ts";
import { createAssertion, newKey } from "../test_keys.ts";
import { CHALLENGE, ISSUER, newServer, type TestServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/client_document");
const ID = "https://client.example/oauth/client.json";
const DOCUMENT = {
  client_id: ID,
  client_name: "Claude Code",
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

/** A server that gets these responses for documents, and the URLs that it fetched. */
async function newDocumentServer(answer: (url: string) => Response | Promise<Response>) {
  const fetched: string[] = [];
  const server = await newServer({
    connect: (url) => {
      fetched.push(url);
      return Promise.resolve(answer(url));
    },
  });
  return { server, fetched };
}
const json = (document: unknown, headers = {}) => () => new Response(JSON.stringify(document), { headers });
const ask = async (
  server: TestServer,
  cookie: string,
  client_id = ID,
  redirect_uri = "http://localhost:52111/callback",
) => {
  const response = await server.send(
    server.authorizePath({
      client_id,
      redirect_uri,
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    }),
    { headers: { cookie } },
  );
  return { status: response.status, location: response.headers.get("location"), text: await response.text() };
};

test("a client is identified by the URL of its document, and its consent page shows that host and the redirect host", async () => {
  const { server, fetched } = await newDocumentServer(json(DOCUMENT));
  const cookie = await server.signIn();
  const page = await ask(server, cookie);
  assert.is(page.status, 200);
  assert.match(page.text, "<h1>“Claude Code” ");
  assert.match(page.text, /class="note">[^<]*<strong>client\.example<\/strong>/);
  assert.match(page.text, "<strong>localhost:52111</strong>");
  const redirect_uri = "http://127.0.0.1:1234/callback";
  const code = (await server.authorize({
    client_id: ID,
    redirect_uri,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  })).get("code")!;
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri,
    code_verifier: VERIFIER,
    client_id: ID,
    client_secret: undefined,
  };
  const tokens = await (await server.token(form)).json();
  assert.ok(tokens.refresh_token);
  assert.equal(fetched, [ID], "the document was fetched once");
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.is(metadata.client_id_metadata_document_supported, true);
});

test("a document is cached for its max-age, between 5 minutes and 24 hours, and then fetched again", async () => {
  for (
    const [control, fresh, stale] of [["max-age=600", 599, 2], ["max-age=1", 299, 2], ["no-store", 299, 2], [
      "max-age=99999999",
      86_399,
      2,
    ]] as const
  ) {
    const { server, fetched } = await newDocumentServer(json(DOCUMENT, { "cache-control": control }));
    const session = () => server.signIn();
    await ask(server, await session());
    server.advance(fresh);
    await ask(server, await session());
    assert.is(fetched.length, 1, control);
    server.advance(stale);
    await ask(server, await session());
    assert.is(fetched.length, 2, control);
  }
});

const INVALID: Record<string, () => Response> = {
  "another client_id": json({ ...DOCUMENT, client_id: "https://evil.example/client.json" }),
  "a client_id with a trailing slash": json({ ...DOCUMENT, client_id: ID + "/" }),
  "no client_id": json({ ...DOCUMENT, client_id: undefined }),
  "a secret": json({ ...DOCUMENT, client_secret: "x" }),
  "a method with a shared secret": json({ ...DOCUMENT, token_endpoint_auth_method: "client_secret_basic" }),
  "no redirect URIs": json({ ...DOCUMENT, redirect_uris: [] }),
  "a javascript redirect URI": json({ ...DOCUMENT, redirect_uris: ["javascript:alert(1)"] }),
  "text that is not JSON": () => new Response("<html>"),
  "an array": json([]),
  "null": json(null),
  "a JSON string": json("x"),
  "a number": json(5),
  "a private key": json({
    ...DOCUMENT,
    token_endpoint_auth_method: "private_key_jwt",
    jwks: { keys: [{ kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }] },
  }),
  "keys on a private host": json({
    ...DOCUMENT,
    token_endpoint_auth_method: "private_key_jwt",
    jwks_uri: "https://10.0.0.1/keys",
  }),
  "status 302": () => new Response(null, { status: 302, headers: { location: "https://169.254.169.254/" } }),
  "status 404": () => new Response("{}", { status: 404 }),
  "11,000 characters": json({ ...DOCUMENT, padding: "x".repeat(11_000) }),
};
for (const [name, answer] of Object.entries(INVALID)) {
  test(`a document with ${name} is refused on a page and is not cached`, async () => {
    let good = false;
    const { server } = await newDocumentServer(() => good ? json(DOCUMENT)() : answer());
    const cookie = await server.signIn();
    const page = await ask(server, cookie);
    assert.equal([page.status, page.location], [400, null]);
    assert.match(page.text, /^<!doctype html>/);
    const token = await server.token({
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: ID,
      client_secret: undefined,
    });
    assert.equal([token.status, (await token.json()).error], [401, "invalid_client"]);
    good = true;
    assert.is((await ask(server, cookie)).status, 200, "the failure is not cached");
  });
}

test("a document that cannot be fetched now is a temporary error, and the same request succeeds later", async () => {
  const down: Record<string, () => Response | Promise<Response>> = {
    "no connection": () => Promise.reject(new Error("refused")),
    "status 503": () => new Response("{}", { status: 503 }),
  };
  for (const [name, answer] of Object.entries(down)) {
    let isUp = false;
    const { server } = await newDocumentServer(() => isUp ? json(DOCUMENT)() : answer());
    const cookie = await server.signIn();
    assert.is((await ask(server, cookie)).status, 400, name);
    const form = { grant_type: "refresh_token", refresh_token: "x", client_id: ID, client_secret: undefined };
    const token = await server.token(form);
    assert.equal([token.status, (await token.json()).error], [400, "temporarily_unavailable"], name);
    assert.ok(token.headers.has("retry-after"));
    isUp = true;
    assert.is((await ask(server, cookie)).status, 200, name);
  }
});

test("UserInfo of a client whose document is not available is a temporary error, and invalid_token when it is gone", async () => {
  let answer: () => Response = json(DOCUMENT);
  const server = await newProvider({}, { connect: () => Promise.resolve(answer()) });
  const redirect_uri = "http://localhost:1/callback";
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  const asked = { client_id: ID, redirect_uri, scope: "openid", ...pkce };
  const code = (await server.authorize(asked)).get("code")!;
  const { access_token } = await (await server.token({
    grant_type: "authorization_code",
    code,
    redirect_uri,
    code_verifier: VERIFIER,
    client_id: ID,
    client_secret: undefined,
  })).json();
  const headers = { authorization: `Bearer ${access_token}` };
  const read = async () => {
    const response = await server.send("/oauth/userinfo", { headers });
    return [response.status, (await response.json()).error, response.headers.has("www-authenticate")];
  };
  assert.is((await read())[0], 200);
  server.advance(3700);
  answer = () => new Response("", { status: 502 });
  assert.equal(await read(), [503, "temporarily_unavailable", false]);
  answer = () => new Response("", { status: 404 });
  assert.equal(await read(), [401, "invalid_token", true]);
  answer = json(DOCUMENT);
  assert.is((await read())[0], 200);
});

for (
  const id of [
    "https://client.example",
    "https://client.example/",
    "https://127.0.0.1/c.json",
    "https://localhost/c.json",
    "https://user@client.example/c",
    "https://client.example/c#x",
    "https://client.example/a/../c",
    "https://CLIENT.example/c",
    "http://client.example/c",
  ]
) {
  test(`a client_id that cannot be the URL of a document is not fetched: ${id}`, async () => {
    const { server, fetched } = await newDocumentServer(json({ ...DOCUMENT, client_id: id }));
    const page = await ask(server, await server.signIn(), id);
    assert.equal([page.status, fetched], [400, []]);
  });
}

test("redirect URIs that are not in the document are refused", async () => {
  const { server } = await newDocumentServer(json(DOCUMENT));
  const cookie = await server.signIn();
  for (
    const uri of [
      "https://evil.example/cb",
      "http://localhost/other",
      "http://localhost.evil.example/callback",
      "http://localhost@evil.example/callback",
    ]
  ) {
    assert.is((await ask(server, cookie, ID, uri)).status, 400, uri);
  }
});

test("a client authenticates with the keys of its document", async () => {
  const key = await newKey();
  const { server } = await newDocumentServer(
    json({ ...DOCUMENT, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [key.jwk] } }),
  );
  const revoke = async (assertion: string) => {
    const response = await server.send("/oauth/revoke", {
      form: {
        token: "x",
        client_assertion: assertion,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      },
    });
    return response.status;
  };
  assert.is(await revoke(await createAssertion(key, ID, ISSUER)), 200);
  assert.is(await revoke(await createAssertion(await newKey(), ID, ISSUER)), 401);
});

test("unknown members of a document, such as those of ChatGPT, are ignored", async () => {
  const { server } = await newDocumentServer(
    json({
      ...DOCUMENT,
      token_endpoint_auth_method: undefined,
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      x_connector: { a: 1 },
    }),
  );
  assert.is((await ask(server, await server.signIn())).status, 200);
});

test("fetches from a failing host are limited", async () => {
  const { server, fetched } = await newDocumentServer(() => new Response("{}", { status: 500 }));
  const cookie = await server.signIn();
  let last = 0;
  for (let i = 0; i < 40; i++) last = (await ask(server, cookie, `https://client.example/${i}.json`)).status;
  assert.is(last, 429);
  assert.ok(fetched.length <= 21, `${fetched.length}`);
});

test("a host with many valid documents is not limited", async () => {
  const { server, fetched } = await newDocumentServer((url) => json({ ...DOCUMENT, client_id: url })());
  const cookie = await server.signIn();
  for (let i = 0; i < 40; i++) {
    assert.is((await ask(server, cookie, `https://client.example/${i}.json`)).status, 200);
  }
  assert.is(fetched.length, 40);
});

test("only documents of clients to which a user consented are stored", async () => {
  const { server, fetched } = await newDocumentServer((url) => json({ ...DOCUMENT, client_id: url })());
  const inStore = async () => {
    let count = 0;
    for await (const _ of listAll(server.store, ["client_document"])) count++;
    return count;
  };
  for (let i = 0; i < 30; i++) {
    const path = server.authorizePath({
      client_id: `https://client.example/${i}`,
      redirect_uri: "http://localhost/callback",
    });
    assert.is((await server.send(path)).status, 302);
  }
  assert.equal([fetched.length, await inStore()], [30, 0]);
  const uri = "http://127.0.0.1:1234/callback";
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  await server.authorize({ client_id: ID, redirect_uri: uri, ...pkce });
  assert.is(await inStore(), 1);
  // Another instance, or this one after a restart.
  const second = await newServer({ store: server.store, connect: () => Promise.reject(new Error("down")) });
  assert.is((await ask(second, await second.signIn())).status, 200);
});

test("requests for unknown documents of a host do not block the valid client of that host", async () => {
  const { server, fetched } = await newDocumentServer((url) =>
    url === ID ? json(DOCUMENT)() : new Response("", { status: 404 })
  );
  const statusFor = async (client_id: string, ip: string): Promise<number> => {
    const query = server.authorizePath({ client_id, redirect_uri: "http://localhost:3000/callback" });
    return (await server.service.fetch(new Request("https://as.example" + query), { ip })).status;
  };
  for (let minute = 0; minute < 30; minute++) {
    server.advance(3600);
    for (let i = 0; i < 60; i++) await statusFor(`https://client.example/${minute}/${i}`, "203.0.113.9");
    assert.is(await statusFor(ID, "198.51.100.7"), 302);
  }
  assert.ok(fetched.length <= 30 * 11, `${fetched.length}`);
});

test("a client to which a user consented works while the fetch budget of its host is exhausted", async () => {
  const { server } = await newDocumentServer((url) =>
    url === ID ? json(DOCUMENT)() : new Response("", { status: 404 })
  );
  const cookie = await server.signIn();
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  await server.authorize({ client_id: ID, redirect_uri: "http://localhost:1/callback", ...pkce });
  server.advance(3601);
  const statuses = new Set<number>();
  for (let i = 0; i < 50; i++) {
    statuses.add((await ask(server, cookie, `https://client.example/${i}`)).status);
  }
  assert.ok(statuses.has(429));
  assert.is((await ask(server, await server.signIn())).status, 200);
});

test("when documents are disabled a URL is not a client_id, nothing is fetched, and the metadata has false", async () => {
  let isEnabled = false;
  let fetches = 0;
  const server = await newServer({
    clientMetadataDocuments: () => isEnabled,
    connect: () => (fetches++, Promise.resolve(json(DOCUMENT)())),
  });
  const supported = async () =>
    (await (await server.send("/.well-known/oauth-authorization-server")).json())
      .client_id_metadata_document_supported;
  const page = await ask(server, await server.signIn());
  assert.equal([page.status, fetches, await supported()], [400, 0, false]);
  assert.match(page.text, "--client-documents on");
  isEnabled = true;
  assert.equal([(await ask(server, await server.signIn())).status, await supported()], [200, true]);
});

test.run();
