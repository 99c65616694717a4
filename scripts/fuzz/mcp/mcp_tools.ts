/**
 * Tools with every behaviour, correct and faulty. {@linkcode isExpectedFault} recognizes the faults of faulty ones.
 *
 * @module
 */
import * as v from "valibot";
import { RpcError } from "../../../src/jsonrpc/error.ts";
import type { CallContext } from "../../../src/mcp/context.ts";
import { tool } from "../../../src/mcp/definition/define.ts";
import { type ToolDefinition, ToolError } from "../../../src/mcp/definition/definition.ts";

/** A text that no response may contain. */
export const SECRET = "hunter2 in /srv/private/secret.ts";

/** The messages of all JavaScript engines. */
const BAD_RESULT = /^The result does not match the output schema|BigInt|circular|cyclic/i;

/** Whether a definition causes this fault on purpose. */
export function isExpectedFault(error: unknown): boolean {
  return error instanceof Error && (error.message === SECRET || BAD_RESULT.test(error.message));
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
const form = v.object({ name: v.string() });
const text = { type: "string" } as const;

export async function askName(context: CallContext, key?: string): Promise<string> {
  const answer = await context.elicit({
    message: "Your name?",
    schema: form,
    ...(key !== undefined && { key }),
  });
  return answer.action === "accept" ? answer.content.name : answer.action;
}

export const TOOLS: readonly ToolDefinition[] = [
  tool({
    name: "add",
    title: "Add",
    description: "Adds",
    input: v.object({ a: v.number(), b: v.optional(v.number(), 1) }),
    run: ({ a, b }) => a + b,
  }),
  tool({ name: "echo", description: "Returns its input", input: { type: "object" }, run: (input) => input }),
  tool({
    name: "greet",
    description: "Greets, with an output schema",
    input: { type: "object", properties: { name: text }, required: ["name"], additionalProperties: false },
    output: { type: "object", properties: { greeting: text }, required: ["greeting"] },
    run: async ({ name }) => (await pause(0), { greeting: `Hello, ${name}` }),
  }),
  tool({
    name: "number",
    description: "Returns a structured number",
    output: { type: "number" },
    run: () => 7,
  }),
  tool({
    name: "refuse",
    description: "Fails with a reason",
    run() {
      throw new ToolError("Ask for less");
    },
  }),
  tool({
    name: "broken",
    description: "Fails by a bug",
    async run() {
      await pause(0);
      throw new Error(SECRET);
    },
  }),
  tool({
    name: "rpc_error",
    description: "Throws a protocol error",
    run() {
      throw new RpcError(42, "Forty-two", { reason: "meant" });
    },
  }),
  tool({
    name: "misfit",
    description: "Returns a result that does not match its schema",
    output: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
    run: () => ({ ok: "no" } as unknown as { ok: boolean }),
  }),
  tool({
    name: "unwritable",
    description: "Returns a value that JSON cannot represent",
    run: (_, context) => {
      const circle: { self?: unknown } = {};
      circle.self = circle;
      return { content: [], _meta: { of: context.revision > "2025-06" ? 1n : circle } };
    },
  }),
  tool({
    name: "media",
    description: "Returns every kind of content",
    run: () => ({
      content: [
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource_link", uri: "test://text", name: "text" },
        { type: "resource", resource: { uri: "test://text", text: "x" } },
      ],
    }),
  }),
  tool({ name: "ask", description: "Requests input by a form", run: (_, context) => askName(context) }),
  tool({
    name: "ask_url",
    description: "Requests input at a URL",
    run: async (_, context) =>
      (await context.elicit({ mode: "url", message: "Go", url: "https://app.example/go" })).action,
  }),
  tool({
    name: "ask_twice",
    description: "Requests input twice, and computes a value once",
    input: { type: "object", properties: { topic: text } },
    async run(_, context) {
      const first = await askName(context, "first");
      const made = await context.once("made", () => 7);
      return `${first} ${made} ${await askName(context, "second")}`;
    },
  }),
  tool({
    name: "insist",
    description: "Requests input again after an error",
    async run(_, context) {
      for (let i = 0; i < 3; i++) {
        try {
          return await askName(context);
        } catch {
          await pause(0);
        }
      }
      return "gave up";
    },
  }),
  tool({
    name: "sample",
    description: "Requests a sample",
    run: async (_, context) =>
      (await context.sample({
        messages: [{ role: "user", content: { type: "text", text: "?" } }],
        maxTokens: 9,
      }))
        .model,
  }),
  tool({
    name: "roots",
    description: "Requests roots",
    run: async (_, context) => (await context.listRoots()).map(({ uri }) => uri.length).join(),
  }),
  tool({
    name: "progress",
    description: "Reports progress",
    async run(_, context) {
      for (let i = 1; i <= 4; i++) {
        await context.progress(i, 4, `Step ${i}`);
        await context.log(i % 2 ? "info" : "error", { step: i }, "fuzz");
      }
      await pause(1);
      return "done";
    },
  }),
  tool({
    name: "late",
    description: "Continues after its result",
    run(_, context) {
      context.waitUntil(
        pause(1).then(async () => {
          void context.signal;
          await context.progress(9);
          await context.log("error", "late");
        }),
      );
      return "done";
    },
  }),
  tool({
    name: "watch",
    description: "Stops when it is cancelled",
    async run(_, context) {
      for (let i = 0; i < 3 && !context.signal.aborted; i++) await pause(1);
      context.signal.throwIfAborted();
      return "done";
    },
  }),
  tool({
    name: "hang_up",
    description: "Ends the connection",
    async run(_, context) {
      await context.progress(1);
      await context.disconnect(1);
      await pause(1);
      return "done";
    },
  }),
  tool({
    name: "job",
    description: "May be a task",
    task: "optional",
    async run(_, context) {
      await pause(1);
      await context.progress(1, 2, "Half");
      return "done";
    },
  }),
  tool({ name: "job_only", description: "Is a task", task: "required", run: () => "done" }),
  tool({
    name: "job_by_run",
    description: "Becomes a task when it runs",
    task: { support: "optional", start: "by_run" },
    input: { type: "object", properties: { long: { type: "boolean" } } },
    async run({ long }, context) {
      if (long) await context.startTask({ statusMessage: "On it" });
      return await askName(context);
    },
  }),
  tool({
    name: "job_asks",
    description: "Requests input as a task",
    task: "optional",
    run: (_, context) => askName(context),
  }),
  tool({
    name: "job_broken",
    description: "Fails as a task",
    task: "optional",
    run() {
      throw new Error(SECRET);
    },
  }),
  tool({ name: "read_only", description: "Needs read", scopes: ["read"], run: () => "done" }),
  tool({ name: "secret", description: "Needs scopes", scopes: ["read", "write"], run: () => "done" }),
  tool({
    name: "needs",
    description: "Requires a scope when it runs",
    run(_, context) {
      context.requireScopes("write");
      return "done";
    },
  }),
  tool({
    name: "route",
    description: "Has arguments in header fields",
    input: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        level: { type: "integer", "x-mcp-header": "Level" },
        deep: { type: "object", properties: { flag: { type: "boolean", "x-mcp-header": "Flag" } } },
      },
    },
    run: (input) => Object.keys(input).join(),
  }),
];
