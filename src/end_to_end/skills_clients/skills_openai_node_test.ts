import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createApiKey } from "../../skills/api_key.ts";
import { zip } from "../../skills/test_service.ts";
import {
  refusal,
  skillMarkdown,
  type SkillsServer,
  startSkills,
  unpack,
} from "../skills/test_skills_server.ts";

const test = suite("openai: skills");
let server: SkillsServer;
let client: OpenAI;

test.before.each(async () => {
  server = await startSkills({ openai: true });
  client = clientOf(server.key);
});
test.after.each(() => server.close());

const encoder = new TextEncoder();
const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
const upload = async (name: string, description = "First. Use it."): Promise<File[]> => [
  await toFile(encoder.encode("x"), `${name}/scripts/x.py`),
  await toFile(encoder.encode(skillMarkdown(name, description)), `${name}/SKILL.md`),
];
const addVersion = async (skill: string, description: string, isDefault?: boolean) =>
  await client.skills.versions.create(skill, {
    files: await upload("notes", description),
    ...(isDefault !== undefined && { default: isDefault }),
  });
const json = async (response: PromiseLike<Response>): Promise<unknown> => await (await response).json();

test("create, retrieve, list and delete return the same skill", async () => {
  const created = await client.skills.create({ files: await upload("notes") });
  assert.match(created._request_id!, /^req_/);
  assert.match(created.id, /^skill_/);
  assert.ok(Number.isInteger(created.created_at) && created.created_at > 1.6e9 && created.created_at < 1e11);
  const expected = {
    id: created.id,
    object: "skill",
    name: "notes",
    description: "First. Use it.",
    created_at: created.created_at,
    default_version: "1",
    latest_version: "1",
  };
  assert.equal({ ...created }, expected);
  assert.equal({ ...await client.skills.retrieve(created.id) }, expected);
  assert.equal(await json(client.skills.list().asResponse()), {
    object: "list",
    data: [expected],
    first_id: created.id,
    last_id: created.id,
    has_more: false,
  });
  assert.equal({ ...await client.skills.delete(created.id) }, {
    id: created.id,
    object: "skill.deleted",
    deleted: true,
  });
  assert.instance(await refusal(client.skills.retrieve(created.id)), OpenAI.NotFoundError);
  assert.equal(await json(client.skills.list().asResponse()), {
    object: "list",
    data: [],
    first_id: null,
    last_id: null,
    has_more: false,
  });
});

test("versions are numbered; the first is the default until another is set", async () => {
  const { id: skill_id } = await client.skills.create({ files: await upload("notes") });
  const second = await addVersion(skill_id, "Second. Use it.");
  assert.ok(Number.isInteger(second.created_at));
  const expected = {
    id: second.id,
    object: "skill.version",
    skill_id,
    version: "2",
    name: "notes",
    description: "Second. Use it.",
    created_at: second.created_at,
  };
  assert.equal({ ...second }, expected);
  assert.equal({ ...await client.skills.versions.retrieve("2", { skill_id }) }, expected);
  const first = { ...await client.skills.versions.retrieve("1", { skill_id }) };
  assert.equal(first, {
    ...expected,
    id: first.id,
    version: "1",
    description: "First. Use it.",
    created_at: first.created_at,
  });
  assert.equal(await json(client.skills.versions.list(skill_id).asResponse()), {
    object: "list",
    data: [expected, first],
    first_id: second.id,
    last_id: first.id,
    has_more: false,
  });
  const pointers = async (): Promise<string[]> => {
    const { default_version, latest_version } = await client.skills.retrieve(skill_id);
    return [default_version, latest_version];
  };
  assert.equal(await pointers(), ["1", "2"]);
  const third = await addVersion(skill_id, "Third. Use it.", true);
  assert.is(third.version, "3");
  assert.equal(await pointers(), ["3", "3"]);
  await addVersion(skill_id, "Fourth. Use it.", false);
  assert.equal(await pointers(), ["3", "4"]);

  const updated = await client.skills.update(skill_id, { default_version: "2" });
  assert.equal({ ...updated }, { ...await client.skills.retrieve(skill_id) });
  assert.equal(await pointers(), ["2", "4"]);
  const missing = await refusal(client.skills.update(skill_id, { default_version: "9" }));
  assert.instance(missing, OpenAI.NotFoundError);
  assert.instance(
    await refusal(client.skills.update(skill_id, { default_version: "" })),
    OpenAI.BadRequestError,
  );
  assert.equal(await pointers(), ["2", "4"]);
});

test("the default version cannot be deleted before others; deleting the last version deletes the skill", async () => {
  const { id: skill_id } = await client.skills.create({ files: await upload("notes") });
  const second = await addVersion(skill_id, "Second. Use it.");
  assert.instance(await refusal(client.skills.versions.delete("1", { skill_id })), OpenAI.BadRequestError);
  const deleted = await client.skills.versions.delete("2", { skill_id });
  assert.equal({ ...deleted }, {
    id: second.id,
    object: "skill.version.deleted",
    deleted: true,
    version: "2",
  });
  assert.is((await client.skills.retrieve(skill_id)).latest_version, "1");
  assert.instance(await refusal(client.skills.versions.retrieve("2", { skill_id })), OpenAI.NotFoundError);
  assert.is((await addVersion(skill_id, "Third. Use it.")).version, "3", "numbers are not reused");
  await client.skills.versions.delete("3", { skill_id });

  await client.skills.versions.delete("1", { skill_id });
  assert.instance(await refusal(client.skills.retrieve(skill_id)), OpenAI.NotFoundError);
});

test("lists have pages in both orders", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) ids.unshift((await client.skills.create({ files: await upload("notes") })).id);
  const listed = async (query: OpenAI.SkillListParams): Promise<string[]> => {
    const found: string[] = [];
    for await (const skill of client.skills.list(query)) found.push(skill.id);
    return found;
  };
  assert.equal(await listed({ limit: 3 }), ids);
  assert.equal(await listed({ limit: 3, order: "desc" }), ids);
  assert.equal(await listed({ limit: 3, order: "asc" }), ids.toReversed());
  assert.equal(await listed({ limit: 7 }), ids);
  assert.equal(await listed({ after: ids[4]! }), ids.slice(5));
  const page = await client.skills.list({ limit: 3 });
  assert.equal([page.has_more, page.data.length], [true, 3]);

  const skill = ids[0]!;
  for (let i = 2; i <= 5; i++) await addVersion(skill, `${i}. Use it.`);
  const numbers = async (order?: "asc" | "desc"): Promise<string[]> => {
    const found: string[] = [];
    const query = { limit: 2, ...(order && { order }) };
    for await (const { version } of client.skills.versions.list(skill, query)) found.push(version);
    return found;
  };
  assert.equal(await numbers(), ["5", "4", "3", "2", "1"]);
  assert.equal(await numbers("asc"), ["1", "2", "3", "4", "5"]);

  for (const query of [{ limit: 0 }, { limit: 101 }, { order: "up" as "asc" }]) {
    assert.instance(await refusal(client.skills.list(query)), OpenAI.BadRequestError, JSON.stringify(query));
  }
});

test("content is the zip of the default version or of a named one", async () => {
  const archive = await zip([{ name: "notes/SKILL.md", content: skillMarkdown("notes", "Zip. Use it.") }]);
  // A single file is sent as `files`.
  const { id: skill_id } = await client.skills.create({ files: await toFile(archive, "notes.zip") });
  await addVersion(skill_id, "Second. Use it.");
  const read = async (response: Response): Promise<(readonly [string, string])[]> => {
    assert.is(response.headers.get("content-type"), "application/zip");
    assert.is(response.headers.get("content-disposition"), 'attachment; filename="notes.zip"');
    return [...await unpack(response)].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]);
  };
  const first = [["notes/SKILL.md", skillMarkdown("notes", "Zip. Use it.")]];
  const second = [["notes/SKILL.md", skillMarkdown("notes", "Second. Use it.")], ["notes/scripts/x.py", "x"]];
  assert.equal(await read(await client.skills.content.retrieve(skill_id)), first);
  assert.equal(await read(await client.skills.versions.content.retrieve("1", { skill_id })), first);
  assert.equal(await read(await client.skills.versions.content.retrieve("2", { skill_id })), second);
  await client.skills.update(skill_id, { default_version: "2" });
  assert.equal(await read(await client.skills.content.retrieve(skill_id)), second);
  const missing = await refusal(client.skills.versions.content.retrieve("9", { skill_id }));
  assert.instance(missing, OpenAI.NotFoundError);
});

test("errors have the format of OpenAI and a request id", async () => {
  const bad = await refusal(
    toFile(encoder.encode("text"), "x/SKILL.md").then((file) => client.skills.create({ files: [file] })),
  ) as InstanceType<typeof OpenAI.APIError>;
  assert.instance(bad, OpenAI.BadRequestError);
  assert.equal([bad.status, bad.type, bad.param], [400, "invalid_request_error", "files"]);
  assert.match(bad.code!, /^[a-z]+(-[a-z]+)*$/);
  assert.match(bad.requestID!, /^req_/);
  assert.match(bad.message, /SKILL\.md/);
  assert.equal(Object.keys(bad.error as object), ["message", "type", "param", "code"]);

  const unauthorized = await refusal(clientOf("sk-unknown").skills.list()) as InstanceType<
    typeof OpenAI.APIError
  >;
  assert.instance(unauthorized, OpenAI.AuthenticationError);
  assert.match(unauthorized.requestID!, /^req_/);
  const { secret } = await createApiKey(server.store, { name: "reader", scopes: ["skills:read"] });
  const forbidden = await refusal(clientOf(secret).skills.delete("skill_01"));
  assert.instance(forbidden, OpenAI.PermissionDeniedError);
  const { id } = await client.skills.create({ files: await upload("notes") });
  const { secret: other } = await createApiKey(server.store, { name: "other", workspace: "other" });
  assert.instance(await refusal(clientOf(other).skills.retrieve(id)), OpenAI.NotFoundError);
  for (const call of [() => client.skills.create({}), () => client.skills.versions.create(id, {})]) {
    assert.instance(await refusal(call()), OpenAI.BadRequestError);
  }
});

test("skills of one SDK are available to the other in its own format", async () => {
  const other = new Anthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0 });
  const { id, created_at } = await client.skills.create({ files: await upload("notes") });
  const skill = await other.skills.retrieve(id);
  assert.equal([skill.type, skill.display_name], ["skill", "notes"]);
  assert.is(Math.floor(Date.parse(skill.created_at) / 1000), created_at);
  const version = await other.skills.versions.create(id, {
    files: await upload("notes", "Second. Use it."),
  });
  assert.is((await client.skills.versions.retrieve("2", { skill_id: id })).id, version.id);
  assert.is((await client.skills.retrieve(id)).latest_version, "2");
});

test("without the option openai, a bearer token selects the current Skills API", async () => {
  const plain = await startSkills();
  try {
    const response = await fetch(`${plain.url}/v1/skills`, {
      headers: { authorization: `Bearer ${plain.key}` },
    });
    assert.equal(await response.json(), { data: [], next_page: null });
  } finally {
    await plain.close();
  }
});

test.run();
