/**
 * `resources/list`, `resources/read` and `resources/templates/list`
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources).
 *
 * @module
 */
import type { Method } from "../../jsonrpc/dispatch.ts";
import { INVALID_PARAMS } from "../../jsonrpc/error.ts";
import { type InputRequired, isRetry } from "../input/input_required.ts";
import type { Call } from "../call.ts";
import { type FullReadResult, type ReadResult, toAllContents, toContents } from "./content.ts";
import type { ListedResource } from "./definition.ts";
import { MODERN } from "../era.ts";
import { UnknownNameError } from "../error.ts";
import { runHandler } from "../handler.ts";
import { type ListEntry, type ListOptions, type ListPages, writePage } from "./list_pages.ts";
import { requireObject, requireString } from "../schema/params.ts";
import type { CompiledResource, CompiledTemplate, Registry } from "./registry.ts";
import { hasScopes, requireScopes } from "./scopes.ts";
import { membersFor } from "../revision_shape.ts";
import { matchTemplates } from "./uri/uri_template.ts";

export interface ResourceOptions {
  readonly registry: Registry;
  /** The pages of resources with fixed URIs. */
  readonly list: ListPages;
  readonly listOptions: Omit<ListOptions, "entries" | "member">;
  readonly listTemplates: (listed: readonly CompiledTemplate[]) => ListPages;
  readonly inputRequired: InputRequired;
}

/** Until revision 2025-11-25 (resources, error handling). */
const RESOURCE_NOT_FOUND = -32002;

/** An unknown resource: -32602 since 2026-07-28 (SEP-2164), -32002 before. */
export class ResourceNotFoundError extends UnknownNameError {
  override readonly name = "ResourceNotFoundError";

  constructor(uri: string, revision: string) {
    const shown = uri.slice(0, 500);
    super(`Resource not found: ${shown}`, revision >= MODERN ? INVALID_PARAMS : RESOURCE_NOT_FOUND, {
      uri: shown,
    });
  }
}

/** The methods of the resources capability. */
export function resourceMethods(options: ResourceOptions): [string, Method<Call>][] {
  const { registry: { resources, templates }, inputRequired } = options;
  const listable = templates.filter(({ definition }) => definition.list);
  const fixed = [...resources.values()];
  const listTemplates = options.listTemplates(
    templates.filter(({ definition }) => definition.isListed !== false),
  );

  const list: Method<Call> = async (params, call) => {
    const { cursor } = requireObject(params);
    if (listable.length === 0) return await options.list(cursor, call);
    const visible = listable.filter((template) => hasScopes(call, template.scopes));
    const listed = await Promise.all(
      visible.map(({ definition }) => runHandler(() => definition.list!(call))),
    );
    // Of several entries with one URI the first counts, as for `resources/read`: cursors name the last entry of their page.
    const known = new Set(resources.keys());
    const isNew = ({ name }: ListEntry) => !known.has(name) && known.add(name);
    const entries = [
      ...fixed.filter((entry) => hasScopes(call, entry.scopes)),
      ...listed.flat().map(toEntry).filter(isNew),
    ];
    // A template may list other resources for each caller, and at any time.
    const pages = { ...options.listOptions, member: "resources", ttl: 0, cacheScope: "private" } as const;
    return await writePage(pages, entries, cursor, call.revision);
  };

  const read: Method<Call> = async (params, call) => {
    const object = requireObject(params);
    const uri = requireString(object, "uri");
    const modern = call.revision >= MODERN;
    if (modern && isRetry(object)) await inputRequired.restore(call, "resources/read", object);
    const run = () => readResource(options, uri, call);
    return modern ? await inputRequired.run(call, "resources/read", object, run) : await run();
  };

  return [
    ["resources/list", list],
    ["resources/read", read],
    ["resources/templates/list", (params, call) => listTemplates(requireObject(params).cursor, call)],
  ];
}

/** @throws {ResourceNotFoundError} @throws {ScopeError} */
async function readResource(
  { registry: { resources, templates }, listOptions: { cacheScope } }: ResourceOptions,
  uri: string,
  call: Call,
): Promise<Record<string, unknown>> {
  const resource = resources.get(uri);
  if (resource) {
    requireScopes(call, resource.scopes);
    return toReadResult(
      uri,
      resource,
      cacheScope,
      await runHandler(() => resource.definition.read(call)),
      call,
    );
  }
  for await (const [template, variables] of matchTemplates(templates, uri)) {
    requireScopes(call, template.scopes);
    const result = await runHandler(() => template.definition.read(variables, call, uri));
    if (result !== undefined) return toReadResult(uri, template, cacheScope, result, call);
  }
  throw new ResourceNotFoundError(uri, call.revision);
}

/** @param widest the widest cache scope; contents that require scopes are private */
function toReadResult(
  uri: string,
  { scopes, definition }: CompiledResource | CompiledTemplate,
  widest: "public" | "private",
  result: ReadResult,
  { revision }: Call,
): Record<string, unknown> {
  const { contents, ttl = definition.ttl ?? 0, _meta } = isFull(result)
    ? { ...result, contents: toAllContents(uri, result.contents) }
    : { contents: [toContents(uri, definition.mimeType, result)] };
  const members = membersFor(revision, { contents, _meta });
  if (revision < MODERN) return members;
  const isPublic = definition.cacheScope === "public" && widest === "public" && scopes.length === 0;
  return { ...members, ttlMs: ttl, cacheScope: isPublic ? "public" : "private" };
}

/** Authors without types may return anything. */
function isFull(result: ReadResult): result is FullReadResult {
  return Array.isArray((result as FullReadResult | undefined)?.contents);
}

function toEntry(resource: ListedResource): ListEntry {
  return { name: resource.uri, scopes: [], describe: (revision) => membersFor(revision, { ...resource }) };
}
