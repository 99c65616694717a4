/**
 * Test kit: a server with credentials for upstreams, an upstream that is another Trivet with its own authorization server, and
 * a browser. They talk in process. Only tests import this.
 *
 * @module
 */
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import type { TrivetEvent } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import { type ServerSecrets, soleSecret } from "../../crypto/server_secrets.ts";
import { tool } from "../../mcp/definition/define.ts";
import type { AuthorizationServerOptions } from "../../oauth/authorization_server.ts";
import { ISSUER, newServer, type TestServer, transactionOf } from "../../oauth/test_server.ts";
import { addUser } from "../../oauth/users/user.ts";
import { createTrivet, type Trivet } from "../../trivet.ts";
import type { OAuthOptions } from "../../options/oauth_options.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { ConnectionRequired } from "./access.ts";

export const UPSTREAM = "https://upstream.example";
export const UPSTREAM_URL: string = `${UPSTREAM}/mcp`;
/** The secrets of the gateway. */
export const SECRETS: ServerSecrets = soleSecret(new Uint8Array(32).fill(9));

/** Changes an answer of the upstream, or of another host; `undefined` leaves it. */
export type Tamper = (
  request: Request,
  pass: () => Promise<Response>,
) => Promise<Response> | Response | undefined;

export interface TestUpstream {
  readonly trivet: Trivet;
  readonly store: Store;
  /** Requests that it got, in order. */
  readonly requests: Request[];
  /** Ids of its users by user name. */
  readonly users: Record<string, string>;
  tamper: Tamper;
  advance(seconds: number): void;
}

/** The users of both servers. They are called the same at the upstream, with other passwords. */
const USERS = ["alice", "mallory"] as const;

/** Another Trivet, whose tool "whoami" says who calls. */
export async function newUpstream(oauth: OAuthOptions = {}): Promise<TestUpstream> {
  const start = Date.now();
  let offset = 0;
  const now = () => start + offset;
  const store = memoryStore({ now });
  const users: Record<string, string> = {};
  for (const username of USERS) {
    users[username] = (await addUser(store, { username, password: `${username} there` }, 1000)).id;
  }
  const whoami = tool({
    name: "whoami",
    description: "Says who calls",
    run: (_, { principal }) => principal?.subject ?? "nobody",
  });
  const upstream: TestUpstream = {
    store,
    users,
    requests: [],
    tamper: () => undefined,
    advance: (seconds) => void (offset += seconds * 1000),
    trivet: createTrivet({
      issuer: UPSTREAM,
      store,
      now,
      skills: false,
      mcp: { tools: [whoami], auth: "required" },
      oauth: { passwordIterations: 1000, ...oauth },
    }),
  };
  return upstream;
}

export interface TestGateway {
  readonly server: TestServer;
  readonly credentials: Credentials;
  readonly store: Store;
  readonly events: TrivetEvent[];
  /** URLs that it fetched. */
  readonly fetched: string[];
  /** Work that goes on after responses. */
  readonly work: Promise<unknown>[];
  readonly alice: string;
  readonly mallory: string;
}

export interface GatewayParts {
  readonly upstream: Pick<TestUpstream, "trivet" | "requests" | "tamper">;
  readonly store?: Store;
  readonly secrets?: ServerSecrets;
  readonly options?: Partial<AuthorizationServerOptions>;
}

/** A server whose upstreams are added by the test. */
export async function newGateway(
  { upstream, store, secrets = SECRETS, options = {} }: GatewayParts,
): Promise<TestGateway> {
  const fetched: string[] = [];
  // deno-lint-ignore prefer-const
  let credentials: Credentials;
  const server = await newServer({
    ...(store && { store }),
    connections: (...page) => credentials.pages(...page),
    ...options,
  });
  if (!store) await addUser(server.store, { username: "mallory", password: "mallory" }, 1000);
  const connect = async (url: string, init: RequestInit): Promise<Response> => {
    fetched.push(url);
    return await sendTo(upstream, new Request(url, init));
  };
  credentials = createCredentials({
    store: server.store,
    secret: () => secrets,
    now: server.now,
    observe: (event) => server.events.push(event),
    issuer: ISSUER,
    oauth: server.service,
    connect,
    fetch: connect,
  });
  const ids = new Map<string, string>();
  for (const { value } of await server.store.list<{ id: string; username: string }>(["user"])) {
    ids.set(value.username, value.id);
  }
  return {
    server,
    credentials,
    store: server.store,
    events: server.events,
    fetched,
    work: [],
    alice: ids.get("alice")!,
    mallory: ids.get("mallory")!,
  };
}

/** Sends a request to the upstream, as its `tamper` lets it. */
export async function sendTo(
  { trivet, requests, tamper }: GatewayParts["upstream"],
  request: Request,
): Promise<Response> {
  requests.push(request.clone());
  const pass = () => trivet.fetch(request);
  return await tamper(request, pass) ?? await pass();
}

/** A caller of the gateway. */
export function callerOf(subject: string): Principal {
  return { subject, client: "app", scopes: new Set(["read"]), workspace: "default" };
}

/** A browser: it keeps cookies by host and follows no redirect. */
export interface Browser {
  get(url: string): Promise<Response>;
  post(url: string, form: Record<string, string>, site?: string): Promise<Response>;
}

export function newBrowser(gateway: TestGateway, upstream: TestUpstream): Browser {
  const context = { waitUntil: (work: Promise<unknown>) => void gateway.work.push(work) };
  return browse((request) =>
    new URL(request.url).origin === ISSUER
      ? gateway.server.service.fetch(request, context)
      : sendTo(upstream, request)
  );
}

/** A browser whose requests this function answers. */
export function browse(answer: (request: Request) => Promise<Response>): Browser {
  const cookies = new Map<string, string>();
  async function send(url: string, site: string, form?: Record<string, string>): Promise<Response> {
    const { host, href } = new URL(url, ISSUER);
    const cookie = [...cookies].filter(([name]) => name.startsWith(`${host} `))
      .map(([name, value]) => `${name.slice(host.length + 1)}=${value}`).join("; ");
    const headers = { "sec-fetch-site": site, accept: "text/html", ...(cookie && { cookie }) };
    const response = await answer(
      new Request(href, {
        headers: { ...headers, ...(form && { "content-type": "application/x-www-form-urlencoded" }) },
        ...(form && { method: "POST", body: new URLSearchParams(form).toString() }),
      }),
    );
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (/Max-Age=0(;|$)/.test(field)) cookies.delete(`${host} ${name}`);
      else cookies.set(`${host} ${name}`, value!);
    }
    return response;
  }
  return {
    get: (url) => send(url, "none"),
    post: (url, form, site = "same-origin") => send(url, site, form),
  };
}

/** A browser that is signed in at both servers as users with these names. */
export async function signedIn(
  gateway: TestGateway,
  upstream: TestUpstream,
  here: "alice" | "mallory",
  there: "alice" | "mallory" = here,
): Promise<Browser> {
  const browser = newBrowser(gateway, upstream);
  const password = here === "alice" ? "wonderland" : "mallory";
  await browser.post(`${ISSUER}/login`, { username: here, password });
  await browser.post(`${UPSTREAM}/login`, { username: there, password: `${there} there` });
  return browser;
}

/** The address that a call without a connection names. @throws {Error} when it needs none */
export async function connectUrl(gateway: TestGateway, user: string, name = "up"): Promise<string> {
  try {
    await gateway.credentials.accessFor(name).headers(callerOf(user));
  } catch (error) {
    if (error instanceof ConnectionRequired) return error.url;
    throw error;
  }
  throw new Error("The user is connected");
}

/** The hidden fields of the forms of a page. */
export function hiddenOf(page: string): Record<string, string> {
  const hidden = [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
}

/** Sends the consent of a page of the gateway: where the browser is sent then. */
export async function consent(browser: Browser, url: string): Promise<string> {
  const form = hiddenOf(await (await browser.get(url)).text());
  const response = await browser.post(`${ISSUER}/account/connections/connect`, form);
  const location = response.headers.get("location");
  if (location === null) throw new Error(`Status ${response.status}: ${await response.text()}`);
  return location;
}

/** Allows it at the authorization server of the upstream: the URL of the callback. */
export async function allow(browser: Browser, location: string): Promise<string> {
  const page = await browser.get(location);
  if (page.status !== 200) return page.headers.get("location")!;
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const response = await browser.post(`${UPSTREAM}/oauth/authorize`, form);
  return response.headers.get("location")!;
}

/** The whole way of a user to a connection: the response to the callback. */
export async function connectUser(browser: Browser, name = "up"): Promise<Response> {
  const location = await consent(browser, `${ISSUER}/account/connections/connect?upstream=${name}`);
  return await browser.get(await allow(browser, location));
}

/** Calls the tool "whoami" of the upstream with these header fields: the id of the user there, or the status. */
export async function whoami(
  upstream: TestUpstream,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const response = await sendTo(
    upstream,
    new Request(UPSTREAM_URL, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "whoami", arguments: {} },
      }),
    }),
  );
  if (response.status !== 200) return String(response.status);
  const { result } = await response.json();
  return result.content[0].text;
}

/** The reasons of the failures so far. */
export function failuresOf({ events }: TestGateway): string[] {
  return events.flatMap((event) => event.type === "connection_failed" ? [event.reason] : []);
}
