/**
 * Users who sign in at an upstream provider, from the bare URL of an MCP server: a Trivet, and the official MCP client. Only tests import this.
 *
 * @module
 */
import * as v2 from "@modelcontextprotocol/client";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type Store, tool, type Trivet, type TrivetEvent } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { browse, CALLBACK, type ScriptedProvider } from "./test_browser.ts";

const [, serve] = Object.entries(entries)[0]!;

export interface Running {
  readonly server: RunningServer;
  readonly issuer: string;
  readonly store: Store;
  readonly trivet: Trivet;
  readonly events: readonly TrivetEvent[];
}

/** Starts a Trivet. Other host names than the provider's: cookies do not distinguish ports. */
export async function start(
  host: string,
  options: (issuer: string) => Record<string, unknown>,
): Promise<Running> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  const issuer = `http://${host}:${server.port}`;
  const store = memoryStore();
  const whoAmI = tool({
    name: "who",
    description: "Says who calls",
    run: (_, { principal }) => principal?.subject ?? "no one",
  });
  const mcp = { auth: "required", definitions: [whoAmI] } as const;
  const events: TrivetEvent[] = [];
  const observe = (event: TrivetEvent) => void events.push(event);
  const trivet = createTrivet({ issuer, store, onEvent: observe, oauth: options(issuer), mcp });
  resolve(trivet);
  return { server, issuer, store, trivet, events };
}

/** The official MCP client, which knows nothing but the URL: what the tool says. */
export async function callFromBareUrl(
  issuer: string,
  login: Record<string, string>,
  scripted?: ScriptedProvider,
): Promise<string> {
  const stored: Record<string, unknown> = {};
  let redirect: URL | undefined;
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: "agent", redirect_uris: [CALLBACK] },
    clientInformation: () => stored["client"],
    saveClientInformation: (client: unknown) => void (stored["client"] = client),
    tokens: () => stored["tokens"],
    saveTokens: (tokens: unknown) => void (stored["tokens"] = tokens),
    redirectToAuthorization: (url: URL) => void (redirect = url),
    codeVerifier: () => stored["verifier"],
    saveCodeVerifier: (verifier: string) => void (stored["verifier"] = verifier),
    discoveryState: () => stored["discovery"],
    saveDiscoveryState: (state: unknown) => void (stored["discovery"] = state),
  } as unknown as v2.OAuthClientProvider;
  const transport = () =>
    new v2.StreamableHTTPClientTransport(new URL("/mcp", issuer), { authProvider: provider });
  const first = transport();
  const error = await new v2.Client({ name: "t", version: "1" }).connect(first).catch((error) => error);
  assert.match(String(error), /Unauthorized/i);
  const { searchParams } = await browse(redirect!, login, scripted);
  assert.is(searchParams.get("error_description"), null);
  await first.finishAuth(searchParams.get("code")!, searchParams.get("iss")!);
  const client = new v2.Client({ name: "t", version: "1" });
  await client.connect(transport());
  const result = await client.callTool({ name: "who", arguments: {} }) as { content: { text: string }[] };
  await client.close();
  return result.content[0]!.text;
}
