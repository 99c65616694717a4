/**
 * Definitions of the feature server that send no request to the client: tools for every content type, resources, prompts.
 * Only tests import this.
 *
 * @module
 */
import * as v from "valibot";
import type { Definition } from "../../mcp/definition/definition.ts";
import { prompt, resource, resourceTemplate, tool, ToolError } from "../../mod.ts";

/** One red pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** Audio without samples. */
export const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const PEOPLE = ["ada", "alan", "grace"];
const text = (content: string) => ({ type: "text", text: content }) as const;

export const CONTENT: readonly Definition[] = [
  tool({ name: "text", title: "Text", description: "Returns text", run: () => "plain words, ünïcödé ✓" }),
  tool({
    name: "image",
    description: "Returns an image",
    run: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
  }),
  tool({
    name: "audio",
    description: "Returns audio",
    run: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }),
  }),
  tool({
    name: "embedded",
    description: "Returns an embedded resource",
    run: () => ({
      content: [{
        type: "resource",
        resource: { uri: "tour://notes/today", mimeType: "text/plain", text: "Buy milk" },
      }],
    }),
  }),
  tool({
    name: "link",
    description: "Returns a resource link",
    run: () => ({
      content: [text("See"), {
        type: "resource_link",
        uri: "tour://logo",
        name: "logo",
        title: "The logo",
        mimeType: "image/png",
      }],
    }),
  }),
  tool({
    name: "weather",
    description: "Returns structured content",
    input: v.object({ city: v.pipe(v.string(), v.minLength(2)) }),
    output: v.object({ city: v.string(), degrees: v.number(), sky: v.picklist(["clear", "grey"]) }),
    annotations: { readOnlyHint: true },
    run: ({ city }) => ({ city, degrees: 21.5, sky: "clear" }) as const,
  }),
  tool({
    name: "refuse",
    description: "Throws a ToolError",
    run() {
      throw new ToolError("Ask for less");
    },
  }),
  tool({
    name: "route",
    description: "Has an argument that is also sent in a header field",
    input: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    },
    run: ({ region }) => `to ${region}`,
  }),
];

export const RESOURCES: readonly Definition[] = [
  resource({
    uri: "tour://notes/today",
    name: "today",
    title: "Today's notes",
    description: "What to do",
    mimeType: "text/plain",
    annotations: { audience: ["user"], priority: 0.5 },
    read: () => "Buy milk",
  }),
  resource({
    uri: "tour://notes/tomorrow",
    name: "tomorrow",
    mimeType: "text/plain",
    read: () => "Drink it",
  }),
  resource({
    uri: "tour://logo",
    name: "logo",
    mimeType: "image/png",
    read: () => Uint8Array.from(atob(PNG), (byte) => byte.charCodeAt(0)),
  }),
  resourceTemplate({
    uriTemplate: "tour://people/{name}/{+path}",
    name: "person",
    description: "Papers of a person",
    mimeType: "text/markdown",
    list: () =>
      Promise.resolve(
        PEOPLE.map((name) => ({ uri: `tour://people/${name}/about.md`, name: `about ${name}` })),
      ),
    complete: { name: (typed) => PEOPLE.filter((name) => name.startsWith(typed)) },
    read: ({ name, path }) => PEOPLE.includes(name!) ? `# ${name}: ${path}` : undefined,
  }),
];

export const PROMPTS: readonly Definition[] = [
  prompt({ name: "hello", title: "Hello", description: "Greets", get: () => "Hello" }),
  prompt({
    name: "review",
    description: "Reviews code",
    arguments: [
      { name: "code", required: true, description: "What to look at" },
      {
        name: "language",
        complete: (typed, { arguments: { code = "" } }) =>
          ["typescript", "typst", "python"].filter((each) => each.startsWith(typed) && code !== each),
      },
    ],
    get: ({ code, language }) => [
      { role: "user", content: text(`Review this ${language ?? "code"}: ${code}`) },
      { role: "assistant", content: text("Gladly") },
    ],
  }),
  prompt({
    name: "with_file",
    description: "Brings a file",
    get: () => [{
      role: "user",
      content: {
        type: "resource",
        resource: { uri: "tour://notes/today", mimeType: "text/plain", text: "Buy milk" },
      },
    }, { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } }],
  }),
];
