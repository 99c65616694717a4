import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import type { PublicJwk } from "../../crypto/jwk.ts";
import type { ClientRegistration } from "../clients/client_registration.ts";
import { toClient } from "../clients/client.ts";
import { createProof, newKey } from "../test_keys.ts";
import { APP_URI, ISSUER, newServer } from "../test_server.ts";
import { findUser } from "../users/user.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";

const test = suite("oauth/openid/id_jag");
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TYPE = "urn:ietf:params:oauth:token-type:";
const B = "https://b.example";

function client(id: string, more: Partial<ClientRegistration> = {}): ClientRegistration {
  return {
    id,
    secret: `secret of ${id}`,
    redirect_uris: [APP_URI],
    grant_types: ["authorization_code", "refresh_token", EXCHANGE],
    ...more,
  };
}

const newA = () =>
  newProvider(
    {
      identityAssertions: [{
        audience: B,
        resources: [`${B}/mcp`],
        clientId: (id) => id === "ghost" ? undefined : `${id}-at-b`,
      }],
    },
    {},
    [client("agent"), client("other"), client("ghost"), client("private", { subject_type: "pairwise" })],
  );

async function exchange(
  server: TestProvider,
  form: Record<string, string>,
  client_id = "agent",
  headers: Record<string, string> = {},
) {
  const response = await server.token({
    client_id,
    client_secret: `secret of ${client_id}`,
    grant_type: EXCHANGE,
    requested_token_type: `${TYPE}id-jag`,
    audience: B,
    subject_token_type: `${TYPE}id_token`,
    ...form,
  }, headers);
  return { status: response.status, body: await response.json() };
}

test("A issues an identity assertion for an ID token, and B redeems it for an access token", async () => {
  const a = await newA();
  const { tokens, claims } = await a.signInWith({ client_id: "agent" });
  const { status, body } = await exchange(a, {
    subject_token: tokens.id_token!,
    resource: `${B}/mcp`,
    scope: "read",
  });
  assert.is(status, 200);
  assert.equal({ ...body, access_token: undefined }, {
    access_token: undefined,
    issued_token_type: `${TYPE}id-jag`,
    token_type: "N_A",
    expires_in: 300,
    scope: "read",
  });
  const jag = await a.verify(body.access_token);
  assert.is(jag.header.typ, "oauth-id-jag+jwt");
  const { jti, iat, exp, auth_time, ...rest } = jag.claims;
  assert.equal(rest, {
    iss: ISSUER,
    sub: claims.sub,
    aud: B,
    client_id: "agent-at-b",
    resource: `${B}/mcp`,
    scope: "read",
    acr: "password",
    amr: ["pwd"],
  });
  assert.is(auth_time, claims.auth_time);
  assert.is((exp as number) - (iat as number), 300);
  assert.match(String(jti), /.{16}/);

  const { keys } = await (await a.send("/.well-known/jwks.json")).json() as { keys: PublicJwk[] };
  const b = await newServer({
    issuer: B,
    resources: [{ resource: B }, { resource: `${B}/mcp` }],
    clients: [toClient({ id: "agent-at-b", secret: "s", grant_types: [BEARER] }, 0)],
    trustedIssuers: [{
      issuer: ISSUER,
      jwks: { keys },
      user: (claims) => findUser(a.store, String(claims.sub)),
    }],
  });
  const form = {
    client_id: "agent-at-b",
    client_secret: "s",
    grant_type: BEARER,
    assertion: body.access_token,
  };
  const redeemed = await b.token(form);
  assert.is(redeemed.status, 200);
  const token = await redeemed.json();
  assert.equal([token.scope, token.token_type], ["read", "Bearer"]);
  // Once.
  assert.is((await (await b.token(form)).json()).error, "invalid_grant");
  // At A it is no access token.
  const asToken = await a.send("/oauth/userinfo", {
    headers: { authorization: `Bearer ${body.access_token}` },
  });
  assert.is(asToken.status, 401);
});

test("a refresh token serves as well, and stays valid", async () => {
  const a = await newA();
  const { tokens } = await a.signInWith({ client_id: "agent" });
  const form = { subject_token: tokens.refresh_token!, subject_token_type: `${TYPE}refresh_token` };
  const { status, body } = await exchange(a, form);
  assert.is(status, 200);
  assert.is(readJws(body.access_token)!.claims.acr, "password");
  assert.not.ok("scope" in body);
  const refresh = { client_id: "agent", client_secret: "secret of agent", grant_type: "refresh_token" };
  assert.is((await a.token({ ...refresh, refresh_token: tokens.refresh_token })).status, 200);
  // After the rotation it is refused, and its family lives on.
  assert.is((await exchange(a, form)).body.error, "invalid_request");
});

test("a pairwise client gets a subject for the audience, from a refresh token only", async () => {
  const a = await newA();
  const { tokens, claims } = await a.signInWith({ client_id: "private" });
  assert.is(
    (await exchange(a, { subject_token: tokens.id_token! }, "private")).body.error,
    "invalid_request",
  );
  const { body } = await exchange(a, {
    subject_token: tokens.refresh_token!,
    subject_token_type: `${TYPE}refresh_token`,
  }, "private");
  const { sub } = readJws(body.access_token)!.claims;
  assert.not.match(String(sub), /user_/);
  assert.is.not(sub, claims.sub);
});

test("an assertion that was requested with a DPoP proof is bound to its key", async () => {
  const a = await newA();
  const { tokens } = await a.signInWith({ client_id: "agent" });
  const key = await newKey();
  const dpop = await createProof(key, `${ISSUER}/oauth/token`);
  const { body } = await exchange(a, { subject_token: tokens.id_token! }, "agent", { dpop });
  assert.equal(readJws(body.access_token)!.claims.cnf, { jkt: key.jkt });
});

test("attack: an ID token of another client, expired, altered, or of a removed user, and tokens without openid", async () => {
  const a = await newA();
  const { tokens } = await a.signInWith({ client_id: "agent" });
  const plain = await a.signInWith({ client_id: "other" });
  const refused: readonly (readonly [Record<string, string>, string?])[] = [
    [{ subject_token: tokens.id_token! }, "other"],
    [{ subject_token: tokens.id_token!.replace(/.{4}$/, "AAAA") }],
    [{ subject_token: tokens.access_token! }],
    [{ subject_token: plain.tokens.refresh_token!, subject_token_type: `${TYPE}refresh_token` }],
    [{ subject_token: tokens.access_token!, subject_token_type: `${TYPE}access_token` }],
    [{ subject_token: "" }],
    [{ subject_token: tokens.id_token!, actor_token: tokens.access_token! }],
  ];
  for (const [form, client_id] of refused) {
    const { status, body } = await exchange(a, form, client_id);
    assert.equal([status, body.error], [400, "invalid_request"], JSON.stringify(form));
  }
  a.advance(3601);
  assert.is((await exchange(a, { subject_token: tokens.id_token! })).body.error, "invalid_request");
});

test("an audience or a resource that is not configured, and a client without an account there, are refused", async () => {
  const a = await newA();
  const { tokens } = await a.signInWith({ client_id: "agent" });
  const subject_token = tokens.id_token!;
  for (
    const form of [
      { subject_token, audience: "https://c.example" },
      { subject_token, resource: `${B}/other` },
    ]
  ) assert.is((await exchange(a, form)).body.error, "invalid_target");
  const ghost = await a.signInWith({ client_id: "ghost" });
  assert.is(
    (await exchange(a, { subject_token: ghost.tokens.id_token! }, "ghost")).body.error,
    "invalid_target",
  );
  assert.is((await exchange(a, { subject_token, audience: "" })).body.error, "invalid_request");
});

test("with OpenID Connect off the token type is refused", async () => {
  const server = await newServer({ clients: [toClient(client("agent"), 0)] });
  const form = { grant_type: EXCHANGE, requested_token_type: `${TYPE}id-jag`, audience: B };
  const response = await server.token({ client_id: "agent", client_secret: "secret of agent", ...form });
  assert.is((await response.json()).error, "invalid_request");
});

test.run();
