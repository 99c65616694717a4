import Anthropic, { toFile } from "@anthropic-ai/sdk";
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

const test = suite("@anthropic-ai/sdk: versions and contents of skills");
let server: SkillsServer;
let client: Anthropic;

test.before.each(async () => {
  server = await startSkills();
  client = new Anthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0 });
});
test.after.each(() => server.close());

const encoder = new TextEncoder();
const upload = async (name: string, description: string, more: Record<string, string> = {}) =>
  await Promise.all(
    Object.entries({ "SKILL.md": skillMarkdown(name, description), ...more }).map(([path, content]) =>
      toFile(encoder.encode(content), `${name}/${path}`)
    ),
  );

test("create, retrieve, list and delete return the same version; latest is the newest", async () => {
  const skill = await client.skills.create({
    files: await upload("notes", "First. Use it."),
    display_name: "N",
  });
  const skill_id = skill.id;
  const second = await client.skills.versions.create(skill_id, {
    files: await upload("notes", "Second. Use it."),
  });
  assert.match(second.id, /^skver_01[0-9A-Z]+$/);
  assert.match(second.created_at, TIME);
  assert.match(second._request_id!, /^req_/);
  const expected = {
    type: "skill_version",
    id: second.id,
    skill_id,
    created_at: second.created_at,
    name: "notes",
    description: "Second. Use it.",
  };
  const first = {
    ...expected,
    id: skill.latest_version_id,
    created_at: skill.created_at,
    description: "First. Use it.",
  };
  assert.equal({ ...second }, expected);
  assert.equal({ ...await client.skills.versions.retrieve(second.id, { skill_id }) }, expected);
  assert.equal({ ...await client.skills.versions.retrieve("latest", { skill_id }) }, expected);
  assert.equal({ ...await client.skills.versions.retrieve(first.id, { skill_id }) }, first);
  const page = await client.skills.versions.list(skill_id);
  assert.equal({ data: page.data, next_page: page.next_page }, { data: [expected, first], next_page: null });
  assert.equal({ ...await client.skills.retrieve(skill_id) }, {
    ...skill,
    updated_at: second.created_at,
    latest_version_id: second.id,
  });

  const deleted = await client.skills.versions.delete(second.id, { skill_id });
  assert.equal({ ...deleted }, { id: second.id, type: "skill_version_deleted" });
  assert.equal({ ...await client.skills.versions.retrieve("latest", { skill_id }) }, first);
  assert.is((await client.skills.retrieve(skill_id)).latest_version_id, first.id);
  const deletedError = await refusal(client.skills.versions.retrieve(second.id, { skill_id }));
  assert.instance(deletedError, Anthropic.NotFoundError);

  const third = await client.skills.versions.create(skill_id, {
    files: await upload("notes", "Third. Use it."),
  });
  assert.not([first.id, second.id].includes(third.id));
  assert.is((await client.skills.retrieve(skill_id)).latest_version_id, third.id);
});

test("deleting an older version does not change latest; the only version cannot be deleted", async () => {
  const { id: skill_id, latest_version_id: first } = await client.skills.create({
    files: await upload("notes", "First. Use it."),
  });
  const { id: second } = await client.skills.versions.create(skill_id, {
    files: await upload("notes", "Second. Use it."),
  });
  await client.skills.versions.delete(first, { skill_id });
  assert.is((await client.skills.retrieve(skill_id)).latest_version_id, second);
  const last = await refusal(client.skills.versions.delete(second, { skill_id })) as InstanceType<
    typeof Anthropic.BadRequestError
  >;
  assert.instance(last, Anthropic.BadRequestError);
  assert.is(last.type, "invalid_request_error");
  assert.is((await client.skills.versions.retrieve("latest", { skill_id })).id, second);
  const unnamed = await refusal(client.skills.versions.delete("latest", { skill_id })) as { status: number };
  assert.ok([400, 404].includes(unnamed.status), "latest is not an id");

  await client.skills.delete(skill_id);
  const files = await upload("notes", "Third. Use it.");
  for (
    const call of [
      () => client.skills.versions.retrieve(second, { skill_id }),
      () => client.skills.versions.list(skill_id),
      () => client.beta.skills.versions.download(second, { skill_id }),
      () => client.skills.versions.create(skill_id, { files }),
    ]
  ) assert.instance(await refusal(call()), Anthropic.NotFoundError);
});

test("a version is found by its id only in its own skill", async () => {
  const one = await client.skills.create({ files: await upload("one", "One. Use it.") });
  const two = await client.skills.create({ files: await upload("two", "Two. Use it.") });
  for (const call of ["retrieve", "delete"] as const) {
    const error = await refusal(client.skills.versions[call](two.latest_version_id, { skill_id: one.id }));
    assert.instance(error, Anthropic.NotFoundError, call);
  }
  assert.is((await client.skills.versions.retrieve("latest", { skill_id: two.id })).name, "two");
});

test("list follows all pages, newest first; a cursor of another list is refused", async () => {
  const { id, latest_version_id } = await client.skills.create({
    files: await upload("notes", "0. Use it."),
  });
  const ids = [latest_version_id];
  for (let i = 1; i < 12; i++) {
    ids.unshift(
      (await client.skills.versions.create(id, { files: await upload("notes", `${i}. Use it.`) })).id,
    );
  }
  const listed: string[] = [];
  for await (const version of client.skills.versions.list(id, { limit: 5 })) listed.push(version.id);
  assert.equal(listed, ids);
  const page = await client.skills.versions.list(id, { limit: 12 });
  assert.is(page.next_page, null);
  const foreign = (await client.skills.versions.list(id, { limit: 1 })).next_page!;
  assert.instance(await refusal(client.skills.list({ page: foreign })), Anthropic.BadRequestError);
  for (const limit of [0, 1001, 1.5, "abc" as unknown as number]) {
    const error = await refusal(client.skills.versions.list(id, { limit }));
    assert.instance(error, Anthropic.BadRequestError, `limit ${limit}`);
  }
});

test("concurrent versions are all stored; concurrent deletions leave one", async () => {
  const skill = await client.skills.create({ files: await upload("notes", "0. Use it.") });
  const created = await Promise.all(
    Array.from(
      { length: 12 },
      async (_, i) =>
        client.skills.versions.create(skill.id, { files: await upload("notes", `${i}. Use it.`) }),
    ),
  );
  const { data } = await client.skills.versions.list(skill.id);
  assert.is(data.length, 13);
  assert.equal(
    new Set(data.map(({ id }) => id)),
    new Set([skill.latest_version_id, ...created.map(({ id }) => id)]),
  );
  assert.equal(data.map((each) => each.created_at), data.map((each) => each.created_at).sort().reverse());
  assert.is((await client.skills.retrieve(skill.id)).latest_version_id, data[0]!.id);

  const outcomes = await Promise.allSettled(
    data.map(({ id }) => client.skills.versions.delete(id, { skill_id: skill.id })),
  );
  assert.is(outcomes.filter(({ status }) => status === "fulfilled").length, 12, "all but one");
  const remaining = await client.skills.versions.list(skill.id);
  assert.is(remaining.data.length, 1);
  assert.is((await client.skills.retrieve(skill.id)).latest_version_id, remaining.data[0]!.id);
});

test("a version keeps the name of its skill", async () => {
  const skill = await client.skills.create({ files: await upload("notes", "First. Use it.") });
  const error = await refusal(
    upload("other", "Other. Use it.").then((files) => client.skills.versions.create(skill.id, { files })),
  ) as InstanceType<typeof Anthropic.BadRequestError>;
  assert.instance(error, Anthropic.BadRequestError);
  assert.match(error.apiMessage!, /"notes".*"other"/);
  assert.is((await client.skills.versions.list(skill.id)).data.length, 1);
});

test("a version contains only its own files", async () => {
  const { id: skill_id } = await client.skills.create({
    files: await upload("notes", "First. Use it.", { "old.md": "old", "kept.md": "kept" }),
  });
  const archive = await zip([
    { name: "SKILL.md", content: skillMarkdown("notes") },
    { name: "kept.md", content: "kept" },
  ]);
  const { id } = await client.skills.versions.create(skill_id, {
    files: [await toFile(archive, "notes.zip")],
  });
  const content = await client.beta.skills.versions.download(id, { skill_id });
  assert.equal([...(await unpack(content)).keys()], ["notes/SKILL.md", "notes/kept.md"]);
});

test("download returns the same zip each time, with one top folder and an ETag", async () => {
  const binary = Uint8Array.from({ length: 70_000 }, (_, i) => i * 7 % 256);
  const skill = await client.skills.create({
    files: [
      await toFile(binary, "notes/assets/data.bin"),
      ...await upload("notes", "First. Use it.", { "empty.txt": "", "é/ü.md": "ü\r\n" }),
    ],
  });
  const params = { skill_id: skill.id };
  const response = await client.beta.skills.versions.download(skill.latest_version_id, params);
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/zip");
  assert.is(response.headers.get("content-disposition"), 'attachment; filename="notes.zip"');
  assert.is(response.headers.get("x-content-type-options"), "nosniff");
  assert.match(response.headers.get("request-id")!, /^req_/);
  const etag = response.headers.get("etag")!;
  assert.match(etag, /^"[^"]+"$/);
  const archive = new Uint8Array(await response.arrayBuffer());
  // Bun sends streams in chunks, without Content-Length.
  const length = "Bun" in globalThis ? null : String(archive.length);
  assert.is(response.headers.get("content-length"), length);
  assert.equal(
    await unpack(archive),
    new Map([
      ["notes/SKILL.md", encoder.encode(skillMarkdown("notes", "First. Use it."))],
      ["notes/assets/data.bin", binary],
      ["notes/empty.txt", new Uint8Array()],
      ["notes/é/ü.md", encoder.encode("ü\r\n")],
    ]),
  );

  const repeated = await client.beta.skills.versions.download(skill.latest_version_id, params);
  assert.is(repeated.headers.get("etag"), etag);
  assert.equal(new Uint8Array(await repeated.arrayBuffer()), archive);
  const unchanged = await fetch(
    `${server.url}/v1/skills/${skill.id}/versions/${skill.latest_version_id}/content`,
    {
      headers: { "x-api-key": server.key, "if-none-match": etag },
    },
  );
  assert.equal([unchanged.status, await unchanged.text()], [304, ""]);
  assert.match(unchanged.headers.get("request-id")!, /^req_/);

  // The download can be uploaded unchanged.
  const copy = await client.skills.create({ files: [await toFile(archive, "notes.zip")] });
  const copied = await client.beta.skills.versions.download(copy.latest_version_id, { skill_id: copy.id });
  assert.equal(new Uint8Array(await copied.arrayBuffer()), archive);
});

test("client.beta.skills has the current format too", async () => {
  const files = await upload("notes", "First. Use it.");
  const created = await client.beta.skills.create({ files, display_name: "Beta" });
  const skill = { ...await client.skills.retrieve(created.id) };
  assert.equal({ ...created }, skill);
  assert.equal({ ...await client.beta.skills.retrieve(created.id) }, skill);
  assert.equal((await client.beta.skills.list({ source: "custom" })).data, [skill]);
  const { versions } = client.beta.skills;
  const second = await versions.create(created.id, { files });
  const skill_id = created.id;
  assert.equal({ ...second }, { ...await client.skills.versions.retrieve("latest", { skill_id }) });
  assert.equal({ ...await versions.retrieve(second.id, { skill_id }) }, { ...second });
  assert.equal((await versions.list(skill_id)).data.map(({ id }) => id), [
    second.id,
    created.latest_version_id,
  ]);
  assert.equal({ ...await versions.delete(second.id, { skill_id }) }, {
    id: second.id,
    type: "skill_version_deleted",
  });
  assert.equal({ ...await client.beta.skills.delete(created.id) }, { id: created.id, type: "skill_deleted" });
});

test.run();
