/**
 * Users who sign in at an upstream provider, from the bare URL of an MCP server: a Trivet, a browser that does by protocol
 * what a user does, and the official MCP client. Only tests import this.
 *
 * @module
 */
import * as v2 from "@modelcontextprotocol/client";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type Store, tool, type Trivet, type TrivetEvent } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";

const [, serve] = Object.entries(entries)[0]!;
export const CALLBACK: string = "http://127.0.0.1/callback";

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

/** What the user of a provider does whose pages are scripts: the URL to which the browser goes then. */
export interface ScriptedProvider {
  readonly origin: string;
  /** @param send sends a request with the cookies of the browser, and keeps those of the response */
  act(url: URL, send: (path: string, init?: RequestInit) => Promise<Response>): Promise<URL>;
}

/**
 * A browser that does what a user does: chooses the provider `work`, signs in there, and consents everywhere.
 * @param end the origin at which it stops
 */
export async function browse(
  start: URL,
  login: Record<string, string>,
  scripted?: ScriptedProvider,
  end: string = new URL(CALLBACK).origin,
): Promise<URL> {
  const jars = new Map<string, Map<string, string>>();
  let url = start;
  let form: Record<string, string> | undefined;

  async function send(to: URL, init: RequestInit): Promise<Response> {
    const jar = jars.get(to.hostname) ?? new Map<string, string>();
    jars.set(to.hostname, jar);
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const headers = { ...init.headers as Record<string, string>, cookie };
    const response = await fetch(to, { redirect: "manual", ...init, headers });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (value === "") jar.delete(name!);
      else jar.set(name!, value!);
    }
    return response;
  }

  for (let step = 0; step < 25; step++) {
    if (url.origin === end) return url;
    const response = await send(url, {
      headers: { accept: "text/html" },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    form = undefined;
    const location = response.headers.get("location");
    const page = await response.text();
    if (location !== null) {
      url = new URL(location, url);
      continue;
    }
    if (scripted && url.origin === scripted.origin) {
      url = await scripted.act(url, (path, init = {}) => send(new URL(path, url), init));
      continue;
    }
    const unescaped = page.replaceAll("&amp;", "&");
    const link = /href="([^"]*\/login\/work[^"]*)"/.exec(unescaped)?.[1];
    if (link !== undefined) {
      url = new URL(link, url);
      continue;
    }
    // The form for the decision, of a page with others beside it.
    const forms = unescaped.match(/<form[^>]*>[^]*?<\/form>/g) ?? [];
    const chosen = forms.find((each) => each.includes('name="decision"')) ?? forms[0];
    const action = /^<form[^>]* action="([^"]+)"/.exec(chosen ?? "")?.[1];
    if (chosen === undefined || action === undefined) {
      throw new Error(`unexpected page at ${url.pathname} (${response.status}): ${page.slice(-1500)}`);
    }
    const hidden = [...chosen.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const fields = [...chosen.matchAll(/<input[^>]* name="([^"]+)"/g)].map(([, name]) => name!);
    form = {
      ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])),
      ...Object.fromEntries(Object.entries(login).filter(([name]) => fields.includes(name))),
      ...(chosen.includes('name="decision"') && { decision: "approve" }),
    };
    url = new URL(action, url);
  }
  throw new Error("too many steps");
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
