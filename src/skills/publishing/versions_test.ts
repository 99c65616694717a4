import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import type { Store } from "../../store/store.ts";
import { skillNotFound } from "../error.ts";
import { multipart, newService, SKILL_MD, type TestFile, type TestService } from "../test_service.ts";

const test = suite("skills/publishing/versions");

const files = (text: string, name = "demo"): TestFile[] => [
  [
    `${name}/SKILL.md`,
    SKILL_MD.replace("name: demo", `name: ${name}`).replace("Shows how", `${text} shows how`),
  ],
  [`${name}/data.txt`, text],
];

async function addVersion(
  { send }: TestService,
  id: string,
  sent: readonly TestFile[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const { body, type } = multipart(sent);
  return await send(`/v1/skills/${id}/versions`, {
    method: "POST",
    body,
    headers: { "content-type": type, ...headers },
  });
}

const kindsOf = async (store: Store) =>
  (await store.list([], { limit: 1000 })).map((entry) => entry.key[0]).filter((kind) => kind !== "api_key");

const messageOf = async (response: Response, status: number) => {
  const { error } = await response.json();
  assert.is(response.status, status, error?.message);
  return error.message as string;
};

test("a new version becomes latest, and the skill keeps its place in lists", async () => {
  const service = await newService();
  const { send, upload, advance, events } = service;
  const made = await (await upload(files("First"))).json();
  advance(1000);
  const other = await (await upload(files("Other", "other"))).json();
  advance(1000);
  const response = await addVersion(service, made.id, files("Second"));
  assert.is(response.status, 200);
  const version = await response.json();
  assert.equal(version, {
    type: "skill_version",
    id: version.id,
    skill_id: made.id,
    created_at: version.created_at,
    name: "demo",
    description: "Second shows how a skill looks. Use it in tests.",
  });
  const path = `/v1/skills/${made.id}`;
  const skill = await (await send(path)).json();
  assert.equal(skill, { ...made, latest_version_id: version.id, updated_at: version.created_at });
  assert.equal(await (await send("/v1/skills")).json(), { data: [other, skill], next_page: null });
  assert.equal(await (await send(`${path}/versions/latest`)).json(), version);
  assert.equal(await (await send(`${path}/versions/${version.id}`)).json(), version);
  assert.equal(events.at(-1), {
    type: "skill_version_created",
    id: made.id,
    version: version.id,
    workspace: "default",
    principal: "writer",
  });
});

test("every name of a version finds it in every dialect, and other names get 404", async () => {
  const service = await newService();
  const { send, upload } = service;
  const { id, latest_version_id } = await (await upload(files("First"))).json();
  const second = await (await addVersion(service, id, files("Second"))).json();
  const older = await (await send(`/v1/skills/${id}/versions`, {
    headers: { "anthropic-beta": "skills-2025-10-02" },
  })).json();
  const epochs: string[] = older.data.map((each: { version: string }) => each.version);
  assert.is(epochs.length, 2);
  const get = async (name: string) => (await (await send(`/v1/skills/${id}/versions/${name}`)).json()).id;
  const names = [latest_version_id, epochs[0]!, "1", latest_version_id.replace("skver_", "skill_version_")];
  for (const name of names) assert.is(await get(name), latest_version_id, name);
  for (const name of [second.id, epochs[1]!, "2", "latest"]) assert.is(await get(name), second.id, name);
  const unknown = [
    "3",
    "0",
    "01",
    "skver_x",
    "1600000000000000",
    String(Number(epochs[0]) + 1),
    "LATEST",
    "..%2f",
  ];
  for (const name of unknown) {
    const message = await messageOf(await send(`/v1/skills/${id}/versions/${name}`), 404);
    assert.match(message, /".*".*"skill_01/);
  }
  assert.is(
    await messageOf(await send("/v1/skills/skill_x/versions/latest"), 404),
    skillNotFound("skill_x").message,
  );
});

test("a version with another name is refused with name-changed and not stored", async () => {
  const service = await newService();
  const { id } = await (await service.upload(files("First"))).json();
  const before = await kindsOf(service.store);
  const response = await addVersion(service, id, files("Second", "other"));
  assert.is(response.status, 400);
  const { error } = await response.json();
  assert.match(error.message, /'name'.*"demo".*"other"/);
  assert.is(error.details.error_code, "name-changed");
  assert.equal(await kindsOf(service.store), before, "nothing is stored");
});

test("versions are listed newest first, or oldest first in the older dialect, and cursors fit one list", async () => {
  const service = await newService();
  const { send, upload } = service;
  const { id, latest_version_id } = await (await upload(files("First"))).json();
  const ids = [latest_version_id];
  for (let i = 0; i < 6; i++) ids.push((await (await addVersion(service, id, files(`V${i}`))).json()).id);
  const walk = async (headers: Record<string, string>) => {
    const seen: string[] = [];
    for (let page: string | null = ""; page !== null;) {
      const query: string = page === "" ? "limit=3" : `limit=3&page=${page}`;
      const body = await (await send(`/v1/skills/${id}/versions?${query}`, { headers })).json();
      seen.push(...body.data.map((each: { id: string }) => each.id.replace("skill_version_", "skver_")));
      page = body.next_page;
      if ("has_more" in body) assert.is(body.has_more, page !== null);
    }
    return seen;
  };
  assert.equal(await walk({}), ids.toReversed());
  assert.equal(await walk({ "anthropic-beta": "skills-2025-10-02" }), ids);
  const { next_page } = await (await send(`/v1/skills/${id}/versions?limit=1`)).json();
  const other = (await (await upload(files("Other"))).json()).id;
  for (
    const [path, headers] of [
      [`/v1/skills/${other}/versions`, {}],
      ["/v1/skills", {}],
      [`/v1/skills/${id}/versions`, { "anthropic-beta": "skills-2025-10-02" }],
    ] as const
  ) {
    const response = await send(`${path}?page=${next_page}`, { headers });
    assert.match(await messageOf(response, 400), /\bpage\b/);
  }
  assert.is((await send(`/v1/skills/${id}/versions?page=${next_page}`, { key: "stranger" })).status, 404);
});

test("deleting the newest version makes its predecessor latest", async () => {
  const service = await newService();
  const { send, upload, events } = service;
  const made = await (await upload(files("First"))).json();
  const path = `/v1/skills/${made.id}`;
  const second = await (await addVersion(service, made.id, files("Second"))).json();
  const response = await send(`${path}/versions/${second.id}`, { method: "DELETE" });
  assert.is(response.status, 200);
  assert.equal(await response.json(), { type: "skill_version_deleted", id: second.id });
  assert.is((await (await send(path)).json()).latest_version_id, made.latest_version_id);
  const loaded = await service.service.catalog.load(
    { workspace: "default", scopes: new Set(["admin"]) },
    made.id,
  );
  assert.is(loaded!.description, "First shows how a skill looks. Use it in tests.");
  assert.is((await send(`${path}/versions/${second.id}`, { method: "DELETE" })).status, 404);
  assert.is((await send(`${path}/versions/2`)).status, 404);
  const third = await (await addVersion(service, made.id, files("Third"))).json();
  assert.is((await (await send(`${path}/versions/3`)).json()).id, third.id, "numbers are not reused");
  assert.equal(events.map(({ type }) => type).filter((type) => type !== "skill_disclosed"), [
    "skill_created",
    "skill_version_created",
    "skill_version_deleted",
    "skill_version_created",
  ]);
});

test("events of changed skills name the API key, or the user and the client", async () => {
  const principals: Principal[] = [
    { client: "key_1", scopes: new Set(["admin"]), workspace: "w" },
    { subject: "user_1", client: "app", scopes: new Set(["admin"]), workspace: "w" },
  ];
  for (const principal of principals) {
    const service = await newService({ identify: () => Promise.resolve(principal) });
    const { id } = await (await service.upload(files("First"))).json();
    const { id: version } = await (await addVersion(service, id, files("Second"))).json();
    await service.send(`/v1/skills/${id}/versions/${version}`, { method: "DELETE" });
    await service.send(`/v1/skills/${id}`, { method: "DELETE" });
    const named = principal.subject === undefined
      ? { principal: "key_1" }
      : { principal: "user_1", client: "app" };
    const about = { id, workspace: "w", ...named };
    assert.equal(service.events.filter(({ type }) => type !== "skill_disclosed"), [
      { type: "skill_created", ...about },
      { type: "skill_version_created", version, ...about },
      { type: "skill_version_deleted", version, ...about },
      { type: "skill_deleted", ...about },
    ]);
  }
});

test("the only version and latest cannot be deleted, and deleting the skill deletes all versions", async () => {
  const service = await newService();
  const { send, upload, store } = service;
  const { id, latest_version_id } = await (await upload(files("First"), { display_name: "Mine" })).json();
  const path = `/v1/skills/${id}`;
  for (const name of [latest_version_id, "latest"]) {
    const refused = await send(`${path}/versions/${name}`, { method: "DELETE" });
    assert.is(refused.status, 400);
    assert.is((await refused.json()).error.type, "invalid_request_error");
    assert.is((await (await send(`${path}/versions/latest`)).json()).id, latest_version_id);
  }
  for (let i = 0; i < 3; i++) await addVersion(service, id, files(`V${i}`));
  assert.equal(await (await send(path, { method: "DELETE" })).json(), { type: "skill_deleted", id });
  assert.equal(await kindsOf(store), []);
  assert.is((await addVersion(service, id, files("Late"))).status, 404);
});

test("50 concurrent versions get distinct ids, numbers and epochs, and latest is the last", async () => {
  const service = await newService();
  const { send, upload } = service;
  const { id } = await (await upload(files("First"))).json();
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, i) => addVersion(service, id, files(`V${i}`))),
  );
  for (const response of responses) assert.is(response.status, 200, await response.clone().text());
  const made = await Promise.all(responses.map((response) => response.json()));
  const headers = { "anthropic-beta": "skills-2025-10-02" };
  const { data } = await (await send(`/v1/skills/${id}/versions?limit=100`, { headers })).json();
  assert.is(data.length, 51);
  assert.is(new Set(data.map((each: { version: string }) => each.version)).size, 51);
  assert.is(new Set(data.map((each: { id: string }) => each.id)).size, 51);
  const newest = data.at(-1).id.replace("skill_version_", "skver_");
  assert.is((await (await send(`/v1/skills/${id}`)).json()).latest_version_id, newest);
  assert.ok(made.some((each) => each.id === newest));
  for (let n = 1; n <= 51; n++) assert.is((await send(`/v1/skills/${id}/versions/${n}`)).status, 200);
});

test("versions created during the deletion of their skill leave no records", async () => {
  for (let round = 0; round < 20; round++) {
    const service = await newService();
    const { send, upload, store } = service;
    const { id } = await (await upload(files("First"))).json();
    const [deleted, ...added] = await Promise.all([
      send(`/v1/skills/${id}`, { method: "DELETE" }),
      ...Array.from({ length: 4 }, (_, i) => addVersion(service, id, files(`V${i}`))),
    ]);
    assert.is(deleted!.status, 200);
    for (const response of added) assert.ok([200, 404].includes(response.status), await response.text());
    await service.service.collectGarbage();
    assert.equal(await kindsOf(store), []);
  }
});

test("every call for versions of another workspace's skill gets 404", async () => {
  const service = await newService();
  const { send, upload } = service;
  const { id, latest_version_id } = await (await upload(files("First"))).json();
  const key = "stranger";
  const { body, type } = multipart(files("Second"));
  const calls: [string, RequestInit][] = [
    [`/v1/skills/${id}/versions`, { method: "POST", body, headers: { "content-type": type } }],
    [`/v1/skills/${id}/versions`, {}],
    [`/v1/skills/${id}/versions/${latest_version_id}`, {}],
    [`/v1/skills/${id}/versions/${latest_version_id}`, { method: "DELETE" }],
    [`/v1/skills/${id}/versions/${latest_version_id}/content`, {}],
  ];
  for (const [path, init] of calls) {
    const message = await messageOf(await send(path, { ...init, key }), 404);
    assert.is(message, skillNotFound(id).message);
    const { status } = await send(path, { ...init, key: "" });
    assert.is(status, 401);
  }
});

test.run();
