/**
 * Skills as tools, resources and a prompt: progressive disclosure for any MCP client. Level 1 (names and
 * descriptions) is `list_skills`, level 2 (instructions) `load_skill`, level 3 (files) `read_skill_file`.
 *
 * @module
 */
import type { Principal } from "../http/bearer.ts";
import { toContents } from "./content.ts";
import { type Definition, prompt, resourceTemplate, tool, ToolError } from "./definition.ts";

/** Where skills come from. Declared here, given by whoever composes the services. */
export interface SkillSource {
  /** Skills that this caller may see; anonymous callers see those of local folders. */
  list(principal: Principal | undefined): Promise<readonly SkillSummary[]>;
  /** Level 2, by name or id: the body of SKILL.md and the paths of all files. */
  load(principal: Principal | undefined, skill: string): Promise<LoadedSkill | undefined>;
  /** Level 3: one file. `undefined` when the skill or the path is unknown. */
  read(
    principal: Principal | undefined,
    skill: string,
    path: string,
  ): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined>;
}

export interface SkillSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: string;
}

export interface LoadedSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly files: readonly string[];
}

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const skillName = { type: "string", description: "Name of the skill, as list_skills gives it" };

/** The definitions that offer a source's skills. */
export function skillDefinitions(source: SkillSource): Definition[] {
  return [
    tool({
      name: "list_skills",
      title: "List skills",
      description: "Lists the skills that are available: for each its name and what it is for. " +
        "Call it before a task, then load_skill for the one that fits.",
      annotations: READ_ONLY,
      async run(_, { principal }) {
        const skills = await source.list(principal);
        if (skills.length === 0) return "No skills are available.";
        return skills.map(({ name, description }) => `- ${name}: ${oneLine(description)}`).join("\n");
      },
    }),
    tool({
      name: "load_skill",
      title: "Load a skill",
      description: "Gives a skill's instructions and the list of its files. Read files with read_skill_file.",
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
        const files = skill.files.filter((file) => file !== "SKILL.md");
        const listing = files.length === 0
          ? ""
          : `\n\nFiles of this skill, for read_skill_file:\n${files.map((file) => `- ${file}`).join("\n")}`;
        return skill.instructions.trim() + listing;
      },
    }),
    tool({
      name: "read_skill_file",
      title: "Read a skill's file",
      description: "Gives one file of a skill: a script, a template or a reference.",
      input: {
        type: "object",
        properties: {
          name: skillName,
          path: { type: "string", description: "Path of the file, as load_skill gives it" },
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
            `The skill "${name}" has no file "${shorten(path as string)}": load_skill lists its files.`,
          );
        }
        const text = asText(file);
        if (text !== undefined) return text;
        const uri = skillUri(name as string, path as string);
        return { content: [{ type: "resource", resource: toContents(uri, file.mediaType, file.bytes) }] };
      },
    }),
    resourceTemplate({
      uriTemplate: "skill://{name}/{+path}",
      name: "skill_file",
      title: "File of a skill",
      description: "A file of a skill; SKILL.md holds its instructions.",
      async list({ principal }) {
        const skills = await source.list(principal);
        return skills.map(({ name, description }) => ({
          uri: skillUri(name, "SKILL.md"),
          name,
          description,
          mimeType: "text/markdown",
        }));
      },
      async read({ name, path }, { principal }) {
        const file = await source.read(principal, name!, path!);
        return file && { content: asText(file) ?? file.bytes, mimeType: file.mediaType };
      },
    }),
    prompt({
      name: "use_skill",
      title: "Use a skill",
      description: "Asks for a task to be done with the instructions of a skill.",
      arguments: [
        { name: "skill", description: "Name of the skill", required: true },
        { name: "task", description: "What is to be done", required: true },
      ],
      async get({ skill, task }, { principal }) {
        const loaded = await source.load(principal, skill!);
        const how = loaded
          ? `Follow the instructions of the skill "${loaded.name}":\n\n${loaded.instructions.trim()}`
          : `There is no skill "${shorten(skill!)}". Call list_skills and use the one that fits, if any.`;
        return `${how}\n\nThe task:\n\n${task}`;
      },
    }),
  ];
}

/** The URI of a file; what a URI cannot have is percent-encoded. */
function skillUri(name: string, path: string): string {
  return `skill://${encodeURIComponent(name)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function asText({ bytes, mediaType }: { bytes: Uint8Array; mediaType: string }): string | undefined {
  if (/^(image|audio|video|font)\//.test(mediaType)) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

function unknownSkill(name: string): ToolError {
  return new ToolError(`There is no skill "${shorten(name)}": list_skills names those that there are.`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function shorten(text: string): string {
  return text.length > 100 ? text.slice(0, 99) + "…" : text;
}
