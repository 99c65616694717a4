/**
 * The lists of an upstream: what one session of it offers.
 *
 * @module
 */
import { encodeBase64url } from "../../../crypto/base64url.ts";
import { digestLarge } from "../../../crypto/large_digest.ts";
import {
  type ClientExchange,
  ConnectionError,
  type ConnectionInfo,
  type JsonObject,
  type ListName,
  type McpClient,
  McpError,
  SKILLS_EXTENSION,
} from "../../../mcp_client/client.ts";
import { matchTemplates } from "../../../mcp/definition/uri/uri_template.ts";
import { MODERN } from "../../../mcp/era.ts";
import { TASKS_EXTENSION } from "../../../mcp/input/client_feature.ts";
import { isObject } from "../../../json_schema/value.ts";
import { METHOD_NOT_FOUND } from "../../../jsonrpc/error.ts";
import type { UpstreamConfiguration } from "../configuration/configuration.ts";
import {
  type PromptEntry,
  readPrompt,
  readResource,
  readTool,
  type ResourceEntry,
  type ToolEntry,
} from "./list_entries.ts";
import { matchesPattern } from "../names.ts";
import { type ListedSkill, readSkill } from "./skill_list.ts";

export interface UpstreamLists {
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly resourceTemplates: readonly ResourceEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly skills: readonly ListedSkill[];
  readonly features: UpstreamFeatures;
  /** Entries that are not offered, and why. */
  readonly leftOut: readonly string[];
}

/** What an upstream can do beyond its lists. */
export interface UpstreamFeatures {
  readonly resources: boolean;
  readonly completions: boolean;
  /** The tasks extension of 2026-07-28. */
  readonly tasks: boolean;
}

/** Entries as the upstream sent them; `undefined` for a list that could not be fetched yet. */
export type RawLists = Readonly<Record<ListName, readonly JsonObject[] | undefined>> & {
  readonly features: UpstreamFeatures;
  /** Why lists could not be fetched the last time. */
  readonly failed: ReadonlyMap<ListName, Error>;
};

/** All lists. */
export const LISTS: readonly ListName[] = ["tools", "resources", "resourceTemplates", "prompts", "skills"];
const NO_ENTRIES: readonly JsonObject[] = [];
/** Reported entries that are not offered. */
export const MAX_LEFT_OUT = 50;
/** How long entries may be checked before other work gets its turn. */
const SLICE_MS = 10;

function featuresOf({ capabilities, revision }: ConnectionInfo): UpstreamFeatures {
  const { resources, completions, extensions } = capabilities;
  return {
    resources: isObject(resources),
    // 2024-11-05 has completion without a capability.
    completions: isObject(completions) || revision === "2024-11-05",
    tasks: revision >= MODERN && isObject(extensions) && isObject(extensions[TASKS_EXTENSION]),
  };
}

/**
 * Fetches the lists that the upstream's capabilities name. A list that fails is kept as it was before.
 * @param wanted the lists to fetch; the others are taken from `before`
 * @param onTtl called with the milliseconds for which a list may be kept whose changes the upstream does not announce
 */
export async function fetchLists(
  client: McpClient,
  info: ConnectionInfo,
  exchange: ClientExchange,
  before: RawLists | undefined,
  wanted: ReadonlySet<ListName>,
  onTtl: (list: ListName, ttlMs: number) => void,
): Promise<RawLists> {
  const { capabilities: { extensions, ...capabilities } } = info;
  // Without resources, the files of skills could not be read.
  const ofExtensions = isObject(capabilities.resources) && isObject(extensions) ? extensions : {};
  const failed = new Map(before?.failed);
  const fetch = async (
    list: ListName,
    capability: string,
    from: JsonObject = capabilities,
  ): Promise<readonly JsonObject[] | undefined> => {
    if (wanted.has(list)) failed.delete(list);
    const declared = from[capability];
    if (!isObject(declared)) return NO_ENTRIES;
    if (!wanted.has(list)) return before?.[list];
    try {
      if (declared.listChanged === true) return await client.listAll(list, exchange);
      return await client.listAll(list, { ...exchange, onTtl: (ttlMs) => onTtl(list, ttlMs) });
    } catch (error) {
      if (!isOfOneList(error)) throw error;
      failed.set(list, error);
      return before?.[list] ?? (isWithoutMethod(error) ? NO_ENTRIES : undefined);
    }
  };
  const [tools, resources, resourceTemplates, prompts, skills] = await Promise.all([
    fetch("tools", "tools"),
    fetch("resources", "resources"),
    fetch("resourceTemplates", "resources"),
    fetch("prompts", "prompts"),
    fetch("skills", SKILLS_EXTENSION, ofExtensions),
  ]);
  return { tools, resources, resourceTemplates, prompts, skills, features: featuresOf(info), failed };
}

/** The lists that could not be fetched, and that a retry may bring. */
export function findRetriable({ failed }: RawLists): ListName[] {
  return [...failed].flatMap(([list, error]) => isWithoutMethod(error) ? [] : [list]);
}

/** Many servers have not all methods of a capability. */
function isWithoutMethod(error: Error): boolean {
  return error instanceof McpError && error.code === METHOD_NOT_FOUND;
}

/** Whether an error concerns one list, and not the connection or the credentials. */
function isOfOneList(error: unknown): error is McpError | ConnectionError {
  return error instanceof McpError ||
    error instanceof ConnectionError && (error.reason === "too_large" || error.reason === "malformed");
}

/** Identifies what is offered: equal lists have equal digests. */
export async function digestLists(raw: RawLists): Promise<string> {
  const { tools, resources, resourceTemplates, prompts, skills, features } = raw;
  const text = JSON.stringify([tools, resources, resourceTemplates, prompts, skills, features]);
  return encodeBase64url(await digestLarge(text));
}

/** Checks the entries. Long lists are checked in slices, so that calls are not delayed. */
export async function readLists(
  raw: RawLists,
  { tools: { allow, deny } }: Pick<UpstreamConfiguration, "tools">,
): Promise<UpstreamLists> {
  const leftOut: string[] = [];
  let sliceEnd = performance.now() + SLICE_MS;
  async function read<Entry>(
    entries: readonly JsonObject[] = NO_ENTRIES,
    kind: string,
    keyOf: (entry: Entry) => string,
    parse: (entry: JsonObject) => Entry | undefined,
  ): Promise<Entry[]> {
    const known = new Map<string, Entry>();
    for (const each of entries) {
      if (performance.now() > sliceEnd) {
        await new Promise((resolve) => setTimeout(resolve));
        sliceEnd = performance.now() + SLICE_MS;
      }
      try {
        const entry = parse(each);
        if (entry === undefined) continue;
        if (known.has(keyOf(entry))) throw new Error("is listed twice");
        known.set(keyOf(entry), entry);
      } catch (error) {
        leftOut.push(`${kind} ${labelOf(each)}: ${(error as Error).message.slice(0, 300)}`);
      }
    }
    return [...known.values()];
  }
  const isOffered = (name: string): boolean =>
    (allow.length === 0 || allow.some((each) => matchesPattern(each, name))) &&
    !deny.some((each) => matchesPattern(each, name));
  return {
    tools: await read(raw.tools, "tool", (tool) => tool.name, (each) => {
      const tool = readTool(each);
      return isOffered(tool.name) ? tool : undefined;
    }),
    resources: await read(
      raw.resources,
      "resource",
      ({ uri }) => uri,
      (each) => readResource(each, "uri"),
    ),
    resourceTemplates: await read(
      raw.resourceTemplates,
      "resource template",
      ({ uri }) => uri,
      (each) => readResource(each, "uriTemplate"),
    ),
    prompts: await read(raw.prompts, "prompt", ({ name }) => name, readPrompt),
    // Without tools, the skills alone would count as the first list, which is approved without an administrator.
    skills: await read(raw.tools && raw.skills, "skill", ({ path }) => path.join("/"), readSkill),
    features: raw.features,
    leftOut: leftOut.slice(0, MAX_LEFT_OUT),
  };
}

/** A name for reports: printable and short. */
function labelOf({ name, uri, uriTemplate }: JsonObject): string {
  const label = [uri, uriTemplate, name].find((each) => typeof each === "string") ?? "without a name";
  return JSON.stringify((label as string).slice(0, 100)).replace(/\p{C}/gu, "?");
}

interface ListedUris {
  readonly resources: ReadonlySet<string>;
  readonly templates: readonly { readonly name: string }[];
}

const listedUris = new WeakMap<UpstreamLists, ListedUris>();

/** Whether a URI is one of the listed resources or matches a listed template. */
export async function isListed(lists: UpstreamLists, uri: string): Promise<boolean> {
  const listed = listedUris.get(lists) ?? {
    resources: new Set(lists.resources.map((each) => each.uri)),
    templates: lists.resourceTemplates.map((each) => ({ name: each.uri })),
  };
  listedUris.set(lists, listed);
  if (listed.resources.has(uri)) return true;
  for await (const _ of matchTemplates(listed.templates, uri)) return true;
  return false;
}
