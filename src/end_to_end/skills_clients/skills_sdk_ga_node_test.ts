import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { zip } from "../../skills/test_service.ts";
import { temporaryFolder } from "../test_process.ts";
import {
  refusal,
  skillMarkdown,
  type SkillsServer,
  startSkills,
  TIME,
  unpack,
} from "../skills/test_skills_server.ts";

const test = suite("@anthropic-ai/sdk: skills as the API serves them today");
const folder = temporaryFolder();
let server: SkillsServer;
let client: Anthropic;

test.before.each(async () => {
  server = await startSkills();
  client = new Anthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0 });
});
test.after.each(() => server.close());
test.after(() => folder.remove());

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const upload = async (name: string): Promise<File[]> => [
  await toFile(bytes("print('hello')\n"), `${name}/scripts/run.py`),
  await toFile(bytes(skillMarkdown(name)), `${name}/SKILL.md`),
];

/** Creates skills one after the other; their ids, newest first. */
async function createMany(names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.unshift((await client.skills.create({ files: await upload(name) })).id);
  return ids;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `skill-${i}`);

test("create, retrieve, list and delete return the same skill", async () => {
  const made = await client.skills.create({ files: await upload("notes"), display_name: "My notes é" });
  assert.match(made.id, /^skill_01[0-9A-Z]+$/);
  assert.match(made.latest_version_id, /^skver_01[0-9A-Z]+$/);
  assert.match(made.created_at, TIME);
  assert.match(made._request_id!, /^req_/);
  const expected = {
    type: "skill",
    id: made.id,
    created_at: made.created_at,
    updated_at: made.created_at,
    display_name: "My notes é",
    latest_version_id: made.latest_version_id,
    source: { type: "custom" },
  };
  assert.equal({ ...made }, expected);

  const retrieved = await client.skills.retrieve(made.id);
  assert.equal({ ...retrieved }, expected);
  assert.match(retrieved._request_id!, /^req_/);
  assert.is.not(retrieved._request_id, made._request_id);

  const { data, response, request_id } = await client.skills.list().withResponse();
  assert.equal({ data: data.data, next_page: data.next_page }, { data: [expected], next_page: null });
  assert.match(request_id!, /^req_/);
  assert.is(response.headers.get("content-type"), "application/json");

  const deleted = await client.skills.delete(made.id);
  assert.equal({ ...deleted }, { id: made.id, type: "skill_deleted" });
  assert.match(deleted._request_id!, /^req_/);
  assert.instance(await refusal(client.skills.retrieve(made.id)), Anthropic.NotFoundError);
  assert.instance(await refusal(client.skills.delete(made.id)), Anthropic.NotFoundError);
  assert.equal((await client.skills.list()).data, []);
});

test("a skill without a label has its name as label, and labels need not be unique", async () => {
  const plain = await client.skills.create({ files: await upload("notes") });
  assert.is(plain.display_name, "notes");
  const first = await client.skills.create({ files: await upload("notes"), display_name: "Same" });
  const second = await client.skills.create({ files: await upload("notes"), display_name: "Same" });
  assert.is.not(first.id, second.id);
  assert.equal([first.display_name, second.display_name], ["Same", "Same"]);
});

test("an upload can be a zip with any name, wrapped or flat, also as a stream of a file", async () => {
  const entries = (prefix: string) => [
    { name: `${prefix}SKILL.md`, content: skillMarkdown("packed"), method: 8 },
    { name: `${prefix}data.bin`, content: Uint8Array.of(0, 255, 13, 10) },
  ];
  const wrapped = await zip(entries("packed/"));
  const flat = await zip(entries(""));
  const path = join(folder.path, "packed.zip");
  writeFileSync(path, wrapped);
  const uploads = [
    await toFile(wrapped, "packed.zip", { type: "application/zip" }),
    await toFile(flat, "packed.skill"),
    new File([flat], "anything"),
    await toFile(new Response(wrapped), "packed.zip"),
    createReadStream(path),
  ];
  for (const file of uploads) {
    const made = await client.skills.create({ files: [file] });
    const version = await client.skills.versions.retrieve("latest", { skill_id: made.id });
    assert.is(version.name, "packed");
    const content = await client.beta.skills.versions.download(version.id, { skill_id: made.id });
    assert.is(content.status, 200);
  }
});

test("files can be sent without their folder, as by clients that keep base names only", async () => {
  const made = await client.skills.create({
    files: [await toFile(bytes("x"), "run.py"), await toFile(bytes(skillMarkdown("notes")), "SKILL.md")],
  });
  const response = await client.beta.skills.versions.download(made.latest_version_id, { skill_id: made.id });
  assert.equal([...(await unpack(response)).keys()], ["notes/SKILL.md", "notes/run.py"]);
});

test("list follows pages to the end, newest first, with the limit and filter of the first page", async () => {
  const ids = await createMany(names(23));
  const listed: string[] = [];
  for await (const skill of client.skills.list({ limit: 5, source: "custom" })) listed.push(skill.id);
  assert.equal(listed, ids);
  const asked = server.seen.slice(-5).map(({ url }) => new URL(url).searchParams);
  assert.equal(
    asked.map((query) => [query.get("limit"), query.get("source")]),
    Array(5).fill(["5", "custom"]),
  );
  assert.equal(asked.map((query) => query.has("page")), [false, true, true, true, true]);
  for (const query of asked.slice(1)) assert.match(query.get("page")!, /^page_[\w-]+/);

  const first = await client.skills.list();
  assert.equal(first.data.map(({ id }) => id), ids.slice(0, 20), "20 when no limit is named");
  assert.ok(first.hasNextPage());
  const second = await first.getNextPage();
  assert.equal(second.data.map(({ id }) => id), ids.slice(20));
  assert.is(second.next_page, null);
  assert.not.ok(second.hasNextPage());

  const pages: number[] = [];
  for await (const page of (await client.skills.list({ limit: 10 })).iterPages()) {
    pages.push(page.data.length);
  }
  assert.equal(pages, [10, 10, 3]);
  const all = await client.skills.list({ limit: 1000 });
  assert.is(all.data.length, 23);
  assert.is(all.next_page, null);
});

test("a page that is full to the last skill is the last page", async () => {
  await createMany(names(4));
  const page = await client.skills.list({ limit: 2 });
  const last = await page.getNextPage();
  assert.is(last.data.length, 2);
  assert.is(last.next_page, null);
});

test("there are no skills of the source anthropic, and a source that does not exist is refused", async () => {
  await createMany(["notes"]);
  const page = await client.skills.list({ source: "anthropic" });
  assert.equal({ data: page.data, next_page: page.next_page }, { data: [], next_page: null });
  const error = await refusal(client.skills.list({ source: "elsewhere" }));
  assert.instance(error, Anthropic.BadRequestError);
  assert.match((error as Error).message, "source must be one of custom, local, anthropic");
});

test("skills added and removed between pages make no skill appear twice, and hide none", async () => {
  const ids = await createMany(names(9));
  const listed: string[] = [];
  let page = await client.skills.list({ limit: 3 });
  for (;;) {
    listed.push(...page.data.map(({ id }) => id));
    if (!page.hasNextPage()) break;
    await createMany([`new-${listed.length}`]);
    // Also the one that the cursor names.
    await client.skills.delete(listed.at(-1)!);
    page = await page.getNextPage();
  }
  assert.equal(listed, ids);
});

test("30 skills that are created at once are all there, each once", async () => {
  const made = await Promise.all(
    names(30).map(async (name) => client.skills.create({ files: await upload(name) })),
  );
  const ids = new Set(made.map(({ id }) => id));
  assert.is(ids.size, 30);
  assert.is(new Set(made.map((skill) => skill.latest_version_id)).size, 30);
  const listed: string[] = [];
  for await (const skill of client.skills.list({ limit: 7 })) listed.push(skill.id);
  assert.equal(new Set(listed), ids);
  assert.is(listed.length, 30);

  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => client.skills.delete(made[0]!.id)),
  );
  assert.is(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "one of ten deletes it");
});

test.run();
