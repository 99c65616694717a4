/**
 * Sends generated requests to the authorization server: no response may be a fault, each must have the form of its standard
 * and keep its budget, and a valid client must work afterwards.
 *
 * @module
 */
import "./loaded_parts.ts";
import { toClient } from "../../src/oauth/clients/client.ts";
import { APP_URI, ISSUER, newServer, type TestServer } from "../../src/oauth/test_server.ts";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import { findExcess } from "./budgets.ts";
import { createMeter } from "./meter.ts";
import { type Corpus, nextRequest } from "./oauth_requests.ts";
import { createRandom } from "./random.ts";

export interface Findings {
  /** Violations, each with its request. */
  readonly problems: string[];
  /** The number of responses, by path and status. */
  readonly answers: ReadonlyMap<string, number>;
}

/** Paths whose errors are pages; all others respond with JSON. */
const PAGES = /^\/(login|logout|device|oauth\/authorize)$/;
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code" as const;
const payment = { check: () => undefined, describe: () => "Pay" };
/** Maximum number of values to reuse. */
const MAX_VALUES = 200;

/** Size of a usual body: the length of a generated one is not known before it is read. */
const BODY_BYTES = 500;

/** Sends this many requests. The same seed sends the same kinds. */
export async function fuzzOAuth(count: number, seed: number): Promise<Findings> {
  const random = createRandom(seed);
  const meter = createMeter(memoryStore());
  const server = await newServer({
    store: meter.store,
    clients: [
      toClient({ id: "app", secret: "secret", domain: "app.example" }, 0),
      toClient({ id: "web", secret: "secret", redirect_uris: [APP_URI] }, 0),
      toClient({ id: "native", redirect_uris: ["http://127.0.0.1/callback"] }, 0),
      toClient({ id: "tv", grant_types: [DEVICE] }, 0),
    ],
    authorizationDetailTypes: { payment },
    passwordIterations: 1000,
  });
  const corpus: Corpus = { values: [], cookies: [] };
  const problems: string[] = [];
  const answers = new Map<string, number>();
  for (let i = 0; i < count && problems.length < 20; i++) {
    if (i % 100 === 0) await collectValues(server, corpus);
    const request = nextRequest(random, ISSUER, corpus);
    const shown = `request ${i} of seed ${seed}: ${request.method} ${request.url.slice(0, 300)}`;
    const { pathname } = new URL(request.url);
    const context = { ip: `192.0.2.${random.below(250)}`, waitUntil: meter.waitUntil };
    const bytes = request.url.length + Number(request.headers.get("content-length") ?? 0) + BODY_BYTES;
    const { result: [response, text], cost } = await meter.measure(async () => {
      const response = await server.service.fetch(request, context);
      return [response, await response.text()] as const;
    });
    const key = `${request.method} ${pathname.replace(/client_.*/, "own")} ${response.status}`;
    answers.set(key, (answers.get(key) ?? 0) + 1);
    const problem = findProblem(request.method, pathname, response, text) ??
      findExcess({ endpoint: pathname.replace(/^(\/oauth\/register)\/.*/, "$1/:id"), bytes }, cost);
    if (problem) problems.push(`${problem}: ${response.status} ${text.slice(0, 300)} for ${shown}`);
    for (const event of server.events.splice(0)) {
      if (event.type === "fault") {
        problems.push(`a fault, ${String((event.error as Error).stack)}, for ${shown}`);
      }
    }
  }
  const after = await server.token({ grant_type: "client_credentials", client_secret: "secret" });
  if (after.status !== 200) problems.push(`a valid client is refused afterwards: ${await after.text()}`);
  return { problems, answers };
}

/** Collects values that are valid now. */
async function collectValues(server: TestServer, corpus: Corpus): Promise<void> {
  const { values, cookies } = corpus;
  const secret = { client_secret: "secret" };
  const cookie = await server.signIn();
  cookies.push(cookie);
  const page = await (await server.send(server.authorizePath({ prompt: "consent" }), { headers: { cookie } }))
    .text();
  const code = (await server.authorize({ scope: "read write" })).get("code")!;
  const tokens =
    await (await server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI, ...secret }))
      .json();
  const device =
    await (await server.send("/oauth/device_authorization", { form: { client_id: "tv", scope: "read" } }))
      .json();
  const pushed = await (await server.send("/oauth/par", {
    form: { client_id: "app", ...secret, response_type: "code", redirect_uri: APP_URI },
  })).json();
  const transaction = /name="transaction" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const fresh = (await server.authorize()).get("code")!;
  values.push(
    fresh,
    tokens.access_token,
    tokens.refresh_token,
    device.device_code,
    device.user_code,
    pushed.request_uri,
    transaction,
  );
  const registered = await (await server.send("/oauth/register", {
    form: JSON.stringify({ redirect_uris: [APP_URI] }),
    headers: { "content-type": "application/json" },
  })).json();
  corpus.registration = { client_id: registered.client_id, token: registered.registration_access_token };
  values.splice(0, values.length - MAX_VALUES);
  cookies.splice(0, cookies.length - MAX_VALUES);
}

/** Describes what is wrong with a response; `undefined` if it is correct. */
function findProblem(method: string, path: string, response: Response, text: string): string | undefined {
  const { status, headers } = response;
  if (status >= 500) return "a server error";
  if (/\bat .*\.ts:\d+|TypeError|SyntaxError|undefined\b/.test(text)) {
    return "a response that reveals source code";
  }
  const location = headers.get("location");
  if (
    location !== null &&
    !/^(\/(login\?redirect=|oauth\/authorize|device)|\/$|\/[A-Za-z0-9._~%?&=\/-]*$|https:\/\/app\.example[/:?]|http:\/\/127\.0\.0\.1)/
      .test(location)
  ) {
    return `a redirect to ${location.slice(0, 100)}`;
  }
  if (method === "HEAD" || method === "OPTIONS" || status < 400) return undefined;
  if (status === 404 || status === 405) return undefined;
  if (PAGES.test(path)) return text.length > 0 ? undefined : "an empty page";
  if (path === "/api/user") {
    return headers.has("www-authenticate") ? undefined : "an error without a challenge";
  }
  if (headers.get("content-type") !== "application/json") return "an error that is not JSON";
  const body = JSON.parse(text);
  // RFC 6749 §5.2: the members, and the characters that they may have.
  if (typeof body.error !== "string" || !/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(body.error_description)) {
    return "an error that does not have the form of RFC 6749";
  }
  if (headers.get("cache-control") !== "no-store") return "an error without no-store";
  if (status === 401 && !headers.has("www-authenticate")) return "a 401 without a challenge";
  return undefined;
}
