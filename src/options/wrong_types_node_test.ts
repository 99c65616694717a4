import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gateway } from "../gateway.ts";
import { group, prompt, resourceTemplate, tool, toolServer } from "../mcp_service.ts";
import {
  addClient,
  createTrivet,
  memoryStore,
  rotateServerSecret,
  rotateSigningKeys,
  setPassword,
  updateClient,
} from "../mod.ts";
import { createAudit } from "../observability/audit.ts";
import { verifyAudit } from "../observability/verify_audit.ts";
import { openApi } from "../openapi.ts";
import { resourceServer } from "../resource_server.ts";
import { github, google, oidc } from "../sign_in.ts";
import { launchProcess } from "../runtime/launch_process.ts";
import { completeServeOptions } from "../runtime/server.ts";
import { skillsService } from "../skills_service.ts";
import { s3Blobs } from "../skills/blobs/s3.ts";
import { d1Store } from "../store/drivers/d1.ts";
import { layeredStore } from "../store/drivers/layered.ts";
import { postgresStore } from "../store/drivers/postgres.ts";
import { redisStore } from "../store/drivers/redis.ts";
import { sqliteStore } from "../store/drivers/sqlite.ts";

const test = suite("options/wrong types");

const issuer = "http://127.0.0.1:8787";
// deno-lint-ignore no-explicit-any -- what the compiler would refuse
const any = (value: unknown): any => value;
const read = () => "";
const trivet = (options: object) => createTrivet(any({ issuer, store: memoryStore(), ...options }));
const resource = (options: object) =>
  resourceServer(any({ issuer: "https://a.example", resource: "https://b.example", ...options }));

/** Calls with a value of another type, as JavaScript may write them. */
const CASES: readonly (readonly [option: string, call: () => unknown])[] = [
  ["oauth.passwordLogin", () => trivet({ oauth: { passwordLogin: "false" } })],
  ["mcp.sessions", () => trivet({ mcp: { sessions: "false" } })],
  ["mcp.sessions", () => trivet({ mcp: { sessions: 0 } })],
  ["mcp.skills", () => trivet({ mcp: { skills: "false" } })],
  ["unsafe.httpIssuer", () => trivet({ unsafe: { httpIssuer: "false" } })],
  ["google.keepTokens", () => google(any({ clientId: "c", keepTokens: "false" }))],
  ["oidc.keepTokens", () => oidc(any({ issuer: "https://a.example", clientId: "c", keepTokens: "no" }))],
  ["tool.task.restart", () => trivet({ mcp: { tools: [task("false")] } })],
  [
    "oauth.scopes.a.default",
    () => trivet({ oauth: { scopes: { a: { description: "a", default: "true" } } } }),
  ],
  ["oauth.scopes", () => trivet({ oauth: { scopes: ["read", "refund"] } })],
  ["oauth.scopes", () => trivet({ oauth: { scopes: "read" } })],
  ["oauth.certificateProxy.addresses", () => trivet({ oauth: { certificateProxy: {} } })],
  ["oauth.sessionLifetime", () => trivet({ oauth: { sessionLifetime: "3600" } })],
  ["oauth.defaultRole", () => trivet({ oauth: { defaultRole: "root" } })],
  ["oauth.pages", () => trivet({ oauth: { pages: [] } })],
  ["issuer", () => trivet({ issuer: new URL(issuer) })],
  ["audience", () => resource({ audience: 5 })],
  ["impliedScopes", () => resource({ impliedScopes: "admin" })],
  ["certificateProxy", () => resource({ certificateProxy: "10.0.0.1" })],
  ["certificateProxy.addresses", () => resource({ certificateProxy: { address: "10.0.0.1" } })],
  ["store", () => resource({ store: "./data.db" })],
  ["jwks", () => resource({ jwks: {} })],
  ["introspection", () => resource({ introspection: {} })],
  ["introspection", () => resource({ introspection: { clientId: "c" } })],
  ["onEvent", () => trivet({ onEvent: {} })],
  ["onEvent", () => trivet({ onEvent: null })],
  ["now", () => trivet({ now: 0 })],
  ["oauth.sendMail", () => trivet({ oauth: { sendMail: "smtp://127.0.0.1" } })],
  ["oauth.authenticateUser", () => trivet({ oauth: { authenticateUser: {} } })],
  ["oauth.passwordPolicy.isBreached", () => trivet({ oauth: { passwordPolicy: { isBreached: true } } })],
  ["oauth.clientMetadataDocuments", () => trivet({ oauth: { clientMetadataDocuments: "false" } })],
  ["oauth.clients", () => trivet({ oauth: { clients: {} } })],
  ["oauth.signingAlgorithms", () => trivet({ oauth: { signingAlgorithms: ["HS256"] } })],
  ["oauth.signingAlgorithms", () => trivet({ oauth: { signingAlgorithms: [] } })],
  ["oauth.responseModes", () => trivet({ oauth: { responseModes: ["form"] } })],
  [
    "oauth.authorizationDetailTypes.pay.describe",
    () => trivet({ oauth: { authorizationDetailTypes: { pay: { check: read } } } }),
  ],
  [
    "oauth.authorizationDetailTypes",
    () => trivet({ oauth: { authorizationDetailTypes: ["pay"] } }),
  ],
  ["oauth.trustedIssuers.issuer", () => trivet({ oauth: { trustedIssuers: [{ jwks: { keys: [] } }] } })],
  ["oauth.trustedIssuers.jwks", () => trivet({ oauth: { trustedIssuers: [{ issuer, jwks: [] }] } })],
  ["oauth.trustedIssuers.jwks_uri", () => trivet({ oauth: { trustedIssuers: [{ issuer }] } })],
  [
    "oauth.trustedIssuers.jwks_uri",
    () => trivet({ oauth: { trustedIssuers: [{ issuer, jwks_uri: "http://idp.example/keys" }] } }),
  ],
  [
    "oauth.openid.identityAssertions.audience",
    () => trivet({ oauth: { openid: { identityAssertions: [{}] } } }),
  ],
  [
    "oauth.resources.accessTokenFormat",
    () => trivet({ oauth: { resources: [{ resource: "https://b.example", accessTokenFormat: "JWT" }] } }),
  ],
  ["skills.folders", () => trivet({ skills: { folders: "./skills" } })],
  ["skills.folders", () => trivet({ skills: { folders: ["./skills"] } })],
  ["skills.folders", () => trivet({ skills: { folders: [null] } })],
  ["skills.blobs", () => trivet({ skills: { blobs: {} } })],
  ["undefined", () => trivet({ oauth: { clients: [{ redirect_uris: ["https://a.example/cb"] }] } })],
  ["mcp.middleware", () => trivet({ mcp: { middleware: ["log"] } })],
  ["mcp.middleware", () => trivet({ mcp: { middleware: read } })],
  ["mcp.sources", () => trivet({ mcp: { sources: {} } })],
  ["mcp.sources", () => trivet({ mcp: { sources: ["./api.json"] } })],
  ["extensions", () => toolServer(any({ url: issuer, store: memoryStore(), extensions: [{}] }))],
  ["authenticate", () => toolServer(any({ url: issuer, store: memoryStore(), authenticate: {} }))],
  ["authenticate", () => toolServer(any({ url: issuer, store: memoryStore(), authenticate: "key" }))],
  ["authenticate", () => skillsService(any({ url: issuer, store: memoryStore(), authenticate: { issuer } }))],
  ["group.middleware", () => group(any({ middleware: [read, {}] }), [])],
  [
    "impliedScopes.admin",
    () => toolServer(any({ url: issuer, store: memoryStore(), impliedScopes: { admin: "read" } })),
  ],
  ["mcp.toJsonSchema", () => trivet({ mcp: { toJsonSchema: {} } })],
  ["tool.run", () => tool(any({ name: "a", description: "", run: "" }))],
  ["resourceTemplate.list", () => resourceTemplate(any({ uriTemplate: "a:{b}", name: "a", read, list: [] }))],
  [
    "complete.b",
    () => resourceTemplate(any({ uriTemplate: "a:{b}", name: "a", read, complete: { b: ["c"] } })),
  ],
  [
    "prompt.arguments.complete",
    () => prompt(any({ name: "a", get: read, arguments: [{ name: "b", complete: ["c"] }] })),
  ],
  ["fetch", () => resource({ fetch: {} })],
  ["sqliteStore.onWarning", () => sqliteStore(":memory:", any({ onWarning: "warn" }))],
  ["gateway.fetch", () => gateway(any({ fetch: "" }))],
  ["gateway.policy", () => gateway(any({ policy: [] }))],
  ["gateway.startTimeout", () => gateway(any({ startTimeout: "5000" }))],
  ["google.parameters", () => google(any({ clientId: "c", clientSecret: "s", parameters: "prompt=login" }))],
  ["openApi.fetch", () => openApi(any({ document: {}, fetch: {} }))],
  ["openApi.authorize", () => openApi(any({ document: {}, authorize: "Bearer a" }))],
  ["openApi.authorize", () => openApi(any({ document: {}, authorize: { authorization: "Bearer a" } }))],
  ["openApi.headers", () => openApi(any({ document: {}, headers: { "x-key": 5 } }))],
  ["openApi.headers", () => openApi(any({ document: {}, headers: null }))],
  ["openApi.headers", () => openApi(any({ document: {}, headers: "x-key: 5" }))],
];

function task(restart: string) {
  return tool(any({ name: "a", description: "", run: () => "", task: { support: "optional", restart } }));
}

for (const [option, call] of CASES) {
  test(`a value of another type is refused: ${option}`, () => {
    assert.throws(
      call,
      (error: unknown) =>
        error instanceof TypeError && error.message.includes(`"${option.replace("tool.task", "task")}"`),
    );
  });
}

test("an option that may hold a credential is refused without its value", () => {
  for (const options of [{ authorize: "secret" }, { headers: "secret" }, { headers: { a: ["secret"] } }]) {
    assert.throws(
      () => openApi(any({ document: {}, ...options })),
      (error: unknown) => error instanceof TypeError && !error.message.includes("secret"),
    );
  }
  for (
    const call of [
      () => resource({ introspection: "secret" }),
      () => toolServer(any({ url: issuer, store: memoryStore(), authenticate: "secret" })),
      () => trivet({ skills: { blobs: "secret" } }),
      () => trivet({ rateLimits: "secret" }),
    ]
  ) {
    assert.throws(
      call,
      (error: unknown) => error instanceof TypeError && !error.message.includes("secret"),
    );
  }
});

test("a number that is out of range is refused", () => {
  const s3 = { bucket: "b", accessKeyId: "a", secretAccessKey: "s" };
  const calls: readonly (readonly [string, () => unknown])[] = [
    ["gateway.idleTimeout", () => gateway({ idleTimeout: -1 })],
    ["gateway.inputTimeout", () => gateway({ inputTimeout: 1.5 })],
    ["gateway.messageBytes", () => gateway({ messageBytes: NaN })],
    ["s3Blobs.timeout", () => s3Blobs({ ...s3, timeout: 0 })],
    ["layeredStore.lifetime", () => layeredStore(memoryStore(), { lifetime: Infinity })],
    ["layeredStore.limit", () => layeredStore(memoryStore(), { limit: NaN })],
    ["createAudit.retentionDays", () => createAudit({ store: memoryStore(), retentionDays: -1 })],
    ["sqliteStore.sweepEvery", () => sqliteStore(":memory:", { sweepEvery: NaN })],
    ["postgresStore.sweepEvery", () => postgresStore("postgres://127.0.0.1/none", { sweepEvery: 0 })],
    ["redisStore.sweepEvery", () => redisStore("redis://127.0.0.1", { sweepEvery: 0 })],
    ["d1Store.pollEvery", () => d1Store(any({}), { pollEvery: NaN })],
    ["launchProcess.closeTimeout", () => launchProcess({ command: "a", closeTimeout: NaN })],
    [
      "oauth.resources.accessTokenLifetime",
      () => trivet({ oauth: { resources: [{ resource: "https://b.example", accessTokenLifetime: NaN }] } }),
    ],
    ["serve.port", () => completeServeOptions({ port: -1 })],
    ["serve.closeTimeout", () => completeServeOptions({ closeTimeout: NaN })],
  ];
  for (const [option, call] of calls) {
    assert.throws(
      call,
      (error: unknown) => error instanceof RangeError && error.message.includes(`"${option}"`),
      option,
    );
  }
});

for (const user of ["user:secret", "secret"]) {
  test(`a URL with credentials is refused without them: ${user}@`, () => {
    const url = `https://${user}@a.example/x`;
    const introspection = { endpoint: url, clientId: "c", clientSecret: "d" };
    const calls = [
      () => trivet({ issuer: url }),
      () => toolServer(any({ url, store: memoryStore() })),
      () => trivet({ oauth: { trustedIssuers: [{ issuer: "https://a.example", jwks_uri: url }] } }),
      () => trivet({ skills: { messages: { upstream: { url } } } }),
      () => resource({ issuer: url }),
      () => resource({ resource: url }),
      () => resource({ jwksUri: url }),
      () => resource({ introspection }),
      () => s3Blobs(any({ bucket: "b", endpoint: url, accessKeyId: "a", secretAccessKey: "s" })),
      () => github(any({ clientId: "c", clientSecret: "d", server: url })),
      () => oidc(any({ issuer: url, clientId: "c" })),
      () => trivet({ gateway: gateway(any({ mcpServers: { a: { url } } })) }),
    ];
    for (const call of calls) {
      assert.throws(
        call,
        (error: unknown) => error instanceof Error && !error.message.includes("secret"),
        String(call),
      );
    }
  });
}

/** What the promise rejects with. */
const failure = (promise: Promise<unknown>) => promise.then(() => undefined, (error) => error);

const CLIENTS: readonly (readonly [member: string, value: unknown])[] = [
  ["trusted", "no"],
  ["jwks", {}],
  ["access_token_format", "JWT"],
  ["subject_type", "Pairwise"],
  ["id_token_signed_response_alg", "HS256"],
  ["token_endpoint_auth_signing_alg", 5],
  ["default_max_age", -1],
  ["default_max_age", 1.5],
];
for (const [member, value] of CLIENTS) {
  test(`a client is refused with another value: ${member} ${value}`, async () => {
    const registration = any({ id: "c", redirect_uris: ["https://a.example/cb"], [member]: value });
    for (
      const error of [
        await failure(addClient(memoryStore(), registration)),
        await failure((async () => trivet({ oauth: { clients: [registration] } }))()),
      ]
    ) {
      assert.instance(error, TypeError);
      assert.match(error.message, member);
    }
  });
}

test("a change of a client is refused with another value, and null removes a member", async () => {
  const store = memoryStore();
  await addClient(store, { id: "c", redirect_uris: ["https://a.example/cb"], subject_type: "pairwise" });
  const error = await failure(updateClient(store, "c", any({ subject_type: "Public" })));
  assert.instance(error, TypeError);
  assert.match(error.message, "client.subject_type");
  assert.is((await updateClient(store, "c", any({ subject_type: null })))!.subject_type, undefined);
});

test("a number that is out of range is refused when it is used", async () => {
  const store = memoryStore();
  const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["rotateSigningKeys.notice", () => rotateSigningKeys(store, { notice: NaN })],
    ["rotateSigningKeys.maxTokenLifetime", () => rotateSigningKeys(store, { maxTokenLifetime: -1 })],
    ["rotateServerSecret.retentionDays", () => rotateServerSecret(store, { retentionDays: NaN })],
    ["verifyAudit.now", () => verifyAudit(store, { now: NaN })],
    ["verifyAudit.retentionDays", () => verifyAudit(store, { now: 0, retentionDays: -1 })],
    ["setPassword.iterations", () => setPassword(store, "alice", "a", { iterations: 0 })],
    ["protect.maxAge", () => trivet({}).protect(new Request(issuer), { maxAge: NaN })],
  ];
  for (const [option, call] of calls) {
    const error = await failure(call());
    assert.instance(error, RangeError, option);
    assert.match(error.message, `"${option}"`);
  }
});

test("false leaves out the gateway and the admin API, as it does the services", () => {
  const server = trivet({ gateway: false, admin: false, mcp: false, skills: false });
  assert.is(server.gateway, undefined);
});

test.run();
