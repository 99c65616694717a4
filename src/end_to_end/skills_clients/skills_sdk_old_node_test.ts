import Anthropic from "@anthropic-ai/sdk";
import OldAnthropic, { toFile } from "anthropic-sdk-0.121";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { zip } from "../../skills/test_service.ts";
import {
  refusal,
  skillMarkdown,
  type SkillsServer,
  startSkills,
  TIME,
  unpack,
} from "../skills/test_skills_server.ts";

const test = suite("@anthropic-ai/sdk 0.121: skills-2025-10-02");
let server: SkillsServer;
let client: OldAnthropic;
/** The current API on the same store. */
let current: Anthropic;

test.before.each(async () => {
  server = await startSkills();
  const options = { apiKey: server.key, baseURL: server.url, maxRetries: 0 };
  client = new OldAnthropic(options);
  current = new Anthropic(options);
});
test.after.each(() => server.close());

const upload = async (name: string, description = "First. Use it.", folder = `${name}/`): Promise<File[]> => [
  await toFile(new TextEncoder().encode("x"), `${folder}scripts/x.py`),
  await toFile(new TextEncoder().encode(skillMarkdown(name, description)), `${folder}SKILL.md`),
];
const addVersion = async (skill: string, name: string, description = "Second. Use it.") =>
  await client.beta.skills.versions.create(skill, { files: await upload(name, description) });

/** Asserts an invalid_request_error whose message matches. */
async function assertRefused(promise: PromiseLike<unknown>, message: string | RegExp): Promise<void> {
  const error = await refusal(promise) as InstanceType<typeof OldAnthropic.APIError>;
  assert.instance(error, OldAnthropic.BadRequestError);
  const body = error.error as { error: { type: string; message: string }; request_id: string };
  assert.is(body.error.type, "invalid_request_error");
  assert.match(body.error.message, message);
  assert.is(error.requestID, body.request_id);
}

test("create, retrieve, list and delete of skills have the older format", async () => {
  const created = await client.beta.skills.create({
    files: await upload("notes"),
    display_title: "My notes",
  });
  assert.is(server.seen.at(-1)!.headers.get("anthropic-beta"), "skills-2025-10-02");
  assert.match(created.created_at, TIME);
  assert.match(created.latest_version!, /^\d{16}$/);
  const expected = {
    type: "skill",
    id: created.id,
    created_at: created.created_at,
    updated_at: created.created_at,
    display_title: "My notes",
    latest_version: created.latest_version,
    source: "custom",
  };
  assert.equal({ ...created }, expected);
  assert.match(created._request_id!, /^req_/);
  assert.equal({ ...await client.beta.skills.retrieve(created.id) }, expected);
  const { data: page, response } = await client.beta.skills.list().withResponse();
  assert.is(page.next_page, null);
  assert.equal(page.data, [expected]);
  assert.is(response.status, 200);
  const raw = await (await client.beta.skills.list().asResponse()).json();
  assert.equal(raw, { data: [expected], has_more: false, next_page: null });

  await client.beta.skills.versions.delete(created.latest_version!, { skill_id: created.id });
  assert.equal({ ...await client.beta.skills.delete(created.id) }, { id: created.id, type: "skill_deleted" });
  assert.instance(await refusal(client.beta.skills.retrieve(created.id)), OldAnthropic.NotFoundError);
});

test("create, retrieve, list and delete of versions have the older format; lists begin with the oldest", async () => {
  const { id: skill_id, latest_version, created_at } = await client.beta.skills.create({
    files: await upload("notes"),
  });
  const created = await addVersion(skill_id, "notes");
  assert.match(created.id, /^skill_?ver(sion)?_/);
  assert.match(created.version, /^\d{16}$/);
  assert.ok(created.version > latest_version!);
  assert.match(created.created_at, TIME);
  const expected = {
    type: "skill_version",
    id: created.id,
    skill_id,
    version: created.version,
    created_at: created.created_at,
    name: "notes",
    description: "Second. Use it.",
    directory: "notes",
  };
  assert.equal({ ...created }, expected);
  const { versions } = client.beta.skills;
  assert.equal({ ...await versions.retrieve(created.version, { skill_id }) }, expected);
  assert.equal({ ...await versions.retrieve("latest", { skill_id }) }, expected);
  const first = { ...await versions.retrieve(latest_version!, { skill_id }) };
  assert.equal(first, {
    ...expected,
    id: first.id,
    version: latest_version,
    created_at,
    description: "First. Use it.",
  });
  const raw = await (await versions.list(skill_id).asResponse()).json();
  assert.equal(raw, { data: [first, expected], has_more: false, next_page: null });
  const skill = await client.beta.skills.retrieve(skill_id);
  assert.equal([skill.latest_version, skill.updated_at], [created.version, created.created_at]);

  assert.equal({ ...await versions.delete(created.version, { skill_id }) }, {
    id: created.version,
    type: "skill_version_deleted",
  });
  assert.instance(
    await refusal(versions.retrieve(created.version, { skill_id })),
    OldAnthropic.NotFoundError,
  );
  assert.is((await client.beta.skills.retrieve(skill_id)).latest_version, latest_version);
});

test("lists have pages; a cursor is refused by the other API", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    ids.unshift((await client.beta.skills.create({ files: await upload(`skill-${i}`) })).id);
  }
  const listed: string[] = [];
  for await (const skill of client.beta.skills.list({ limit: 2, source: "custom" })) listed.push(skill.id);
  assert.equal(listed, ids);
  const [id] = ids;
  const versions = [(await client.beta.skills.retrieve(id!)).latest_version!];
  for (let i = 0; i < 4; i++) versions.push((await addVersion(id!, "skill-4", `${i}. Use it.`)).version);
  const listedVersions: string[] = [];
  for await (const each of client.beta.skills.versions.list(id!, { limit: 2 })) {
    listedVersions.push(each.version);
  }
  assert.equal(listedVersions, versions);

  const raw = await (await client.beta.skills.list({ limit: 2 }).asResponse()).json();
  assert.is(raw.has_more, true);
  assert.instance(await refusal(current.skills.list({ page: raw.next_page })), Anthropic.BadRequestError);
  const page = (await current.skills.list({ limit: 2 })).next_page;
  await assertRefused(client.beta.skills.list({ page: page! }), /\bpage\b.*next_page/);
});

test("display_title is null by default, unique, and at most 64 characters", async () => {
  const plain = await client.beta.skills.create({ files: await upload("notes") });
  assert.is(plain.display_title, null);
  const first = await client.beta.skills.create({ files: await upload("notes"), display_title: "Mine" });
  const files = await upload("other");
  const taken = /display_title: Mine/;
  await assertRefused(client.beta.skills.create({ files, display_title: "Mine" }), taken);
  await assertRefused(client.beta.skills.create({ files, display_title: "t".repeat(65) }), /64/);
  await client.beta.skills.create({ files, display_title: "t".repeat(64) });
  await client.beta.skills.versions.delete(first.latest_version!, { skill_id: first.id });
  await client.beta.skills.delete(first.id);
  const reused = await client.beta.skills.create({ files, display_title: "Mine" });
  assert.is(reused.display_title, "Mine");

  const attempts = await Promise.allSettled(
    Array.from({ length: 8 }, () => client.beta.skills.create({ files, display_title: "Race" })),
  );
  assert.is(attempts.filter(({ status }) => status === "fulfilled").length, 1);
});

test("a skill is deleted only after its versions; without versions the current API hides it", async () => {
  const { id, latest_version } = await client.beta.skills.create({ files: await upload("notes") });
  const { version } = await addVersion(id, "notes");
  const remains = /existing versions/;
  await assertRefused(client.beta.skills.delete(id), remains);
  await client.beta.skills.versions.delete(version, { skill_id: id });
  await assertRefused(client.beta.skills.delete(id), remains);
  await client.beta.skills.versions.delete(latest_version!, { skill_id: id });

  const empty = await client.beta.skills.retrieve(id);
  assert.is(empty.latest_version, null);
  assert.equal((await client.beta.skills.list()).data, [{ ...empty }]);
  assert.equal((await current.skills.list()).data, []);
  assert.instance(await refusal(current.skills.retrieve(id)), Anthropic.BadRequestError);

  const filled = await addVersion(id, "notes", "Third. Use it.");
  assert.not([version, latest_version].includes(filled.version), "version numbers are not reused");
  assert.is((await current.skills.versions.list(id)).data.length, 1);
  await client.beta.skills.versions.delete(filled.version, { skill_id: id });
  await client.beta.skills.delete(id);
  assert.equal((await client.beta.skills.list()).data, []);
});

test("an upload, as files or zip, must be one folder with the name of its skill and SKILL.md", async () => {
  const flat = await zip([{ name: "SKILL.md", content: skillMarkdown("notes") }]);
  const deep = await zip([{ name: "a/notes/SKILL.md", content: skillMarkdown("notes") }]);
  const top = /SKILL\.md.*top-level folder/;
  for (
    const files of [
      await upload("notes", "First. Use it.", ""),
      await upload("notes", "First. Use it.", "a/notes/"),
      [await toFile(flat, "notes.zip")],
      [await toFile(deep, "notes.zip")],
    ]
  ) await assertRefused(client.beta.skills.create({ files }), top);
  const named = await upload("notes", "First. Use it.", "folder/");
  await assertRefused(
    client.beta.skills.create({ files: named }),
    /'folder'.*'notes'.*SKILL\.md/,
  );
  assert.equal((await client.beta.skills.list()).data, []);

  const packed = await zip([
    { name: "notes/", content: "" },
    { name: "notes/SKILL.md", content: skillMarkdown("notes"), method: 8 },
  ]);
  const created = await client.beta.skills.create({ files: [await toFile(packed, "notes.zip")] });
  assert.is(
    (await client.beta.skills.versions.retrieve("latest", { skill_id: created.id })).directory,
    "notes",
  );
});

test("download returns the same zip as the current API", async () => {
  const { id: skill_id, latest_version } = await client.beta.skills.create({ files: await upload("notes") });
  const response = await client.beta.skills.versions.download(latest_version!, { skill_id });
  const archive = new Uint8Array(await response.arrayBuffer());
  assert.equal([...(await unpack(archive)).keys()], ["notes/SKILL.md", "notes/scripts/x.py"]);
  const { latest_version_id } = await current.skills.retrieve(skill_id);
  const same = await current.beta.skills.versions.download(latest_version_id, { skill_id });
  assert.equal(new Uint8Array(await same.arrayBuffer()), archive);
});

test("each API accepts the version ids of the other", async () => {
  const { id: skill_id, latest_version } = await client.beta.skills.create({
    files: await upload("notes"),
    display_title: "Both",
  });
  const older = await client.beta.skills.versions.retrieve("latest", { skill_id });
  const skill = await current.skills.retrieve(skill_id);
  assert.is(skill.display_name, "Both");
  const version = { ...await current.skills.versions.retrieve("latest", { skill_id }) };
  assert.is(version.id, skill.latest_version_id);
  for (const name of [latest_version!, older.id, skill.latest_version_id]) {
    assert.equal({ ...await current.skills.versions.retrieve(name, { skill_id }) }, version, name);
    assert.equal({ ...await client.beta.skills.versions.retrieve(name, { skill_id }) }, { ...older }, name);
  }
});

test("the beta can be one of several; other betas do not select the older format", async () => {
  const { id } = await client.beta.skills.create({ files: await upload("notes") });
  const shape = async (betas: string): Promise<boolean> => {
    const headers = { "x-api-key": server.key, "anthropic-beta": betas };
    const response = await fetch(`${server.url}/v1/skills/${id}?beta=true`, { headers });
    assert.is(response.status, 200, betas);
    return "display_title" in await response.json();
  };
  assert.ok(await shape("code-execution-2025-08-25 , skills-2025-10-02"));
  assert.ok(await shape("skills-2025-10-02,files-api-2025-04-14"));
  for (const betas of ["code-execution-2025-08-25,files-api-2025-04-14", "skills-2099-01-01", "x,,"]) {
    assert.not.ok(await shape(betas), betas);
  }
});

test.run();
