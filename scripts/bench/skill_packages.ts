/**
 * Packages of 8 MB, each time with new contents, as one file or many, loose or packed: what uploads are measured with.
 *
 * @module
 */
import { multipart, type TestFile, zip } from "../../src/skills/test_service.ts";

/** Bytes of a skill. */
export const LIMIT: number = 8 * 1024 * 1024;

/** What a package is made of, and how it is sent. */
export interface UploadKind {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly packed: "no" | "stored" | "deflated";
}

/** What names and headers of an archive take. */
const ROOM = 16 * 1024;
const ONE = [LIMIT - ROOM];
const MANY = Array.from(
  { length: 64 },
  (_, i) => 128 * 1024 - (i === 0 ? ROOM : 0),
);
export const LOADS: readonly UploadKind[] = [
  { name: "one file", sizes: ONE, packed: "no" },
  { name: "64 files of 128 KB", sizes: MANY, packed: "no" },
  { name: "stored zip, one file", sizes: ONE, packed: "stored" },
  { name: "stored zip, 64 files", sizes: MANY, packed: "stored" },
  { name: "deflated zip, one file", sizes: ONE, packed: "deflated" },
  { name: "deflated zip, 64 files", sizes: MANY, packed: "deflated" },
];

const WORDS = "skill agent server store commit record upload archive digest model token of the and to in a"
  .split(" ");

/** New each time; text that packs to about a third where it is to be packed, else noise. */
export function newContents({ sizes, packed }: UploadKind): TestFile[] {
  const markdown = `---\nname: bench\ndescription: Is measured.\n---\n${crypto.randomUUID()}\n`;
  return [
    ["bench/SKILL.md", new TextEncoder().encode(markdown)],
    ...sizes.map((
      size,
      i,
    ): TestFile => [
      `bench/data/${i}.bin`,
      packed === "deflated" ? text(size) : noise(size),
    ]),
  ];
}

function noise(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) {
    crypto.getRandomValues(bytes.subarray(at, Math.min(at + 65536, size)));
  }
  return bytes;
}

function text(size: number): Uint8Array<ArrayBuffer> {
  const numbers = new Uint32Array(noise(size + 3 & ~3).buffer);
  let written = "";
  for (let i = 0; written.length < size; i++) {
    written += WORDS[numbers[i]! % WORDS.length] + " ";
  }
  return new TextEncoder().encode(written.slice(0, size));
}

export async function pack(
  { packed }: UploadKind,
  contents: readonly TestFile[],
): Promise<{ body: Uint8Array<ArrayBuffer>; type: string }> {
  if (packed === "no") return multipart(contents);
  const method = packed === "stored" ? 0 : 8;
  const archive = await zip(
    contents.map(([name, content]) => ({ name, content, method })),
  );
  return multipart([["bench.zip", archive]]);
}
