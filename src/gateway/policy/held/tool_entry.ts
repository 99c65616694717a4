/**
 * What a model reads of a tool, and its digest: a change of any of it is a change of the tool.
 *
 * @module
 */
import { WorkSlice } from "../../../http/work_slice.ts";
import type { ToolDefinition } from "../../../mcp/definition/definition.ts";
import { isObject } from "../../../json_schema/value.ts";
import { passThroughSchema } from "../../../mcp/schema/pass_through_schema.ts";
import type { AnySchema } from "../../../mcp/schema/standard_schema.ts";
import { toCanonicalJson } from "../canonical_json.ts";
import { secretDigest } from "../../../crypto/secret.ts";
import { isUpstreamSkill, type UpstreamSkill } from "../../upstream/upstream_definition.ts";
import type { OfferedDefinition } from "../offered.ts";

/** The members of a tool that models and clients read. */
export type ToolEntry = Readonly<
  Record<"name" | "title" | "description" | "input" | "output" | "annotations" | "_meta", unknown>
>;

/** A tool of an MCP server, or a skill, which is held as a tool is. */
export type UpstreamTool = OfferedDefinition & (ToolDefinition | UpstreamSkill);

/** An entry as canonical JSON, and its digest. */
export interface DigestedTool {
  readonly text: string;
  /** SHA-256, in base64url. */
  readonly digest: string;
}

/** The entry of a tool, by the name that the MCP server gives it; of a skill, by its URI, with the digests of its files. */
export function entryOf(tool: UpstreamTool): ToolEntry {
  const { name, originalName, title, description, annotations, _meta } = tool;
  if (isUpstreamSkill(tool)) {
    const { frontMatter: frontmatter, files } = tool.skill;
    const resources = files?.map(({ path, digest }) => ({ path, digest })) ?? "dynamic";
    const shown = { ..._meta, frontmatter, resources };
    return {
      name: originalName,
      title,
      description,
      input: undefined,
      output: undefined,
      annotations,
      _meta: shown,
    };
  }
  const { input, output } = tool;
  return {
    name: originalName ?? name,
    title,
    description,
    input: toShown(input),
    output: toShown(output),
    annotations,
    _meta,
  };
}

/** The JSON Schema that clients get of a schema which makes it itself, as those of upstreams do. */
function toShown(schema: unknown): unknown {
  const standard = (schema as { readonly "~standard"?: Partial<PublishedSchema> } | undefined)?.["~standard"];
  return standard?.jsonSchema ? standard.jsonSchema.input({ target: "draft-2020-12" }) : schema;
}

/** Another JSON Schema for clients, which is checked no more and no less than the former. */
export function republish(schema: AnySchema | undefined, published: unknown): AnySchema | undefined {
  const isPassedThrough = schema !== undefined && "~standard" in schema;
  return isPassedThrough && isObject(published)
    ? passThroughSchema(published)
    : published as AnySchema | undefined;
}

interface PublishedSchema {
  readonly jsonSchema: { input(options: { readonly target: string }): unknown };
}

/** By the definition, which stays the same until the MCP server sends another list. */
const digested = new WeakMap<UpstreamTool, DigestedTool | "none">();

/** `undefined` for a tool that JSON cannot describe, or that is nested too deep: it is never offered. */
export function digestTool(tool: UpstreamTool): DigestedTool | undefined {
  let found = digested.get(tool);
  if (found === undefined) {
    found = compute(tool);
    digested.set(tool, found);
  }
  return found === "none" ? undefined : found;
}

function compute(tool: UpstreamTool): DigestedTool | "none" {
  try {
    const text = toCanonicalJson(entryOf(tool));
    return { text, digest: secretDigest(text) };
  } catch {
    return "none";
  }
}

/** A tool with its name at the MCP server. */
export interface NamedTool {
  readonly tool: UpstreamTool;
  readonly name: string;
  readonly digested: DigestedTool;
}

/** Of two tools with one name only the first counts, as for clients. */
export async function nameTools(tools: readonly UpstreamTool[]): Promise<readonly NamedTool[]> {
  const named = new Map<string, NamedTool>();
  const slice = new WorkSlice();
  for (const tool of tools) {
    if (slice.isOver) await slice.yield();
    const name = tool.originalName ?? tool.name;
    const digested = digestTool(tool);
    if (digested && !named.has(name)) named.set(name, { tool, name, digested });
  }
  return [...named.values()];
}
