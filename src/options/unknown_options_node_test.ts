import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toolServer } from "../mcp_service.ts";
import { group, prompt, resource, resourceTemplate, tool } from "../mcp_service.ts";
import {
  addClient,
  addUser,
  createTrivet,
  inviteUser,
  memoryStore,
  rotateClientSecret,
  rotateServerSecret,
  rotateSigningKeys,
  setPassword,
  updateClient,
  updateUser,
} from "../mod.ts";
import { authorizationServer } from "../oauth_service.ts";
import { serverCard } from "../mcp/cards/server_card.ts";
import { connectMcp } from "../mcp_client.ts";
import { addProvider } from "../oauth/sign_in/stored_provider.ts";
import { createApiKey } from "../skills/api_key.ts";
import { createAudit, createHealth, createLog, listAudit, verifyAudit } from "../observability.ts";
import { openTelemetry } from "../observability/opentelemetry/open_telemetry.ts";
import { keepAnswers, openApi } from "../openapi.ts";
import { passkeys } from "../passkeys.ts";
import { quickJs } from "../runtime/code/code_mode.ts";
import { launchProcess } from "../runtime/launch_process.ts";
import { serve } from "../runtime/node.ts";
import { skillFolder } from "../runtime/skill_folder.ts";
import { toWorker } from "../runtime/workerd.ts";
import { apple, entra, github, google, oidc } from "../sign_in.ts";
import { s3Blobs } from "../skills/blobs/s3.ts";
import { d1Store } from "../store/drivers/d1.ts";
import { durableObjectStore } from "../store/drivers/durable_object.ts";
import { layeredStore } from "../store/drivers/layered.ts";
import { postgresStore } from "../store/drivers/postgres.ts";
import { redisStore } from "../store/drivers/redis.ts";
import { sqliteStore } from "../store/drivers/sqlite.ts";
import { openWhileUpgrading, upgradeStore } from "../store/upgrade/upgrade.ts";
import { codeMode, gateway, searchMode } from "../gateway.ts";
import { resourceServer } from "../resource_server.ts";

const test = suite("options/unknown");

const issuer = "http://127.0.0.1:8787";
const run = () => "";
const login = { clientId: "c" };

/** Calls with one option that does not exist: as JavaScript may write them, without types. */
// deno-lint-ignore no-explicit-any -- what the compiler would refuse
const any = (value: unknown): any => value;
const trivet = (options: object) => createTrivet(any({ issuer, store: memoryStore(), ...options }));
const oauth = (options: object) => trivet({ oauth: options });
const skills = (options: object) => trivet({ skills: options });

const CASES: readonly (readonly [option: string, call: () => unknown])[] = [
  ["tool.scope", () => tool(any({ name: "a", description: "", run, scope: ["write"] }))],
  ["resource.scope", () => resource(any({ uri: "a:b", name: "a", read: run, scope: ["write"] }))],
  ["prompt.scope", () => prompt(any({ name: "a", get: run, scope: ["write"] }))],
  [
    "prompt.arguments.require",
    () => prompt(any({ name: "a", get: run, arguments: [{ name: "b", require: true }] })),
  ],
  [
    "resourceTemplate.scope",
    () => resourceTemplate(any({ uriTemplate: "a:{b}", name: "a", read: run, scope: ["write"] })),
  ],
  [
    "complete.c",
    () => resourceTemplate(any({ uriTemplate: "a:{b}", name: "a", read: run, complete: { c: () => [] } })),
  ],
  ["group.scope", () => group(any({ scope: ["write"] }), [])],
  ["task.restarts", () =>
    toolServer({
      url: issuer,
      store: memoryStore(),
      tools: [tool(any({ name: "a", description: "", run, task: { support: "optional", restarts: true } }))],
    })],
  ["mcp.streamLimits.sessions", () => trivet({ mcp: { streamLimits: { sessions: 1 } } })],
  ["mcp.storageLimits.users", () => trivet({ mcp: { storageLimits: { users: 1 } } })],
  ["unsafe.httpissuer", () => trivet({ unsafe: { httpissuer: true } })],
  ["trustedProxies.header", () => trivet({ trustedProxies: { addresses: [], header: "forwarded" } })],
  ["oauth.scopes.a.rol", () => oauth({ scopes: { a: { description: "a", rol: "admin" } } })],
  ["oauth.resources.scope", () => oauth({ resources: [{ resource: "https://a.example", scope: ["a"] }] })],
  ["oauth.passwordPolicy.min", () => oauth({ passwordPolicy: { min: 20 } })],
  ["oauth.openid.subjectType", () => oauth({ openid: { subjectType: "pairwise" } })],
  [
    "oauth.openid.identityAssertions.resource",
    () =>
      oauth({
        openid: { identityAssertions: [{ audience: "https://a.example", resource: "https://b.example" }] },
      }),
  ],
  ["oauth.signUp.password", () => oauth({ signUp: { password: "closed" } })],
  ["oauth.pages.language", () => oauth({ pages: { language: "de" } })],
  ["oauth.pages.colors.button", () => oauth({ pages: { colors: { button: "#000" } } })],
  [
    "oauth.trustedIssuers.idJag",
    () => oauth({ trustedIssuers: [{ issuer: "https://a.example", idJag: true }] }),
  ],
  [
    "oauth.certificateProxy.field",
    () => oauth({ certificateProxy: { addresses: [], certificateField: "client-cert", field: "x" } }),
  ],
  ["oauth.loginFields.require", () =>
    oauth({
      authenticateUser: run,
      loginFields: [{ name: "tenant", label: "Tenant", require: true }],
    })],
  ["client.scopes", () => oauth({ clients: [{ id: "c", domain: "a.example", scopes: "read" }] })],
  ["skills.intake.time", () => skills({ intake: { time: 1 } })],
  ["skills.packageRules.unknownkeys", () => skills({ packageRules: { unknownkeys: "refuse" } })],
  ["skills.discovery.workspace", () => skills({ discovery: { workspace: "a" } })],
  ["skills.messages.limit", () => skills({ messages: { limit: 1 } })],
  ["upstream.apiKey", () => skills({ messages: { upstream: { url: "https://a.example", apiKey: "k" } } })],
  ["oidc.domain", () => oidc(any({ ...login, issuer: "https://a.example", domain: ["a.example"] }))],
  ["google.domain", () => google(any({ ...login, domain: ["a.example"] }))],
  ["github.organisations", () => github(any({ ...login, organisations: ["a"] }))],
  ["entra.tenantIds", () => entra(any({ ...login, tenant: "common", tenantIds: [] }))],
  ["apple.team", () => apple(any({ ...login, team: "t" }))],
  ["passkeys.rpID", () => passkeys(any({ rpID: "a.example" }))],
  ["sqliteStore.durability", () => sqliteStore(":memory:", any({ durability: "power" }))],
  ["sqliteStore.durable", () => sqliteStore(":memory:", any({ durable: "disk" }))],
  ["postgresStore.max", () => postgresStore("postgres://127.0.0.1/a", any({ max: 3 }))],
  ["redisStore.name", () => redisStore("redis://127.0.0.1", any({ name: "a" }))],
  ["d1Store.poll", () => d1Store(any({}), any({ poll: 1 }))],
  ["durableObjectStore.poll", () => durableObjectStore(any({}), any({ poll: 1 }))],
  ["layeredStore.ttl", () => layeredStore(memoryStore(), any({ ttl: 1 }))],
  ["s3Blobs.key", () => s3Blobs(any({ bucket: "b", accessKeyId: "a", secretAccessKey: "s", key: "k" }))],
  ["skillFolder.links", () => skillFolder("a", any({ links: true }))],
  ["createAudit.days", () => createAudit(any({ store: memoryStore(), days: 30 }))],
  ["openApi.scope", () => openApi(any({ document: {}, scope: () => ["a"] }))],
  ["gateway.policies", () => gateway(any({ policies: {} }))],
  ["searchMode.pin", () => searchMode(any({ pin: [] }))],
  ["codeMode.limit", () => codeMode(any({ engine: {}, limit: {} }))],
  ["quickJs.thread", () => quickJs(any({ thread: 2 }))],
  ["serverCard.title", () => serverCard(any({ name: "com.example/a", title: "A" }))],
  [
    "serverCard.repository.host",
    () => serverCard(any({ name: "com.example/a", repository: { url: "https://a.example", host: "a" } })),
  ],
  ["keepAnswers.bytes", () => keepAnswers(any({ bytes: 1 }))],
  ["createLog.requests", () => createLog(any({ write: run, requests: "info" }))],
  ["createHealth.timeout", () => createHealth(memoryStore(), any({ timeout: 1 }))],
  ["openTelemetry.tracer", () => openTelemetry(any({ tracer: {} }))],
  ["toWorker.onerror", () => toWorker(any(run), any({ onerror: run }))],
  ["launchProcess.environment", () => launchProcess(any({ command: "a", environment: {} }))],
  ["codeMode.limits.timeMs", () => codeMode(any({ engine: {}, limits: { timeMs: 1 } }))],
];

for (const [option, call] of CASES) {
  test(`the option ${option} is refused by name`, () => {
    assert.throws(
      call,
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${option}"`),
    );
  });
}

const HOSTS: readonly (readonly [
  option: string,
  call: (value: string) => unknown,
  bad: readonly string[],
  good: readonly string[],
])[] = [
  [
    "allowedHosts",
    (value) => trivet({ allowedHosts: [value] }),
    ["*.a.example", "A.example", "https://a.example", "a.example/", "", "a b"],
    ["*", "a.example", "a.example:8080", "[::1]:80", "10.0.0.1"],
  ],
  [
    "allowedOrigins",
    (value) => trivet({ mcp: { allowedOrigins: [value] } }),
    ["https://*.a.example", "https://A.example", "a.example", "https://a.example/", "*.a.example", ""],
    ["*", "null", "https://a.example", "http://a.example:8080", "http://[::1]:80", "app://obsidian.md"],
  ],
  [
    "allowedHosts",
    (value) => toolServer(any({ url: "https://a.example", store: memoryStore(), allowedHosts: [value] })),
    ["*.a.example"],
    ["*"],
  ],
  [
    "allowedOrigins",
    (value) =>
      authorizationServer(
        any({ issuer: "https://a.example", store: memoryStore(), allowedOrigins: [value] }),
      ),
    ["a.example"],
    ["*"],
  ],
];

for (const [option, call, bad, good] of HOSTS) {
  test(`${option} takes only values that the header field can have`, () => {
    for (const value of bad) {
      assert.throws(
        () => call(value),
        (error: unknown) => error instanceof TypeError && error.message.includes(`"${option}"`),
        value,
      );
    }
    for (const value of good) call(value);
  });
}

for (const signIn of ["google", ["google"], [null], {}, [{ id: "google" }]]) {
  test(`${JSON.stringify(signIn)} is no list of identity providers`, () => {
    assert.throws(
      () => oauth({ signIn }),
      (error: unknown) =>
        error instanceof TypeError && error.message.includes('"oauth.signIn" must be a list'),
    );
  });
}

/** Calls with a text, or null, in place of a list: of a text each of its characters would be a member, such as the `*` that allows all. */
const TEXTS_FOR_LISTS: readonly (readonly [option: string, call: () => unknown])[] = [
  ["tool.scopes", () => tool(any({ name: "a", description: "", run, scopes: "write" }))],
  ["tool.scopes", () => tool(any({ name: "a", description: "", run, scopes: null }))],
  ["group.scopes", () => group(any({ scopes: "write" }), [])],
  ["allowedOrigins", () => trivet({ allowedOrigins: "https://*.example.com" })],
  ["allowedOrigins", () => trivet({ allowedOrigins: null })],
  ["allowedHosts", () => trivet({ allowedHosts: "a.example" })],
  ["trustedProxies", () => trivet({ trustedProxies: "10.0.0.0/8" })],
  ["trustedProxies.addresses", () => trivet({ trustedProxies: { addresses: "10.0.0.0/8" } })],
  ["oauth.trustedClients", () => oauth({ trustedClients: "web" })],
  ["oauth.scopes.a.implies", () => oauth({ scopes: { a: { description: "a", implies: "b" } } })],
  ["oauth.resources.scopes", () => oauth({ resources: [{ resource: "https://a.example", scopes: "a" }] })],
  ["skills.discovery.workspaces", () => skills({ discovery: { workspaces: "acme" } })],
  ["oidc.groups", () => oidc(any({ issuer: "https://a.example", ...login, groups: "staff" }))],
  ["scopes", () => resourceServer(any({ issuer, resource: issuer, scopes: "read" }))],
  ["impliedScopes.a", () => resourceServer(any({ issuer, resource: issuer, impliedScopes: { a: "b" } }))],
];

for (const [option, call] of TEXTS_FOR_LISTS) {
  test(`what is no list is refused for ${option}`, () => {
    assert.throws(
      call,
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${option}" must be`),
    );
  });
}

/** Calls with a number in place of a text. */
const NO_TEXTS: readonly (readonly [option: string, call: () => unknown])[] = [
  ["issuer", () => trivet({ issuer: 5 })],
  ["mcp.title", () => trivet({ mcp: { title: 5 } })],
  ["mcp.instructions", () => trivet({ mcp: { instructions: 5 } })],
  ["version", () => toolServer(any({ url: issuer, store: memoryStore(), version: 5 }))],
  ["group.prefix", () => group(any({ prefix: 5 }), [])],
  ["oauth.secondFactorAcr", () => oauth({ secondFactorAcr: 5 })],
  ["oauth.resources.name", () => oauth({ resources: [{ resource: "https://a.example", name: 5 }] })],
  ["oidc.clientId", () => oidc(any({ issuer: "https://a.example", clientId: 5 }))],
  ["s3Blobs.bucket", () => s3Blobs(any({ endpoint: "https://s3.example", bucket: 5 }))],
  ["serverCard.name", () => serverCard(any({ name: 5 }))],
];

for (const [option, call] of NO_TEXTS) {
  test(`a number is refused for ${option}`, () => {
    assert.throws(
      call,
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${option}" must be`),
    );
  });
}

for (const icons of [[{}], [{ src: 5 }], [{ src: "https://a.example/icon.png", sizes: "any" }]]) {
  test(`icons that strict clients refuse are refused: ${JSON.stringify(icons)}`, () => {
    assert.throws(
      () => trivet({ mcp: { icons } }),
      (error: unknown) => error instanceof TypeError && error.message.includes("mcp/icons/0"),
    );
  });
}

test("null is an option that is not set, in place of a text", () => {
  assert.ok(trivet({ mcp: { title: null } }).mcp);
});

test("unknown options of calls that answer later are refused by name", async () => {
  const refused = async (option: string, call: () => Promise<unknown>) => {
    const error = await call().then(() => undefined, (reason: unknown) => reason);
    assert.instance(error, TypeError);
    assert.match((error as TypeError).message, `"${option}"`);
  };
  await refused(
    "client.scopes",
    () => addClient(memoryStore(), any({ domain: "a.example", scopes: "read" })),
  );
  const store = memoryStore();
  await refused("createApiKey.scope", () => createApiKey(store, any({ name: "a", scope: ["skills:read"] })));
  await refused("createApiKey.scopes", () => createApiKey(store, any({ name: "a", scopes: "skills:read" })));
  await refused("protect.acrValues", async () => {
    const request = new Request(issuer);
    await createTrivet({ issuer, store: memoryStore() }).protect(request, any({ acrValues: "level10" }));
  });
  await refused("inviteUser.mail", () => inviteUser(store, any({ mail: "ada@example.com" })));
  await refused(
    "addUser.roles",
    () => addUser(store, any({ username: "a", password: "b", roles: "reader" })),
  );
  await refused("rotateSigningKeys.revoke", () => rotateSigningKeys(store, any({ revoke: true })));
  await refused("rotateServerSecret.revoke", () => rotateServerSecret(store, any({ revoke: true })));
  await refused(
    "addProvider.domain",
    () => addProvider(store, any({}), any({ kind: "google", clientId: "c", domain: ["a.example"] })),
  );
  await refused("setPassword.rules", () => setPassword(store, "a", "b", any({ rules: {} })));
  await refused(
    "setPassword.policy.min",
    () => setPassword(store, "a", "b", any({ policy: { min: 20 } })),
  );
  await refused("updateUser.roles", () => updateUser(store, "a", any({ roles: "reader" })));
  await refused("rotateClientSecret.keep", () => rotateClientSecret(store, "a", any({ keep: 60 })));
  await refused("client.scopes", () => updateClient(store, "c", any({ scopes: "read" })));
  await refused(
    "client.redirect_uris",
    () => updateClient(store, "c", any({ redirect_uris: "https://a.example" })),
  );
  await refused("client.secret", () => updateClient(store, "c", any({ secret: "another" })));
  await refused("upgradeStore.dryrun", () => upgradeStore(store, any({ dryrun: true })));
  await refused("openWhileUpgrading.onerror", () => openWhileUpgrading(store, any({ onerror: run })));
  await refused("verifyAudit.days", () => verifyAudit(store, any({ now: 0, days: 1 })));
  await refused("listAudit.type", () => listAudit(store, any({ type: ["login"] })).next());
  await refused("connectMcp.header", () => connectMcp(any({ url: issuer, header: {} })));
  await refused("limits.time", () => connectMcp(any({ url: issuer, limits: { time: 1 } })));
  assert.equal(await store.list([]), []);
  await refused("serve.host", () => serve(any({}), any({ port: 0, host: "127.0.0.1" })));
});

test("serve() refuses an empty host, which would be all addresses", async () => {
  const error = await serve(any({}), { port: 0, hostname: "" }).then(
    (server) => server.close(),
    (error) => error,
  );
  assert.instance(error, TypeError);
  assert.match(error.message, "serve.hostname");
});

test.run();
