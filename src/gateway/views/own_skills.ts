/**
 * The skills of this server within the policy of a gateway: a file that a tool or a prompt reads is decided about as
 * `resources/read` of its URI is, and a skill whose SKILL.md is denied is in no list.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import type { CallContext } from "../../mcp/context.ts";
import { resourceTemplate } from "../../mcp/definition/define.ts";
import { type Definition, ToolError } from "../../mcp/definition/definition.ts";
import type { Middleware, Use } from "../../mcp/definition/group.ts";
import type { SkillList } from "../../mcp/skills/skill_list.ts";
import { SKILL_FILES, SKILL_MD, type SkillSource } from "../../mcp/skills/skills.ts";

/** Whether a skill is offered, by the path segments of its URI. */
export type IsOffered = (path: readonly string[]) => boolean;

/** Skills of this server, which a policy can restrict. */
export interface OwnSkills extends SkillSource {
  /** @param isOffered which skills are in the list. @default all */
  list(principal: Principal | undefined, isOffered?: IsOffered): Promise<SkillList>;
  /** A page may have fewer skills than `limit` although others follow. */
  page(
    principal: Principal | undefined,
    options: Parameters<SkillSource["page"]>[1] & { readonly isOffered?: IsOffered | undefined },
  ): ReturnType<SkillSource["page"]>;
  /** The id and the path of the skill that `load` and `read` find by a name or id; `undefined` for an unknown skill. */
  locate(
    principal: Principal | undefined,
    skill: string,
  ): Promise<{ readonly id: string; readonly path: readonly string[] } | undefined>;
}

export interface SkillPolicy {
  /** Runs around the read of each file, as around `resources/read`. */
  readonly middleware: readonly Middleware[];
  /** Whether the rules deny a use whose arguments are final. @default none */
  readonly isDenied?:
    | ((definition: Definition, input: unknown, principal: Principal | undefined) => boolean)
    | undefined;
}

/** What the policy decides about: a file of a skill, as a resource. */
const SKILL_FILE = resourceTemplate({ uriTemplate: SKILL_FILES, name: "skill_file", read: () => undefined });

/** The skills within the policy. */
export function guardSkills(own: OwnSkills, { middleware, isDenied }: SkillPolicy): SkillSource {
  /** Whether the rules deny to read what is at a path. */
  const denies = (principal: Principal | undefined, path: readonly string[]): boolean =>
    isDenied?.(SKILL_FILE, toVariables(path), principal) ?? false;
  const isHidden = (principal: Principal | undefined, skill: readonly string[]): boolean =>
    denies(principal, [...skill, SKILL_MD]);
  const offeredTo = (principal: Principal | undefined): IsOffered => (path) => !isHidden(principal, path);

  /** Reads a file within the policy. `undefined` also for a denied file of a hidden skill. @throws {ToolError} */
  async function readFile<Result>(
    skill: readonly string[],
    file: string,
    context: CallContext,
    read: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const { principal } = context;
    const path = [...skill, ...file.split("/")];
    const use: Use = {
      kind: SKILL_FILE.kind,
      name: SKILL_FILES,
      input: toVariables(path),
      definition: SKILL_FILE,
    };
    const run = middleware.reduceRight<() => unknown>((next, each) => () => each(use, context, next), read);
    try {
      return await run() as Result | undefined;
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== SERVER_ERROR) throw error;
      // What no list has does not exist for the caller.
      if (isHidden(principal, skill) && denies(principal, path)) return undefined;
      throw new ToolError(error.message);
    }
  }

  return {
    list: (principal) => own.list(principal, offeredTo(principal)),

    async load(principal, name, context) {
      const found = await own.locate(principal, name);
      return found &&
        await readFile(found.path, SKILL_MD, context, () => own.load(principal, found.id, context));
    },

    async read(principal, name, path, context) {
      const found = await own.locate(principal, name);
      return found &&
        await readFile(found.path, path, context, () => own.read(principal, found.id, path, context));
    },

    async page(principal, options) {
      return await own.page(principal, { ...options, isOffered: offeredTo(principal) });
    },

    async find(principal, path) {
      const found = await own.find(principal, path);
      if (!found) return undefined;
      const { entry, rest } = found;
      // A rule may allow another file, which `resources/read` finds by this.
      if (isHidden(principal, entry.path) && (rest.length === 0 || denies(principal, path))) return undefined;
      // A cache that callers share would give it to those for whom it is denied.
      return { entry: { ...entry, isPublic: false }, rest };
    },
  };
}

/** The variables of {@linkcode SKILL_FILES} for the URI of these segments. */
function toVariables([name = "", ...path]: readonly string[]): Record<string, string> {
  return { name: name.toWellFormed(), path: path.join("/").toWellFormed() };
}
