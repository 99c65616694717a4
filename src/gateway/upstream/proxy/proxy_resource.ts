/**
 * The definitions of an upstream's resources and resource templates.
 *
 * @module
 */
import { INVALID_PARAMS } from "../../../jsonrpc/error.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { CallContext } from "../../../mcp/context.ts";
import type { Annotations, Icon, ReadResult } from "../../../mcp/definition/content.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "../../../mcp/definition/definition.ts";
import { variableNames } from "../../../mcp/definition/uri/uri_expression.ts";
import { ResourceNotFoundError } from "../../../mcp/definition/resources.ts";
import { readSkillUri, writeSkillUri } from "../../../mcp/skills/skill_uri.ts";
import { SKILL_MD } from "../../../mcp/skills/skills.ts";
import { type JsonObject, McpError } from "../../../mcp_client/client.ts";
import { toMethodError } from "../failure.ts";
import type { ResourceEntry } from "../lists/list_entries.ts";
import type { ListedSkill } from "../lists/skill_list.ts";
import type { FromUpstream, UpstreamSkill } from "../upstream_definition.ts";
import { callUpstream } from "./call_upstream.ts";
import { completeAt } from "./complete.ts";
import type { ProxyOptions } from "./proxy_tool.ts";
import { toReadResult } from "./result.ts";

/** Until 2025-11-25. */
const RESOURCE_NOT_FOUND = -32002;

/** A resource that is read from the upstream. */
export function proxyResource(
  options: ProxyOptions,
  entry: ResourceEntry,
): ResourceDefinition & FromUpstream {
  const { size } = entry;
  const uri = options.uris.toPublic(entry.uri);
  return {
    kind: "resource",
    uri,
    ...describe(options, entry),
    ...(size !== undefined && { size }),
    read: (context) => read(options, entry.uri, uri, context),
  };
}

/** A template of resources that are read from the upstream. */
export function proxyTemplate(
  options: ProxyOptions,
  entry: ResourceEntry,
): ResourceTemplateDefinition & FromUpstream {
  const { target, features, uris } = options;
  const uriTemplate = uris.toPublic(entry.uri);
  const ref = { type: "ref/resource", uri: entry.uri };
  return {
    kind: "resource_template",
    uriTemplate,
    ...describe(options, entry),
    ...(features.completions && {
      complete: Object.fromEntries(
        variableNames(entry.uri).map((name) => [name, completeAt(target, ref, name)]),
      ),
    }),
    ...readAny(options),
  };
}

/** The resources of an upstream that it does not list, such as those that results of its tools link to. */
export function proxyUnlisted(
  options: ProxyOptions,
  uriTemplate: string,
): ResourceTemplateDefinition & FromUpstream {
  return {
    kind: "resource_template",
    uriTemplate,
    name: options.target.name,
    isListed: false,
    upstream: options.target.name,
    serverDigest: options.target.serverDigest,
    originalName: "",
    ...(options.scopes.length > 0 && { scopes: options.scopes }),
    ...readAny(options),
  };
}

/** A skill: its SKILL.md. Its other files are read by {@linkcode proxySkillFiles}. */
export function proxySkill(
  options: ProxyOptions,
  { uri, path, frontMatter, files }: ListedSkill,
  listed: ResourceEntry | undefined,
): UpstreamSkill {
  const { name, description } = frontMatter;
  const size = files?.find((each) => each.path === SKILL_MD)?.size;
  const publicPath = readSkillUri(options.uris.toPublic(uri))!.slice(0, -1);
  return {
    ...proxyResource(options, {
      mimeType: "text/markdown",
      ...(size !== undefined && { size }),
      ...listed,
      name,
      description,
      uri,
    }),
    uri: writeSkillUri([...publicPath, SKILL_MD]),
    skill: { name: `${options.target.name}/${path.join("/")}`, path: publicPath, frontMatter, files },
  };
}

/** The files of the skills of an upstream. */
export function proxySkillFiles(
  options: ProxyOptions,
  skills: readonly ListedSkill[],
): ResourceTemplateDefinition & FromUpstream {
  const { uris } = options;
  // Clients get URIs in one spelling; the upstream gets them in its own.
  const spelled = new Map(
    skills.flatMap(({ path, files = [] }) =>
      files.map((file) => [writeSkillUri([...path, ...file.path.split("/")]), file.uri] as const)
    ).filter(([written, uri]) => written !== uri),
  );
  const toOriginal = (uri: string): string | undefined => {
    const original = uris.toOriginal(uri);
    return original && (spelled.get(original) ?? original);
  };
  return proxyUnlisted({ ...options, uris: { ...uris, toOriginal } }, uris.skills);
}

function readAny(
  options: ProxyOptions,
): Pick<ResourceTemplateDefinition, "read" | "exists"> {
  const { uris } = options;
  return {
    read(_, context, uri) {
      const original = uris.toOriginal(uri);
      return original === undefined ? undefined : read(options, original, uri, context);
    },
    // The upstream decides when it is subscribed to.
    exists: () => true,
  };
}

function describe({ target, scopes }: ProxyOptions, entry: ResourceEntry): Description {
  const { uri, name, title, description, mimeType, annotations, icons, _meta } = entry;
  return {
    name,
    title,
    description,
    mimeType,
    annotations: annotations as Annotations | undefined,
    icons: icons as readonly Icon[] | undefined,
    _meta,
    ...(scopes.length > 0 && { scopes }),
    upstream: target.name,
    serverDigest: target.serverDigest,
    originalName: uri,
  };
}

type Description = Pick<
  ResourceDefinition & FromUpstream,
  | "name"
  | "title"
  | "description"
  | "mimeType"
  | "annotations"
  | "icons"
  | "_meta"
  | "scopes"
  | "upstream"
  | "serverDigest"
  | "originalName"
>;

async function read(
  { target, uris }: ProxyOptions,
  original: string,
  uri: string,
  context: CallContext,
): Promise<ReadResult> {
  try {
    const result = await callUpstream(target, "resources/read", { uri: original }, context);
    return toContents(toReadResult(result, uris));
  } catch (error) {
    if (isNotFound(error)) throw new ResourceNotFoundError(uri, context.revision);
    throw toMethodError(target.name, error, target.timeout);
  }
}

function toContents({ contents, _meta, ttlMs }: JsonObject): ReadResult {
  return {
    contents: contents as Extract<ReadResult, { contents: unknown }>["contents"],
    ...(isObject(_meta) && { _meta }),
    ...(Number.isSafeInteger(ttlMs) && (ttlMs as number) > 0 && { ttl: ttlMs as number }),
  };
}

/** Each revision has a code of its own for an unknown resource. */
function isNotFound(error: unknown): boolean {
  if (!(error instanceof McpError)) return false;
  return error.code === RESOURCE_NOT_FOUND ||
    error.code === INVALID_PARAMS && isObject(error.data) && typeof error.data.uri === "string";
}
