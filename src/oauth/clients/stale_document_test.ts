import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAssertion, newKey } from "../test_keys.ts";
import { CHALLENGE, ISSUER, newServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/stale_document");
const ID = "https://client.example/oauth/client.json";
const DOCUMENT = {
  client_id: ID,
  client_name: "Client",
  redirect_uris: ["http://localhost/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "none",
};
const json = (document: unknown, status = 200) => () => new Response(JSON.stringify(document), { status });

test("a public client refreshes for a day while its document cannot be fetched; sign-ins and clients with keys do not", async () => {
  const key = await newKey("ES256");
  const withKey = { ...DOCUMENT, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [key.jwk] } };
  const redirect_uri = "http://localhost:1/callback";
  const unavailable = [400, "temporarily_unavailable"];
  for (const document of [DOCUMENT, withKey]) {
    const isPublic = document === DOCUMENT;
    let answer = json(document);
    let fetches = 0;
    const server = await newServer({
      connect: () => {
        fetches++;
        return Promise.resolve(answer());
      },
    });
    const proof = async () => {
      const iat = Math.floor(server.now() / 1000);
      return isPublic ? {} : {
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await createAssertion(key, ID, ISSUER, { iat, exp: iat + 60 }),
      };
    };
    const send = async (form: Record<string, string>) => {
      const response = await server.token({
        client_id: ID,
        client_secret: undefined,
        ...form,
        ...await proof(),
      });
      return { status: response.status, ...await response.json() };
    };
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
    const code = (await server.authorize({ client_id: ID, redirect_uri, ...pkce })).get("code")!;
    const form = { grant_type: "authorization_code", code, redirect_uri, code_verifier: VERIFIER };
    let tokens = await send(form);
    assert.is(tokens.status, 200);
    const refresh = async () => {
      const { status, error, ...rest } = await send({
        grant_type: "refresh_token",
        refresh_token: tokens.refresh_token,
      });
      if (status === 200) tokens = rest;
      return [status, error];
    };

    answer = json({}, 503);
    server.advance(3601);
    assert.equal(await refresh(), isPublic ? [200, undefined] : unavailable);
    const cookie = await server.signIn();
    const page = await server.send(server.authorizePath({ client_id: ID, redirect_uri, ...pkce }), {
      headers: { cookie },
    });
    assert.is(page.status, 400, "redirect URIs are read from a fresh document only");
    // Also while the URL is not fetched because it failed.
    const before = fetches;
    while (fetches < before + 4) {
      server.advance(301);
      await refresh();
    }
    assert.equal(await refresh(), isPublic ? [200, undefined] : [429, "temporarily_unavailable"]);
    server.advance(86_400);
    assert.equal(await refresh(), unavailable, "a day later it is not used any more");
    answer = json(document);
    server.advance(301);
    assert.equal(await refresh(), [200, undefined]);
    // A document that is gone is not one that cannot be fetched.
    answer = json({}, 404);
    server.advance(3601);
    assert.equal(await refresh(), [401, "invalid_client"]);
  }
});

test.run();
