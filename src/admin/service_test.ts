import { suite } from "uvu";
import * as assert from "uvu/assert";
import { admin } from "./admin.ts";
import { compileSchema, type JsonSchema } from "../json_schema/compile.ts";
import { createApiKey } from "../skills/api_key.ts";
import { rateLimits } from "../rate_limits/rate_limits.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { createTrivet } from "../trivet.ts";
import { ADMIN_OPERATIONS } from "./operations.ts";

import { ISSUER, type Json, newServer } from "./test_server.ts";

const test = suite("admin/service");

/** Checks an answer against the document. */
function checkAnswer(document: Json, name: string, status: number, body: unknown): void {
  const { path, method } = ADMIN_OPERATIONS[name]!;
  const { responses } = document.paths[path.replace(/:(\w+)/g, "{$1}")][method.toLowerCase()];
  const schema: JsonSchema = status >= 400
    ? document.components.schemas.Error
    : responses[status]?.content?.["application/json"].schema ?? false;
  if (status === 204) return assert.is(body, undefined, name);
  assert.equal(compileSchema(schema)(body), [], `${name} ${status}`);
}

test("every operation answers as the document says, in good cases and bad ones", async () => {
  const { send, document, events, key } = await newServer();
  const key2 = (await send("POST", "/admin/keys", { body: { name: "second" } })).body.id;
  const invitation = (await send("POST", "/admin/invitations")).body.id;
  const cases: readonly (readonly [name: string, path: string, body: unknown, status: number])[] = [
    ["addUser", "/users", { username: "alice" }, 200],
    ["addUser", "/users", { username: "alice" }, 409],
    ["addUser", "/users", { username: "" }, 400],
    ["listUsers", "/users?limit=1&search=ALI", undefined, 200],
    ["listUsers", "/users?limit=x", undefined, 400],
    ["listUsers", "/users?limit=1&limit=2", undefined, 400],
    ["listUsers", "/users?colour=red", undefined, 400],
    ["showUser", "/users/alice", undefined, 200],
    ["showUser", "/users/bob", undefined, 404],
    ["updateUser", "/users/alice", { name: "Alice" }, 200],
    ["updateUser", "/users/alice", { user: "bob" }, 400],
    ["updateUser", "/users/alice", { created: 1 }, 400],
    ["lockUser", "/users/alice/lock", undefined, 200],
    ["lockUser", "/users/bob/lock", {}, 404],
    ["unlockUser", "/users/alice/unlock", {}, 200],
    ["setPassword", "/users/alice/password", {}, 200],
    ["setPassword", "/users/alice/password", { password: 1 }, 400],
    ["removeFactors", "/users/alice/factors", undefined, 404],
    ["exportUserData", "/users/alice/data", undefined, 200],
    ["listGrants", "/users/alice/grants", undefined, 200],
    ["listGrants", "/users/bob/grants", undefined, 404],
    ["endGrant", "/users/alice/grants/none", undefined, 404],
    ["listSessions", "/users/alice/sessions", undefined, 200],
    ["endSession", "/users/alice/sessions/none", undefined, 404],
    ["endSessions", "/users/alice/sessions", undefined, 204],
    ["removeUser", "/users/alice", undefined, 204],
    ["removeUser", "/users/alice", undefined, 404],
    ["addClient", "/clients", { id: "app", domain: "a.example" }, 200],
    ["addClient", "/clients", { id: "app", domain: "a.example" }, 409],
    ["addClient", "/clients", { domain: "no host" }, 400],
    ["listClients", "/clients", undefined, 200],
    ["showClient", "/clients/app", undefined, 200],
    ["showClient", "/clients/none", undefined, 404],
    [
      "updateClient",
      "/clients/app",
      { name: "App", domain: null, redirect_uris: ["https://a.example/cb"] },
      200,
    ],
    ["updateClient", "/clients/app", { name: null }, 400],
    ["rotateClientSecret", "/clients/app/secret", { keep_old_seconds: 10 }, 200],
    ["rotateClientSecret", "/clients/app/secret", { keep_old_seconds: -1 }, 400],
    ["removeClient", "/clients/app", undefined, 204],
    ["removeClient", "/clients/app", undefined, 404],
    ["addProvider", "/providers", { kind: "github", client_id: "x", client_secret: "y" }, 200],
    ["addProvider", "/providers", { kind: "github" }, 400],
    ["listProviders", "/providers", undefined, 200],
    ["showProvider", "/providers/github", undefined, 200],
    ["updateProvider", "/providers/github", { groups: ["acme"], client_secret: "z" }, 200],
    ["updateProvider", "/providers/none", { name: "x" }, 404],
    ["testProvider", "/providers/none/test", undefined, 404],
    ["removeProvider", "/providers/github", undefined, 204],
    ["removeProvider", "/providers/github", undefined, 404],
    ["addKey", "/keys", { name: "ci", scopes: ["skills:read"] }, 200],
    ["addKey", "/keys", { name: "ci", scopes: ["none"] }, 400],
    ["listKeys", "/keys", undefined, 200],
    ["showKey", `/keys/${key2}`, undefined, 200],
    ["updateKey", `/keys/${key2}`, { scopes: ["skills:read"] }, 200],
    ["updateKey", "/keys/none", { name: "x" }, 404],
    ["removeKey", `/keys/${key2}`, undefined, 204],
    ["showKey", `/keys/${key2}`, undefined, 404],
    ["removeKey", `/keys/${key2}`, undefined, 404],
    ["addInvitation", "/invitations", { role: "author" }, 200],
    ["addInvitation", "/invitations", { email: "x" }, 400],
    ["listInvitations", "/invitations", undefined, 200],
    ["removeInvitation", `/invitations/${invitation}`, undefined, 204],
    ["removeInvitation", "/invitations/none", undefined, 404],
    ["listAudit", "/audit?type=admin_changed", undefined, 200],
    ["listAudit", "/audit?type=login_failed,admin_changed", undefined, 200],
    ["listAudit", "/audit?type=admin_changed,login-failed", undefined, 400],
    ["listAudit", "/audit?since=yesterday", undefined, 400],
    ["verifyAudit", "/audit/verify", {}, 200],
    ["verifyAudit", "/audit/verify", { noted: "x" }, 400],
    ["verifyAudit", "/audit/verify", { noted: `9:${"A".repeat(43)}` }, 200],
    ["exportAudit", "/audit/groups", undefined, 200],
    ["exportAudit", "/audit/groups?page=-1", undefined, 400],
    ["listToolCalls", "/tool_calls", undefined, 200],
    ["addUpstream", "/upstreams", { name: "github", url: "https://mcp.example/mcp" }, 200],
    ["addUpstream", "/upstreams", { name: "github", url: "https://mcp.example/mcp" }, 409],
    ["addUpstream", "/upstreams", { name: "files", command: "node" }, 400],
    ["listUpstreams", "/upstreams", undefined, 200],
    ["showUpstream", "/upstreams/github", undefined, 200],
    ["showUpstream", "/upstreams/none", undefined, 404],
    ["removeUpstream", "/upstreams/github", undefined, 204],
    ["removeUpstream", "/upstreams/none", undefined, 404],
    ["listHeldTools", "/held_tools", undefined, 200],
    ["listHeldTools", "/held_tools?limit=0", undefined, 400],
    ["showHeldTool", "/held_tools/none", undefined, 404],
    ["approveTool", "/held_tools/none/approve", {}, 404],
    ["rejectTool", "/held_tools/none/reject", {}, 404],
    ["listSkills", "/skills", undefined, 200],
    ["showSkill", "/skills/none", undefined, 404],
    ["removeSkill", "/skills/none", undefined, 404],
    ["listTools", "/tools", undefined, 200],
    ["listTools", "/tools?search=x", undefined, 200],
    ["showHealth", "/health", undefined, 200],
    ["listSigningKeys", "/signing_keys", undefined, 200],
    ["rotateSigningKeys", "/signing_keys/rotate", {}, 200],
    ["listServerSecrets", "/server_secret", undefined, 200],
    // It takes half a minute: `operations/keys_of_server_test.ts` has the good case.
    ["rotateServerSecret", "/server_secret/rotate", { keep_days: 0 }, 400],
  ];
  const secrets: string[] = [key];
  const known = cases.filter(([name]) => Object.hasOwn(ADMIN_OPERATIONS, name));
  for (const [name, path, body, status] of known) {
    const { method, isSecret } = ADMIN_OPERATIONS[name]!;
    const answer = await send(method, `/admin${path}`, { body });
    assert.is(answer.status, status, `${name} ${path}: ${JSON.stringify(answer.body)}`);
    checkAnswer(document, name, status, answer.body);
    assert.is(answer.headers.get("cache-control"), "no-store", name);
    assert.match(answer.headers.get("request-id") ?? "", /^req_/);
    assert.is(answer.headers.get("access-control-allow-origin"), null);
    if (isSecret && answer.body.secret) secrets.push(answer.body.secret);
  }
  // Each operation has a case here. Some need what this server has not: a second factor, a network, a grant.
  const tested = new Set(known.map(([name]) => name));
  assert.equal(Object.keys(ADMIN_OPERATIONS).filter((name) => !tested.has(name)), []);
  // Every change was observed, by the id of the key; no secret was.
  const changed = events.filter((event) => event.type === "admin_changed");
  const changes = known.filter(([name, , , status]) => status < 300 && ADMIN_OPERATIONS[name]!.subject);
  assert.is(changed.length, changes.length + 2);
  assert.ok(changed.every(({ actor }) => actor.startsWith("key_")));
  const seen = JSON.stringify(events);
  for (const secret of secrets) assert.not.ok(seen.includes(secret));
});

test("a rotated signing key is accepted as long as a token of this server can be valid", async () => {
  for (
    const oauth of [
      { accessTokenLifetime: 3 * 86_400 },
      { openid: { idTokenLifetime: 3 * 86_400 } },
      { resources: [{ resource: "https://api.example/", accessTokenLifetime: 3 * 86_400 }] },
    ]
  ) {
    const { send, trivet } = await newServer({ accessTokenFormat: "jwt", ...oauth });
    await trivet.fetch(new Request(`${ISSUER}/.well-known/jwks.json`));
    const { body } = await send("POST", "/admin/signing_keys/rotate", { body: { notice_seconds: 0 } });
    const [old, next] = body.data;
    const seconds = (Date.parse(old.accepted_until) - Date.parse(next.signs_from)) / 1000;
    assert.is(seconds, 3 * 86_400 + 3600, JSON.stringify(oauth));
  }
});

test("requests that are no call are refused in the form of errors", async () => {
  const { key, send, document } = await newServer();
  const json = { "content-type": "application/json" };
  const headers = { authorization: `Bearer ${key}` };
  const cases: readonly (readonly [string, string, string | undefined, Record<string, string>, number])[] = [
    ["GET", "/admin/nothing", undefined, headers, 404],
    ["PUT", "/admin/users", "{}", headers, 405],
    ["DELETE", "/admin/users", undefined, headers, 405],
    ["POST", "/admin/users", "{}", { ...headers, "content-type": "text/plain" }, 415],
    ["POST", "/admin/users", "username=a", {
      ...headers,
      "content-type": "application/x-www-form-urlencoded",
    }, 415],
    ["POST", "/admin/users", "{", { ...headers, ...json }, 400],
    ["POST", "/admin/users", "[]", { ...headers, ...json }, 400],
    ["POST", "/admin/users", '{"__proto__":{"username":"a"}}', { ...headers, ...json }, 400],
    ["POST", "/admin/users", `"${"x".repeat(300_000)}"`, { ...headers, ...json }, 413],
  ];
  for (const [method, path, body, fields, status] of cases) {
    const answer = await send(method, path, { body, headers: fields });
    assert.is(answer.status, status, `${method} ${path}`);
    assert.equal(compileSchema(document.components.schemas.Error)(answer.body), []);
    if (status === 405) assert.ok(answer.headers.get("allow"));
  }
});

test("the document is OpenAPI 3.1 with each operation once", async () => {
  const { document } = await newServer();
  assert.match(document.openapi, /^3\.1\.\d$/);
  const operations: Json[] = Object.values(document.paths).flatMap((each) => Object.values(each as object));
  assert.equal(operations.map((each) => each.operationId).sort(), Object.keys(ADMIN_OPERATIONS).sort());
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    assert.match(path, /^\//);
    for (const operation of Object.values<Json>(methods)) {
      const parameters: Json[] = operation.parameters ?? [];
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      assert.equal(parameters.filter((each) => each.in === "path").map((each) => each.name), named);
      assert.ok(
        parameters.every((each) => each.schema !== undefined && (each.in !== "path" || each.required)),
      );
      assert.ok(operation.summary && operation.responses.default);
      for (
        const { schema } of [...parameters, ...Object.values<Json>(operation.requestBody?.content ?? {})]
      ) {
        compileSchema(schema);
      }
    }
  }
});

test("a store that is unavailable is a 503, and a defect is a 500 without its message", async () => {
  const { trivet, key, store, events } = await newServer();
  const list = store.list;
  const ask = () =>
    trivet.fetch(new Request(`${ISSUER}/admin/keys`, { headers: { authorization: `Bearer ${key}` } }));
  for (
    const [error, status] of [[new StoreUnavailableError("down"), 503], [new Error("hidden"), 500]] as const
  ) {
    store.list = () => Promise.reject(error);
    const response = await ask();
    store.list = list;
    assert.is(response.status, status);
    assert.not.match(await response.text(), /hidden|down/);
  }
  assert.equal(events.slice(-2).map(({ type }) => type), ["store_unavailable", "fault"]);
});

test("without the authorization server there is no administration", () => {
  const options = { issuer: ISSUER, store: memoryStore(), admin: admin() };
  assert.throws(() => createTrivet({ ...options, oauth: false }), /"admin" needs "oauth"/);
});

test("a caller and an address over a limit get 429 in the form of the API", async () => {
  const store = memoryStore();
  const { secret } = await createApiKey(store, { name: "admin", scopes: ["admin"] });
  for (const limit of ["client", "address"] as const) {
    const trivet = createTrivet({
      issuer: ISSUER,
      store,
      admin: admin(),
      rateLimits: rateLimits({ [limit]: "2/1h" }),
    });
    const send = () =>
      trivet.fetch(new Request(`${ISSUER}/admin/users`, { headers: { authorization: `Bearer ${secret}` } }), {
        ip: "203.0.113.5",
      });
    assert.equal([(await send()).status, (await send()).status], [200, 200], limit);
    const refused = await send();
    assert.is(refused.status, 429, limit);
    assert.ok(Number(refused.headers.get("retry-after")) > 0, limit);
    assert.is((await refused.json()).error.type, "rate_limit_error", limit);
  }
});

test.run();
