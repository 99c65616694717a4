/**
 * OpenID Connect clients of other projects in their default mode against `trivet serve --openid`.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import process from "node:process";
import * as oauth from "oauth4webapi";
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from "oidc-client-ts";
import * as openid from "openid-client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { type RunningTrivet, startTrivet, temporaryFolder } from "../test_process.ts";
import { newPerson } from "./test_person.ts";

const test = suite("OpenID Connect clients of other projects");
const folder = temporaryFolder();
const SCOPE = "openid profile email offline_access";
let server: RunningTrivet;

test.before(async () => {
  server = await startTrivet(["--data", folder.path, "--openid"]);
});
test.after(async () => {
  await server.stop();
  folder.remove();
});

const newUser = () => newPerson(server.facts.user.username, server.facts.user.password!);

test("openid-client in its default mode signs in, reads user info, refreshes, and signs out", async () => {
  const { issuer, client } = server.facts;
  const execute = [openid.allowInsecureRequests];
  const config = await openid.discovery(new URL(issuer), client.id, client.secret!, undefined, { execute });
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedNonce = openid.randomNonce();
  const expectedState = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: client.redirect_uri,
    scope: SCOPE,
    prompt: "consent",
    max_age: "600",
    nonce: expectedNonce,
    state: expectedState,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const callback = await newUser().allow(url);
  const checks = { pkceCodeVerifier, expectedNonce, expectedState, maxAge: 600, idTokenExpected: true };
  const tokens = await openid.authorizationCodeGrant(config, callback, checks);
  const { sub } = tokens.claims()!;
  assert.is(tokens.scope, SCOPE);
  const { updated_at, ...info } = await openid.fetchUserInfo(config, tokens.access_token, sub);
  assert.type(updated_at, "number");
  assert.equal(info, {
    sub,
    name: "Demo User",
    preferred_username: "demo",
    email: "demo@example.com",
    email_verified: false,
  });
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token!);
  assert.is(refreshed.claims()!.sub, sub);
  const out = openid.buildEndSessionUrl(config, { id_token_hint: tokens.id_token! });
  assert.is(out.pathname, "/oauth/logout");
  assert.is((await fetch(out)).status, 200);
});

test("openid-client registers with OpenID Connect metadata and gets pairwise subjects", async () => {
  const { issuer } = server.facts;
  const metadata = {
    redirect_uris: ["https://rp.example/cb"],
    post_logout_redirect_uris: ["https://rp.example/out"],
    id_token_signed_response_alg: "ES256",
    subject_type: "pairwise",
  };
  const execute = [openid.allowInsecureRequests];
  const config = await openid.dynamicClientRegistration(new URL(issuer), metadata, undefined, { execute });
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: "https://rp.example/cb",
    scope: "openid",
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const callback = await newUser().allow(url);
  const tokens = await openid.authorizationCodeGrant(config, callback, {
    pkceCodeVerifier,
    idTokenExpected: true,
  });
  assert.not.match(tokens.claims()!.sub, /^user_/);
});

test("oauth4webapi validates discovery, the ID token with its signature, and UserInfo", async () => {
  const { issuer, client: { id, secret, redirect_uri } } = server.facts;
  const insecure = { [oauth.allowInsecureRequests]: true };
  const url = new URL(issuer);
  const as = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure));
  const client: oauth.Client = { client_id: id };
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  const authorize = new URL(as.authorization_endpoint!);
  authorize.search = new URLSearchParams({
    response_type: "code",
    client_id: id,
    redirect_uri,
    scope: "openid email",
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    claims: JSON.stringify({ userinfo: { name: { essential: true } } }),
  }).toString();
  const callback = await newUser().allow(authorize);
  const parameters = oauth.validateAuthResponse(as, client, callback, state);
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.ClientSecretBasic(secret!),
    parameters,
    redirect_uri,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(as, response, insecure);
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)!;
  const answer = await oauth.userInfoRequest(as, client, tokens.access_token, insecure);
  const info = await oauth.processUserInfoResponse(as, client, sub, answer);
  assert.equal([info.name, info.email], ["Demo User", "demo@example.com"]);
});

test("oidc-client-ts signs in and loads UserInfo", async () => {
  const { issuer, client: { id, secret, redirect_uri } } = server.facts;
  const client = new OidcClient({
    authority: issuer,
    client_id: id,
    client_secret: secret!,
    redirect_uri,
    scope: "openid profile",
    loadUserInfo: true,
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  });
  const request = await client.createSigninRequest({ state: "x" });
  const callback = await newUser().allow(request.url);
  const answer = await client.processSigninResponse(callback.href);
  assert.equal([answer.profile.name, answer.profile.iss, answer.profile.aud], ["Demo User", issuer, id]);
});

/** Prints the authorization URL, reads the callback URL, validates the ID token, prints claims. */
const AUTHLIB = `
import json, sys
import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import jwt
from authlib.oidc.core import CodeIDToken
issuer, client_id, secret, callback = sys.argv[1:]
metadata = requests.get(issuer + "/.well-known/openid-configuration").json()
client = OAuth2Session(client_id, secret, scope="openid profile", redirect_uri=callback,
    code_challenge_method="S256", token_endpoint_auth_method="client_secret_basic")
verifier = "v" * 60
url, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier, nonce="n-1")
print(url, flush=True)
answer = sys.stdin.readline().strip()
token = client.fetch_token(metadata["token_endpoint"], authorization_response=answer, code_verifier=verifier)
claims = jwt.decode(token["id_token"], requests.get(metadata["jwks_uri"]).json(), claims_cls=CodeIDToken,
    claims_options={"iss": {"values": [issuer]}, "aud": {"values": [client_id]}},
    claims_params={"nonce": "n-1", "client_id": client_id, "access_token": token["access_token"]})
claims.validate()
info = client.get(metadata["userinfo_endpoint"]).json()
print(json.dumps([claims["sub"] == info["sub"], info["name"]]))
`;
const PYTHON = "/usr/bin/python3";

if (spawnSync(PYTHON, ["-c", "import authlib"]).status !== 0 && process.env.CI !== "true") {
  skipBecause(test, "python3-authlib is not installed: Authlib is not tested");
} else {
  test("Authlib validates the ID token and reads UserInfo", async () => {
    const { issuer, client: { id, secret, redirect_uri } } = server.facts;
    const child = spawn(PYTHON, ["-c", AUTHLIB, issuer, id, secret!, redirect_uri], {
      env: { ...process.env, AUTHLIB_INSECURE_TRANSPORT: "1" },
    });
    let [out, err] = ["", ""];
    child.stderr.on("data", (chunk) => err += chunk);
    const code = await new Promise((resolve) => {
      const late = setTimeout(() => child.kill("SIGKILL"), 30_000);
      child.stdout.on("data", async (chunk) => {
        const before = out;
        out += chunk;
        if (before.includes("\n") || !out.includes("\n")) return;
        const callback = await newUser().allow(out.split("\n")[0]!);
        child.stdin.end(callback.href + "\n");
      });
      child.on("close", (code) => {
        clearTimeout(late);
        resolve(code);
      });
    });
    assert.is(code, 0, err);
    assert.equal(JSON.parse(out.split("\n")[1]!), [true, "Demo User"]);
  });
}

test.run();
