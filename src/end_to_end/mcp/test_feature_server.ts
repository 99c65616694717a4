/**
 * A server with every feature of MCP. Tests control it by tools (`release`, `aborted`, `touch`, `grow`, `close_streams`,
 * `faults`), so that the same steps work over stdio. Only tests import this.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import type { Definition } from "../../mcp/definition/definition.ts";
import { createTrivet, memoryStore, prompt, resource, tool, type Trivet } from "../../mod.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { requestingDefinitions } from "./test_feature_requests.ts";
import { CONTENT, PROMPTS, RESOURCES } from "./test_feature_definitions.ts";

const SKILLS = fileURLToPath(new URL("../../../fixtures/skills/", import.meta.url));

/** Promises by name, created at first use. */
class NamedPromises {
  readonly #each = new Map<string, PromiseWithResolvers<string>>();

  at(name: string): PromiseWithResolvers<string> {
    let found = this.#each.get(name);
    if (!found) this.#each.set(name, found = Promise.withResolvers<string>());
    return found;
  }
}

const key = { type: "object", properties: { key: { type: "string" } }, required: ["key"] } as const;

/** A new server with a store of its own: one instance, or several that share it. */
export function createFeatureServers(issuer: string, count: number): readonly Trivet[] {
  const released = new NamedPromises();
  const aborted = new NamedPromises();
  const faults: string[] = [];

  const messaging: Definition[] = [
    tool({
      name: "count",
      description: "Reports progress, and returns when it is released",
      input: key,
      async run({ key }, context) {
        for (const at of [1, 2, 3]) await context.progress(at, 3, `step ${at}`);
        await released.at(key).promise;
        return "counted";
      },
    }),
    tool({
      name: "chatter",
      description: "Logs at four levels",
      async run(_, context) {
        for (const level of ["debug", "info", "warning", "error"] as const) {
          await context.log(level, { said: level }, "tour");
        }
        return "said";
      },
    }),
    tool({
      name: "hang",
      description: "Runs until it is cancelled",
      input: key,
      async run({ key }, context) {
        const aborting = new Promise<never>((_, reject) => {
          context.signal.addEventListener("abort", () => {
            aborted.at(key).resolve((context.signal.reason as Error).name);
            reject(context.signal.reason);
          });
        });
        await context.progress(1);
        return await aborting;
      },
    }),
    tool({
      name: "aborted",
      description: "Waits until the signal of a hanging call aborted",
      input: key,
      run: ({ key }) => aborted.at(key).promise,
    }),
    tool({
      name: "wait",
      description: "Reports progress, and returns when it is released",
      input: key,
      async run({ key }, context) {
        await context.progress(1, 3);
        await released.at(key).promise;
        await context.progress(2, 3);
        return `released ${key}`;
      },
    }),
    tool({
      name: "release",
      description: "Releases a waiting call",
      input: key,
      run({ key }) {
        released.at(key).resolve(key);
        return "released";
      },
    }),
    tool({
      name: "hang_up",
      description: "Closes the connection and continues",
      input: key,
      async run({ key }, context) {
        await context.progress(1, 3);
        await context.disconnect(10);
        await context.progress(2, 3);
        await released.at(key).promise;
        return "resumed";
      },
    }),
  ];

  const tasks: Definition[] = [
    tool({
      name: "bake",
      description: "A task that elicits",
      input: v.object({ what: v.string() }),
      task: { support: "optional", pollInterval: 10 },
      async run({ what }, context) {
        await context.progress(1, 2, "heating");
        if (context.can("tasks")) await released.at("oven").promise;
        const answer = await context.elicit({
          key: "taste",
          message: `How sweet is the ${what}?`,
          schema: v.object({ sweet: v.boolean() }),
        });
        return `${what}: ${answer.action === "accept" && answer.content.sweet ? "sweet" : "plain"}`;
      },
    }),
    tool({
      name: "long_bake",
      description: "A task that runs until it is released or cancelled",
      input: key,
      task: { support: "required", pollInterval: 10 },
      async run({ key }, context) {
        const { promise, resolve } = Promise.withResolvers<void>();
        context.signal.addEventListener("abort", () => {
          aborted.at(key).resolve("AbortError");
          resolve();
        });
        released.at(key).promise.then(() => resolve());
        await promise;
        return context.signal.aborted ? "burnt" : "baked";
      },
    }),
  ];

  const control: Definition[] = [
    tool({
      name: "touch",
      description: "Notifies of a changed resource",
      input: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
      async run({ uri }) {
        await instances.at(-1)!.mcp!.resourceUpdated(uri);
        return "touched";
      },
    }),
    tool({
      name: "grow",
      description: "Adds three definitions",
      async run() {
        const grown = [
          definitions,
          tool({ name: "late", description: "Added at run time", run: () => "better late" }),
          resource({ uri: "tour://late", name: "late", read: () => "late" }),
          prompt({ name: "late", get: () => "late" }),
        ];
        for (const each of instances) await each.mcp!.replace(grown);
        return "grown";
      },
    }),
    tool({
      name: "close_streams",
      description: "Closes all streams",
      run() {
        for (const each of instances) each.mcp!.close();
        return "closed";
      },
    }),
    tool({ name: "faults", description: "Returns the reported faults", run: () => JSON.stringify(faults) }),
  ];

  const definitions = [CONTENT, messaging, requestingDefinitions(), tasks, RESOURCES, PROMPTS, control];
  const store = memoryStore();
  const newInstance = (): Trivet =>
    createTrivet({
      issuer,
      store,
      oauth: false,
      skills: { auth: "off", folders: [skillFolder(SKILLS)] },
      mcp: {
        name: "tour",
        version: "1.2.3",
        title: "The tour",
        description: "Has every feature",
        instructions: "Look at everything.",
        websiteUrl: "https://example.com/tour",
        icons: [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }],
        auth: "off",
        pageSize: 2,
        sse: true,
        definitions,
      },
      onEvent: (event) => {
        if (event.type === "fault") faults.push(`${event.where}: ${event.error}`);
      },
    });
  const instances = Array.from({ length: count }, newInstance);
  return instances;
}
