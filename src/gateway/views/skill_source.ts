/**
 * The skills that one view offers: those of this server, and those of upstreams. A skill of an upstream is read by its
 * definitions, so that the policy decides about each file, and the upstream gets the credentials of the caller.
 *
 * @module
 */
import { decodeBase64 } from "../../crypto/base64.ts";
import { digestLarge, formatDigest } from "../../crypto/large_digest.ts";
import { hasScope, type Principal } from "../../http/principal.ts";
import { RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import type { CallContext } from "../../mcp/context.ts";
import type { ReadResult } from "../../mcp/definition/content.ts";
import {
  type Definition,
  type ResourceTemplateDefinition,
  ToolError,
} from "../../mcp/definition/definition.ts";
import { compileUriTemplate, type MatchUri } from "../../mcp/definition/uri/uri_template.ts";
import { ResourceNotFoundError } from "../../mcp/definition/resources.ts";
import { writeSkillUri } from "../../mcp/skills/skill_uri.ts";
import { countLines } from "../../http/excerpt.ts";
import { SKILL_MD, type SkillContent, type SkillEntry, type SkillSource } from "../../mcp/skills/skills.ts";
import {
  isUpstreamDefinition,
  isUpstreamSkill,
  type UpstreamSkill,
} from "../upstream/upstream_definition.ts";
import { SKILL_AUTHORITY } from "../upstream/uris.ts";

/** A skill whose handlers run within the policy. */
interface GuardedSkill {
  readonly definition: UpstreamSkill;
  /** Its place in the order of all. */
  readonly key: string;
  readonly entry: SkillEntry;
}

/**
 * The source of all skills of a view.
 * @param own the skills of this server, which come first
 * @param definitions those of the upstreams, within the policy
 * @param implied the other scopes that a scope implies
 */
export function createSkillSource(
  own: SkillSource | undefined,
  definitions: readonly Definition[],
  implied: ReadonlyMap<string, ReadonlySet<string>>,
): SkillSource {
  const skills = definitions.filter(isUpstreamSkill).map(toGuarded).sort((a, b) => a.key < b.key ? -1 : 1);
  const byName = new Map(skills.map((each) => [each.definition.skill.name, each]));
  const byPath = new Map(skills.map((each) => [each.key, each]));
  /** What reads the files of the skills of each upstream. */
  const templates = new Map<string, { definition: ResourceTemplateDefinition; match: MatchUri }>();
  for (const definition of definitions) {
    const isOfSkills = definition.kind === "resource_template" && isUpstreamDefinition(definition) &&
      definition.uriTemplate.startsWith(writeSkillUri([SKILL_AUTHORITY]));
    if (!isOfSkills || definition.isListed !== false) continue;
    templates.set(definition.upstream, { definition, match: compileUriTemplate(definition.uriTemplate) });
  }

  const mayUse = (principal: Principal | undefined, { definition: { scopes = [] } }: GuardedSkill): boolean =>
    scopes.every((scope) => principal !== undefined && hasScope(principal, scope, implied));

  function find(principal: Principal | undefined, name: string): GuardedSkill | undefined {
    const found = byName.get(name);
    return found && mayUse(principal, found) ? found : undefined;
  }

  /** `undefined` for an unknown file. @throws {ToolError} */
  async function readFile(
    { definition }: GuardedSkill,
    path: string,
    context: CallContext,
  ): Promise<SkillContent | undefined> {
    const { name, path: place, files } = definition.skill;
    const listed = files?.find((each) => each.path === path);
    if (files && !listed) return undefined;
    const uri = writeSkillUri([...place, ...path.split("/")]);
    const template = templates.get(definition.upstream);
    const variables = template?.match(uri);
    let result: ReadResult | undefined;
    try {
      result = path === SKILL_MD
        ? await definition.read(context)
        : variables && await template!.definition.read(variables, context, uri);
    } catch (error) {
      if (error instanceof ResourceNotFoundError) return undefined;
      if (error instanceof RpcError && error.code === SERVER_ERROR) throw new ToolError(error.message);
      throw error;
    }
    const content = toContent(result);
    if (content && listed && formatDigest(await digestLarge(content.bytes)) !== listed.digest) {
      throw new ToolError(
        `${path} of the skill "${name}" has another digest than its server lists. Report this to its operator`,
      );
    }
    return content;
  }

  return {
    async list(principal) {
      const { skills: listed, omitted } = await own?.list(principal) ??
        { skills: [], omitted: { shadowed: 0, older: false } };
      const others = skills.filter((each) => mayUse(principal, each)).map(({ definition: { skill } }) => ({
        id: skill.name,
        name: skill.name,
        description: skill.frontMatter.description,
        source: "upstream",
      }));
      return { skills: [...listed, ...others], omitted };
    },

    async load(principal, name, context) {
      const found = find(principal, name);
      if (!found) return await own?.load(principal, name, context);
      const content = await readFile(found, SKILL_MD, context);
      if (!content) return undefined;
      const { frontMatter: { description }, files = [] } = found.definition.skill;
      const text = new TextDecoder().decode(content.bytes);
      const instructions = withoutFrontMatter(text);
      return {
        id: name,
        name,
        description,
        instructions,
        linesBefore: () => Promise.resolve(countLines(text) - countLines(instructions)),
        files: files.map(({ path }) => path),
      };
    },

    async read(principal, name, path, context) {
      const found = find(principal, name);
      if (!found) return await own?.read(principal, name, path, context);
      const content = await readFile(found, path, context);
      return content && { ...content, place: found.definition.skill.path };
    },

    async page(principal, { after, limit }) {
      const isWithin = after?.[0]?.startsWith(SKILL_AUTHORITY) === true;
      const first = own && !isWithin ? await own.page(principal, { after, limit }) : undefined;
      if (first?.next) return first;
      const begun = isWithin ? keyOf(after) : "";
      const rest = skills.filter((each) => each.key > begun && mayUse(principal, each));
      const added = rest.slice(0, limit - (first?.entries.length ?? 0)).map(({ entry }) => entry);
      return {
        entries: [...first?.entries ?? [], ...added],
        // A position before all of them, when the page has room for none.
        next: added.length === rest.length ? undefined : added.at(-1)?.path ?? [SKILL_AUTHORITY],
      };
    },

    async find(principal, path) {
      for (let length = path.length; length > 0; length--) {
        const found = byPath.get(keyOf(path.slice(0, length)));
        if (found && mayUse(principal, found)) return { entry: found.entry, rest: path.slice(length) };
      }
      return await own?.find(principal, path);
    },
  };
}

function toGuarded(definition: UpstreamSkill): GuardedSkill {
  const { path, frontMatter, files } = definition.skill;
  const { size } = definition;
  const listed = files ?? [{ path: SKILL_MD, digest: undefined, ...(size !== undefined && { size }) }];
  return {
    definition,
    key: keyOf(path),
    entry: {
      path,
      frontMatter,
      isPublic: false,
      isElsewhere: true,
      files: () =>
        Promise.resolve(listed.map((file) => ({
          ...file,
          type: file.path === SKILL_MD ? "text/markdown" : undefined,
        }))),
      read: () => Promise.resolve(undefined),
    },
  };
}

function keyOf(path: readonly string[]): string {
  return path.join("/");
}

function toContent(result: ReadResult | undefined): SkillContent | undefined {
  const [first] = typeof result === "object" && "contents" in result ? result.contents : [];
  if (!first) return undefined;
  const { mimeType } = first;
  return "text" in first
    ? { bytes: new TextEncoder().encode(first.text), mediaType: mimeType ?? "text/plain" }
    : { bytes: toBytes(first.blob), mediaType: mimeType ?? "application/octet-stream" };
}

/** @throws {ToolError} */
function toBytes(blob: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof blob !== "string") return new Uint8Array(blob);
  try {
    return decodeBase64(blob);
  } catch (error) {
    throw new ToolError("The MCP server sent invalid base64. Report this to its operator", { cause: error });
  }
}

/** The body of a SKILL.md: what follows the second line of exactly `---`. */
function withoutFrontMatter(text: string): string {
  return /^\uFEFF?---\r?\n(?:[^]*?\n)??---(?:\r?\n|$)([^]*)$/.exec(text)?.[1] ?? text;
}
