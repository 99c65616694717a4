import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importPublicJwk } from "../../crypto/jwk.ts";
import { readJws, verifyJws } from "../../crypto/jws.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { toClient } from "../clients/client.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { APP_URI, CHALLENGE, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/response_mode");
const ON: Partial<AuthorizationServerOptions> = {
  responseModes: ["form_post", "jwt"],
  signingAlgorithms: ["ES256", "RS256"],
  clients: [
    toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0),
    toClient({ id: "ec", redirect_uris: [APP_URI], authorization_signed_response_alg: "ES256" }, 0),
    toClient({ id: "native", redirect_uris: ["com.example.app:/cb", "http://127.0.0.1/cb"] }, 0),
    toClient({ id: "query", secret: "s", redirect_uris: ["https://app.example/cb?a=1"] }, 0),
  ],
};
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

/** Sends an authorization request as alice and answers the consent page; the response to the client. */
async function respond(
  server: TestServer,
  parameters: Record<string, string | undefined>,
  decision = "approve",
): Promise<Response> {
  const headers = { cookie: await server.signIn() };
  const response = await server.send(server.authorizePath(parameters), { headers });
  if (response.status !== 200 || !(await response.clone().text()).includes('name="transaction"')) {
    return response;
  }
  const form = { transaction: transactionOf(await response.text()), decision };
  return await server.send("/oauth/authorize", { form, headers });
}

/** The claims of a signed response, when a published key of the server verifies it. */
async function verify(server: TestServer, jwt: string) {
  const { header } = readJws(jwt)!;
  const { keys } = await (await server.send("/.well-known/jwks.json")).json();
  const jwk = keys.find(({ kid }: { kid: string }) => kid === header.kid);
  const claims = await verifyJws(await importPublicJwk(jwk, jwk.alg), undefined, jwt);
  return { alg: header.alg, claims: claims as Record<string, unknown> | undefined };
}

/** The fields of the form on a page, and where it posts to. */
function formOf(page: string) {
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
    .map(([, name, value]) => [name, value] as [string, string]);
  return { action: /<form method="post" action="([^"]+)">/.exec(page)?.[1], fields: new Map(fields) };
}

for (const [mode, separator] of [["jwt", "?"], ["query.jwt", "?"], ["fragment.jwt", "#"]] as const) {
  test(`JARM section 2.3: ${mode} sends one parameter, a JWT for the client`, async () => {
    const server = await newServer(ON);
    const location = (await respond(server, { response_mode: mode })).headers.get("location")!;
    const [uri, text] = location.split(separator);
    assert.is(uri, APP_URI);
    const answer = new URLSearchParams(text);
    assert.equal([...answer.keys()], ["response"]);
    const { alg, claims } = await verify(server, answer.get("response")!);
    const { iss, aud, exp, iat, code, state, ...rest } = claims!;
    assert.equal([alg, iss, aud, state, rest], ["RS256", ISSUER, "app", "xyz", {}]);
    assert.ok(Number(exp) > Date.now() / 1000 && Number(exp) - Number(iat) <= 600);
    const form = { grant_type: "authorization_code", code: String(code), redirect_uri: APP_URI };
    assert.is((await server.token(form)).status, 200);
  });
}

test("an answer that could not be signed can be given again", async () => {
  for (const [decision, name] of [["approve", "code"], ["deny", "error"]] as const) {
    const server = await newServer(ON);
    const { store } = server;
    const headers = { cookie: await server.signIn() };
    const page = await server.send(server.authorizePath({ response_mode: "jwt" }), { headers });
    const form = { transaction: transactionOf(await page.text()), decision };
    const { list } = store;
    const unavailable = () => Promise.reject(new StoreUnavailableError("interrupted"));
    Object.assign(store, {
      list: (...call: Parameters<typeof list>) =>
        call[0][0] === "signing_key" ? unavailable() : list.apply(store, call),
    });
    assert.is((await server.send("/oauth/authorize", { form, headers })).status, 503);
    Object.assign(store, { list });
    const again = await server.send("/oauth/authorize", { form, headers });
    const text = new URL(again.headers.get("location")!).searchParams.get("response")!;
    assert.ok((await verify(server, text)).claims?.[name], decision);
  }
});

test("JARM section 2.1: errors are signed too, before and after consent", async () => {
  const server = await newServer(ON);
  const denied = await respond(server, { response_mode: "jwt" }, "deny");
  const invalid = await respond(server, { response_mode: "jwt", scope: "admin" });
  const none = await respond(server, { response_mode: "fragment.jwt", prompt: "none" });
  for (
    const [response, error] of [[denied, "access_denied"], [invalid, "invalid_scope"], [
      none,
      "consent_required",
    ]] as const
  ) {
    const location = response.headers.get("location")!;
    assert.not.match(location, "error=");
    const { claims } = await verify(server, location.split("response=")[1]!);
    assert.equal([claims!.error, claims!.state, claims!.aud, claims!.iss], [error, "xyz", "app", ISSUER]);
  }
});

test("JARM section 3: the client's authorization_signed_response_alg signs; otherwise RS256 where the server has it", async () => {
  const server = await newServer(ON);
  const location = (await respond(server, { client_id: "ec", ...PKCE, response_mode: "jwt" })).headers.get(
    "location",
  )!;
  assert.is((await verify(server, location.split("response=")[1]!)).alg, "ES256");
  const only = await newServer({ ...ON, signingAlgorithms: ["ES256"] });
  const second = (await respond(only, { response_mode: "jwt" })).headers.get("location")!;
  assert.is((await verify(only, second.split("response=")[1]!)).alg, "ES256");
});

test("a signed response is no access token", async () => {
  const server = await newServer({ ...ON, accessTokenFormat: "jwt" });
  const location = (await respond(server, { response_mode: "jwt" })).headers.get("location")!;
  const headers = { authorization: `Bearer ${location.split("response=")[1]}` };
  assert.is((await server.send("/api/user", { headers })).status, 401);
});

test("the query of a redirect URI is retained", async () => {
  const server = await newServer(ON);
  const request = { client_id: "query", redirect_uri: "https://app.example/cb?a=1" };
  for (const [mode, start] of [["jwt", "&response="], ["fragment.jwt", "#response="]]) {
    const location = (await respond(server, { ...request, response_mode: mode })).headers.get("location")!;
    assert.ok(location.startsWith("https://app.example/cb?a=1" + start), location);
  }
});

test("form_post: a page whose form posts the response to the redirect URI, with a script of this server", async () => {
  const server = await newServer(ON);
  const response = await respond(server, { response_mode: "form_post" });
  assert.is(response.status, 200);
  assert.is(response.headers.get("cache-control"), "no-store");
  const policy = response.headers.get("content-security-policy")!.split("; ");
  assert.ok(policy.includes("default-src 'none'"));
  assert.ok(policy.includes("frame-ancestors 'none'"));
  assert.equal(policy.filter((each) => each.startsWith("script-src")), [
    `script-src ${ISSUER}/oauth/form_post.js`,
  ]);
  const page = await response.text();
  const { action, fields } = formOf(page);
  assert.equal([action, [...fields.keys()], fields.get("state")], [APP_URI, ["code", "state", "iss"], "xyz"]);
  assert.match(page, /<button[ >]/);
  assert.equal([...page.matchAll(/<script[^>]*>([^<]*)/g)].map(([, inline]) => inline), [""]);
  const form = { grant_type: "authorization_code", code: fields.get("code")!, redirect_uri: APP_URI };
  assert.is((await server.token(form)).status, 200);
});

test("form_post: the script is served only where a form may be", async () => {
  const script = await (await newServer(ON)).send("/oauth/form_post.js");
  assert.match(script.headers.get("content-type")!, "text/javascript");
  assert.is(script.headers.get("x-content-type-options"), "nosniff");
  assert.is((await (await newServer()).send("/oauth/form_post.js")).status, 404);
});

test("form_post: an error is posted too, and markup in state is escaped", async () => {
  const server = await newServer(ON);
  const state = `"><script>alert(1)</script>&'`;
  const page = await (await respond(server, { response_mode: "form_post", scope: "admin", state })).text();
  assert.not.match(page, "<script>alert");
  const { fields } = formOf(page);
  assert.is(fields.get("error"), "invalid_scope");
  assert.is(fields.get("state"), "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;");
});

test("form_post.jwt: the form has one field, the signed response", async () => {
  const server = await newServer(ON);
  const { fields } = formOf(await (await respond(server, { response_mode: "form_post.jwt" })).text());
  assert.equal([...fields.keys()], ["response"]);
  assert.ok((await verify(server, fields.get("response")!)).claims!.code);
});

for (const mode of ["form_post", "form_post.jwt"]) {
  test(`${mode} to a private-use scheme is refused: a browser posts forms to http and https only`, async () => {
    const server = await newServer(ON);
    const native = { client_id: "native", ...PKCE, response_mode: mode };
    const refused = await respond(server, { ...native, redirect_uri: "com.example.app:/cb" });
    const location = refused.headers.get("location")!;
    assert.is(new URL(location).searchParams.get("error"), "invalid_request");
    assert.is((await respond(server, { ...native, redirect_uri: "http://127.0.0.1:5000/cb" })).status, 200);
  });
}

test("a mode that is off, unknown or repeated is refused in the query", async () => {
  const off = await newServer();
  const on = await newServer(ON);
  for (
    const [server, mode] of [
      [off, "jwt"],
      [off, "query.jwt"],
      [off, "form_post"],
      [on, "fragment"],
      [on, "web_message"],
      [on, "JWT"],
      [on, "jwt&response_mode=jwt"],
    ] as const
  ) {
    const path = server.authorizePath() + `&response_mode=${mode}`;
    const response = await server.send(path, { headers: { cookie: await server.signIn() } });
    const answer = new URL(response.headers.get("location")!).searchParams;
    assert.equal([answer.get("error"), answer.has("response")], ["invalid_request", false], mode);
  }
});

test("a pushed request and one that waits for a new login keep their response mode", async () => {
  const server = await newServer(ON);
  const form = {
    client_id: "app",
    client_secret: "app secret:&%+",
    response_type: "code",
    redirect_uri: APP_URI,
    response_mode: "jwt",
  };
  const { request_uri } = await (await server.send("/oauth/par", { form })).json();
  const path = `/oauth/authorize?client_id=app&response_mode=query&request_uri=${
    encodeURIComponent(request_uri)
  }`;
  const headers = { cookie: await server.signIn() };
  const page = await (await server.send(path, { headers })).text();
  const answer = { transaction: transactionOf(page), decision: "approve" };
  const location = (await server.send("/oauth/authorize", { form: answer, headers })).headers.get(
    "location",
  )!;
  assert.match(location, "?response=");
});

test("metadata names the response modes and the signing algorithms", async () => {
  const read = async (options: Partial<AuthorizationServerOptions>) => {
    const server = await newServer({ ...options, signingAlgorithms: ["ES256"] });
    const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
    return [metadata.response_modes_supported, metadata.authorization_signing_alg_values_supported];
  };
  const signed = ["jwt", "query.jwt", "fragment.jwt", "form_post.jwt"];
  assert.equal(await read({}), [["query"], undefined]);
  assert.equal(await read({ responseModes: ["form_post"] }), [["query", "form_post"], undefined]);
  assert.equal(await read({ responseModes: ["jwt"] }), [["query", ...signed], ["ES256"]]);
});

test.run();
