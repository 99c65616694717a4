import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex } from "../../crypto/hex.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { readAll } from "../blobs/blob_store.ts";
import { crc32 } from "./crc32.ts";
import { SkillError } from "../error.ts";
import { readZip } from "./zip_reader.ts";
import { ContentChangedError, sortByPath, writeZip, type ZipSource } from "./zip_writer.ts";

const test = suite("skills/archive/zip_writer");
const encoder = new TextEncoder();

function source(path: string, content: string | Uint8Array = path): ZipSource {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return { path, size: bytes.length, crc: crc32(bytes), open: () => Promise.resolve(bytes) };
}

async function pack(files: readonly ZipSource[], folder?: string): Promise<Uint8Array> {
  const { length, stream } = writeZip(files, folder);
  // Throws unless the stream has exactly the declared length.
  return await readAll(stream(), length);
}

const FILES = [
  source("scripts/run.py", "print('hello')\n"),
  source("SKILL.md", "---\nname: demo\n---\n"),
  source("empty", ""),
  source("ünïcode/日本語.txt", "é"),
  source("data.bin", Uint8Array.of(0, 255, 13, 10)),
];

test("an archive contains every file unchanged, ordered by the bytes of its path", async () => {
  const entries = await readZip(await pack(FILES, "demo"), 1000);
  assert.equal(entries.map(({ path, bytes }) => [path, [...bytes]]), [
    ["demo/SKILL.md", [...encoder.encode("---\nname: demo\n---\n")]],
    ["demo/data.bin", [0, 255, 13, 10]],
    ["demo/empty", []],
    ["demo/scripts/run.py", [...encoder.encode("print('hello')\n")]],
    ["demo/ünïcode/日本語.txt", [...encoder.encode("é")]],
  ]);
});

test("a flat archive has SKILL.md at its root", async () => {
  const entries = await readZip(await pack(FILES), 1000);
  assert.equal(entries.map(({ path }) => path), [
    "SKILL.md",
    "data.bin",
    "empty",
    "scripts/run.py",
    "ünïcode/日本語.txt",
  ]);
});

test("the bytes are the same on every runtime and in every order of files", async () => {
  const bytes = await pack([source("b", "2"), source("a", "1")], "x");
  assert.equal(await pack([source("a", "1"), source("b", "2")], "x"), bytes);
  assert.is(
    toHex(sha256(bytes)),
    "a42bd47bf713f5a8fb6c322619d36af047dbc2100231a0ece1892eacc23f9e57",
  );
  // Offset 12 is the date, 1980-01-01; offset 6 the flag of UTF-8; offset 8 the method, stored.
  assert.is(toHex(bytes.subarray(0, 14)), "504b0304" + "1400" + "0008" + "0000" + "0000" + "2100");
});

test("paths are ordered by code point, also past U+FFFF", () => {
  const paths = ["\u{1f600}", "\uffee", "a/b", "a.b", "a", "Z"];
  const sorted = sortByPath(paths.map((path) => ({ path }))).map(({ path }) => path);
  assert.equal(sorted, ["Z", "a", "a.b", "a/b", "\uffee", "\u{1f600}"]);
});

test("an empty archive can be read", async () => {
  assert.equal(await readZip(await pack([]), 1000), []);
});

test("paths that a reader would unpack elsewhere are refused, not corrected", () => {
  const bad = [
    "../x",
    "a/../b",
    "/etc/x",
    "a//b",
    "./a",
    "a/.",
    "C:x",
    "c:/x",
    "a\\b",
    "..\\x",
    "a\0b",
    "a\nb",
  ];
  for (const path of [...bad, "", "a/", "\ud800"]) {
    assert.throws(
      () => writeZip([source(path, "x")], undefined),
      (error: unknown) =>
        error instanceof SkillError && error.type === "invalid_request_error" &&
        error.problems[0]?.rule === "path-form" && error.problems[0]?.file === path,
      path,
    );
  }
  assert.throws(() => writeZip([source("a", "x")], ".."), (error: unknown) => error instanceof SkillError);
  // Similar names are ordinary files.
  for (const path of ["..a", "a..b", "...", "a b", "con", "ab:c", "100%"]) {
    writeZip([source(path)], undefined);
  }
});

test("an archive that needs Zip64 is refused before a file is opened", () => {
  const huge = { ...source("a"), size: 0xffffffff };
  assert.throws(() => writeZip([huge], undefined), /4 GB/);
  const many = Array.from({ length: 0xffff }, (_, i) => source(`f${i}`));
  assert.throws(() => writeZip(many, undefined), /65,534 files/);
});

test("content of another length, or removed content, fails the archive", async () => {
  for (
    const [size, content, what] of [[3, "four", "more than"], [5, "four", "less than"], [
      4,
      undefined,
      "gone",
    ]]
  ) {
    const file: ZipSource = {
      path: "SKILL.md",
      size: size as number,
      crc: 0,
      open: () => Promise.resolve(content === undefined ? undefined : encoder.encode(content as string)),
    };
    const { stream } = writeZip([file], undefined);
    const error = await new Response(stream()).arrayBuffer().then(() => undefined, (error) => error);
    assert.instance(error, ContentChangedError, what as string);
  }
});

/** A file whose chunks are created on demand, with counts of chunks and cancellations. */
function watched(
  path: string,
  chunks: number,
  size: number,
): { file: ZipSource; made: number; cancelled: number } {
  const state = { made: 0, cancelled: 0 };
  const bytes = new Uint8Array(chunks * size);
  return Object.assign(state, {
    file: {
      path,
      size: bytes.length,
      crc: crc32(bytes),
      open: () =>
        Promise.resolve(
          new ReadableStream<Uint8Array>({
            pull(controller) {
              if (state.made++ === chunks) return controller.close();
              controller.enqueue(new Uint8Array(size));
            },
            cancel: () => void state.cancelled++,
          }, { highWaterMark: 0 }),
        ),
    },
  });
}

test("files are read on demand, one chunk at a time", async () => {
  const one = watched("a", 100, 1000);
  const two = watched("b", 100, 1000);
  const { length, stream } = writeZip([one.file, two.file], undefined);
  const reader = stream().getReader();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal([one.made, two.made], [0, 0]);
  // The header, then two chunks.
  let read = 0;
  for (let i = 0; i < 3; i++) read += (await reader.read()).value!.length;
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(one.made <= 3, `${one.made} chunks were made for two`);
  for (let next = await reader.read(); !next.done; next = await reader.read()) read += next.value.length;
  assert.is(read, length);
  assert.equal([one.cancelled, two.cancelled], [0, 0]);
});

test("small files are joined into chunks, and large files are not copied", async () => {
  const small = Array.from({ length: 2000 }, (_, i) => source(`${1000 + i}`));
  const large = watched("large", 3, 100_000);
  const { length, stream } = writeZip([...small, large.file, source("x")], undefined);
  const sizes: number[] = [];
  for await (const chunk of stream()) sizes.push(chunk.length);
  assert.is(sizes.reduce((sum, size) => sum + size, 0), length);
  assert.ok(sizes.length < 10, `${sizes.length} chunks`);
  assert.is(sizes.filter((size) => size === 100_000).length, 3);
});

test("cancelling the archive cancels the current file and opens no other", async () => {
  const one = watched("a", 100, 1000);
  const two = watched("b", 1, 1);
  const reader = writeZip([one.file, two.file], undefined).stream().getReader();
  await reader.read();
  await reader.read();
  await reader.cancel();
  assert.is(one.cancelled, 1);
  assert.equal([two.made, two.cancelled], [0, 0]);
});

test("cancelling while a file is being opened cancels it once it is open", async () => {
  const one = watched("a", 100, 1000);
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => open = resolve);
  const late = { ...one.file, open: () => opened.then(() => one.file.open()) };
  const reader = writeZip([late], undefined).stream().getReader();
  await reader.read();
  const pending = reader.read();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const cancelled = reader.cancel();
  open();
  await cancelled;
  assert.is((await pending).done, true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(one.cancelled, 1);
});

test("a failure of a file fails the archive", async () => {
  const file: ZipSource = {
    ...source("a", "four"),
    open: () =>
      Promise.resolve(
        new ReadableStream({
          pull: () => Promise.reject(new Error("The blob store failed")),
        }),
      ),
  };
  const error = await new Response(writeZip([file], undefined).stream()).arrayBuffer().catch((error) =>
    error
  );
  assert.match(String(error), /The blob store failed/);
});

test.run();
