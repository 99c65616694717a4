import { suite } from "uvu";
import * as assert from "uvu/assert";
import { archiveTag, respondArchive } from "./archive.ts";
import { type ArchiveFile, complete } from "./archive_file.ts";
import { crc32 } from "./crc32.ts";
import { SkillError } from "../error.ts";
import { digestOf } from "../content_digest.ts";
import { readZip } from "./zip_reader.ts";
import { ContentChangedError } from "./zip_writer.ts";

const test = suite("skills/archive/archive");
const encoder = new TextEncoder();

let opened = 0;
/** A file with digest and checksum, or (as a local one) without. */
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

const createRequest = (headers: Record<string, string> = {}, method = "GET"): Request =>
  new Request("http://h/v1/skills/skill_01/versions/skver_01/content", { method, headers });

// Computed independently: it is the same on every instance.
const TAG = '"RiAXjKkzPBNL78YB1gvsfXB-VBAuJrOgvC6j1w9ewSs"';

test("the response is the archive with its header fields, in one folder", async () => {
  const response = await respondArchive(createRequest(), {
    name: "demo",
    files: await filesOf(),
    isImmutable: false,
  });
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

test("the archive of a fixed version is immutable in caches", async () => {
  const response = await respondArchive(createRequest(), {
    name: "demo",
    files: await filesOf(),
    isImmutable: true,
  });
  assert.is(response.headers.get("cache-control"), "private, max-age=31536000, immutable");
  await response.body?.cancel();
});

test("a matching If-None-Match gets 304 and opens no file", async () => {
  const files = await filesOf();
  opened = 0;
  for (const field of [TAG, `W/${TAG}`, `"x", ${TAG}`, "*"]) {
    const content = { name: "demo", files, isImmutable: false };
    const response = await respondArchive(createRequest({ "if-none-match": field }), content);
    assert.is(response.status, 304);
    assert.equal(Object.fromEntries(response.headers), {
      "cache-control": "private, no-cache",
      etag: TAG,
      vary: "authorization, x-api-key",
    });
    assert.is(await response.text(), "");
  }
  assert.is(opened, 0);
  const other = await respondArchive(createRequest({ "if-none-match": '"x"' }), {
    name: "demo",
    files,
    isImmutable: false,
  });
  assert.is(other.status, 200);
  await other.body?.cancel();
});

test("HEAD returns the header fields of GET and opens no file", async () => {
  const content = { name: "demo", files: await filesOf(), isImmutable: false };
  const whole = await respondArchive(createRequest(), content);
  const { byteLength } = await whole.arrayBuffer();
  opened = 0;
  const response = await respondArchive(createRequest({}, "HEAD"), content);
  assert.equal([...response.headers], [...whole.headers]);
  assert.is(response.headers.get("content-length"), String(byteLength));
  assert.is(response.body, null);
  assert.is(opened, 0);
});

test("local files without digests give the same archive and ETag", async () => {
  const known = await respondArchive(createRequest(), {
    name: "demo",
    files: await filesOf(),
    isImmutable: false,
  });
  const local = await respondArchive(createRequest(), {
    name: "demo",
    files: await filesOf(false),
    isImmutable: false,
  });
  assert.is(local.headers.get("etag"), known.headers.get("etag"));
  assert.equal(new Uint8Array(await local.arrayBuffer()), new Uint8Array(await known.arrayBuffer()));
});

/** A local file that was listed with its digest, and whose content may change. */
async function localFile(content: { now: string }): Promise<ArchiveFile> {
  const listed = await file("SKILL.md", content.now, false);
  return {
    ...listed,
    digest: await digestOf(encoder.encode(content.now)),
    open: () => Promise.resolve(encoder.encode(content.now)),
  };
}

test("the ETag is that of the content that is sent, also when a local file changed since it was listed", async () => {
  const content = { now: "old" };
  const files = [await localFile(content)];
  const respond = (headers?: Record<string, string>) =>
    respondArchive(createRequest(headers), { name: "demo", files, isImmutable: false });
  const before = await respond();
  await before.arrayBuffer();
  content.now = "new";
  const after = await respond();
  const [sent] = await readZip(new Uint8Array(await after.arrayBuffer()), 1000);
  assert.is(new TextDecoder().decode(sent!.bytes), "new");
  assert.is.not(after.headers.get("etag"), before.headers.get("etag"));
  const digest = await digestOf(encoder.encode("new"));
  assert.is(after.headers.get("etag"), archiveTag([{ path: "SKILL.md", digest }], "demo"));
});

test("a local file that changes while its archive is sent ends the response", async () => {
  const content = { now: "old" };
  const response = await respondArchive(createRequest(), {
    name: "demo",
    files: [await localFile(content)],
    isImmutable: false,
  });
  content.now = "new";
  assert.instance(await response.arrayBuffer().catch((error) => error), Error);
});

test("a file that was removed since it was listed is answered with 503 and retry-after", async () => {
  for (const hasDigest of [true, false]) {
    const removed = {
      ...await file("SKILL.md", "x", hasDigest),
      crc: undefined,
      open: () => Promise.resolve(undefined),
    };
    const error = await respondArchive(createRequest(), {
      name: "demo",
      files: [removed],
      isImmutable: false,
    })
      .catch((error) => error);
    assert.instance(error, SkillError);
    assert.equal([error.type, error.status, error.fields], ["overloaded_error", 503, [["retry-after", "1"]]]);
  }
});

test("a file that was removed since it was listed rejects before the response", async () => {
  const removed = { ...await file("SKILL.md", "x", false), open: () => Promise.resolve(undefined) };
  const error = await complete([removed], "crc").catch((error) => error);
  assert.instance(error, ContentChangedError);
  assert.match(error.message, /"SKILL\.md"/);
});

test("the ETag depends on paths, contents and folder, and not on the order of files", () => {
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

test("any name of a local skill gives a safe folder and Content-Disposition", async () => {
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
    const response = await respondArchive(createRequest(), {
      name,
      files: [await file("SKILL.md", "x")],
      isImmutable: false,
    });
    assert.is(response.headers.get("content-disposition"), disposition);
    const entries = await readZip(new Uint8Array(await response.arrayBuffer()), 1000);
    assert.equal(entries.map(({ path }) => path), [`${folder}/SKILL.md`]);
  }
  const long = await respondArchive(createRequest({}, "HEAD"), {
    name: "𝒳".repeat(100),
    files: [await file("SKILL.md", "x")],
    isImmutable: false,
  });
  assert.ok(long.headers.get("content-disposition")!.endsWith(encodeURIComponent("𝒳".repeat(64)) + ".zip"));
});

test("a local file with an invalid path is refused with its path", async () => {
  const files = [await file("SKILL.md", "x"), await file("..\\evil", "x", false)];
  const error = await respondArchive(createRequest(), { name: "demo", files, isImmutable: false }).catch((
    error,
  ) => error);
  assert.instance(error, SkillError);
  assert.is(error.status, 400);
  assert.match(error.message, /"\.\.\\\\evil"/);
});

test.run();
