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

const test = suite("@anthropic-ai/sdk: skills in the current API");
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

/** Creates skills one after the other. Returns their ids, newest first. */
async function createMany(names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.unshift((await client.skills.create({ files: await upload(name) })).id);
  return ids;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `skill-${i}`);

test("create, retrieve, list and delete return the same skill", async () => {
  const created = await client.skills.create({ files: await upload("notes"), display_name: "My notes é" });
  assert.match(created.id, /^skill_01[0-9A-Z]+$/);
  assert.match(created.latest_version_id, /^skver_01[0-9A-Z]+$/);
  assert.match(created.created_at, TIME);
  assert.match(created._request_id!, /^req_/);
  const expected = {
    type: "skill",
    id: created.id,
    created_at: created.created_at,
    updated_at: created.created_at,
    display_name: "My notes é",
    latest_version_id: created.latest_version_id,
    source: { type: "custom" },
  };
  assert.equal({ ...created }, expected);

  const retrieved = await client.skills.retrieve(created.id);
  assert.equal({ ...retrieved }, expected);
  assert.match(retrieved._request_id!, /^req_/);
  assert.is.not(retrieved._request_id, created._request_id);

  const { data, response, request_id } = await client.skills.list().withResponse();
  assert.equal({ data: data.data, next_page: data.next_page }, { data: [expected], next_page: null });
  assert.match(request_id!, /^req_/);
  assert.is(response.headers.get("content-type"), "application/json");

  const deleted = await client.skills.delete(created.id);
  assert.equal({ ...deleted }, { id: created.id, type: "skill_deleted" });
  assert.match(deleted._request_id!, /^req_/);
  assert.instance(await refusal(client.skills.retrieve(created.id)), Anthropic.NotFoundError);
  assert.instance(await refusal(client.skills.delete(created.id)), Anthropic.NotFoundError);
  assert.equal((await client.skills.list()).data, []);
});

test("the display_name defaults to the name and need not be unique", async () => {
  const plain = await client.skills.create({ files: await upload("notes") });
  assert.is(plain.display_name, "notes");
  const first = await client.skills.create({ files: await upload("notes"), display_name: "Same" });
  const second = await client.skills.create({ files: await upload("notes"), display_name: "Same" });
  assert.is.not(first.id, second.id);
  assert.equal([first.display_name, second.display_name], ["Same", "Same"]);
});

test("an upload can be a zip with any file name, with or without a top folder, also as a stream", async () => {
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
    const created = await client.skills.create({ files: [file] });
    const version = await client.skills.versions.retrieve("latest", { skill_id: created.id });
    assert.is(version.name, "packed");
    const content = await client.beta.skills.versions.download(version.id, { skill_id: created.id });
    assert.is(content.status, 200);
  }
});

test("files can be uploaded without their folder", async () => {
  const created = await client.skills.create({
    files: [await toFile(bytes("x"), "run.py"), await toFile(bytes(skillMarkdown("notes")), "SKILL.md")],
  });
  const response = await client.beta.skills.versions.download(created.latest_version_id, {
    skill_id: created.id,
  });
  assert.equal([...(await unpack(response)).keys()], ["notes/SKILL.md", "notes/run.py"]);
});

test("list follows all pages, newest first, with the limit and source of the first page", async () => {
  const ids = await createMany(names(23));
  const listed: string[] = [];
  for await (const skill of client.skills.list({ limit: 5, source: "custom" })) listed.push(skill.id);
  assert.equal(listed, ids);
  const queries = server.seen.slice(-5).map(({ url }) => new URL(url).searchParams);
  assert.equal(
    queries.map((query) => [query.get("limit"), query.get("source")]),
    Array(5).fill(["5", "custom"]),
  );
  assert.equal(queries.map((query) => query.has("page")), [false, true, true, true, true]);
  for (const query of queries.slice(1)) assert.match(query.get("page")!, /^page_[\w-]+/);

  const first = await client.skills.list();
  assert.equal(first.data.map(({ id }) => id), ids.slice(0, 20), "the default limit is 20");
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

test("a full last page has no next_page", async () => {
  await createMany(names(4));
  const page = await client.skills.list({ limit: 2 });
  const last = await page.getNextPage();
  assert.is(last.data.length, 2);
  assert.is(last.next_page, null);
});

test("the source anthropic has no skills; an unknown source is refused", async () => {
  await createMany(["notes"]);
  const page = await client.skills.list({ source: "anthropic" });
  assert.equal({ data: page.data, next_page: page.next_page }, { data: [], next_page: null });
  const error = await refusal(client.skills.list({ source: "unknown" }));
  assert.instance(error, Anthropic.BadRequestError);
  assert.match((error as Error).message, /\bsource\b.*custom, local, anthropic/);
});

test("skills added and removed between pages neither repeat nor hide others", async () => {
  const ids = await createMany(names(9));
  const listed: string[] = [];
  let page = await client.skills.list({ limit: 3 });
  for (;;) {
    listed.push(...page.data.map(({ id }) => id));
    if (!page.hasNextPage()) break;
    await createMany([`new-${listed.length}`]);
    // The cursor names this skill.
    await client.skills.delete(listed.at(-1)!);
    page = await page.getNextPage();
  }
  assert.equal(listed, ids);
});

test("30 concurrent uploads create 30 skills; one of ten concurrent deletions succeeds", async () => {
  const created = await Promise.all(
    names(30).map(async (name) => client.skills.create({ files: await upload(name) })),
  );
  const ids = new Set(created.map(({ id }) => id));
  assert.is(ids.size, 30);
  assert.is(new Set(created.map((skill) => skill.latest_version_id)).size, 30);
  const listed: string[] = [];
  for await (const skill of client.skills.list({ limit: 7 })) listed.push(skill.id);
  assert.equal(new Set(listed), ids);
  assert.is(listed.length, 30);

  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => client.skills.delete(created[0]!.id)),
  );
  assert.is(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "successful deletions");
});

test.run();
