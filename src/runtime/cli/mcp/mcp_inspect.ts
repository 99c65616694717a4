/**
 * `trivet mcp inspect`: everything that a server offers, with warnings about what people would not see.
 *
 * @module
 */
import {
  createLookalikes,
  type DescriptionWarning,
  findDescriptionWarnings,
} from "../../../gateway/policy/held/description_warnings.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { ConnectionInfo, JsonObject } from "../../../mcp_client/client.ts";
import { printJson, printLine } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { CONNECT_OPTIONS, withServer } from "./connect.ts";
import { type McpAction, mcpAction } from "./mcp_action.ts";
import { readOperands } from "./read_operands.ts";
import { describeServerInfo, readLists, type ServerLists, textOf } from "./server_lists.ts";

/** A warning, and the entry that it is about: `tool hello`. */
export interface EntryWarning extends DescriptionWarning {
  readonly entry: string;
}

const HINTS: readonly (readonly [hint: string, isTrue: string, isFalse: string])[] = [
  ["readOnlyHint", "read-only", "writes"],
  ["destructiveHint", "destructive", "not destructive"],
  ["idempotentHint", "idempotent", "not idempotent"],
  ["openWorldHint", "open world", "closed world"],
];

export const inspect: McpAction = mcpAction({
  operands: "[SERVER]",
  summary: "prints tools, resources, prompts and instructions, with warnings about hidden text in them",
  takesCommand: true,
  options: CONNECT_OPTIONS,
  async run(call) {
    const [server] = readOperands(call, ["SERVER"]);
    await withServer(call, server!, {}, async ({ client }) => {
      const exchange = { signal: call.signal, timeout: call.values.timeout * 1000 };
      const info = await client.connect(exchange);
      const lists = await readLists(client, exchange);
      const warnings = findWarnings(info, lists);
      if (!call.values.json) return print(info, lists, warnings);
      const { revision, transport, serverInfo, capabilities, instructions = null } = info;
      const known = { revision, transport, server_info: serverInfo, capabilities, instructions };
      const { resourceTemplates: resource_templates, ...others } = lists;
      printJson({ ...known, ...others, resource_templates, warnings });
    });
  },
});

/** The warnings about all entries and the instructions. */
export function findWarnings(info: Pick<ConnectionInfo, "instructions">, lists: ServerLists): EntryWarning[] {
  const lookalikes = createLookalikes(lists.tools.map(({ name }) => String(name)));
  const find = (entry: string, shown: Readonly<JsonObject>, names?: typeof lookalikes): EntryWarning[] =>
    // Only the members that a model reads are searched.
    findDescriptionWarnings({ originalName: shown.name, ...shown } as never, names).map((warning) => ({
      entry,
      ...warning,
    }));
  return [
    ...find("instructions", { name: "instructions", description: info.instructions ?? "" }),
    ...lists.tools.flatMap(({ inputSchema: input, outputSchema: output, ...tool }) =>
      find(`tool ${tool.name}`, { ...tool, input, output }, lookalikes)
    ),
    ...lists.prompts.flatMap((prompt) =>
      find(`prompt ${prompt.name}`, { ...prompt, input: prompt.arguments })
    ),
    ...[...lists.resources, ...lists.resourceTemplates].flatMap((resource) =>
      find(`resource ${resource.uri ?? resource.uriTemplate}`, resource)
    ),
    ...lists.skills.flatMap(({ uri, frontmatter }) =>
      find(`skill ${uri}`, isObject(frontmatter) ? frontmatter : {})
    ),
  ];
}

function print(info: ConnectionInfo, lists: ServerLists, warnings: readonly EntryWarning[]): void {
  const line = (indent: number, text: string): void => printLine(" ".repeat(indent) + printableText(text));
  line(0, `${describeServerInfo(info)}, revision ${info.revision}, ${info.transport}`);
  if (info.instructions) line(0, `instructions: ${info.instructions}`);
  const section = (
    title: string,
    entries: readonly JsonObject[],
    describe: (entry: JsonObject) => void,
  ): void => {
    if (entries.length === 0) return;
    printLine("");
    line(0, `${title} (${entries.length})`);
    for (const entry of entries) describe(entry);
  };
  const describe = (label: string, entry: JsonObject): void => {
    const title = textOf(entry, "title");
    line(2, title === undefined ? label : `${label}: ${title}`);
    const description = textOf(entry, "description");
    if (description) line(6, description);
  };
  section("Tools", lists.tools, (tool) => {
    describe(String(tool.name), tool);
    const hints = describeHints(tool.annotations);
    if (hints !== "") line(6, `hints: ${hints}`);
    for (const argument of describeArguments(tool.inputSchema)) line(6, argument);
  });
  section(
    "Resources",
    lists.resources,
    (each) => describe(`${each.uri} (${each.mimeType ?? "unknown type"})`, each),
  );
  section("Resource templates", lists.resourceTemplates, (each) => describe(String(each.uriTemplate), each));
  section("Prompts", lists.prompts, (prompt) => {
    describe(String(prompt.name), prompt);
    for (const each of Array.isArray(prompt.arguments) ? prompt.arguments : []) {
      const { name, required, description } = Object(each);
      line(6, `--argument ${name}${required ? " (required)" : ""}${description ? `: ${description}` : ""}`);
    }
  });
  section(
    "Skills",
    lists.skills,
    ({ uri, frontmatter }) => describe(String(uri), isObject(frontmatter) ? frontmatter : {}),
  );
  if (warnings.length === 0) return;
  printLine("");
  line(0, `Warnings (${warnings.length})`);
  for (const { entry, code, place, detail } of warnings) {
    line(2, `${entry}: ${code}${place && ` at ${place}`}${detail && `: ${detail}`}`);
  }
}

function describeHints(annotations: unknown): string {
  if (!isObject(annotations)) return "";
  return HINTS.flatMap(([hint, isTrue, isFalse]) => {
    const value = annotations[hint];
    return typeof value === "boolean" ? [value ? isTrue : isFalse] : [];
  }).join(", ");
}

/** One line for each argument of a tool. */
function describeArguments(schema: unknown): string[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const { type, enum: values, description } = Object(property) as Record<string, unknown>;
    const kind = Array.isArray(values)
      ? values.map((each) => JSON.stringify(each)).join(" | ")
      : String(type ?? "any");
    const isRequired = required.includes(name);
    return `--argument ${name}=${kind}${isRequired ? " (required)" : ""}${
      description ? `: ${description}` : ""
    }`;
  });
}
