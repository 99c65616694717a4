import { spawn } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { multipart, type TestFile, zip } from "../../skills/test_service.ts";

/** Memory that one upload may add to the idle server, with unpacked bytes and garbage. */
const MAX_UPLOAD_BYTES = 24 * 1024 * 1024;
/** The default capacity of all uploads together. */
const CAPACITY_BYTES = 64 * 1024 * 1024;
/** Just below the limit: random bytes grow when they are deflated. */
const SIZE_BYTES = 8 * 1024 * 1024 - 20_000;
const SERVER = fileURLToPath(new URL("./test_upload_memory_server.ts", import.meta.url));

const test = suite("memory of uploads");
/** The flags with which this runtime exposes its garbage collector. */
const FLAGS = "Deno" in globalThis
  ? ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"]
  : ["--expose-gc"];
// Bun reports the memory of its allocator, not the memory in use.
const isMeasured = !("Bun" in globalThis);
let folder: string;
let child: ReturnType<typeof spawn>;
let facts: { url: string; key: string };

test.before(async () => {
  if (!isMeasured) return;
  folder = mkdtempSync(join(tmpdir(), "trivet-memory-"));
  child = spawn(process.execPath, [...FLAGS, SERVER, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout! });
  facts = JSON.parse(await new Promise((resolve) => lines.once("line", resolve)));
  // The first uploads also compile code and fill caches.
  for (let i = 0; i < 3; i++) assert.is(await upload([["a.zip", await pack(10_000, 8)]]), 200);
});
test.after(() => {
  if (!isMeasured) return;
  child.kill();
  rmSync(folder, { recursive: true, force: true });
});

let created = 0;
const skillFile = (): TestFile => {
  const name = `skill-${++created}`;
  return [`${name}/SKILL.md`, `---\nname: ${name}\ndescription: Measures. Use it in tests.\n---\nText\n`];
};
const noise = (size: number): Uint8Array => randomFillSync(new Uint8Array(size));
/** Bytes that deflate to about a fifth. */
const text = (size: number): Uint8Array => noise(size).map((byte) => 97 + byte % 3);

function pack(
  size: number,
  method: number,
  content: (size: number) => Uint8Array = noise,
): Promise<Uint8Array> {
  const [name, markdown] = skillFile();
  return zip([{ name, content: markdown }, {
    name: name.replace("SKILL.md", "data"),
    content: content(size),
    method,
  }]);
}

/** Sends an upload, in chunks unless it has a length. Returns the status. */
function upload(files: readonly TestFile[], hasLength = true): Promise<number> {
  const { body, type } = multipart(files);
  const headers = { "x-api-key": facts.key, "content-type": type };
  return new Promise((resolve, reject) => {
    const sent = request(`${facts.url}/v1/skills`, {
      method: "POST",
      headers: hasLength ? { ...headers, "content-length": body.length } : headers,
    }, (response) => response.resume().once("end", () => resolve(response.statusCode!)));
    sent.once("error", reject);
    let at = 0;
    const go = (): void => {
      while (at < body.length) {
        if (!sent.write(body.subarray(at, at += 65_536))) return void sent.once("drain", go);
      }
      sent.end();
    };
    go();
  });
}

async function memory(path: "rest" | "peak"): Promise<{ peak: number; rss: number; maxRss: number }> {
  return await (await fetch(`${facts.url}/${path}`)).json();
}

for (
  const [what, make, hasLength] of [
    ["one file", () => [skillFile(), ["data", noise(SIZE_BYTES)]], true],
    ["one file in chunks", () => [skillFile(), ["data", noise(SIZE_BYTES)]], false],
    ["500 files", () => [
      skillFile(),
      ...Array.from({ length: 500 }, (_, i) => [`${i}`, noise(Math.floor(SIZE_BYTES / 500))]),
    ], true],
    ["an archive of stored entries", async () => [["a.zip", await pack(SIZE_BYTES, 0)]], true],
    ["an archive of random bytes", async () => [["a.zip", await pack(SIZE_BYTES, 8)]], false],
    ["an archive of compressible bytes", async () => [["a.zip", await pack(SIZE_BYTES, 8, text)]], true],
  ] as readonly [string, () => TestFile[] | Promise<TestFile[]>, boolean][]
) {
  const name = `an upload of 8 MB as ${what} adds at most ${MAX_UPLOAD_BYTES} bytes of memory`;
  if (!isMeasured) {
    test.skip(name);
    continue;
  }
  test(name, async () => {
    const [first, ...rest] = await make();
    // All files are in the folder of SKILL.md.
    const directory = first![0].slice(0, first![0].indexOf("/") + 1);
    const files: TestFile[] = [
      first!,
      ...rest.map(([name, content]): TestFile => [directory + name, content]),
    ];
    const before = await memory("rest");
    assert.is(await upload(files, hasLength), 200);
    const after = await memory("peak");
    const used = after.peak - before.peak;
    assert.ok(used <= MAX_UPLOAD_BYTES, `${used} bytes`);
    // Resident memory contains copies of native code and the overhead of allocators too.
    const resident = after.maxRss - Math.max(before.maxRss, before.rss);
    assert.ok(resident <= MAX_UPLOAD_BYTES, `${resident} bytes of resident memory`);
  });
}

const many = "8 concurrent uploads of 8 MB add at most the capacity, in each of three rounds";
if (!isMeasured) test.skip(many);
else {
  test(many, async () => {
    const before = await memory("rest");
    const residents: number[] = [];
    for (let round = 0; round < 3; round++) {
      const uploads = Array.from({ length: 8 }, () => {
        const [path, markdown] = skillFile();
        return upload([[path, markdown], [path.replace("SKILL.md", "data"), noise(SIZE_BYTES)]]);
      });
      assert.equal(new Set(await Promise.all(uploads)), new Set([200]));
      const after = await memory("peak");
      assert.ok(
        after.peak - before.peak <= CAPACITY_BYTES + MAX_UPLOAD_BYTES,
        `${after.peak - before.peak} bytes`,
      );
      residents.push(after.maxRss - before.rss);
    }
    // Arenas of the C library are resident too, but do not grow with each round.
    assert.ok(Math.max(...residents) <= 2 * (CAPACITY_BYTES + MAX_UPLOAD_BYTES), residents.join(" "));
  });
}

test.run();
