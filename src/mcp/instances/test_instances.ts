/**
 * Test kit: one of several MCP server instances on one store, its tools, and the orders that a test sends to it. It runs in
 * the test's process, or in its own by `end_to_end/mcp/test_mcp_instance.ts`.
 *
 * @module
 */
import * as v from "valibot";
import type { Store } from "../../store/store.ts";
import { resource, resourceTemplate, tool } from "../definition/define.ts";
import type { Definition } from "../definition/definition.ts";
import { createSseHandlers } from "../http/http_sse.ts";
import type { ToolServer } from "../service.ts";
import { newServer } from "../test_server.ts";

export const WATCHED = "test://watched";

/** An order of a test to an instance, beside requests. */
export type Order =
  | { readonly do: "update"; readonly uri: string }
  /** Adds a tool to the definitions, or removes it. */
  | { readonly do: "replace" }
  /** Sets its clock forward, in milliseconds. */
  | { readonly do: "advance"; readonly by: number }
  /** Ends open streams, as a process that stops does. */
  | { readonly do: "end_streams" }
  | { readonly do: "report" };

/** The state of an instance. */
export interface Report {
  /** Texts that tools reported, in order. */
  readonly messages: readonly string[];
  /** Open watches of the store. */
  readonly watches: number;
  /** Faults that were observed. */
  readonly faults: readonly string[];
}

export interface Instance {
  readonly name: string;
  fetch(path: string, init: RequestInit): Promise<Response>;
  order(order: Order): Promise<Report>;
}

export interface InstanceOptions {
  /** Milliseconds between comments on quiet streams. @default 15000 */
  readonly keepAlive?: number;
}

/** Ends early when the signal aborts: its timer would keep the process of a closed instance running. */
const pause = (milliseconds: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const end = () => (clearTimeout(timer), resolve());
    if (signal?.aborted) end();
    signal?.addEventListener("abort", end, { once: true });
  });
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** An instance in this process. Instances on one store have the same secret. */
export function createInstance(
  shared: Store,
  name: string,
  { keepAlive = 15_000 }: InstanceOptions = {},
): Instance & { readonly server: ToolServer } {
  const messages: string[] = [];
  const { store, watches } = countWatches(shared);
  const now = () => (shared.now?.() ?? Date.now()) + ahead;
  let ahead = 0;
  let hasMore = false;
  const definitions = definitionsOf(name, (text) => messages.push(text));
  const { server, events } = newServer({ store, definitions, sse: createSseHandlers, keepAlive, now });

  async function execute(order: Order): Promise<void> {
    switch (order.do) {
      case "update":
        return await server.resourceUpdated(order.uri);
      case "replace":
        hasMore = !hasMore;
        return await server.replace(hasMore ? [...definitions, EXTRA] : definitions);
      case "advance":
        ahead += order.by;
        return;
      case "end_streams":
        return server.close();
    }
  }

  return {
    name,
    server,
    fetch: (path, init) => server.fetch(new Request(`http://127.0.0.1:8787${path}`, init)),
    async order(order) {
      await execute(order);
      const faults = events.filter(({ type }) => type === "fault").map((event) => JSON.stringify(event));
      return { messages, watches: watches(), faults };
    },
  };
}

const EXTRA: Definition = tool({ name: "extra", description: "Added by an order", run: () => "extra" });

function definitionsOf(name: string, report: (text: string) => void): Definition[] {
  return [
    tool({ name: "who", description: "Returns the name of the instance", run: () => name }),
    tool({
      name: "ask",
      description: "Asks the user",
      input: v.object({ about: v.optional(v.string(), "the user") }),
      async run({ about }, context) {
        const { action, content } = await context.elicit({
          key: "name",
          message: `Who is ${about}?`,
          schema: v.object({ name: v.string() }),
        });
        return `${action} ${content?.name ?? "no name"} on ${name}`;
      },
    }),
    tool({
      name: "ask_model",
      description: "Asks the model",
      async run(_, context) {
        const messages = [{ role: "user", content: { type: "text", text: "Hi" } }] as const;
        const { content } = await context.sample({ messages, maxTokens: 10 });
        return `${content.text} on ${name}`;
      },
    }),
    tool({
      name: "count",
      description: "Counts and reports each number",
      input: v.object({ to: v.number(), every: v.number() }),
      async run({ to, every }, context) {
        for (let i = 1; i <= to; i++) {
          await context.progress(i, to);
          await pause(every);
        }
        report("counted");
        return `counted on ${name}`;
      },
    }),
    tool({
      name: "wait",
      description: "Reports once, then waits to be cancelled",
      async run(_, context) {
        await context.progress(1);
        await untilAborted(context.signal);
        report("wait was aborted");
      },
    }),
    tool({
      name: "task",
      description: "Runs as a task for a time",
      task: { support: "required" },
      input: v.object({ takes: v.number() }),
      async run({ takes }, context) {
        await context.progress(1, 1, `begun on ${name}`);
        await pause(takes, context.signal);
        if (context.signal.aborted) report("task was aborted");
        return `done on ${name}`;
      },
    }),
    tool({
      name: "late_task",
      description: "Becomes a task after it reads its signal",
      task: { support: "optional", start: "by_run" },
      async run(_, context) {
        const { signal } = context;
        await context.startTask();
        await pause(300, signal);
        return signal.aborted ? "aborted" : `done on ${name}`;
      },
    }),
    tool({
      name: "restarting_task",
      description: "Never ends on A; runs again on another instance",
      task: { support: "required", restart: true },
      async run() {
        report("restarting_task ran");
        if (name === "A") await pause(600_000);
        return `done on ${name}`;
      },
    }),
    tool({
      name: "asking_task",
      description: "Asks the user from a task",
      task: { support: "required" },
      async run(_, context) {
        const schema = v.object({ name: v.string() });
        const { content } = await context.elicit({ key: "name", message: "Who?", schema });
        return `${content?.name} on ${name}`;
      },
    }),
    resource({ uri: WATCHED, name: "watched", read: () => "text" }),
    resourceTemplate({ uriTemplate: "test://{id}", name: "any", read: ({ id }) => id }),
  ];
}

/** The store, with the number of its open watches. */
function countWatches(store: Store): { readonly store: Store; readonly watches: () => number } {
  let open = 0;
  const counted: Store = {
    get guarantees() {
      return store.guarantees;
    },
    ...(store.now && { now: () => store.now!() }),
    get: (key, options) => store.get(key, options),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch(prefix) {
      const reader = store.watch(prefix).getReader();
      open++;
      return new ReadableStream({
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel() {
          open--;
          return reader.cancel();
        },
      });
    },
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
  return { store: counted, watches: () => open };
}
