/**
 * Clients of other projects, a tool server and an API that only `trivet/protect` guards, and an issuer elsewhere, each on
 * a socket of its own.
 *
 * @module
 */
import * as mcp from "@modelcontextprotocol/client";
import * as openid from "openid-client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool, toolServer } from "../../mcp_service.ts";
import { addUser, createTrivet, memoryStore } from "../../mod.ts";
import { type Principal, resourceServer } from "../../resource_server.ts";
import type { FetchHandler, RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { newPerson } from "./test_person.ts";

const test = suite("clients of other projects at a guarded server");
const CALLBACK = "https://client.example/callback";
const APP = {
  id: "app",
  secret: "s3cret",
  redirect_uris: [CALLBACK],
  grant_types: ["client_credentials"],
} as const;
const [, serve] = Object.entries(entries)[0]!;
const running: RunningServer[] = [];
test.after(async () => {
  for (const server of running) await server.close();
});

/** Serves what `create` makes for its own address. */
async function start(create: (url: string) => FetchHandler | Promise<FetchHandler>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<FetchHandler>();
  const server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  running.push(server);
  const url = `http://127.0.0.1:${server.port}`;
  resolve(await create(url));
  return url;
}

/** An issuer for these resources. */
async function startIssuer(resources: readonly string[]): Promise<string> {
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice" }, 1000);
  return await start((issuer) =>
    createTrivet({
      issuer,
      store,
      mcp: false,
      skills: false,
      oauth: {
        clients: [APP],
        resources: resources.map((resource) => ({ resource, accessTokenFormat: "jwt" })),
      },
    })
  );
}

/** The OAuth provider of the MCP client, in memory. */
class OAuthMemory {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "read",
  };
  redirect: URL | undefined;
  #client: unknown;
  #tokens: unknown;
  #verifier = "";
  #discovery: unknown;
  clientInformation = () => this.#client as never;
  saveClientInformation = (client: unknown) => void (this.#client = client);
  tokens = () => this.#tokens as never;
  saveTokens = (tokens: unknown) => void (this.#tokens = tokens);
  redirectToAuthorization = (url: URL) => void (this.redirect = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: unknown) => void (this.#discovery = state);
  discoveryState = () => this.#discovery as never;
}

test("an MCP client finds the issuer of a tool server, registers there, and calls a tool", async () => {
  let issuer = "";
  const server = await start(async (url) => {
    issuer = await startIssuer([`${url}/mcp`]);
    return toolServer({
      url,
      store: memoryStore(),
      auth: "required",
      authenticate: resourceServer({ issuer, resource: `${url}/mcp` }),
      tools: [
        tool({
          name: "whoami",
          description: "Returns the issuer of your token",
          scopes: ["read"],
          run: (_, { principal }) => `${principal!.issuer} ${principal!.subject !== undefined}`,
        }),
      ],
    });
  });
  const memory = new OAuthMemory();
  const newTransport = () =>
    new mcp.StreamableHTTPClientTransport(new URL(`${server}/mcp`), { authProvider: memory as never });
  const first = newTransport();
  const error = await new mcp.Client({ name: "t", version: "1" }).connect(first).catch((error) => error);
  assert.match(String(error), /Unauthorized/i);
  assert.is(memory.redirect!.origin, issuer);
  assert.is(memory.redirect!.searchParams.get("resource"), `${server}/mcp`);
  const { searchParams } = await newPerson("alice", "wonderland").allow(memory.redirect!);
  await first.finishAuth(searchParams.get("code")!, searchParams.get("iss")!);
  const client = new mcp.Client({ name: "t", version: "1" });
  await client.connect(newTransport());
  const { content } = await client.callTool({ name: "whoami", arguments: {} }) as {
    content: { text: string }[];
  };
  assert.is(content[0]!.text, `${issuer} true`);
  await client.close();
});

test("openid-client calls an API with a DPoP-bound token of the issuer", async () => {
  let issuer = "";
  const api = await start(async (url) => {
    issuer = await startIssuer([url]);
    const guard = resourceServer({ issuer, resource: url });
    return {
      async fetch(request: Request) {
        const caller: Principal | Response = await guard.protect(request, { scopes: ["read"] });
        return caller instanceof Response ? caller : Response.json({ client: caller.client });
      },
    };
  });
  const config = await openid.discovery(new URL(issuer), APP.id, APP.secret, undefined, {
    algorithm: "oauth2",
    execute: [openid.allowInsecureRequests],
  });
  const newHandle = async () => openid.getDPoPHandle(config, await openid.randomDPoPKeyPair("ES256"));
  const DPoP = await newHandle();
  const parameters = { scope: "read", resource: api };
  const { access_token, token_type } = await openid.clientCredentialsGrant(config, parameters, { DPoP });
  assert.is(token_type, "dpop");
  const call = (handle: openid.DPoPHandle) =>
    openid.fetchProtectedResource(
      config,
      access_token,
      new URL(`${api}/orders?x=1`),
      "GET",
      undefined,
      undefined,
      {
        DPoP: handle,
      },
    );
  assert.equal(await (await call(DPoP)).json(), { client: "app" });
  assert.is((await fetch(api, { headers: { authorization: `Bearer ${access_token}` } })).status, 401);
  const refused = await call(await newHandle()).then(({ status }) => status, (error) => error.status);
  assert.is(refused, 401);
});

test.run();
