import { suite } from "uvu";
import * as assert from "uvu/assert";
import { crc32 } from "./crc32.ts";
import { SkillError } from "../error.ts";
import { numbers, type TestEntry, zip } from "../test_service.ts";
import { isZip, readZip } from "./zip_reader.ts";

const MIB = 1024 * 1024;
const test = suite("skills/archive/zip_reader");
const encoder = new TextEncoder();
const LIMIT = 1_000_000;

async function refused(entries: readonly TestEntry[], options?: Parameters<typeof zip>[1]): Promise<string> {
  const error = await readZip(await zip(entries, options), LIMIT).then(
    () => undefined,
    (error) => error,
  );
  assert.instance(error, SkillError, "It was accepted");
  return `${error.status} ${error.problems[0]?.rule} ${error.message}`;
}

async function unpack(entries: readonly TestEntry[]): Promise<[string, string][]> {
  const files = await readZip(await zip(entries), LIMIT);
  return files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]);
}

/** The Unicode path field of Info-ZIP, which replaces the name in some readers. */
function unicodePath(name: string): Uint8Array {
  const bytes = encoder.encode(name);
  return Uint8Array.from([...numbers([[0x7075, 2], [5 + bytes.length, 2], [1, 1], [0, 4]]), ...bytes]);
}

/** The data descriptor of an entry that was written as a stream. */
function descriptor(content: string, { signed = true, crc = 0, size = 0 } = {}): Uint8Array {
  const bytes = encoder.encode(content);
  return numbers([
    [0x08074b50, signed ? 4 : 0],
    [crc32(bytes) + crc, 4],
    [bytes.length, 4],
    [bytes.length + size, 4],
  ]);
}

test("isZip() recognizes an archive by its first four bytes", () => {
  assert.ok(isZip(Uint8Array.of(0x50, 0x4b, 3, 4)));
  assert.ok(isZip(Uint8Array.of(0x50, 0x4b, 5, 6)));
  for (const other of [[], [0x50], [0x50, 0x4b, 7, 8], [0x1f, 0x8b, 8, 0]]) {
    assert.not.ok(isZip(Uint8Array.from(other)));
  }
});

test("stored and deflated entries are unpacked in order, without folders", async () => {
  const files = await unpack([
    { name: "b/", mode: 0o40755 },
    { name: "b/two", content: "2".repeat(1000), method: 8 },
    { name: "a", content: "1", mode: 0o100644 },
    { name: "empty", content: "" },
  ]);
  assert.equal(files, [["b/two", "2".repeat(1000)], ["a", "1"], ["empty", ""]]);
});

test("a data descriptor is accepted with and without its signature", async () => {
  for (const signed of [true, false]) {
    const entry = { name: "a", content: "one", flags: 8, descriptor: descriptor("one", { signed }) };
    assert.equal(await unpack([entry, { name: "b", content: "two" }]), [["a", "one"], ["b", "two"]]);
  }
});

test("a data descriptor that differs from the directory is refused", async () => {
  for (const wrong of [descriptor("one", { crc: 1 }), descriptor("one", { size: 1 }), new Uint8Array(7)]) {
    const entry = { name: "a", content: "one", flags: 8, descriptor: wrong };
    assert.match(await refused([entry]), "400 archive-descriptor ");
  }
});

test("an entry whose two headers have different flags is refused", async () => {
  for (const flag of [1, 8, 0x40, 0x800, 0x2000]) {
    assert.match(await refused([{ name: "a", content: "x", localFlags: flag }]), "400 archive-headers ");
  }
  assert.equal(
    await unpack([{ name: "a", content: "x", localFlags: 2 }]),
    [["a", "x"]],
    "a flag without meaning here",
  );
});

test("a different name in an extra field is refused, and the same name accepted", async () => {
  assert.match(
    await refused([{ name: "a", content: "x", extra: unicodePath("b") }]),
    /^400 archive-second-name .*"a"/,
  );
  assert.match(
    await refused([{ name: "a", content: "x", extra: unicodePath("ab") }]),
    "400 archive-second-name ",
  );
  assert.match(
    await refused([{ name: "a", content: "x", extra: numbers([[0x7075, 2], [900, 2]]) }]),
    "400 archive-second-name ",
  );
  assert.equal(await unpack([{ name: "a", content: "x", extra: unicodePath("a") }]), [["a", "x"]]);
  assert.equal(await unpack([{ name: "a", content: "x", extra: numbers([[0x5455, 2], [1, 2], [0, 1]]) }]), [[
    "a",
    "x",
  ]]);
});

test("links, devices, sockets and pipes are refused", async () => {
  for (const mode of [0o120777, 0o020600, 0o060600, 0o140755, 0o010644]) {
    assert.match(await refused([{ name: "a", content: "x", mode }]), "400 archive-link ");
  }
  assert.match(await refused([{ name: "a", content: "x", mode: 0o40755 }]), "400 archive-folder ");
});

test("the limit applies to all files together", async () => {
  const half = new Uint8Array(LIMIT / 2);
  const files = await readZip(await zip([{ name: "a", content: half }, { name: "b", content: half }]), LIMIT);
  assert.is(files.length, 2);
  const more = [{ name: "a", content: half }, { name: "b", content: half }, { name: "c", content: "x" }];
  assert.match(await refused(more), "413 ");
  const deflated = more.map((entry) => ({ ...entry, method: 8 }));
  assert.match(await refused(deflated), "413 ");
});

test("a file that unpacks to more than 200 times its size is refused above 1 MiB", async () => {
  const read = async (length: number) =>
    await readZip(await zip([{ name: "a", content: new Uint8Array(length), method: 8 }]), 2 * MIB)
      .then(() => "read", (error) => error.problems[0].rule);
  assert.equal([await read(MIB), await read(MIB + 1)], ["read", "archive-ratio"]);
});

test("many small entries are refused when they unpack to more than the limit", async () => {
  const zeros = new Uint8Array(100_000);
  const entries = Array.from({ length: 100 }, (_, i) => ({ name: `${i}`, content: zeros, method: 8 }));
  assert.match(await refused(entries), new RegExp(`^413 upload-too-large .*${LIMIT}`));
});

test("bytes before the archive, before and after its directory are refused", async () => {
  const one = { name: "a", content: "x" };
  assert.match(await refused([one], { prefix: "PK" }), "400 archive-gap ");
  const whole = await zip([one]);
  const directory = whole.length - 22 - 47;
  for (const [at, shift] of [[directory, 1], [whole.length - 22, 0]] as const) {
    const grown = new Uint8Array(whole.length + 1);
    grown.set(whole.subarray(0, at));
    grown.set(whole.subarray(at), at + 1);
    new DataView(grown.buffer).setUint32(grown.length - 6, directory + shift, true);
    const error = await readZip(grown, LIMIT).then(() => undefined, (error) => error);
    assert.instance(error, SkillError);
    assert.is(error.problems[0]?.rule, "archive-gap");
    assert.match(error.message, shift ? /entries/ : /directory/);
  }
});

test("bytes after the deflated data of an entry are refused", async () => {
  const archive = await zip([{ name: "a", content: "x".repeat(100), method: 8 }]);
  // The packed data grows by one byte, and both headers and the end record are adapted.
  const view = new DataView(archive.buffer);
  const packed = view.getUint32(18, true);
  const grown = new Uint8Array(archive.length + 1);
  grown.set(archive.subarray(0, 31 + packed));
  grown.set(archive.subarray(31 + packed), 32 + packed);
  const of = new DataView(grown.buffer);
  of.setUint32(18, packed + 1, true);
  of.setUint32(32 + packed + 20, packed + 1, true);
  of.setUint32(grown.length - 6, 32 + packed, true);
  const error = await readZip(grown, LIMIT).then(() => undefined, (error) => error);
  assert.instance(error, SkillError);
  assert.equal([error.problems[0]?.file, error.problems[0]?.rule], ["a", "archive-damaged"]);
});

test.run();
