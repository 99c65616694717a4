import { suite } from "uvu";
import * as assert from "uvu/assert";
import { importPublicJwk, type PublicJwk } from "../../crypto/jwk.ts";
import { readJws, verifyJws } from "../../crypto/jws.ts";
import { toClient } from "../clients/client.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/introspect, signed");
const SIGNED = "application/token-introspection+jwt";
const WEB = { client_id: "web", client_secret: "web-secret" };

async function introspect(server: TestServer, token: string, form = WEB) {
  const response = await server.send("/oauth/introspect", {
    form: { token, ...form },
    headers: { accept: SIGNED },
  });
  const text = await response.text();
  const { header, claims } = readJws(text)!;
  const { keys } = await (await server.send("/.well-known/jwks.json")).json() as { keys: PublicJwk[] };
  const jwk = keys.find(({ kid }) => kid === header.kid)!;
  const key = await importPublicJwk(jwk, header.alg as "ES256");
  assert.ok(await verifyJws(key, "token-introspection+jwt", text), "signed with a published key");
  return { response, header, claims };
}

test("RFC 9701 section 5: a client that accepts a signed response gets a JWT whose audience is the client", async () => {
  const server = await newServer();
  const { access_token } = await server.tokens();
  const { response, header, claims } = await introspect(server, access_token!);
  assert.is(response.headers.get("content-type"), SIGNED);
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.is(header.typ, "token-introspection+jwt");
  const { iss, aud, iat, token_introspection, ...rest } = claims as Record<string, unknown>;
  assert.equal([iss, aud, rest], [ISSUER, "web", {}], "no exp and no sub, unlike an access token");
  assert.ok(Math.abs(iat as number - Date.now() / 1000) < 5);
  const plain = await (await server.send("/oauth/introspect", { form: { token: access_token, ...WEB } }))
    .json();
  assert.equal(token_introspection, plain);
});

test("RFC 9701 section 5: a request without client authentication gets 400, with a wrong Basic secret 401", async () => {
  const server = await newServer();
  const ask = async (headers: Record<string, string>) => {
    const response = await server.send("/oauth/introspect", { form: { token: "x" }, headers });
    return [response.status, (await response.json()).error];
  };
  const basic = `Basic ${btoa("web:wrong")}`;
  assert.equal(await ask({ accept: SIGNED }), [400, "invalid_client"]);
  assert.equal(await ask({ accept: SIGNED, authorization: basic }), [401, "invalid_client"]);
  assert.equal(await ask({}), [401, "invalid_client"], "RFC 7662 section 2.3");
});

test("RFC 9110 section 12.4.2: a JWT with weight 0 is not acceptable, with any other weight it is", async () => {
  const server = await newServer();
  const typeFor = async (accept: string) => {
    const response = await server.send("/oauth/introspect", {
      form: { token: "x", ...WEB },
      headers: { accept },
    });
    return response.headers.get("content-type");
  };
  for (const weight of ["; q=0.001", ";Q=1.000", ";q=0.01, a/b;q=0"]) {
    assert.is(await typeFor(SIGNED + weight), SIGNED, weight);
  }
  for (const weight of [";q=0", " ; a=b ; Q=0.000 ; c=d", ";q=0., application/json"]) {
    assert.is(await typeFor(SIGNED + weight), "application/json", weight);
  }
});

test("an unknown token is inactive without further members", async () => {
  const { claims } = await introspect(await newServer(), "trivet_at_unknown");
  assert.equal((claims as Record<string, unknown>).token_introspection, { active: false });
});

test("RFC 9701 section 6: the response is signed with the algorithm that the client registered", async () => {
  const clients = [
    toClient({ id: "web", secret: "web-secret", introspection_signed_response_alg: "EdDSA" }, 0),
  ];
  const server = await newServer({ clients, signingAlgorithms: ["ES256", "EdDSA", "RS256"] });
  assert.is((await introspect(server, "x")).header.alg, "EdDSA");
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.equal(metadata.introspection_signing_alg_values_supported, ["ES256", "EdDSA", "RS256"]);
});

test("the response JWT is not accepted as an access token", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const { access_token } = await server.tokens({ scope: "profile" });
  const response = await server.send("/oauth/introspect", {
    form: { token: access_token, ...WEB },
    headers: { accept: SIGNED },
  });
  const user = await server.send("/api/user", {
    headers: { authorization: `Bearer ${await response.text()}` },
  });
  assert.is(user.status, 401);
});

test("RFC 7662 section 4: a self-registered client may introspect only its own tokens", async () => {
  const clients = [
    toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0),
    {
      ...toClient({ id: "self", secret: "s", redirect_uris: ["https://self.example/cb"] }, 0),
      source: "registration" as const,
    },
  ];
  const server = await newServer({ clients });
  const SELF = { client_id: "self", client_secret: "s" };
  const ask = async (token: string) =>
    (await (await server.send("/oauth/introspect", { form: { token, ...SELF } })).json()).active;
  const own = await (await server.token({ grant_type: "client_credentials", ...SELF })).json();
  const other = await (await server.token({ grant_type: "client_credentials" })).json();
  assert.equal([await ask(own.access_token), await ask(other.access_token)], [true, false]);
});

test("a rotated refresh token is inactive while its grant is valid", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens();
  const next = await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
  const ask = async (token: string) => {
    const form = { token, client_id: "app", client_secret: "app secret:&%+" };
    return (await (await server.send("/oauth/introspect", { form })).json()).active;
  };
  assert.equal([await ask(refresh_token!), await ask(next.refresh_token)], [false, true]);
});

test("RFC 7662 section 4: a resource server may introspect only tokens for its resources", async () => {
  const MCP = `${ISSUER}/mcp`;
  const clients = [
    toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0),
    toClient({ id: "tools", secret: "t", introspects: [MCP] }, 0),
    // The spelling of new URL(…).href, which is accepted wherever a resource is named.
    toClient({ id: "host", secret: "h", introspects: ["https://AS.example:443/"] }, 0),
  ];
  const server = await newServer({ clients });
  const ask = async (client_id: string, client_secret: string, resource?: string) => {
    const { access_token } = await server.tokens(resource === undefined ? {} : { resource });
    const form = { token: access_token, client_id, client_secret };
    return (await (await server.send("/oauth/introspect", { form })).json()).active;
  };
  assert.equal([await ask("tools", "t", MCP), await ask("tools", "t")], [true, false]);
  assert.equal([await ask("host", "h", MCP), await ask("host", "h", ISSUER), await ask("host", "h")], [
    false,
    true,
    true,
  ]);
});

test.run();
