import { SERVER_FAILED } from "../http/response.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../store/drivers/memory.ts";
import { losingRaces } from "../store/test_losing_races.ts";
import { secretDigest } from "../crypto/secret.ts";
import { verifyApiKey } from "./api_key.ts";
import { type ApiKey, apiKeyKey } from "./records.ts";
import { DEMO, multipart, newService, refusal, SKILL_MD, zip } from "./test_service.ts";

const test = suite("skills/service");

test("POST /v1/skills with files[] returns the skill in the default dialect", async () => {
  const { upload } = await newService();
  const response = await upload(DEMO, { display_name: "My demo" });
  assert.is(response.status, 200);
  assert.match(response.headers.get("request-id")!, /^req_/);
  const skill = await response.json();
  assert.equal(Object.keys(skill), [
    "type",
    "id",
    "created_at",
    "updated_at",
    "display_name",
    "latest_version_id",
    "source",
  ]);
  assert.is(skill.type, "skill");
  assert.match(skill.id, /^skill_01/);
  assert.match(skill.latest_version_id, /^skver_01/);
  assert.is(skill.display_name, "My demo");
  assert.equal(skill.source, { type: "custom" });
  assert.is(new Date(skill.created_at).toISOString(), skill.created_at);
});

test("display_name defaults to the name of the skill", async () => {
  const { upload } = await newService();
  assert.is((await (await upload(DEMO)).json()).display_name, "demo");
});

test("an archive, wrapped or flat, stored or deflated, is equivalent to its files", async () => {
  const { upload, service } = await newService();
  for (const wrapper of ["demo/", ""]) {
    for (const method of [0, 8]) {
      const archive = await zip([
        { name: wrapper + "SKILL.md", content: SKILL_MD, method },
        { name: wrapper + "scripts/", mode: 0o40755 },
        { name: wrapper + "scripts/run.py", content: "print(1)", method, mode: 0o100755 },
      ]);
      const response = await upload([["demo.zip", archive]]);
      assert.is(response.status, 200, await response.clone().text());
      const { id } = await response.json();
      const principal = { workspace: "default", scopes: new Set(["skills:read"]) };
      const loaded = await service.catalog.load(principal, id);
      assert.equal(loaded?.files, ["SKILL.md", "scripts/run.py"]);
    }
  }
});

test("files of archivers and desktops are omitted", async () => {
  const { upload, service } = await newService();
  const { id } = await (await upload([...DEMO, ["__MACOSX/demo/._SKILL.md", "x"], ["demo/.DS_Store", "x"], [
    "demo/.keep",
    "",
  ]])).json();
  const loaded = await service.catalog.load({ workspace: "default", scopes: new Set(["admin"]) }, id);
  assert.equal(loaded?.files, [".keep", "SKILL.md", "data.bin", "scripts/run.py"]);
});

test("files are returned unchanged", async () => {
  const { upload, service } = await newService();
  const { id } = await (await upload(DEMO)).json();
  const principal = { workspace: "default", scopes: new Set(["skills:read"]) };
  for (const [name, content] of DEMO) {
    const file = await service.catalog.read(principal, id, name.slice("demo/".length));
    assert.equal(file?.bytes, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
});

test("a skill can be read, listed and deleted", async () => {
  const { upload, send } = await newService();
  const made = await (await upload(DEMO)).json();
  assert.equal(await (await send(`/v1/skills/${made.id}`)).json(), made);
  assert.equal(await (await send("/v1/skills")).json(), { data: [made], next_page: null });
  const deleted = await send(`/v1/skills/${made.id}`, { method: "DELETE" });
  assert.is(deleted.status, 200);
  assert.equal(await deleted.json(), { type: "skill_deleted", id: made.id });
  await refusal(await send(`/v1/skills/${made.id}`), 404, "not_found_error");
  await refusal(await send(`/v1/skills/${made.id}`, { method: "DELETE" }), 404, "not_found_error");
});

test("a deletion removes all records of the skill", async () => {
  const { upload, send, store } = await newService();
  const { id } = await (await upload(DEMO)).json();
  await send(`/v1/skills/${id}`, { method: "DELETE" });
  assert.equal((await store.list([])).map((entry) => entry.key[0]).filter((kind) => kind !== "api_key"), []);
});

test("pages list each skill once, newest first, and next_page of the last page is null", async () => {
  const { upload, send, advance } = await newService();
  const ids: string[] = [];
  for (let i = 0; i < 23; i++) {
    advance(1);
    ids.unshift((await (await upload(DEMO)).json()).id);
  }
  const seen: string[] = [];
  let query = "?limit=5";
  for (let page = 0; page < 10; page++) {
    const { data, next_page } = await (await send("/v1/skills" + query)).json();
    assert.ok(data.length <= 5);
    seen.push(...data.map((skill: { id: string }) => skill.id));
    if (next_page === null) break;
    assert.match(next_page, /^page_/);
    query = `?limit=5&page=${encodeURIComponent(next_page)}`;
  }
  assert.equal(seen, ids);
  assert.is((await (await send("/v1/skills")).json()).data.length, 20, "the default limit is 20");
  assert.is((await (await send("/v1/skills?limit=1000")).json()).data.length, 23);
  assert.equal((await (await send("/v1/skills?source=anthropic")).json()).data, []);
});

test("a page that ends exactly at the last skill has no next page", async () => {
  const { upload, send } = await newService();
  for (let i = 0; i < 4; i++) await upload(DEMO);
  assert.is((await (await send("/v1/skills?limit=4")).json()).next_page, null);
});

for (
  const query of [
    "limit=0",
    "limit=1001",
    "limit=abc",
    "limit=",
    "limit=1.5",
    "limit=-1",
    "limit=5&limit=6",
    "source=nowhere",
    "page=",
    "page=page_x",
    "page=nonsense",
  ]
) {
  test(`a list with ${query} is refused with 400`, async () => {
    const { send } = await newService();
    await refusal(await send("/v1/skills?" + query), 400, "invalid_request_error");
  });
}

test("a cursor of another workspace or filter, and a changed cursor, are refused with 400", async () => {
  const { upload, send } = await newService();
  for (let i = 0; i < 3; i++) await upload(DEMO);
  const { next_page } = await (await send("/v1/skills?limit=1")).json();
  const page = encodeURIComponent(next_page);
  assert.is((await send(`/v1/skills?limit=1&page=${page}`)).status, 200);
  await refusal(await send(`/v1/skills?page=${page}`, { key: "stranger" }), 400, "invalid_request_error");
  await refusal(await send(`/v1/skills?page=${page}&source=custom`), 400, "invalid_request_error");
  for (let i = 5; i < next_page.length; i += 7) {
    const changed = next_page.slice(0, i) + (next_page[i] === "A" ? "B" : "A") + next_page.slice(i + 1);
    await refusal(await send(`/v1/skills?page=${encodeURIComponent(changed)}`), 400, "invalid_request_error");
  }
});

test("a missing or wrong key gets 401, a missing scope 403, another workspace's skill 404", async () => {
  const { upload, send } = await newService();
  const { id } = await (await upload(DEMO)).json();
  const wrong = 'Bearer error="invalid_token", error_description="The API key is not valid"';
  for (const [key, challenge] of [["", 'Bearer scope="skills:read"'], ["wrong", wrong]] as const) {
    const response = await send("/v1/skills", { key });
    assert.is(response.headers.get("www-authenticate"), challenge);
    await refusal(response, 401, "authentication_error");
  }
  const forbidden = await send("/v1/skills", { key: "unscoped" });
  assert.is(
    forbidden.headers.get("www-authenticate"),
    'Bearer error="insufficient_scope", scope="skills:read"',
  );
  await refusal(forbidden, 403, "permission_error");
  assert.is((await send("/v1/skills", { key: "reader" })).status, 200);
  await refusal(await upload(DEMO, {}, "reader"), 403, "permission_error");
  await refusal(await send(`/v1/skills/${id}`, { method: "DELETE", key: "reader" }), 403, "permission_error");
  await refusal(await send(`/v1/skills/${id}`, { key: "stranger" }), 404, "not_found_error");
  await refusal(
    await send(`/v1/skills/${id}`, { method: "DELETE", key: "stranger" }),
    404,
    "not_found_error",
  );
  assert.is((await send(`/v1/skills/${id}`)).status, 200);
});

test("with auth off requests need no key", async () => {
  const { upload, send } = await newService({ auth: "off" });
  assert.is((await upload(DEMO, {}, "")).status, 200);
  assert.is((await send("/v1/skills", { key: "" })).status, 200);
});

test("known values of anthropic-version are accepted, others refused with 400, and beta markers ignored", async () => {
  const { send } = await newService();
  for (const version of ["2023-06-01", "2026-10-21"]) {
    const headers = {
      "anthropic-version": version,
      "anthropic-beta": "skills-2025-10-02, files-api-2025-04-14",
    };
    assert.is((await send("/v1/skills", { headers })).status, 200);
  }
  const headers = { "anthropic-version": "2020-01-01" };
  assert.match(
    await refusal(await send("/v1/skills", { headers }), 400, "invalid_request_error"),
    "anthropic-version",
  );
});

test("other methods get 405 with Allow, other paths 404, in the error format", async () => {
  const { send } = await newService();
  const put = await send("/v1/skills", { method: "PUT" });
  assert.is(put.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  await refusal(put, 405, "invalid_request_error");
  await refusal(await send("/v1/skills/x", { method: "PATCH" }), 405, "invalid_request_error");
  for (const path of ["/v1", "/v1/", "/v1/skills/", "/v1/skills/a/b", "/v1/skill", "/v1/skills/%ff"]) {
    await refusal(await send(path), 404, "not_found_error");
  }
  const head = await send("/v1/skills", { method: "HEAD" });
  assert.is(head.status, 200);
  assert.is(await head.text(), "");
});

test("an id with special characters finds no skill", async () => {
  const { send } = await newService();
  for (const id of ["..%2f..%2fetc%2fpasswd", "%00", "__proto__", "a".repeat(3000), "%F0%9D%84%9E"]) {
    await refusal(await send(`/v1/skills/${id}`), 404, "not_found_error");
  }
});

test("preflights are answered, and request-id is exposed", async () => {
  const { send } = await newService();
  const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
  for (const preflight of [headers, {}]) {
    const answer = await send("/v1/skills", { method: "OPTIONS", headers: preflight as HeadersInit });
    assert.is(answer.status, 204);
    assert.match(answer.headers.get("request-id")!, /^req_/);
  }
  const response = await send("/v1/skills", { headers: { origin: "https://a.example" } });
  assert.is(response.headers.get("access-control-allow-origin"), "*");
  assert.match(response.headers.get("access-control-expose-headers")!, "request-id");
});

test("50 concurrent creations make 50 skills, and concurrent lists succeed", async () => {
  const { upload, send } = await newService();
  const uploads = Array.from({ length: 50 }, () => upload(DEMO));
  const lists = Array.from({ length: 20 }, () => send("/v1/skills?limit=1000"));
  const made = await Promise.all(uploads);
  assert.ok(made.every((response) => response.status === 200));
  for (const list of await Promise.all(lists)) assert.is(list.status, 200);
  assert.is((await (await send("/v1/skills?limit=1000")).json()).data.length, 50);
});

test("of 8 concurrent deletions one succeeds", async () => {
  const { upload, send } = await newService();
  const { id } = await (await upload(DEMO)).json();
  const deletions = await Promise.all(
    Array.from({ length: 8 }, () => send(`/v1/skills/${id}`, { method: "DELETE" })),
  );
  assert.is(deletions.filter((response) => response.status === 200).length, 1);
  assert.is(deletions.filter((response) => response.status === 404).length, 7);
});

test("a deletion that loses every race gets overloaded_error with retry-after", async () => {
  let loses = false;
  const store = losingRaces(memoryStore(), ({ check = [] }) => loses && check.length > 0);
  const { upload, send } = await newService({ store });
  const { id } = await (await upload(DEMO)).json();
  loses = true;
  const refused = await send(`/v1/skills/${id}`, { method: "DELETE" });
  assert.is((await refused.clone().json()).error.type, "overloaded_error");
  assert.ok(refused.status >= 500 && refused.headers.has("retry-after"), String(refused.status));
  loses = false;
  assert.is((await send(`/v1/skills/${id}`, { method: "DELETE" })).status, 200);
});

test("a store failure gets 500 api_error without details", async () => {
  const { upload, store, events } = await newService({ auth: "off" });
  await store.close();
  const message = await refusal(await upload(DEMO), 500, "api_error");
  assert.is(message, SERVER_FAILED);
  assert.is(events.at(-1)?.type, "fault");
});

test("a key that is removed, or loses a scope, while the body is held back changes nothing", async () => {
  const key = apiKeyKey(secretDigest("writer"));
  const json = { type: "application/json", body: new TextEncoder().encode('{"default_version":"1"}') };
  const message = JSON.stringify({ model: "any", max_tokens: 9, messages: [{ role: "user", content: "x" }] });
  for (const change of ["removed", "lowered"] as const) {
    for (const what of ["skill", "version", "default", "message"] as const) {
      const store = memoryStore();
      const identify = async () => await verifyApiKey(store, "writer") ?? "none";
      const service = await newService({ store, identify, openai: true });
      const { send, upload } = service;
      const { id } = await (await upload(DEMO)).json();
      const entry = (await store.get<ApiKey>(key))!;
      await store.commit({
        set: [{ key, value: { ...entry.value, scopes: [...entry.value.scopes, "messages:write"] } }],
      });
      const [path, { body, type }] = {
        skill: ["/v1/skills", multipart(DEMO)],
        version: [`/v1/skills/${id}/versions`, multipart(DEMO)],
        default: [`/v1/skills/${id}`, json],
        message: ["/v1/messages", { type: json.type, body: new TextEncoder().encode(message) }],
      }[what] as [string, { body: Uint8Array; type: string }];
      let before: unknown;
      const held = new ReadableStream({
        async pull(controller) {
          await store.commit(
            change === "removed"
              ? { remove: [key] }
              : { set: [{ key, value: { ...entry.value, scopes: ["skills:read"] } }] },
          );
          before = [await store.list([]), service.events.length];
          controller.enqueue(body);
          controller.close();
        },
      }, { highWaterMark: 0 });
      const init = { method: "POST", headers: { "content-type": type }, body: held, duplex: "half" };
      const response = await send(path, { ...init as RequestInit, key: what === "default" ? "" : "writer" });
      assert.is(response.status, 401, `${change}: ${what}`);
      assert.match(response.headers.get("www-authenticate")!, 'error="invalid_token"');
      assert.equal([await store.list([]), service.events.length], before, `${change}: ${what}`);
    }
  }
});

test.run();
