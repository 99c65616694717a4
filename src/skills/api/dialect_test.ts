import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  DEMO,
  folderOf,
  multipart,
  newService,
  SKILL_MD,
  type TestFile,
  type TestService,
} from "../test_service.ts";

const test = suite("skills/api/dialect");

const OLDER = { "anthropic-beta": "skills-2025-10-02" };
const NAMED = (
  name: string,
): TestFile[] => [[`${name}/SKILL.md`, SKILL_MD.replace("name: demo", `name: ${name}`)]];

async function post(
  { send }: TestService,
  path: string,
  files: readonly TestFile[],
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const { body, type } = multipart(files, fields);
  return await send(path, { method: "POST", body, headers: { "content-type": type, ...headers } });
}

test("skills-2025-10-02 anywhere in anthropic-beta selects the older dialect", async () => {
  const service = await newService();
  const { id } = await (await service.upload(DEMO)).json();
  const keys = async (headers: HeadersInit) =>
    Object.keys(await (await service.send(`/v1/skills/${id}?beta=true`, { headers })).json());
  const older = ["type", "id", "created_at", "updated_at", "display_title", "latest_version", "source"];
  const today = ["type", "id", "created_at", "updated_at", "display_name", "latest_version_id", "source"];
  assert.equal(await keys({}), today);
  assert.equal(await keys({ "anthropic-beta": "code-execution-2025-08-25,files-api-2025-04-14" }), today);
  assert.equal(await keys({ "anthropic-beta": "skills-2025-10-020" }), today);
  assert.equal(await keys(OLDER), older);
  assert.equal(await keys({ "anthropic-beta": "files-api-2025-04-14 , skills-2025-10-02,x" }), older);
  assert.equal(await keys([["anthropic-beta", "x"], ["anthropic-beta", "skills-2025-10-02"]]), older);
});

test("the older dialect returns its shapes of skill, list, version and deletion", async () => {
  const service = await newService();
  const { send, advance } = service;
  const skill = await (await post(service, "/v1/skills", DEMO, { display_title: "Mine" }, OLDER)).json();
  assert.match(skill.latest_version, /^\d{16}$/);
  assert.equal(skill, {
    type: "skill",
    id: skill.id,
    created_at: skill.created_at,
    updated_at: skill.created_at,
    display_title: "Mine",
    latest_version: skill.latest_version,
    source: "custom",
  });
  advance(5);
  const path = `/v1/skills/${skill.id}`;
  const version = await (await post(service, `${path}/versions`, DEMO, {}, OLDER)).json();
  assert.match(version.id, /^skill_version_01/);
  assert.equal(version, {
    type: "skill_version",
    id: version.id,
    skill_id: skill.id,
    version: version.version,
    created_at: version.created_at,
    name: "demo",
    description: "Shows how a skill looks. Use it in tests.",
    directory: "demo",
  });
  assert.ok(version.version > skill.latest_version);
  const get = async (path: string, method = "GET") => await send(path, { headers: OLDER, method });
  const page = await (await get("/v1/skills")).json();
  assert.equal(Object.keys(page), ["data", "has_more", "next_page"]);
  assert.equal(page.data.map((each: { id: string }) => each.id), [skill.id]);
  assert.equal([page.has_more, page.next_page], [false, null]);
  const { data } = await (await get(`${path}/versions`)).json();
  assert.equal(data.map((each: { version: string }) => each.version), [
    skill.latest_version,
    version.version,
  ]);

  const refused = await get(path, "DELETE");
  assert.is(refused.status, 400);
  assert.is((await refused.json()).error.type, "invalid_request_error");
  for (const { version } of data) {
    assert.equal(await (await get(`${path}/versions/${version}`, "DELETE")).json(), {
      type: "skill_version_deleted",
      id: version,
    });
  }
  assert.is((await (await get(path)).json()).latest_version, null);
  assert.is((await (await get("/v1/skills")).json()).data.length, 1);
  assert.is((await send(path)).status, 400, "the default dialect has no shape for a skill without a version");
  assert.equal(await (await send("/v1/skills")).json(), { data: [], next_page: null });
  const principal = { workspace: "default", scopes: new Set(["admin"]) };
  assert.equal((await service.service.catalog.list(principal)).skills, []);
  const added = await (await post(service, `${path}/versions`, DEMO, {}, OLDER)).json();
  assert.is(
    (await (await send(path)).json()).latest_version_id,
    added.id.replace("skill_version_", "skver_"),
  );
  await get(`${path}/versions/${added.version}`, "DELETE");
  assert.equal(await (await get(path, "DELETE")).json(), { type: "skill_deleted", id: skill.id });
});

test("labels are unique in the older dialect, also concurrently, and not in the default dialect", async () => {
  const service = await newService();
  const older = (title: string) => post(service, "/v1/skills", DEMO, { display_title: title }, OLDER);
  await service.upload(DEMO, { display_name: "Today" });
  await service.upload(DEMO, { display_name: "Today" });
  const duplicate = await older("Today");
  assert.is(duplicate.status, 400);
  const { error } = await duplicate.json();
  assert.is(error.type, "invalid_request_error");
  assert.match(error.message, /display_title.*Today/);
  const statuses = (await Promise.all(Array.from({ length: 10 }, () => older("Race")))).map(({ status }) =>
    status
  );
  assert.equal(statuses.sort(), [200, ...Array(9).fill(400)]);
  assert.is((await older("x".repeat(65))).status, 400);
  assert.is((await older("x".repeat(64))).status, 200);
  const untitled = await (await post(service, "/v1/skills", DEMO, {}, OLDER)).json();
  assert.is(untitled.display_title, null);
  assert.is(
    (await post(service, "/v1/skills", DEMO, {}, OLDER)).status,
    200,
    "a missing label is not a duplicate",
  );
  // Deleting a skill frees its label.
  const { data } = await (await service.send("/v1/skills?limit=100")).json();
  for (const { id } of data) await service.send(`/v1/skills/${id}`, { method: "DELETE" });
  assert.is((await older("Race")).status, 200);
  assert.is((await older("Today")).status, 200);
});

test("OpenAI's dialect is selected by its option and by the absence of Anthropic's header fields", async () => {
  const service = await newService({ openai: true, auth: "off" });
  const call = async (path: string, init: RequestInit = {}, status = 200) => {
    const response = await service.send(path, { ...init, key: "" });
    assert.is(response.status, status, await response.clone().text());
    assert.is(response.headers.get("x-request-id"), response.headers.get("request-id"));
    return await response.json();
  };
  const upload = (path: string, files: readonly TestFile[], fields: Record<string, string> = {}) => {
    const { body, type } = multipart(files, fields);
    return call(path, { method: "POST", body, headers: { "content-type": type } });
  };
  const skill = await upload("/v1/skills", DEMO);
  assert.is(typeof skill.created_at, "number");
  assert.equal(skill, {
    id: skill.id,
    object: "skill",
    name: "demo",
    description: "Shows how a skill looks. Use it in tests.",
    created_at: skill.created_at,
    default_version: "1",
    latest_version: "1",
  });
  const path = `/v1/skills/${skill.id}`;
  const version = await upload(`${path}/versions`, DEMO);
  assert.equal(version, {
    id: version.id,
    object: "skill.version",
    skill_id: skill.id,
    version: "2",
    name: "demo",
    description: skill.description,
    created_at: version.created_at,
  });
  assert.equal(await call(path), { ...skill, latest_version: "2" });
  await upload(`${path}/versions`, DEMO, { default: "true" });
  assert.equal(await call(path), { ...skill, default_version: "3", latest_version: "3" });
  const set = { method: "POST", body: JSON.stringify({ default_version: "1" }) };
  assert.equal(await call(path, set), { ...skill, default_version: "1", latest_version: "3" });
  const { id: first } = await call(`${path}/versions/1`);
  const changes = service.events.filter(({ type }) => type === "skill_default_changed");
  assert.equal(changes, [
    { type: "skill_default_changed", id: skill.id, version: first, workspace: "default" },
  ]);
  for (const default_version of [1, "", null, {}]) {
    await call(path, { method: "POST", body: JSON.stringify({ default_version }) }, 400);
  }
  await call(path, { method: "POST", body: JSON.stringify({ default_version: "9" }) }, 404);
  await call(path, { method: "POST", body: "{" }, 400);

  const { error } = await call(`${path}/versions/1`, { method: "DELETE" }, 400);
  const { message: _, ...rest } = error;
  await call(`${path}/versions/1`);
  assert.equal(rest, { type: "invalid_request_error", param: null, code: null });
  const { id } = await call(`${path}/versions/3`);
  assert.equal(await call(`${path}/versions/3`, { method: "DELETE" }), {
    id,
    object: "skill.version.deleted",
    deleted: true,
    version: "3",
  });
  await call(`${path}/versions/2`, { method: "DELETE" });
  await call(`${path}/versions/1`, { method: "DELETE" });
  await call(path, {}, 404);
});

test("OpenAI's lists have both orders, continue after an id, and contain local skills", async () => {
  const files = new Map([["aa/SKILL.md", SKILL_MD.replace("name: demo", "name: aa")], [
    "bb/SKILL.md",
    SKILL_MD.replace("name: demo", "name: bb"),
  ]]);
  const service = await newService({ openai: true, auth: "off", folders: [folderOf(files)] });
  const { send, advance } = service;
  for (const name of ["one", "two", "three"]) {
    advance(10);
    const { body, type } = multipart(NAMED(name));
    await send("/v1/skills", { method: "POST", body, headers: { "content-type": type } });
  }
  const walk = async (order: string) => {
    const names: string[] = [];
    for (let after = "";;) {
      const response = await send(`/v1/skills?limit=2&order=${order}${after}`, { key: "" });
      const page = await response.json();
      assert.is(page.object, "list");
      assert.is(page.first_id, page.data[0].id);
      assert.is(page.last_id, page.data.at(-1).id);
      names.push(...page.data.map((each: { name: string }) => each.name));
      if (!page.has_more) return names;
      after = `&after=${page.last_id}`;
    }
  };
  const newestFirst = ["aa", "bb", "three", "two", "one"];
  assert.equal(await walk("desc"), newestFirst);
  assert.equal(await walk("asc"), newestFirst.toReversed());
  const empty = await (await send("/v1/skills?after=skill_0", { key: "" })).json();
  assert.equal(empty, { object: "list", data: [], first_id: null, last_id: null, has_more: false });
  for (const query of ["limit=101", "order=up", "after=", "limit=1&limit=2"]) {
    assert.is((await send(`/v1/skills?${query}`, { key: "" })).status, 400, query);
  }
});

test("without the option the default dialect is used, and POST to a skill is refused with 405", async () => {
  const service = await newService({ auth: "off" });
  const { id } = await (await service.upload(DEMO)).json();
  assert.is((await (await service.send(`/v1/skills/${id}`, { key: "" })).json()).type, "skill");
  const response = await service.send(`/v1/skills/${id}`, { method: "POST", body: "{}" });
  assert.is(response.status, 405);
  assert.is(response.headers.get("allow"), "GET, HEAD, DELETE, OPTIONS");
  const both = await newService({ openai: true });
  const made = await (await both.upload(DEMO)).json();
  const body = JSON.stringify({ default_version: "1" });
  const other = await both.send(`/v1/skills/${made.id}`, { method: "POST", body });
  assert.is(other.status, 405, "other dialects refuse it too");
});

test("unknown values of anthropic-version are refused, of anthropic-beta by option", async () => {
  const service = await newService();
  const get = (headers: Record<string, string>) => service.send("/v1/skills", { headers });
  for (const version of ["2023-06-01", "2026-10-21"]) {
    assert.is((await get({ "anthropic-version": version })).status, 200);
  }
  assert.is((await get({ "anthropic-version": "2024-01-01" })).status, 400);
  assert.is((await get({ "anthropic-beta": "what-2030-01-01" })).status, 200);
  const strict = await newService({ unknownBetas: "refuse" });
  const refused = await strict.send("/v1/skills", {
    headers: { "anthropic-beta": "skills-2025-10-02,what-2030" },
  });
  assert.is(refused.status, 400);
  assert.match((await refused.json()).error.message, /"what-2030".*anthropic-beta/);
});

test("anthropic-workspace-id must match the key and is echoed", async () => {
  const service = await newService();
  const get = (id: string) => service.send("/v1/skills", { headers: { "anthropic-workspace-id": id } });
  const response = await get("default");
  assert.equal([response.status, response.headers.get("anthropic-workspace-id")], [200, "default"]);
  assert.is((await get("other")).status, 403);
  assert.is((await service.send("/v1/skills")).headers.get("anthropic-workspace-id"), null);
});

test.run();
