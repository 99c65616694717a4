/**
 * OAuth clients of other projects against a running server: discovery and every grant that they support.
 *
 * @module
 */
import * as v2 from "@modelcontextprotocol/client";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/auth.d.ts"
import { type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as oauth from "oauth4webapi";
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from "oidc-client-ts";
import * as openid from "openid-client";
import { AuthorizationCode, ClientCredentials } from "simple-oauth2";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { addUser, createTrivet, memoryStore, tool, type Trivet } from "../../mod.ts";
import { entries } from "../test_entries.ts";
import { newPerson } from "./test_person.ts";
import type { RunningServer } from "../../runtime/server.ts";

const test = suite("OAuth clients of other projects");
const CALLBACK = "https://client.example/callback";
const DOCUMENT = "https://client.example/oauth/client.json";
const [, serve] = Object.entries(entries)[0]!;
const APP = { id: "app", secret: "s3cret", redirect_uris: [CALLBACK] };
let server: RunningServer;
let issuer: string;

test.before(async () => {
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice" }, 1000);
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://127.0.0.1:${server.port}`;
  resolve(createTrivet({
    issuer,
    store,
    oauth: {
      clients: [APP],
      // Answers with the client metadata document, whose host does not exist.
      connect: (url) =>
        Promise.resolve(Response.json({
          client_id: url,
          client_name: "A client with a metadata document",
          redirect_uris: [CALLBACK],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "none",
        })),
    },
    mcp: {
      auth: "required",
      initialScope: "read",
      tools: [
        tool({
          name: "read",
          description: "Reads",
          scopes: ["read"],
          input: v.object({}),
          run: () => "done",
        }),
        tool({
          name: "change",
          description: "Changes",
          scopes: ["write"],
          input: v.object({}),
          run: () => "changed",
        }),
      ],
    },
  }));
});
test.after(() => server.close());

const INSECURE: openid.DiscoveryRequestOptions = {
  algorithm: "oauth2",
  execute: [openid.allowInsecureRequests],
};

const newUser = () => newPerson("alice", "wonderland");

/** The OAuth provider of an official client, in memory. */
class OAuthMemory {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    redirect_uris: [CALLBACK],
    client_name: "Test",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "read",
  };
  clientMetadataUrl?: string;
  readonly redirects: URL[] = [];
  registrations = 0;
  #stored: Record<string, unknown> = {};
  clientInformation(): never {
    return this.#stored.client as never;
  }
  saveClientInformation(client: unknown): void {
    if (typeof (client as { client_id_issued_at?: number }).client_id_issued_at === "number") {
      this.registrations++;
    }
    this.#stored.client = client;
  }
  tokens(): never {
    return this.#stored.tokens as never;
  }
  saveTokens(tokens: unknown): void {
    this.#stored.tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.redirects.push(url);
  }
  saveCodeVerifier(verifier: string): void {
    this.#stored.verifier = verifier;
  }
  codeVerifier(): string {
    return this.#stored.verifier as string;
  }
  saveDiscoveryState(state: unknown): void {
    this.#stored.discovery = state;
  }
  discoveryState(): never {
    return this.#stored.discovery as never;
  }
  removeRefreshToken(): void {
    this.#stored.tokens = { ...(this.#stored.tokens as object), refresh_token: undefined };
  }
  invalidateAccessToken(): void {
    this.#stored.tokens = { ...(this.#stored.tokens as object), access_token: "invalid" };
  }
}

interface Transport {
  finishAuth(code: string, iss?: string): Promise<void>;
}

/** Connects, follows the redirect, consents, and connects with the tokens. */
async function connect<T extends Transport, C extends { connect(transport: T): Promise<void> }>(
  memory: OAuthMemory,
  newTransport: () => T,
  newClient: () => C,
): Promise<C> {
  const first = newTransport();
  const error = await newClient().connect(first).then(() => undefined, (error) => error);
  assert.match(String(error), /Unauthorized/i);
  await allow(memory, first);
  const client = newClient();
  await client.connect(newTransport());
  return client;
}

async function allow(memory: OAuthMemory, transport: Transport): Promise<URL> {
  const url = memory.redirects.at(-1)!;
  const { searchParams } = await newUser().allow(url);
  assert.is(searchParams.get("error_description"), null, String(url));
  await transport.finishAuth(searchParams.get("code")!, searchParams.get("iss")!);
  return url;
}

for (const [way, hasDocument] of [["registration", false], ["its metadata document", true]] as const) {
  for (const generation of ["1.32", "2.4"] as const) {
    test(`MCP client ${generation} connects with ${way}, refreshes, and requests a missing scope`, async () => {
      const memory = new OAuthMemory();
      if (hasDocument) memory.clientMetadataUrl = DOCUMENT;
      const url = new URL("/mcp", issuer);
      let transport!: Transport;
      const newTransport = () =>
        transport = generation === "1.32"
          ? new HttpV1(url, { authProvider: memory as unknown as OAuthClientProvider })
          : new v2.StreamableHTTPClientTransport(url, {
            authProvider: memory as unknown as v2.OAuthClientProvider,
          });
      const newClient = () =>
        generation === "1.32"
          ? new ClientV1({ name: "t", version: "1" })
          : new v2.Client({ name: "t", version: "1" });
      const client = await connect(memory, newTransport as never, newClient as never) as unknown as v2.Client;
      const requested = memory.redirects[0]!.searchParams;
      assert.is(requested.get("resource"), `${issuer}/mcp`);
      assert.is(requested.get("code_challenge_method"), "S256");
      assert.is(requested.get("client_id") === DOCUMENT, hasDocument);
      assert.is(memory.registrations, hasDocument ? 0 : 1);
      const call = async (name: string) =>
        ((await client.callTool({ name, arguments: {} })) as { content: { text: string }[] }).content[0]!
          .text;
      assert.is(await call("read"), "done");

      // An expired token is refreshed without the user.
      memory.invalidateAccessToken();
      assert.is(await call("read"), "done");
      assert.is(memory.redirects.length, 1);

      // Generation 1.32 refreshes instead of requesting the scope; without a refresh token it requests it.
      if (generation === "1.32") memory.removeRefreshToken();
      // A tool that needs a scope names it, and the client requests it.
      const refused = await call("change").then(() => undefined, (error) => error);
      assert.instance(refused, Error);
      assert.is(memory.redirects.length, 2);
      assert.ok(memory.redirects[1]!.searchParams.get("scope")!.split(" ").includes("write"));
      await allow(memory, transport);
      assert.is(await call("change"), "changed");
      await client.close();
    });
  }
}

test("openid-client completes discovery, the code grant with PKCE, PAR and DPoP, refresh, introspection and revocation", async () => {
  const config = await openid.discovery(new URL(issuer), APP.id, APP.secret, undefined, INSECURE);
  const verifier = openid.randomPKCECodeVerifier();
  const parameters = {
    redirect_uri: CALLBACK,
    scope: "profile read",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state: openid.randomState(),
  };
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair("ES256"));
  const url = await openid.buildAuthorizationUrlWithPAR(config, parameters, { DPoP });
  assert.equal([...url.searchParams.keys()].sort(), ["client_id", "request_uri"]);
  const callback = await newUser().allow(url);
  const checks = { pkceCodeVerifier: verifier, expectedState: parameters.state };
  const tokens = await openid.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
  assert.equal([tokens.token_type, tokens.scope], ["dpop", "profile read"]);
  const user = await openid.fetchProtectedResource(
    config,
    tokens.access_token,
    new URL("/api/user", issuer),
    "GET",
    undefined,
    undefined,
    { DPoP },
  );
  assert.is((await user.json()).name, "Alice");
  const next = await openid.refreshTokenGrant(config, tokens.refresh_token!, undefined, { DPoP });
  assert.is((await openid.tokenIntrospection(config, next.access_token)).active, true);
  await openid.tokenRevocation(config, next.refresh_token!);
  assert.is((await openid.tokenIntrospection(config, next.access_token)).active, false);
});

test("openid-client completes dynamic registration and the device grant", async () => {
  const metadata = {
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
    token_endpoint_auth_method: "client_secret_post",
  };
  const config = await openid.dynamicClientRegistration(new URL(issuer), metadata, undefined, INSECURE);
  const device = await openid.initiateDeviceAuthorization(config, { scope: "read" });
  const polling = openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.2 });
  polling.catch(() => {});
  const cookie = await signIn();
  const send = (form: Record<string, string>) =>
    fetch(device.verification_uri, { method: "POST", headers: { cookie }, body: new URLSearchParams(form) });
  const page = await (await send({ user_code: device.user_code })).text();
  const transaction = /name="transaction" value="([^"]+)"/.exec(page)![1]!;
  assert.is((await send({ transaction, decision: "approve" })).status, 200);
  // It polls faster than the interval, and each slow_down adds five seconds (RFC 8628 section 3.5).
  const tokens = await polling;
  assert.is(tokens.scope, "read");
});

async function signIn(): Promise<string> {
  const body = new URLSearchParams({ username: "alice", password: "wonderland" });
  const response = await fetch(issuer + "/login", { method: "POST", body });
  return response.headers.get("set-cookie")!.split(";")[0]!;
}

test("oauth4webapi completes resource discovery, client credentials for a resource, and introspection as JWT", async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const url = new URL(issuer);
  const as = await oauth.processDiscoveryResponse(
    url,
    await oauth.discoveryRequest(url, { algorithm: "oauth2", ...insecure }),
  );
  assert.is(as.client_id_metadata_document_supported, true);
  const resource = await oauth.processResourceDiscoveryResponse(
    new URL("/mcp", issuer),
    await oauth.resourceDiscoveryRequest(new URL("/mcp", issuer), insecure),
  );
  assert.equal(resource.authorization_servers, [issuer]);
  const parameters = new URLSearchParams({ scope: "read", resource: resource.resource });
  const response = await oauth.clientCredentialsGrantRequest(
    as,
    { client_id: APP.id },
    oauth.ClientSecretPost(APP.secret),
    parameters,
    insecure,
  );
  const { access_token } = await oauth.processClientCredentialsResponse(as, { client_id: APP.id }, response);
  const introspected = await oauth.processIntrospectionResponse(
    as,
    { client_id: APP.id },
    await oauth.introspectionRequest(
      as,
      { client_id: APP.id },
      oauth.ClientSecretBasic(APP.secret),
      access_token,
      {
        ...insecure,
        requestJwtResponse: true,
      },
    ),
  );
  assert.equal([introspected.active, introspected.aud], [true, `${issuer}/mcp`]);
});

test("simple-oauth2 completes code, refresh and client credentials with the secret in the header or the body", async () => {
  for (const authorizationMethod of ["header", "body"] as const) {
    const auth = { tokenHost: issuer, tokenPath: "/oauth/token", authorizePath: "/oauth/authorize" };
    const { id, secret } = APP;
    const client = new AuthorizationCode({ client: { id, secret }, auth, options: { authorizationMethod } });
    const url = client.authorizeURL({ redirect_uri: CALLBACK, scope: "read", state: "s" });
    const code = (await newUser().allow(url)).searchParams.get("code")!;
    const token = await client.getToken({ code, redirect_uri: CALLBACK });
    assert.is(token.token.scope, "read");
    const next = await token.refresh();
    assert.is.not(next.token.refresh_token, token.token.refresh_token);
    const { tokenHost, tokenPath } = auth;
    const machine = new ClientCredentials({
      client: { id, secret },
      auth: { tokenHost, tokenPath },
      options: { authorizationMethod },
    });
    assert.is((await machine.getToken({ scope: "write" })).token.scope, "write");
  }
});

test("oidc-client-ts completes OpenID discovery and sign-in, and revokes both tokens", async () => {
  const stateStore = new WebStorageStateStore({ store: new InMemoryWebStorage() });
  const client = new OidcClient({
    authority: issuer,
    client_id: "app",
    client_secret: "s3cret",
    redirect_uri: CALLBACK,
    scope: "read",
    stateStore,
  });
  const { url } = await client.createSigninRequest({});
  const callback = await newUser().allow(url);
  const { access_token, refresh_token } = await client.processSigninResponse(callback.href);
  const call = (token: string) =>
    fetch(`${issuer}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
  assert.is((await call(access_token)).status, 200);
  // It throws when the response to a revocation is not JSON.
  await client.revokeToken(access_token, "access_token");
  await client.revokeToken(refresh_token!, "refresh_token");
  assert.is((await call(access_token)).status, 401);
  const refreshed = await fetch(`${issuer}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: refresh_token!,
      client_id: "app",
      client_secret: "s3cret",
    }),
  });
  assert.is((await refreshed.json()).error, "invalid_grant");
});

test.run();
