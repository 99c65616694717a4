/**
 * Levels 2 and 3 of progressive disclosure: the instructions of a skill, and its files, as text for a model. A text that
 * is too long for one answer is truncated at a line, and the answer states the offset of the rest.
 *
 * @module
 */
import { type Excerpt, readExcerpt } from "../../http/excerpt.ts";
import { estimateTokens } from "../package/tokens.ts";
import { countLinesBefore, type OpenFile, type OpenSkill } from "../disclosure/library.ts";
import { escape } from "./catalogue.ts";
import type { Block, Members, Turn } from "./request.ts";
import { folderLoadedBy, folderOf, isLoad, SKILL_MD, type View, VIEW_RESULT } from "./view.ts";

/** Characters of one answer: about 12,000 tokens of a file, twice that of instructions. */
const MAX_FILE_CHARACTERS = 50_000;
const MAX_INSTRUCTIONS_CHARACTERS = 100_000;
/** Files that one answer lists. */
const MAX_LISTED_FILES = 200;
const MAX_SUGGESTED_FILES = 20;

/** One disclosure of a skill, for usage counts. */
export interface Shown {
  readonly skill: OpenSkill;
  readonly level: 2 | 3;
  readonly tokens: number;
  readonly path?: string;
}

/** Answers views of the skills. Instructions that the conversation already contains are not repeated. */
export class ViewAnswers {
  readonly #skills: readonly OpenSkill[];
  /** By folder. */
  readonly #loaded: Map<string, Set<string>>;
  readonly #onShown: (shown: Shown) => void;

  constructor(skills: readonly OpenSkill[], turns: readonly Turn[], onShown: (shown: Shown) => void) {
    this.#skills = skills;
    this.#loaded = headsOf(turns.flatMap(({ content }) => typeof content === "string" ? [] : content));
    this.#onShown = onShown;
  }

  /** The content of the result block. @throws when the store fails */
  async answer(view: View | undefined): Promise<Members> {
    if (!view) {
      return failure(
        "invalid_tool_input",
        "Invalid input: name must be the name of a skill, and path the path of a file",
      );
    }
    const skill = this.#skills.find(({ name }) => folderOf(name) === view.folder);
    if (!skill) {
      const names = this.#skills.map(({ name }) => name).join(", ");
      return failure(
        "file_not_found",
        names === ""
          ? "Skill not found. No skills are available"
          : `Skill not found. Available skills: ${names}`,
      );
    }
    return isLoad(view) ? await this.#load(skill) : await this.#read(skill, view);
  }

  async #load(skill: OpenSkill): Promise<Members> {
    const head = headOf(skill);
    const loaded = this.#loaded.get(folderOf(skill.name)) ?? new Set();
    if (loaded.has(head)) {
      return shown(`The instructions of ${skill.name} were already loaded above. Follow them.`);
    }
    const [body, files] = await Promise.all([skill.instructions(), skill.files()]);
    const before = await countLinesBefore(skill, body);
    const cut = (await readExcerpt(new TextEncoder().encode(body), {
      first: 1,
      maxCharacters: MAX_INSTRUCTIONS_CHARACTERS,
    }))!;
    const note = cut.lines < cut.total
      ? `\n[Truncated. To continue, read ${SKILL_MD} with offset ${before + cut.lines + 1}.]`
      : "";
    this.#loaded.set(folderOf(skill.name), loaded.add(head));
    this.#onShown({ skill, level: 2, tokens: skill.tokens.instructions });
    return shown(`${head}\n${cut.text}${note}\n</skill_content>\n${listFiles(files)}`, {
      first: before + 1,
      lines: cut.lines,
      total: before + cut.total,
    });
  }

  async #read(skill: OpenSkill, { path, lines: [first, last] = [1, -1] }: View): Promise<Members> {
    const bytes = await skill.read(path);
    if (!bytes) return failure("file_not_found", noFile(skill.name, path, await skill.files()));
    const part = await readExcerpt(bytes, {
      first,
      count: last === -1 ? Infinity : last - first + 1,
      maxCharacters: MAX_FILE_CHARACTERS,
    });
    if (!part) {
      const type = (await skill.files()).find((file) => file.path === path)?.type ?? "unknown type";
      return shown(`${path} is not a text file: ${type}, ${bytes.length} bytes. It cannot be shown.`);
    }
    if (first > Math.max(part.total, 1)) {
      return failure("invalid_tool_input", `Line ${first} does not exist: ${path} has ${part.total} lines`);
    }
    const end = part.first + part.lines - 1;
    const note = end < part.total
      ? `\n[Lines ${part.first} to ${end} of ${part.total}. To continue, read with offset ${end + 1}.]`
      : "";
    const content = part.text + note;
    this.#onShown({ skill, level: 3, tokens: estimateTokens(content), path });
    return shown(content, part);
  }
}

/** The first line of instructions: it identifies the skill and the version. */
function headOf({ name, version }: OpenSkill): string {
  return `<skill_content name="${escape(name)}" version="${escape(version)}">`;
}

/** The heads of instructions among blocks, by folder. Any file may begin with a head: only results of a load count. */
function headsOf(blocks: readonly Block[]): Map<string, Set<string>> {
  const folders = new Map(blocks.map((block) => [block.id, folderLoadedBy(block)]));
  const heads = new Map<string, Set<string>>();
  for (const { type, tool_use_id, content } of blocks) {
    const folder = type === VIEW_RESULT ? folders.get(tool_use_id) : undefined;
    const text = (content as Members | null | undefined)?.content;
    if (folder === undefined || typeof text !== "string") continue;
    heads.set(folder, (heads.get(folder) ?? new Set()).add(text.split("\n", 1)[0]!));
  }
  return heads;
}

function listFiles(files: readonly OpenFile[]): string {
  const others = files.filter(({ path }) => path !== SKILL_MD);
  if (others.length === 0) return "<skill_files></skill_files>";
  const listed = others.slice(0, MAX_LISTED_FILES)
    .map(({ path, size }) => `<file bytes="${size}">${escape(path)}</file>`);
  const omitted = others.length - listed.length;
  return `<skill_files>\n${listed.join("\n")}\n${omitted > 0 ? `[and ${omitted} more]\n` : ""}</skill_files>`;
}

function noFile(name: string, path: string, files: readonly OpenFile[]): string {
  const names = files.slice(0, MAX_SUGGESTED_FILES).map((file) => file.path).join(", ");
  const more = files.length > MAX_SUGGESTED_FILES ? `, and ${files.length - MAX_SUGGESTED_FILES} more` : "";
  return `File ${JSON.stringify(path.slice(0, 200))} not found in ${name}. Files: ${names}${more}`;
}

function shown(content: string, part?: Omit<Excerpt, "text">): Members {
  return {
    type: "text_editor_code_execution_view_result",
    file_type: "text",
    content,
    num_lines: part?.lines ?? null,
    start_line: part?.first ?? null,
    total_lines: part?.total ?? null,
  };
}

/** The content of an error result. */
export function failure(
  error_code: "invalid_tool_input" | "unavailable" | "file_not_found",
  error_message: string,
): Members {
  return { type: `${VIEW_RESULT}_error`, error_code, error_message };
}
