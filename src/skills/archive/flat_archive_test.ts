import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { digestOf } from "../content_digest.ts";
import type { PublicFile } from "../discovery/public_skills.ts";
import { archiveTag } from "./archive.ts";
import { createFlatArchives } from "./flat_archive.ts";
import { readZip } from "./zip_reader.ts";

const test = suite("skills/archive/flat_archive");
const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** The list of one local file, whose content may change afterwards. */
async function list(content: { now: string }): Promise<PublicFile[]> {
  return [{
    path: "SKILL.md",
    size: content.now.length,
    type: "text/markdown",
    digest: await digestOf(encode(content.now)),
    crc: undefined,
    open: () => Promise.resolve(encode(content.now)),
  }];
}

test("digest and tag are those of the present content, also when a local file changed since it was listed", async () => {
  const archives = createFlatArchives(memoryStore(), Date.now);
  const content = { now: "old" };
  const files = await list(content);
  content.now = "new";
  const found = (await archives.of(files, false))!;
  const bytes = new Uint8Array(await new Response(found.archive.stream()).arrayBuffer());
  const [sent] = await readZip(bytes, 1000);
  assert.is(new TextDecoder().decode(sent!.bytes), "new");
  assert.is(found.digest, await digestOf(bytes));
  assert.is(found.tag, archiveTag(await list(content), undefined));
});

test("a known archive ends when a local file has another content", async () => {
  const archives = createFlatArchives(memoryStore(), Date.now);
  const content = { now: "old" };
  const files = await list(content);
  await archives.of(files, false);
  content.now = "new";
  const known = (await archives.of(files, false))!;
  assert.instance(await new Response(known.archive.stream()).arrayBuffer().catch((error) => error), Error);
});

test.run();
