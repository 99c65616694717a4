/**
 * A server with every feature of MCP once. What a test must cause or read on the side of the server is a tool here
 * (`release`, `aborted`, `touch`, `grow`, `farewell`, `faults`), so that the same steps work over stdio. Only tests import
 * this.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import type { Definition } from "../../mcp/definition/definition.ts";
import { createTrivet, memoryStore, prompt, resource, tool, type Trivet } from "../../mod.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { askingDefinitions } from "./test_feature_requests.ts";
import { CONTENT, PROMPTS, RESOURCES } from "./test_feature_definitions.ts";

const SKILLS = fileURLToPath(new URL("../../../fixtures/skills/", import.meta.url));

/** Promises by name, made when either side first uses them. */
class NamedPromises {
  readonly #each = new Map<string, PromiseWithResolvers<string>>();

  at(name: string): PromiseWithResolvers<string> {
    let meeting = this.#each.get(name);
    if (!meeting) this.#each.set(name, meeting = Promise.withResolvers<string>());
    return meeting;
  }
}

const key = { type: "object", properties: { key: { type: "string" } }, required: ["key"] } as const;

/** A new server with a store of its own: one instance, or several that share it. */
export function createFeatureServers(issuer: string, count: number): readonly Trivet[] {
  const released = new NamedPromises();
  const aborted = new NamedPromises();
  const faults: string[] = [];

  const talk: Definition[] = [
    tool({
      name: "count",
      description: "Tells how far it is, and answers when it is released",
      input: key,
      async run({ key }, context) {
        for (const at of [1, 2, 3]) await context.progress(at, 3, `step ${at}`);
        await released.at(key).promise;
        return "counted";
      },
    }),
    tool({
      name: "chatter",
      description: "Says something at every level",
      async run(_, context) {
        for (const level of ["debug", "info", "warning", "error"] as const) {
          await context.log(level, { said: level }, "tour");
        }
        return "said";
      },
    }),
    tool({
      name: "hang",
      description: "Goes on until it is cancelled",
      input: key,
      async run({ key }, context) {
        const gone = new Promise<never>((_, reject) => {
          context.signal.addEventListener("abort", () => {
            aborted.at(key).resolve((context.signal.reason as Error).name);
            reject(context.signal.reason);
          });
        });
        await context.progress(1);
        return await gone;
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
      description: "Says that it began, and goes on when it is released",
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
      description: "Lets a waiting call go on",
      input: key,
      run({ key }) {
        released.at(key).resolve(key);
        return "released";
      },
    }),
    tool({
      name: "hang_up",
      description: "Closes the connection and goes on",
      input: key,
      async run({ key }, context) {
        await context.progress(1, 3);
        await context.disconnect(10);
        await context.progress(2, 3);
        await released.at(key).promise;
        return "came back";
      },
    }),
  ];

  const tasks: Definition[] = [
    tool({
      name: "bake",
      description: "A task that asks in between",
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
      description: "A task until it is cancelled",
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

  const behind: Definition[] = [
    tool({
      name: "touch",
      description: "Says that a resource changed",
      input: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
      async run({ uri }) {
        await instances.at(-1)!.mcp!.resourceUpdated(uri);
        return "touched";
      },
    }),
    tool({
      name: "grow",
      description: "Replaces all definitions by the same and three more",
      async run() {
        const grown = [
          definitions,
          tool({ name: "late", description: "Came later", run: () => "better late" }),
          resource({ uri: "tour://late", name: "late", read: () => "late" }),
          prompt({ name: "late", get: () => "late" }),
        ];
        for (const each of instances) await each.mcp!.replace(grown);
        return "grown";
      },
    }),
    tool({
      name: "farewell",
      description: "Ends all streams in good order",
      run() {
        for (const each of instances) each.mcp!.close();
        return "farewell";
      },
    }),
    tool({ name: "faults", description: "What went wrong here", run: () => JSON.stringify(faults) }),
  ];

  const definitions = [CONTENT, talk, askingDefinitions(), tasks, RESOURCES, PROMPTS, behind];
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
        description: "Has everything once",
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
