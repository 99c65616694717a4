/**
 * Definitions of the fuzzed tool server: the tools of `mcp_tools.ts`, resources, templates and prompts with completion.
 *
 * @module
 */
import { prompt, resource, resourceTemplate } from "../../../src/mcp/definition/define.ts";
import type { Definition } from "../../../src/mcp/definition/definition.ts";
import { askName, SECRET, TOOLS } from "./mcp_tools.ts";

const others: readonly Definition[] = [
  resource({ uri: "test://text", name: "text", mimeType: "text/plain", read: () => "hello" }),
  resource({ uri: "test://bytes", name: "bytes", read: () => Uint8Array.of(1, 2, 255) }),
  resource({ uri: "test://secret", name: "secret", scopes: ["write"], read: () => "hidden" }),
  resource({ uri: "test://asks", name: "asks", read: (context) => askName(context) }),
  resource({
    uri: "test://broken",
    name: "broken",
    read() {
      throw new Error(SECRET);
    },
  }),
  resourceTemplate({
    uriTemplate: "test://things/{id}/{+path}",
    name: "thing",
    list: () => Promise.resolve(["a", "b", "c"].map((id) => ({ uri: `test://things/${id}/x`, name: id }))),
    complete: { id: (value) => Array.from({ length: 120 }, (_, i) => `${value.slice(0, 9)}${i}`) },
    read: ({ id, path }) =>
      id === "none" ? undefined : { content: `${id}: ${path}`, mimeType: "text/markdown" },
  }),
  resourceTemplate({
    uriTemplate: "test://query{?a,b*}",
    name: "query",
    read: (variables) => Object.keys(variables).join(),
  }),
  prompt({
    name: "compose",
    description: "Composes",
    arguments: [
      {
        name: "what",
        required: true,
        complete: (value) => ["poem", "letter"].filter((each) => each.startsWith(value)),
      },
      { name: "how", complete: (_, { arguments: { what } }) => Promise.resolve(what ? [`a ${what}`] : []) },
    ],
    get: ({ what, how }) => `${what} ${how ?? "plainly"}`,
  }),
  prompt({ name: "asks", description: "Asks", get: (_, context) => askName(context) }),
  prompt({
    name: "hidden",
    scopes: ["write"],
    get: () => [{ role: "user", content: { type: "text", text: "x" } }],
  }),
  prompt({
    name: "broken",
    get() {
      throw new Error(SECRET);
    },
  }),
];

export const DEFINITIONS: readonly Definition[] = [...TOOLS, ...others];
