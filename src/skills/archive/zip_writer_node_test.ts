import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { readAll } from "../blobs/blob_store.ts";
import { crc32 } from "./crc32.ts";
import { writeZip } from "./zip_writer.ts";

const test = suite("skills/archive/zip_writer with other readers");
const folder = mkdtempSync(join(tmpdir(), "trivet-test-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const encoder = new TextEncoder();
const CONTENTS: Readonly<Record<string, Uint8Array>> = {
  "SKILL.md": encoder.encode("---\nname: demo\n---\r\n"),
  "ünïcode/日本語 e\u0301.txt": encoder.encode("é"),
  "a b & c's (1).md": encoder.encode("x"),
  "100%.txt": encoder.encode("%"),
  "-dash.txt": encoder.encode("dash"),
  ".hidden": encoder.encode("kept"),
  "empty": new Uint8Array(),
  "demo/demo.txt": encoder.encode("a folder with the name of the wrapper"),
  "nested.zip": Uint8Array.of(0x50, 0x4b, 3, 4, 0x50, 0x4b, 5, 6),
  "big.bin": Uint8Array.from({ length: 1_000_000 }, (_, i) => (i * i) >> 3),
};

/** Writes the archive to a file and returns its path. */
async function write(wrapper: string | undefined): Promise<string> {
  const files = Object.entries(CONTENTS).map(([path, bytes]) => ({
    path,
    size: bytes.length,
    crc: crc32(bytes),
    open: () => Promise.resolve(bytes),
  }));
  const { length, stream } = writeZip(files, wrapper);
  const path = join(folder, `${wrapper ?? "flat"}.zip`);
  writeFileSync(path, await readAll(stream(), length));
  return path;
}

const has = (command: string, ...words: string[]): boolean => spawnSync(command, words).status === 0;

if (has("unzip", "-v")) {
  test("unzip tests and unpacks the archive as plain files of mode 0644", async () => {
    for (const wrapper of ["demo", undefined]) {
      const archive = await write(wrapper);
      const checked = spawnSync("unzip", ["-t", archive], { encoding: "utf8" });
      assert.is(checked.status, 0, checked.stdout + checked.stderr);
      assert.match(checked.stdout, /No errors detected/);
      assert.is(checked.stderr, "");
      const target = join(folder, `unzipped-${wrapper}`);
      mkdirSync(target);
      // Without a UTF-8 locale unzip writes names in ASCII.
      const env = { ...process.env, LC_ALL: "C.UTF-8" };
      const done = spawnSync("unzip", ["-q", archive, "-d", target], { encoding: "utf8", env });
      assert.is(done.status, 0, done.stdout + done.stderr);
      assert.equal(readdirSync(target).length > 1, wrapper === undefined);
      for (const [path, bytes] of Object.entries(CONTENTS)) {
        const file = join(target, wrapper ?? "", path);
        assert.ok(readFileSync(file).equals(bytes), path);
        assert.is(statSync(file).mode & 0o7777, 0o644, path);
      }
    }
  });
} else skipBecause(test, "unzip is not installed");

const READ = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print(json.dumps([[i.filename, i.file_size, i.date_time, i.external_attr >> 16, i.create_system, i.compress_type,
                   len(archive.read(i))] for i in archive.infolist()]))
`;

if (has("/usr/bin/python3", "--version")) {
  test("Python's zipfile reads every entry with its metadata", async () => {
    for (const wrapper of ["demo", undefined]) {
      const archive = await write(wrapper);
      const { status, stdout, stderr } = spawnSync("/usr/bin/python3", ["-c", READ, archive], {
        encoding: "utf8",
      });
      assert.is(status, 0, stderr);
      const prefix = wrapper === undefined ? "" : wrapper + "/";
      const expected = Object.entries(CONTENTS)
        .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .map(([path, { length }]) => [prefix + path, length, [1980, 1, 1, 0, 0, 0], 0o100644, 3, 0, length]);
      assert.equal(JSON.parse(stdout), expected);
    }
  });
} else skipBecause(test, "python3 is not installed");

test.run();
