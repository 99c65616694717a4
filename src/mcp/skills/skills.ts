/**
 * Skills as tools, resources and a prompt: progressive disclosure for any MCP client. Level 1 (names and
 * descriptions) is `list_skills`, level 2 (instructions) `load_skill`, level 3 (files) `read_skill_file`. What clients
 * that know the Skills extension have beyond that is in `skills_extension.ts`.
 *
 * Every file of a skill that has a path is a resource. A local skill is at `skill://<name>/`, an uploaded one at
 * `skill://<id>/<name>/`: ids differ where names do not.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { toContents } from "../definition/content.ts";
import {
  type Definition,
  type ListedResource,
  prompt,
  resourceTemplate,
  tool,
  ToolError,
} from "../definition/definition.ts";
import { writeSkillUri } from "./skill_uri.ts";

/** Where skills come from. Declared here, given by whoever composes the services. */
export interface SkillSource {
  /** Skills that this caller may see; anonymous callers see those of local folders. */
  list(principal: Principal | undefined): Promise<SkillList>;
  /** Level 2, by name or id: the body of SKILL.md and the paths of all files. */
  load(principal: Principal | undefined, skill: string): Promise<LoadedSkill | undefined>;
  /** Level 3: one file, and the path of the skill. `undefined` when the skill or the path of the file is unknown. */
  read(
    principal: Principal | undefined,
    skill: string,
    path: string,
  ): Promise<SkillContent & { readonly place: readonly string[] } | undefined>;
  /**
   * At most `limit` skills that have a path and that this caller may see, always in one order. `after` is the path of
   * the last of the page before, or its `next`; that is `undefined` on the last page.
   */
  page(
    principal: Principal | undefined,
    options: { readonly after?: readonly string[] | undefined; readonly limit: number },
  ): Promise<{ readonly entries: readonly SkillEntry[]; readonly next: readonly string[] | undefined }>;
  /** The skill whose path is the beginning of this one, and the rest; `undefined` when the caller sees none. */
  find(
    principal: Principal | undefined,
    path: readonly string[],
  ): Promise<{ readonly entry: SkillEntry; readonly rest: readonly string[] } | undefined>;
}

/** A skill that is as the open specification (https://agentskills.io/specification) has it. */
export interface SkillEntry {
  /** Segments of its URI; the last is the name. */
  readonly path: readonly string[];
  /** The YAML of SKILL.md as JSON, whole. */
  readonly frontMatter: {
    readonly name: string;
    readonly description: string;
    readonly [name: string]: unknown;
  };
  /** Everybody may see it. */
  readonly isPublic: boolean;
  /** All files, in any order; `undefined` when the skill is gone. */
  readonly files: () => Promise<readonly SkillFile[] | undefined>;
  /** One file; `undefined` when there is none. */
  readonly read: (path: string) => Promise<SkillContent | undefined>;
}

export interface SkillFile {
  /** With `/` between folders. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The media type; absent where it is not known without the content. */
  readonly type: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent where it is not known. */
  readonly digest: string | undefined;
}

export interface SkillContent {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export interface SkillSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: string;
}

/** What a caller may see, and what of it is left out. */
export interface SkillList {
  readonly skills: readonly SkillSummary[];
  readonly omitted: {
    /** Skills whose name another one has that goes before them. */
    readonly shadowed: number;
    /** Whether there are older ones that were not looked at. */
    readonly older: boolean;
  };
}

export interface LoadedSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly files: readonly string[];
}

export const SKILL_MD = "SKILL.md";
/** Skills in the list of resources; `skills/list` and `list_skills` go on. */
const MOST_LISTED = 1000;

/** Characters of a list that have descriptions: about 10,000 tokens. */
const LONGEST_LIST = 40_000;

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const skillName = { type: "string", description: "Name of the skill, from list_skills" };

/** The definitions that offer a source's skills, without those that the server has of its own. */
export function skillDefinitions(source: SkillSource, own: readonly Definition[]): Definition[] {
  const nameOf = (each: Definition): string =>
    `${each.kind} ${each.kind === "resource_template" ? each.uriTemplate : each.name}`;
  const taken = new Set(own.map(nameOf));
  return definitionsOf(source).filter((each) => !taken.has(nameOf(each)));
}

function definitionsOf(source: SkillSource): Definition[] {
  return [
    tool({
      name: "list_skills",
      title: "List skills",
      description: "Lists the available skills with their names and descriptions. " +
        "Call it before you start a task, then call load_skill for the skill that matches the task.",
      annotations: READ_ONLY,
      async run(_, { principal }) {
        return writeList(await source.list(principal));
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
      async run({ name }, { principal }) {
        const skill = await source.load(principal, name as string);
        if (!skill) throw unknownSkill(name as string);
        const files = skill.files.filter((file) => file !== SKILL_MD);
        const listing = files.length === 0
          ? ""
          : `\n\nFiles of this skill, for read_skill_file:\n${files.map((file) => `- ${file}`).join("\n")}`;
        return skill.instructions.trim() + listing;
      },
    }),
    tool({
      name: "read_skill_file",
      title: "Read a skill's file",
      description: "Returns one file of a skill: a script, a template or a reference.",
      input: {
        type: "object",
        properties: {
          name: skillName,
          path: { type: "string", description: "Path of the file, from load_skill" },
        },
        required: ["name", "path"],
        additionalProperties: false,
      },
      annotations: READ_ONLY,
      async run({ name, path }, { principal }) {
        const file = await source.read(principal, name as string, path as string);
        if (!file) {
          if (!await source.load(principal, name as string)) throw unknownSkill(name as string);
          throw new ToolError(
            `Unknown file "${
              shorten(path as string)
            }" in skill "${name}". Call load_skill for the list of its files.`,
          );
        }
        const text = asText(file);
        if (text !== undefined) return text;
        const uri = writeSkillUri([...file.place, ...(path as string).split("/")]);
        return { content: [{ type: "resource", resource: toContents(uri, file.mediaType, file.bytes) }] };
      },
    }),
    resourceTemplate({
      uriTemplate: "skill://{name}/{+path}",
      name: "skill_file",
      title: "File of a skill",
      description: "A file of a skill; SKILL.md holds its instructions.",
      async list({ principal }) {
        const { entries } = await source.page(principal, { limit: MOST_LISTED });
        return entries.map((entry) => toResource(entry, { path: SKILL_MD, type: "text/markdown" }));
      },
      async exists({ name, path }, { principal }) {
        const found = await source.find(principal, [name!, ...path!.split("/")]);
        const wanted = found?.rest.join("/");
        return (await found?.entry.files())?.some((file) => file.path === wanted) ?? false;
      },
      async read({ name, path }, { principal }) {
        const found = await source.find(principal, [name!, ...path!.split("/")]);
        const file = await found?.entry.read(found.rest.join("/"));
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
      async get({ skill, task }, { principal }) {
        const loaded = await source.load(principal, skill!);
        const how = loaded
          ? `Follow the instructions of the skill "${loaded.name}":\n\n${loaded.instructions.trim()}`
          : `Unknown skill "${
            shorten(skill!)
          }". Call list_skills, and use the skill that matches the task, if there is one.`;
        return `${how}\n\nThe task:\n\n${task}`;
      },
    }),
  ];
}

/** Names and descriptions; nothing is left out without a word of it. */
function writeList({ skills, omitted: { shadowed, older } }: SkillList): string {
  if (skills.length === 0) return "No skills are available.";
  const lines: string[] = [];
  let room = LONGEST_LIST;
  for (const { name, description } of skills) {
    const line = `- ${name}: ${oneLine(description)}`;
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  const rest = skills.slice(lines.length).map(({ name }) => name);
  if (rest.length > 0) {
    lines.push(
      `${rest.length} more skills, without descriptions because the list is too long: ${rest.join(", ")}`,
    );
  }
  if (shadowed > 0) {
    lines.push(
      `Not listed: ${shadowed} skills with the same name as another skill. Load them with load_skill and their id.`,
    );
  }
  if (older) lines.push("Not listed: older skills. Load them with load_skill and their name or id.");
  return lines.join("\n");
}

/** A file in a list of resources; SKILL.md stands for the skill (ext-skills, resource metadata). */
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

function asText({ bytes, mediaType }: SkillContent): string | undefined {
  if (/^(image|audio|video|font)\//.test(mediaType)) return undefined;
  try {
    // Every byte is kept, a byte order mark too: clients compare digests.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

function unknownSkill(name: string): ToolError {
  return new ToolError(`Unknown skill "${shorten(name)}". Call list_skills for the available skills.`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function shorten(text: string): string {
  return text.length > 100 ? text.slice(0, 99) + "…" : text;
}
