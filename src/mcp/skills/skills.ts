/**
 * Skills as tools, resources and a prompt: progressive disclosure for any MCP client. Level 1 (names and
 * descriptions) is `list_skills`, level 2 (instructions) is `load_skill`, level 3 (files) is `read_skill_file`. The methods
 * of the Skills extension are in `skills_extension.ts`.
 *
 * Every file of a skill that has a path is a resource. A local skill is at `skill://<name>/`, an uploaded skill at
 * `skill://<id>/<name>/`, because uploaded skills may share a name.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { INVALID_PARAMS, RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import type { CallContext } from "../context.ts";
import { toContents } from "../definition/content.ts";
import { prompt, resourceTemplate, tool } from "../definition/define.ts";
import { type Definition, type ListedResource, ToolError } from "../definition/definition.ts";
import { lazy } from "../lazy.ts";
import { type SkillList, writeSkillList } from "./skill_list.ts";
import { writeSkillUri } from "./skill_uri.ts";

/** The source of skills. `trivet.ts` implements it with the Skills service. */
export interface SkillSource {
  /** The skills that the caller may see; anonymous callers see the skills of local directories. */
  list(principal: Principal | undefined): Promise<SkillList>;
  /**
   * Level 2, by name or id: the body of SKILL.md and the paths of all files.
   * @param context the call for which it is read
   */
  load(
    principal: Principal | undefined,
    skill: string,
    context: CallContext,
  ): Promise<LoadedSkill | undefined>;
  /** Level 3: one file, and the path of its skill (`place`); `undefined` for an unknown skill or file. */
  read(
    principal: Principal | undefined,
    skill: string,
    path: string,
    context: CallContext,
  ): Promise<SkillContent & { readonly place: readonly string[] } | undefined>;
  /**
   * A page of at most `limit` skills that have a path and that the caller may see, in a fixed order. `after` is the `next`
   * of the previous page, or the path of its last skill. `next` is `undefined` on the last page.
   */
  page(
    principal: Principal | undefined,
    options: { readonly after?: readonly string[] | undefined; readonly limit: number },
  ): Promise<{ readonly entries: readonly SkillEntry[]; readonly next: readonly string[] | undefined }>;
  /** The skill whose path begins `path`, and the rest of `path`; `undefined` if the caller sees no such skill. */
  find(
    principal: Principal | undefined,
    path: readonly string[],
  ): Promise<{ readonly entry: SkillEntry; readonly rest: readonly string[] } | undefined>;
}

/** A skill that follows the open specification (https://agentskills.io/specification). */
export interface SkillEntry {
  /** The path segments of its URI; the last segment is the name. */
  readonly path: readonly string[];
  /** The complete front matter of SKILL.md, as JSON. */
  readonly frontMatter: {
    readonly name: string;
    readonly description: string;
    readonly [name: string]: unknown;
  };
  /** Whether every caller may see it. */
  readonly isPublic: boolean;
  /** Whether its files are resources of other definitions, which list and read them. */
  readonly isElsewhere?: true;
  /** All files, in any order; `undefined` if the skill was deleted meanwhile. */
  readonly files: () => Promise<readonly SkillFile[] | undefined>;
  /** One file; `undefined` for an unknown path. */
  readonly read: (path: string) => Promise<SkillContent | undefined>;
}

export interface SkillFile {
  /** Relative to the skill, with `/` as separator. */
  readonly path: string;
  /** Bytes; absent if it is not known. */
  readonly size?: number;
  /** The media type; absent if only the content tells it. */
  readonly type: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent if it is not known. */
  readonly digest: string | undefined;
}

export interface SkillContent {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export interface LoadedSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly files: readonly string[];
  /** Lines of SKILL.md before the instructions; used to read on where they are truncated. */
  readonly linesBefore?: () => Promise<number>;
}

export const SKILL_MD = "SKILL.md";
/** The URIs of the files of all skills. */
export const SKILL_FILES = "skill://{name}/{+path}";
/** Skills in `resources/list`; `skills/list` and `list_skills` have all of them. */
const MAX_LISTED_SKILLS = 1000;
/** Bytes of a file in one message, as text or base64: encoding more of it blocks the event loop. */
const MAX_RESOURCE_BYTES = 1024 * 1024;
const texts = lazy(() => import("./skill_text.ts"));

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const skillName = { type: "string", description: "Name of the skill, from list_skills" };

/** The definitions for a source's skills, without those whose name one of the server's own definitions has. */
export function skillDefinitions(source: SkillSource, own: readonly Definition[]): Definition[] {
  const keyOf = (each: Definition): string =>
    `${each.kind} ${each.kind === "resource_template" ? each.uriTemplate : each.name}`;
  const taken = new Set(own.map(keyOf));
  return createDefinitions(source).filter((each) => !taken.has(keyOf(each)));
}

function createDefinitions(source: SkillSource): Definition[] {
  return [
    tool({
      name: "list_skills",
      title: "List skills",
      description: "Lists the available skills with their names and descriptions. " +
        "Call it before you start a task, then call load_skill for the skill that matches the task.",
      annotations: READ_ONLY,
      async run(_, { principal }) {
        return writeSkillList(await source.list(principal));
      },
    }),
    tool({
      name: "load_skill",
      title: "Load a skill",
      description:
        "Returns a skill's instructions and the list of its files. Read a file with read_skill_file.",
      input: {
        type: "object",
        properties: { name: skillName },
        required: ["name"],
        additionalProperties: false,
      },
      annotations: READ_ONLY,
      async run({ name }, context) {
        const skill = await source.load(context.principal, name as string, context);
        if (!skill) throw unknownSkill(name as string);
        const files = skill.files.filter((file) => file !== SKILL_MD);
        const { writeFileList, writeInstructions } = await texts.load();
        const listing = files.length === 0
          ? ""
          : `\n\nFiles of this skill, for read_skill_file:\n${writeFileList(files)}`;
        return await writeInstructions(skill) + listing;
      },
    }),
    tool({
      name: "read_skill_file",
      title: "Read a skill's file",
      description: "Returns one file of a skill, whole or in part: a script, a template or a reference.",
      input: {
        type: "object",
        properties: {
          name: skillName,
          path: { type: "string", description: "Path of the file, from load_skill" },
          offset: { type: "integer", minimum: 1, description: "First line to read. Default: 1" },
          limit: { type: "integer", minimum: 1, description: "Number of lines to read. Default: all" },
        },
        required: ["name", "path"],
        additionalProperties: false,
      },
      annotations: READ_ONLY,
      async run({ name, path, offset, limit }, context) {
        const { principal } = context;
        const file = await source.read(principal, name as string, path as string, context);
        if (!file) {
          if (!await source.load(principal, name as string, context)) throw unknownSkill(name as string);
          throw new ToolError(
            `Unknown file "${
              shorten(path as string)
            }" in skill "${name}". Call load_skill for the list of its files.`,
          );
        }
        if (!isMedia(file)) {
          const { writeFilePart } = await texts.load();
          const { bytes } = file;
          const text = await writeFilePart(
            bytes,
            path as string,
            offset as number | undefined,
            limit as number | undefined,
          );
          if (text !== undefined) return text;
        }
        const { length } = file.bytes;
        if (length > MAX_RESOURCE_BYTES) {
          throw new ToolError(
            `The file is no text, and too large: ${length} bytes, at most ${MAX_RESOURCE_BYTES}.`,
          );
        }
        const uri = writeSkillUri([...file.place, ...(path as string).split("/")]);
        return { content: [{ type: "resource", resource: toContents(uri, file.mediaType, file.bytes) }] };
      },
    }),
    resourceTemplate({
      uriTemplate: SKILL_FILES,
      name: "skill_file",
      title: "File of a skill",
      description: "A file of a skill; SKILL.md holds its instructions.",
      async list({ principal }) {
        const { entries } = await source.page(principal, { limit: MAX_LISTED_SKILLS });
        return entries.filter(({ isElsewhere }) => !isElsewhere).map((entry) =>
          toResource(entry, { path: SKILL_MD, type: "text/markdown" })
        );
      },
      async exists({ name, path }, { principal }) {
        const found = await source.find(principal, [name!, ...path!.split("/")]);
        const wanted = found?.rest.join("/");
        return (await found?.entry.files())?.some((file) => file.path === wanted) ?? false;
      },
      async read({ name, path }, { principal }, uri) {
        const found = await source.find(principal, [name!, ...path!.split("/")]);
        if (!found || found.entry.isElsewhere) return undefined;
        const file = await found.entry.read(found.rest.join("/"));
        const length = file?.bytes.length ?? 0;
        if (length > MAX_RESOURCE_BYTES) {
          const message = `Resource too large: ${length} bytes, at most ${MAX_RESOURCE_BYTES}. ` +
            "Text can be read in parts with read_skill_file";
          throw new RpcError(INVALID_PARAMS, message, { uri });
        }
        return file && { content: asText(file) ?? file.bytes, mimeType: file.mediaType };
      },
    }),
    prompt({
      name: "use_skill",
      title: "Use a skill",
      description: "Does a task with the instructions of a skill.",
      arguments: [
        { name: "skill", description: "Name of the skill", required: true },
        { name: "task", description: "The task to do", required: true },
      ],
      async get({ skill, task }, context) {
        const loaded = await source.load(context.principal, skill!, context).catch((error) => {
          // Such as what a policy denies.
          throw error instanceof ToolError ? new RpcError(SERVER_ERROR, error.message) : error;
        });
        const { writeInstructions } = await texts.load();
        const how = loaded
          ? `Follow the instructions of the skill "${loaded.name}":\n\n${await writeInstructions(loaded)}`
          : `Unknown skill "${
            shorten(skill!)
          }". Call list_skills, and use the skill that matches the task, if there is one.`;
        return `${how}\n\nThe task:\n\n${task}`;
      },
    }),
  ];
}

/** The resource of a file. SKILL.md has the name and description of the skill (ext-skills, resource metadata). */
export function toResource(
  { path: place, frontMatter: { name, description } }: SkillEntry,
  { path, type, size }: { readonly path: string; readonly type: string | undefined; readonly size?: number },
): ListedResource {
  const segments = path.split("/");
  return {
    uri: writeSkillUri([...place, ...segments]),
    ...(path === SKILL_MD ? { name, description } : { name: segments.at(-1)! }),
    ...(type !== undefined && { mimeType: type }),
    ...(size !== undefined && { size }),
  };
}

function isMedia({ mediaType }: SkillContent): boolean {
  return /^(image|audio|video|font)\//.test(mediaType);
}

function asText(file: SkillContent): string | undefined {
  if (isMedia(file)) return undefined;
  try {
    // With the byte order mark: clients compare digests of all bytes.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file.bytes);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

function unknownSkill(name: string): ToolError {
  return new ToolError(`Unknown skill "${shorten(name)}". Call list_skills for the available skills.`);
}

function shorten(text: string): string {
  return text.length > 100 ? text.slice(0, 99).toWellFormed() + "…" : text;
}
