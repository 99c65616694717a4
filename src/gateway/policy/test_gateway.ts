/**
 * A tool server with a policy, on the memory store with a settable clock, and calls of its users. Only tests import this.
 *
 * @module
 */
import type { TrivetEvent } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import type { Definition } from "../../mcp/definition/definition.ts";
import { modern, session } from "../../mcp/test_exchange.ts";
import { newServer } from "../../mcp/test_server.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { createPolicy, type Policy, type PolicyServer } from "./policy.ts";
import type { PolicyOptions } from "./policy_options.ts";

export const ALICE: Principal = { subject: "alice", client: "app", workspace: "w", scopes: new Set() };
export const BOB: Principal = { ...ALICE, subject: "bob" };
const CALLERS: Readonly<Record<string, Principal>> = { alice: ALICE, bob: BOB };

export interface TestGateway {
  readonly store: Store;
  readonly policy: Policy;
  readonly events: TrivetEvent[];
  advance(seconds: number): void;
  /** A call of 2026-07-28. @param more such as `inputResponses` */
  call(name: string, args?: unknown, options?: CallOptions): Promise<Answer>;
  /** The methods of a session of 2025-11-25. */
  session(user: string | undefined, capabilities: Record<string, unknown>): ReturnType<typeof session>;
  request(
    method: string,
    params: Record<string, unknown>,
    user?: string,
    capabilities?: Record<string, unknown>,
  ): Promise<Answer>;
}

export interface CallOptions {
  /** @default "alice"; `null` for an anonymous caller */
  readonly user?: string | null;
  readonly capabilities?: Record<string, unknown>;
  readonly more?: Record<string, unknown>;
}

// Tests read results of any shape.
// deno-lint-ignore no-explicit-any
export type Answer = any;

/** The text of the first content item. */
export const textOf = (answer: Answer): string => answer.result?.content?.[0]?.text ?? answer.error?.message;

export function newGateway(
  options: PolicyOptions,
  definitions: readonly Definition[],
  more: Partial<PolicyServer> = {},
): TestGateway {
  let offset = 0;
  const now = () => Date.now() + offset;
  const store = more.store ?? memoryStore({ now });
  const events: TrivetEvent[] = [];
  const observe = (event: TrivetEvent) => void events.push(event);
  const policy = createPolicy(options, {
    store,
    now,
    observe,
    place: "https://gateway.example",
    hasPages: false,
    implied: new Map(),
    ...more,
  });
  const { server } = newServer({
    definitions,
    store,
    now,
    observe,
    middleware: [policy.middleware],
    identify: (request) => {
      const [, user = ""] = /^Bearer (.*)$/.exec(request.headers.get("authorization") ?? "") ?? [];
      return Promise.resolve(CALLERS[user] ?? "none");
    },
  });
  const send = async (
    method: string,
    params: Record<string, unknown>,
    user: string | null,
    capabilities = {},
  ) =>
    (await modern(server, method, params, {
      capabilities,
      headers: user === null ? {} : { authorization: `Bearer ${user}` },
    })).answer;
  return {
    store,
    policy,
    events,
    advance: (seconds) => void (offset += seconds * 1000),
    call: (name, args = {}, { user = "alice", capabilities, more = {} } = {}) =>
      send("tools/call", { name, arguments: args, ...more }, user, capabilities),
    session: (user, capabilities) =>
      session(server, {
        capabilities,
        headers: user === undefined ? {} : { authorization: `Bearer ${user}` },
      }),
    request: (method, params, user = "alice", capabilities) => send(method, params, user, capabilities),
  };
}
