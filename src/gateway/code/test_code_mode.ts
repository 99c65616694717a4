/**
 * A server in code mode whose programs are functions of the test. Only tests import this.
 *
 * @module
 */
import { tool } from "../../mcp/definition/define.ts";
import { type ToolDefinition, ToolError } from "../../mcp/definition/definition.ts";
import { type Message, modern } from "../../mcp/test_exchange.ts";
import { newServer } from "../../mcp/test_server.ts";
import { codeMode, type CodeModeOptions } from "./code_mode.ts";
import type { CodeEngine } from "./engine.ts";

type Tools = (name: string, input?: unknown) => Promise<Message>;
type Body = (tools: Tools, log: (line: string) => void) => Promise<unknown>;

/** Programs that run here, without a sandbox, by their name as source: what the engine promises is tested with it. */
const programs = new Map<string, Body>();

export const engine: CodeEngine = {
  run: ({ source }, host, signal) =>
    new Promise((resolve) => {
      let version = 0;
      const watchIdle = () => {
        const at = ++version;
        setTimeout(() => at === version && host.onIdle(), 0);
      };
      const tools: Tools = (name, input = {}) =>
        new Promise((resolve, reject) => {
          host.request({
            name,
            input: JSON.stringify(input),
            settle(isDone, text) {
              if (isDone) resolve(JSON.parse(text));
              else reject(new Error(text));
              watchIdle();
            },
          });
        });
      signal.addEventListener("abort", () =>
        resolve({ failure: "stopped", message: "The program was stopped" }));
      programs.get(source)!(tools, host.onLog).then(
        (value) =>
          resolve({ result: JSON.stringify(value) ?? "null" }),
        (error) => resolve({ failure: "exception", message: String(error.message) }),
      );
      watchIdle();
    }),
};

export const done: string[] = [];
export const definitions: readonly ToolDefinition[] = [
  tool({
    name: "count",
    description: "Counts. And more.",
    input: {
      type: "object",
      properties: { step: { type: "integer", description: "How far */" }, "a-b": { enum: ["x", 1] } },
      required: ["step"],
    },
    output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    run({ step }) {
      done.push(`count ${step}`);
      return { sum: step };
    },
  }),
  tool({
    name: "text",
    description: "Text",
    input: { type: "object" },
    run: ({ say }) => {
      done.push(`text ${say}`);
      return String(say);
    },
  }),
  tool({
    name: "refuse",
    description: "Fails",
    run() {
      done.push("refuse");
      throw new ToolError("Ask for less");
    },
  }),
  tool({ name: "secret", description: "Counts secretly", scopes: ["write"], run: () => "classified" }),
  tool({
    name: "confirm",
    description: "Asks",
    input: { type: "object", properties: { what: { type: "string" } } },
    async run({ what }, { elicit, once }) {
      const stamp = await once("stamp", () => done.push(`stamp ${what}`) && `s-${what}`);
      const { action } = await elicit({
        message: `Sure of ${what}?`,
        schema: { type: "object", properties: {} },
      });
      done.push(`confirm ${what}`);
      return `${action} ${stamp}`;
    },
  }),
];

export function serve(
  options: Partial<CodeModeOptions> = {},
  more: Parameters<typeof newServer>[0] = {},
): ReturnType<typeof newServer> {
  done.length = 0;
  return newServer({ definitions, arrange: codeMode({ engine, ...options }), ...more });
}

type Server = ReturnType<typeof serve>["server"];

let last = 0;
export const toSource = (body: Body): string => {
  const source = `program ${++last}`;
  programs.set(source, body);
  return source;
};

export async function run(
  server: Server,
  body: Body,
  options: Parameters<typeof modern>[3] = {},
): Promise<Message> {
  const params = { name: "run_code", arguments: { code: toSource(body) } };
  return (await modern(server, "tools/call", params, options)).answer.result;
}

const ELICITS = { capabilities: { elicitation: { form: {} } } };

/** Runs a program in 2026-07-28 and accepts each request for input. Returns the result and the requests of each run. */
export async function runAccepting(
  server: Server,
  body: Body,
): Promise<{ result: Message; asked: string[][] }> {
  const params = { name: "run_code", arguments: { code: toSource(body) } };
  const asked: string[][] = [];
  let more = {};
  for (let round = 0; round < 10; round++) {
    const { result } = (await modern(server, "tools/call", { ...params, ...more }, ELICITS)).answer;
    if (result.resultType !== "input_required") return { result, asked };
    const keys = Object.keys(result.inputRequests);
    asked.push(keys.map((key) => result.inputRequests[key].params.message));
    const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content: {} }]));
    more = { requestState: result.requestState, inputResponses };
  }
  throw new Error("It asks without end");
}
