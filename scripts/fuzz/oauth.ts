/**
 * The authorization server under generated requests: no answer is a fault, each has its standard's form, none costs more than its
 * budget, and what a client could do before it can still do afterwards.
 *
 * @module
 */
import "./loaded_parts.ts";
import { toClient } from "../../src/oauth/clients/client.ts";
import { APP_URI, ISSUER, newServer, type TestServer } from "../../src/oauth/test_server.ts";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import { findExcess } from "./budgets.ts";
import { createMeter } from "./meter.ts";
import { type Loot, nextRequest } from "./oauth_requests.ts";
import { newRandom } from "./random.ts";

export interface Findings {
  /** What broke a rule, with the request that did. */
  readonly problems: string[];
  /** How often each path answered with each status. */
  readonly answers: ReadonlyMap<string, number>;
}

/** Paths whose refusals are for people; all others answer in JSON. */
const PAGES = /^\/(login|logout|device|oauth\/authorize)$/;
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code" as const;
const payment = { check: () => undefined, describe: () => "Pay" };
/** Live values that are kept at a time. */
const MAX_LOOT = 200;

/** Of a usual body: how long a generated one is does not show before it is read. */
const BODY_BYTES = 500;

/** Sends this many requests. The same seed sends the same kinds. */
export async function fuzzOAuth(count: number, seed: number): Promise<Findings> {
  const random = newRandom(seed);
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
  const loot: Loot = { values: [], cookies: [] };
  const problems: string[] = [];
  const answers = new Map<string, number>();
  for (let i = 0; i < count && problems.length < 20; i++) {
    if (i % 100 === 0) await plunder(server, loot);
    const request = nextRequest(random, ISSUER, loot);
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
    const problem = judge(request.method, pathname, response, text) ??
      findExcess({ endpoint: pathname.replace(/^(\/oauth\/register)\/.*/, "$1/:id"), bytes }, cost);
    if (problem) problems.push(`${problem}: ${response.status} ${text.slice(0, 300)} for ${shown}`);
    for (const event of server.events.splice(0)) {
      if (event.type === "fault") {
        problems.push(`a fault, ${String((event.error as Error).stack)}, for ${shown}`);
      }
    }
  }
  const after = await server.token({ grant_type: "client_credentials", client_secret: "secret" });
  if (after.status !== 200) problems.push(`a good client is refused afterwards: ${await after.text()}`);
  return { problems, answers };
}

/** Makes values that are good at this moment. */
async function plunder(server: TestServer, loot: Loot): Promise<void> {
  const { values, cookies } = loot;
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
  loot.registration = { client_id: registered.client_id, token: registered.registration_access_token };
  values.splice(0, values.length - MAX_LOOT);
  cookies.splice(0, cookies.length - MAX_LOOT);
}

/** What is wrong with the answer; `undefined` when nothing is. */
function judge(method: string, path: string, response: Response, text: string): string | undefined {
  const { status, headers } = response;
  if (status >= 500) return "a server error";
  if (/\bat .*\.ts:\d+|TypeError|SyntaxError|undefined\b/.test(text)) {
    return "an answer that tells of the code";
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
    return headers.has("www-authenticate") ? undefined : "a refusal without a challenge";
  }
  if (headers.get("content-type") !== "application/json") return "an error that is not JSON";
  const body = JSON.parse(text);
  // RFC 6749 §5.2: the members, and the characters that they may have.
  if (typeof body.error !== "string" || !/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(body.error_description)) {
    return "an error that is not of RFC 6749's form";
  }
  if (headers.get("cache-control") !== "no-store") return "an error that may be cached";
  if (status === 401 && !headers.has("www-authenticate")) return "a 401 without a challenge";
  return undefined;
}
