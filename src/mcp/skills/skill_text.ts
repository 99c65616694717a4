/**
 * Instructions and files of skills as text for a model. A text that is too long for one answer is truncated at a line, and
 * the answer states the offset of the rest.
 *
 * @module
 */
import { readExcerpt } from "../../http/excerpt.ts";
import { ToolError } from "../definition/definition.ts";

/** Characters of one answer: about 12,000 tokens of a file, twice that of instructions. */
const MAX_FILE_CHARACTERS = 50_000;
const MAX_INSTRUCTIONS_CHARACTERS = 100_000;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const LF = 10;
/** Characters of the paths in one answer. */
const MAX_LISTING_CHARACTERS = 50_000;

/** The instructions of a skill, and the lines of SKILL.md before them. */
interface Instructions {
  readonly instructions: string;
  readonly linesBefore?: () => Promise<number>;
}

/** The instructions. The end says how to read on if they are truncated. */
export async function writeInstructions({ instructions, linesBefore }: Instructions): Promise<string> {
  if (instructions.length <= MAX_INSTRUCTIONS_CHARACTERS) return instructions.trim();
  const options = { first: 1, maxCharacters: MAX_INSTRUCTIONS_CHARACTERS };
  const cut = await readExcerpt(new TextEncoder().encode(instructions), options);
  // Text with a NUL is no SKILL.md, but another source may have it.
  if (!cut) return instructions.slice(0, MAX_INSTRUCTIONS_CHARACTERS).toWellFormed();
  const before = await linesBefore?.() ?? 0;
  return cut.lines === cut.total ? cut.text.trim() : `${cut.text.trimStart()}\n\n` +
    `[Truncated. To continue, call read_skill_file with path SKILL.md and offset ${before + cut.lines + 1}.]`;
}

/** The paths of the files, one on each line. The end says how many are left out. */
export function writeFileList(files: readonly string[]): string {
  const lines: string[] = [];
  let left = MAX_LISTING_CHARACTERS;
  for (const file of files) {
    left -= file.length + 3;
    if (left < 0) break;
    lines.push(`- ${file}`);
  }
  if (lines.length < files.length) lines.push(`[and ${files.length - lines.length} more]`);
  return lines.join("\n");
}

/**
 * The lines from `offset` on; the end says how to read on if there are more. `undefined` for bytes that are no text.
 * @throws {ToolError} when there is no such line
 */
export async function writeFilePart(
  bytes: Uint8Array,
  path: string,
  offset: number = 1,
  limit?: number,
): Promise<string | undefined> {
  const part = await readExcerpt(bytes, {
    first: offset,
    ...(limit !== undefined && { count: limit }),
    maxCharacters: MAX_FILE_CHARACTERS,
  });
  if (!part) return undefined;
  const { text, lines, total } = part;
  if (offset > Math.max(total, 1)) {
    throw new ToolError(`Line ${offset} does not exist: the file ${path} has ${total} lines.`);
  }
  const end = offset + lines - 1;
  // A file that is read whole is exactly that file: a client may write it to disk, or compare digests.
  const start = offset === 1 && BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? "\ufeff" : "";
  if (end >= total) return start + text + (bytes.at(-1) === LF ? "\n" : "");
  return `${start}${text}\n[Lines ${offset} to ${end} of ${total}. To continue, read with offset ${
    end + 1
  }.]`;
}
