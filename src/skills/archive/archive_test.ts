import { suite } from "uvu";
import * as assert from "uvu/assert";
import { archiveTag, respondArchive } from "./archive.ts";
import { type ArchiveFile, complete } from "./archive_file.ts";
import { crc32 } from "./crc32.ts";
import { SkillError } from "../error.ts";
import { digestOf } from "../content_digest.ts";
import { readZip } from "./zip_reader.ts";

const test = suite("skills/archive");
const encoder = new TextEncoder();

let opened = 0;
/** A file with everything known, or (as a local one) with nothing. */
async function file(path: string, content: string, isKnown = true): Promise<ArchiveFile> {
  const bytes = encoder.encode(content);
  return {
    path,
    size: bytes.length,
    type: "text/plain",
    digest: isKnown ? await digestOf(bytes) : undefined,
    crc: isKnown ? crc32(bytes) : undefined,
    open() {
      opened++;
      return Promise.resolve(isKnown ? new Response(bytes).body! : bytes);
    },
  };
}
const filesOf = (isKnown = true): Promise<ArchiveFile[]> =>
  Promise.all([file("scripts/run.py", "print(1)\n", isKnown), file("SKILL.md", "# Demo\n", isKnown)]);

const ask = (headers: Record<string, string> = {}, method = "GET"): Request =>
  new Request("http://h/v1/skills/skill_01/versions/skver_01/content", { method, headers });

// Worked out elsewhere: the same on every instance.
const TAG = '"RiAXjKkzPBNL78YB1gvsfXB-VBAuJrOgvC6j1w9ewSs"';

test("the answer is the archive with all its fields, and one folder around everything", async () => {
  const response = await respondArchive(ask(), { name: "demo", files: await filesOf(), isImmutable: false });
  assert.is(response.status, 200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.equal(Object.fromEntries(response.headers), {
    "cache-control": "private, no-cache",
    "content-disposition": 'attachment; filename="demo.zip"',
    "content-length": String(bytes.length),
    "content-type": "application/zip",
    etag: TAG,
    vary: "authorization, x-api-key",
    "x-content-type-options": "nosniff",
  });
  const entries = await readZip(bytes, 1000);
  assert.equal(entries.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]), [
    ["demo/SKILL.md", "# Demo\n"],
    ["demo/scripts/run.py", "print(1)\n"],
  ]);
});

test("an address that names one version for ever says so", async () => {
  const response = await respondArchive(ask(), { name: "demo", files: await filesOf(), isImmutable: true });
  assert.is(response.headers.get("cache-control"), "private, max-age=31536000, immutable");
  await response.body?.cancel();
});

test("who has it gets 304 without content, and no file is opened", async () => {
  const files = await filesOf();
  opened = 0;
  for (const field of [TAG, `W/${TAG}`, `"x", ${TAG}`, "*"]) {
    const content = { name: "demo", files, isImmutable: false };
    const response = await respondArchive(ask({ "if-none-match": field }), content);
    assert.is(response.status, 304);
    assert.equal(Object.fromEntries(response.headers), {
      "cache-control": "private, no-cache",
      etag: TAG,
      vary: "authorization, x-api-key",
    });
    assert.is(await response.text(), "");
  }
  assert.is(opened, 0);
  const other = await respondArchive(ask({ "if-none-match": '"x"' }), {
    name: "demo",
    files,
    isImmutable: false,
  });
  assert.is(other.status, 200);
  await other.body?.cancel();
});

test("HEAD has the fields of GET, and opens no file", async () => {
  const content = { name: "demo", files: await filesOf(), isImmutable: false };
  const whole = await respondArchive(ask(), content);
  const { byteLength } = await whole.arrayBuffer();
  opened = 0;
  const response = await respondArchive(ask({}, "HEAD"), content);
  assert.equal([...response.headers], [...whole.headers]);
  assert.is(response.headers.get("content-length"), String(byteLength));
  assert.is(response.body, null);
  assert.is(opened, 0);
});

test("local files, of which nothing is known, make the same archive under the same tag", async () => {
  const known = await respondArchive(ask(), { name: "demo", files: await filesOf(), isImmutable: false });
  const local = await respondArchive(ask(), {
    name: "demo",
    files: await filesOf(false),
    isImmutable: false,
  });
  assert.is(local.headers.get("etag"), known.headers.get("etag"));
  assert.equal(new Uint8Array(await local.arrayBuffer()), new Uint8Array(await known.arrayBuffer()));
});

test("a file that went since it was listed is an error before anything is sent", async () => {
  const gone = { ...await file("SKILL.md", "x", false), open: () => Promise.resolve(undefined) };
  const error = await complete([gone], "crc").catch((error) => error);
  assert.match(String(error), /"SKILL.md" is gone/);
});

test("the tag tells paths, contents and folders apart, and not the order in which files come", () => {
  const [a, b] = [{ path: "a", digest: "sha256:1" }, { path: "b", digest: "sha256:2" }];
  const tags = [
    archiveTag([a, b], "demo"),
    archiveTag([a, b], undefined),
    archiveTag([a, b], "other"),
    archiveTag([a], "demo"),
    archiveTag([a, { ...b, digest: "sha256:3" }], "demo"),
    archiveTag([a, { ...b, path: "c" }], "demo"),
    archiveTag([{ path: 'a","sha256:1"],["b', digest: "sha256:2" }], "demo"),
  ];
  assert.is(new Set(tags).size, tags.length);
  assert.is(archiveTag([b, a], "demo"), tags[0]);
  for (const tag of tags) assert.match(tag, /^"[\w-]{43}"$/);
});

test("a local skill may be called by anything: neither the folder nor the field is led astray", async () => {
  for (
    const [name, folder, disposition] of [
      ["../../etc/x", "etc-x", 'attachment; filename="etc-x.zip"'],
      ['a"; filename="b', "a-filename-b", 'attachment; filename="a-filename-b.zip"'],
      ["..", "skill", 'attachment; filename="skill.zip"'],
      ["My Skill\r\nx: y", "My-Skill-x-y", 'attachment; filename="My-Skill-x-y.zip"'],
      ["C:\\x", "C-x", 'attachment; filename="C-x.zip"'],
      [
        "навык",
        "навык",
        "attachment; filename=\"skill.zip\"; filename*=UTF-8''%D0%BD%D0%B0%D0%B2%D1%8B%D0%BA.zip",
      ],
      ["\ud800", "skill", 'attachment; filename="skill.zip"'],
    ] as const
  ) {
    const response = await respondArchive(ask(), {
      name,
      files: [await file("SKILL.md", "x")],
      isImmutable: false,
    });
    assert.is(response.headers.get("content-disposition"), disposition);
    const entries = await readZip(new Uint8Array(await response.arrayBuffer()), 1000);
    assert.equal(entries.map(({ path }) => path), [`${folder}/SKILL.md`]);
  }
  const long = await respondArchive(ask({}, "HEAD"), {
    name: "𝒳".repeat(100),
    files: [await file("SKILL.md", "x")],
    isImmutable: false,
  });
  assert.ok(long.headers.get("content-disposition")!.endsWith(encodeURIComponent("𝒳".repeat(64)) + ".zip"));
});

test("a local file with a name that cannot be packed is refused by name", async () => {
  const files = [await file("SKILL.md", "x"), await file("..\\evil", "x", false)];
  const error = await respondArchive(ask(), { name: "demo", files, isImmutable: false }).catch((error) =>
    error
  );
  assert.instance(error, SkillError);
  assert.is(error.status, 400);
  assert.match(error.message, /"\.\.\\\\evil"/);
});

test.run();
