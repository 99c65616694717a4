/**
 * Adapts definitions and results to a revision: leaves out members that it does not have, and replaces content types that it
 * does not have by text.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";
import type { ContentItem, ToolResult } from "./definition/content.ts";
import { MODERN } from "./era.ts";

/** The first revision with each member of tools, resources and prompts (changelogs of the revisions). */
const SINCE: Readonly<Record<string, string>> = {
  title: "2025-06-18",
  outputSchema: "2025-06-18",
  _meta: "2025-06-18",
  icons: "2025-11-25",
};

/** The members that the revision has, without those that are `undefined`. */
export function membersFor(revision: string, members: Record<string, unknown>): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && !(revision < (SINCE[name] ?? ""))) known[name] = value;
  }
  return known;
}

/** As {@linkcode membersFor}, for a tool. Tool annotations exist since 2025-03-26, unlike those of resources. */
export function toolMembersFor(revision: string, members: Record<string, unknown>): Record<string, unknown> {
  const known = membersFor(revision, members);
  if (revision < "2025-03-26") delete known.annotations;
  // Before 2026-07-28 (SEP-2106) structured content is always an object.
  if (revision < MODERN && !isObjectSchema(known.outputSchema)) delete known.outputSchema;
  return known;
}

/** A tool's result as the revision has it; the same object when nothing changes. */
export function resultFor(revision: string, result: ToolResult): ToolResult {
  if (revision >= MODERN) return result;
  let { content } = result;
  if (revision < "2025-06-18" && !content.every((item) => isSupported(revision, item))) {
    content = content.map((item) => isSupported(revision, item) ? item : toTextContent(item));
  }
  const { structuredContent: structured } = result;
  const keeps = structured === undefined || revision >= "2025-06-18" && isObject(structured);
  if (keeps && content === result.content) return result;
  const { structuredContent: _, ...rest } = result;
  return { ...rest, content, ...(keeps && structured !== undefined && { structuredContent: structured }) };
}

/** Content of a prompt's message, as the revision has it. */
export function contentFor(revision: string, item: ContentItem): ContentItem {
  return isSupported(revision, item) ? item : toTextContent(item);
}

function isSupported(revision: string, { type }: ContentItem): boolean {
  return type === "audio" ? revision >= "2025-03-26" : type !== "resource_link" || revision >= "2025-06-18";
}

function toTextContent(item: ContentItem): ContentItem {
  const text = item.type === "resource_link"
    ? `${item.title ?? item.name}: ${item.uri}`
    : "(Audio content, which this protocol revision does not support)";
  return { type: "text", text };
}

function isObjectSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === "object";
}
