/**
 * Asks an AuthZEN policy decision point about a call (Authorization API 1.0, Access Evaluation API). The request is the default
 * mapping of the binding for MCP, with the MCP server, the scopes and the arguments added
 * (https://github.com/openid/authzen/blob/main/profiles/authzen-coaz-mcp-binding-1_0.md).
 *
 * @module
 */
import { defaultFetch } from "../../http/network/default_fetch.ts";
import { checkConfiguredUrl, createConfiguredFetch } from "../../http/network/public_fetch.ts";
import type { Principal } from "../../http/principal.ts";
import { userKey } from "../../mcp/session/principal_key.ts";
import { digestJson } from "./canonical_json.ts";
import { PolicyError } from "./condition.ts";
import type { Match } from "./glob.ts";
import { compileNameList } from "./match.ts";
import type { OfferedDefinition } from "./offered.ts";
import type { DecisionPointOptions } from "./policy_options.ts";
import { checkMembers } from "./rules.ts";

/** What it decided. `failed`: it did not answer, and `onError` says that this denies, or too many requests are pending. */
export type Decision = "allow" | "deny" | "failed";

/** A policy decision point. */
export interface DecisionPoint {
  decide(
    definition: OfferedDefinition,
    name: string,
    input: unknown,
    caller: Principal | undefined,
  ): Promise<Decision>;
}

/** What it needs of the server. */
export interface DecisionPointServer {
  readonly now: () => number;
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Called when it failed. */
  readonly onFailure: (error: unknown) => void;
}

const MEMBERS: ReadonlySet<string> = new Set<keyof DecisionPointOptions>([
  "url",
  "headers",
  "timeout",
  "onError",
  "cache",
  "arguments",
  "tools",
]);
const PLACE = "decisionPoint";
const PATH = "/access/v1/evaluation";
const MAX_ANSWER_BYTES = 64 * 1024;
/** Requests at a time. Calls beyond are denied, whatever `onError` is: a caller can make as many as that. */
const MAX_PENDING = 256;
/** Of one user, unless anonymous: many requests of one must not make those of others fail. */
const MAX_PENDING_BY_USER = 64;
const MAX_CACHED = 10_000;
const ACTIONS = {
  tool: ["tools/call", "tool"],
  resource: ["resources/read", "resource"],
  resource_template: ["resources/read", "resource"],
  prompt: ["prompts/get", "prompt"],
} as const;

/** @throws {PolicyError} */
export function createDecisionPoint(
  options: DecisionPointOptions,
  { now, fetch: given, onFailure }: DecisionPointServer,
): DecisionPoint {
  checkMembers(options, MEMBERS, PLACE);
  const { headers = {}, timeout = 2000, onError = "deny", cache = 0, arguments: sends = true } = options;
  const url = readUrl(options.url);
  if (!Number.isFinite(timeout) || timeout < 1) {
    throw new PolicyError(`${PLACE}.timeout`, "must be a number of milliseconds of at least 1");
  }
  if (onError !== "deny" && onError !== "allow") {
    throw new PolicyError(`${PLACE}.onError`, "must be deny or allow");
  }
  if (!Number.isFinite(cache) || cache < 0) {
    throw new PolicyError(`${PLACE}.cache`, "must be a number of seconds");
  }
  if (typeof sends !== "boolean") throw new PolicyError(`${PLACE}.arguments`, "must be true or false");
  const isAsked: Match = options.tools === undefined
    ? () => true
    : compileNameList(options.tools, `${PLACE}.tools`);
  const send = createConfiguredFetch({
    connect: given ?? defaultFetch,
    limit: MAX_ANSWER_BYTES,
    timeout,
  });
  const fields = readFields(headers);
  const cached = new Map<string, { readonly decision: "allow" | "deny"; readonly until: number }>();
  let pending = 0;
  const pendingByUser = new Map<string, number>();

  async function ask(body: string, key: string | undefined): Promise<"allow" | "deny"> {
    const { text, headers } = await send(url, { method: "POST", headers: fields, body });
    const answer: unknown = JSON.parse(text);
    const { decision } = (typeof answer === "object" && answer !== null ? answer : {}) as {
      readonly decision?: unknown;
    };
    if (typeof decision !== "boolean") throw new TypeError("The decision is neither true nor false");
    const decided = decision ? "allow" : "deny";
    const seconds = Math.min(cache, readLifetime(headers.get("cache-control")));
    if (key !== undefined && seconds > 0) {
      if (cached.size >= MAX_CACHED) cached.delete(cached.keys().next().value!);
      cached.set(key, { decision: decided, until: now() + seconds * 1000 });
    }
    return decided;
  }

  return {
    async decide(definition, name, input, caller) {
      if (definition.kind === "tool" && !isAsked(name) || definition.kind !== "tool" && options.tools) {
        return "allow";
      }
      const request = describe(definition, name, sends ? input : undefined, caller);
      const key = cache > 0 ? tryDigest(request) : undefined;
      const known = key === undefined ? undefined : cached.get(key);
      if (known && known.until > now()) return known.decision;
      if (known) cached.delete(key!);
      const user = userKey(caller);
      const own = pendingByUser.get(user) ?? 0;
      if (pending >= MAX_PENDING || user !== "" && own >= MAX_PENDING_BY_USER) {
        onFailure(new RangeError(`${pending} requests are pending, ${own} of this user`));
        return "failed";
      }
      try {
        pending++;
        pendingByUser.set(user, own + 1);
        try {
          return await ask(JSON.stringify(request), key);
        } finally {
          pending--;
          const left = pendingByUser.get(user)! - 1;
          if (left > 0) pendingByUser.set(user, left);
          else pendingByUser.delete(user);
        }
      } catch (error) {
        onFailure(error);
        return onError === "allow" ? "allow" : "failed";
      }
    },
  };
}

/** The body of an access evaluation request. */
export function describe(
  definition: OfferedDefinition,
  name: string,
  input: unknown,
  caller: Principal | undefined,
): Readonly<Record<string, unknown>> {
  const [action, type] = ACTIONS[definition.kind];
  const { upstream, originalName } = definition;
  const { subject, client, issuer, scopes, workspace, acr } = caller ?? {};
  return {
    // A user whose id is "anonymous" has another type.
    subject: caller
      ? { type: "identity", id: subject ?? client ?? "", properties: { issuer, workspace, acr } }
      : { type: "anonymous", id: "anonymous" },
    action: { name: action },
    resource: { type, id: name, properties: { mcp_server: upstream, name: originalName } },
    context: { agent: client, scopes: [...scopes ?? []].sort(), arguments: input },
  };
}

/** What is too large is not cached. */
function tryDigest(request: unknown): string | undefined {
  try {
    return digestJson(request);
  } catch {
    return undefined;
  }
}

function readUrl(text: unknown): string {
  const problem = typeof text === "string" ? checkConfiguredUrl(text) : "must be a URL";
  if (problem) throw new PolicyError(`${PLACE}.url`, problem);
  const url = new URL(text as string);
  if (url.search !== "") throw new PolicyError(`${PLACE}.url`, "must not have a query");
  return url.pathname.endsWith("/evaluation") ? url.href : url.href.replace(/\/$/, "") + PATH;
}

function readFields(headers: unknown): Readonly<Record<string, string>> {
  try {
    const fields = new Headers(headers as Record<string, string>);
    fields.set("content-type", "application/json");
    return Object.fromEntries(fields);
  } catch {
    throw new PolicyError(`${PLACE}.headers`, "must be an object of header fields");
  }
}

/** Seconds for which the answer allows to keep it; without a statement, for any time. */
function readLifetime(field: string | null): number {
  if (field === null) return Infinity;
  const directives = field.toLowerCase().split(",").map((each) => each.trim());
  if (directives.includes("no-store") || directives.includes("no-cache")) return 0;
  const stated = directives.map((each) => /^max-age="?(\d{1,9})"?$/.exec(each)?.[1]).filter((each) => each);
  return stated.length === 0 ? Infinity : Math.min(...stated.map(Number));
}
