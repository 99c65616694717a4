/**
 * How loading a skill looks to client and model. The client sees the code execution tool view a file below
 * `/skills/<name>/`; the model sees one of two tools. What the client has is enough to rebuild the model's view exactly.
 *
 * @module
 */
import type { OpenSkill } from "../disclosure/library.ts";
import { type Block, isObject, type Members } from "./request.ts";

/** The server tool that clients know, and its results. */
export const VIEW_TOOL = "text_editor_code_execution";
export const VIEW_RESULT = "text_editor_code_execution_tool_result";
const SKILLS = "/skills/";
export const SKILL_MD = "SKILL.md";

/** What the model wants to see. `lines` are the first and the last, from 1; -1 is the end of the file. */
export interface View {
  readonly folder: string;
  readonly path: string;
  readonly lines: readonly [first: number, last: number] | undefined;
}

/** The folder of a skill. Names of local skills may contain any character. */
export function folderOf(name: string): string {
  return name.replace(/[%/\p{Cc}]/gu, encodeURIComponent);
}

/** Whether the view loads the instructions: a view of the whole SKILL.md. */
export function isLoad({ path, lines }: View): boolean {
  return path === SKILL_MD && lines === undefined;
}

/** The view that a call of one of the two tools asks for; `undefined` for invalid input. */
export function viewOfCall(kind: "load" | "read", input: unknown): View | undefined {
  if (!isObject(input) || typeof input.name !== "string" || input.name === "") return undefined;
  const folder = folderOf(input.name);
  if (kind === "load") return { folder, path: SKILL_MD, lines: undefined };
  const { path, offset, limit } = input;
  if (typeof path !== "string" || !isLine(offset) || !isLine(limit)) return undefined;
  const first = offset ?? 1;
  const lines = offset === undefined && limit === undefined
    ? undefined
    : [first, limit === undefined ? -1 : first + limit - 1] as const;
  // Models write paths as they saw them: from the root, or from the folder.
  const prefix = [`${SKILLS}${folder}/`, "./"].find((each) => path.startsWith(each)) ?? "";
  const inside = path.slice(prefix.length);
  return inside === "" ? undefined : { folder, path: inside, lines };
}

function isLine(value: unknown): value is number | undefined {
  return value === undefined ||
    Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 1e9;
}

/** The input of the server tool, as clients see it. */
export function writeViewInput(view: View | undefined): Members {
  if (!view) return { command: "view", path: SKILLS };
  const { folder, path, lines } = view;
  return { command: "view", path: `${SKILLS}${folder}/${path}`, ...(lines && { view_range: lines }) };
}

/** The view that an input of the server tool asks for; `undefined` for a path outside `/skills/`. */
function readViewInput(input: unknown): View | "invalid" | undefined {
  if (!isObject(input) || input.command !== "view" || typeof input.path !== "string") return undefined;
  if (input.path === SKILLS) return "invalid";
  const [, folder, path] = /^\/skills\/([^/]+)\/(.+)$/s.exec(input.path) ?? [];
  if (folder === undefined) return undefined;
  const range = input.view_range;
  const lines = Array.isArray(range) && range.length === 2 && range.every(Number.isSafeInteger)
    ? range as unknown as readonly [number, number]
    : undefined;
  return { folder, path: path!, lines };
}

/** The names of the two tools in one request. */
export interface ToolNames {
  readonly load: string;
  readonly read: string;
}

/** Whether a block of the conversation is a skill being loaded. */
export function isView(block: Block): boolean {
  return block.type === "server_tool_use" && block.name === VIEW_TOOL && typeof block.id === "string" &&
    readViewInput(block.input) !== undefined;
}

/** The folder of the skill whose instructions the block loads; `undefined` for other blocks. */
export function folderLoadedBy(block: Block): string | undefined {
  const view = isView(block) ? readViewInput(block.input) : undefined;
  return view !== undefined && view !== "invalid" && isLoad(view) ? view.folder : undefined;
}

/** The block as the call that the model made. */
export function toToolUse(block: Block, names: ToolNames, skills: readonly OpenSkill[]): Block {
  const view = readViewInput(block.input);
  const call = { type: "tool_use", id: toModelId(block.id as string), ...marked(block) };
  if (view === undefined || view === "invalid") return { ...call, name: names.load, input: {} };
  const name = skills.find((skill) => folderOf(skill.name) === view.folder)?.name ?? view.folder;
  if (isLoad(view)) return { ...call, name: names.load, input: { name } };
  const [first, last] = view.lines ?? [];
  return {
    ...call,
    name: names.read,
    input: {
      name,
      path: view.path,
      ...(first !== undefined && { offset: first }),
      ...(first !== undefined && last !== -1 && { limit: last! - first + 1 }),
    },
  };
}

/** The block as the tool result that the model received. */
export function toToolResult(block: Block): Block {
  const { content } = block;
  const result = isObject(content) ? content : {};
  const failed = result.type === `${VIEW_RESULT}_error`;
  const text = failed ? result.error_message ?? result.error_code : result.content;
  return {
    type: "tool_result",
    tool_use_id: toModelId(block.tool_use_id as string),
    content: typeof text === "string" ? text : "",
    ...(failed && { is_error: true }),
    ...marked(block),
  };
}

function marked({ cache_control }: Block): Members {
  return isObject(cache_control) ? { cache_control } : {};
}

/** The id of a call as clients see it; {@linkcode toModelId} is the inverse for every id of a model endpoint. */
export function toClientId(id: string): string {
  const plain = /^toolu_([A-Za-z0-9]+)$/.exec(id);
  if (plain) return `srvtoolu_${plain[1]}`;
  // Ids of server tools have letters, digits and underscores.
  return "srvtoolu_x_" +
    id.replace(/[^A-Za-z0-9]/g, (character) => `_${character.charCodeAt(0).toString(16)}_`);
}

/** The id of a call as the model endpoint gave it. */
export function toModelId(id: string): string {
  const escaped = /^srvtoolu_x_(\w*)$/.exec(id);
  if (!escaped) return id.replace(/^srvtoolu_/, "toolu_");
  return escaped[1]!.split("_").map((part, at) =>
    at % 2 === 0 ? part : String.fromCharCode(parseInt(part, 16) || 95)
  ).join("");
}
