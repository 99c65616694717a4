/**
 * Creates skill packages of 8 MB for benchmarks of uploads: one file or many, as single files or as an archive.
 *
 * @module
 */
import { multipart, type TestFile, zip } from "../../src/skills/test_service.ts";

/** Size of a package. */
const PACKAGE_BYTES = 8 * 1024 * 1024;

/** The files of a package, and how they are sent. */
export interface UploadKind {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly packed: "no" | "stored" | "deflated";
}

/** Reserved for file names and headers of an archive. */
const OVERHEAD_BYTES = 16 * 1024;
const ONE_FILE = [PACKAGE_BYTES - OVERHEAD_BYTES];
const MANY_FILES = Array.from(
  { length: 64 },
  (_, i) => 128 * 1024 - (i === 0 ? OVERHEAD_BYTES : 0),
);
export const UPLOAD_KINDS: readonly UploadKind[] = [
  { name: "one file", sizes: ONE_FILE, packed: "no" },
  { name: "64 files of 128 KB", sizes: MANY_FILES, packed: "no" },
  { name: "stored zip, one file", sizes: ONE_FILE, packed: "stored" },
  { name: "stored zip, 64 files", sizes: MANY_FILES, packed: "stored" },
  { name: "deflated zip, one file", sizes: ONE_FILE, packed: "deflated" },
  { name: "deflated zip, 64 files", sizes: MANY_FILES, packed: "deflated" },
];

const WORDS = "skill agent server store commit record upload archive digest model token of the and to in a"
  .split(" ").map((word) => new TextEncoder().encode(`${word} `));

/** Creates new contents on each call: text that deflates to about a third for a deflated archive, otherwise random bytes. */
export function createContents({ sizes, packed }: UploadKind): TestFile[] {
  const markdown = `---\nname: bench\ndescription: Is measured.\n---\n${crypto.randomUUID()}\n`;
  return [
    ["bench/SKILL.md", new TextEncoder().encode(markdown)],
    ...sizes.map((
      size,
      i,
    ): TestFile => [
      `bench/data/${i}.bin`,
      packed === "deflated" ? createText(size) : createNoise(size),
    ]),
  ];
}

function createNoise(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) {
    crypto.getRandomValues(bytes.subarray(at, Math.min(at + 65536, size)));
  }
  return bytes;
}

/** Leaves little garbage, so that V8 collects less of it during the measurement. */
function createText(size: number): Uint8Array<ArrayBuffer> {
  const numbers = new Uint32Array(createNoise(size + 3 & ~3).buffer);
  const text = new Uint8Array(size);
  for (let i = 0, at = 0; at < size; i++) {
    const word = WORDS[numbers[i]! % WORDS.length]!;
    text.set(at + word.length <= size ? word : word.subarray(0, size - at), at);
    at += word.length;
  }
  return text;
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
