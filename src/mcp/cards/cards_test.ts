import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema } from "../../json_schema/compile.ts";
import { newServer } from "../test_server.ts";
import { serverCard, type ServerCardOptions } from "./server_card.ts";
import { serverJson, type ServerJsonOptions } from "./server_json.ts";

const test = suite("mcp/cards");

const text = (maxLength: number, pattern = "") => ({ type: "string", minLength: 1, maxLength, pattern });
const uri = { type: "string", pattern: "^https?://\\S+$" };
const inputs = { type: "array", items: { type: "object", required: ["name"] } };
const common = {
  name: { ...text(200, "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"), minLength: 3 },
  version: { type: "string", maxLength: 255 },
  description: text(100),
  title: text(100),
  websiteUrl: uri,
  repository: { type: "object", required: ["url", "source"], properties: { url: uri } },
  icons: {
    type: "array",
    items: { type: "object", required: ["src"], properties: { src: { type: "string", maxLength: 255 } } },
  },
  _meta: { type: "object" },
};
const remote = {
  type: "object",
  required: ["type", "url"],
  properties: { type: { enum: ["streamable-http", "sse"] }, url: uri, headers: inputs },
};

/** What the schemas of 2025-12-11 (registry) and v1 (server cards) require. */
const validateJson = compileSchema({
  type: "object",
  required: ["name", "description", "version"],
  additionalProperties: false,
  properties: {
    ...common,
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
    remotes: { type: "array", items: remote },
    packages: {
      type: "array",
      items: {
        type: "object",
        required: ["registryType", "identifier", "transport"],
        properties: {
          version: { type: "string", minLength: 1, not: { const: "latest" } },
          fileSha256: { type: "string", pattern: "^[a-f0-9]{64}$" },
          transport: { anyOf: [{ properties: { type: { const: "stdio" } }, required: ["type"] }, remote] },
          environmentVariables: inputs,
        },
      },
    },
  },
});
const validateCard = compileSchema({
  type: "object",
  required: ["$schema", "name", "version", "description"],
  additionalProperties: false,
  properties: {
    ...common,
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" },
    remotes: { type: "array", items: remote },
  },
});

const SERVER: ServerJsonOptions = {
  name: "com.example/weather",
  version: "1.0.2",
  description: "Weather for agents",
  title: "Weather",
  websiteUrl: "https://example.com/weather",
  repository: { url: "https://github.com/example/weather", source: "github", subfolder: "servers/weather" },
  icons: [{ src: "https://example.com/icon.png", sizes: ["48x48"] }],
  remotes: [{ url: "https://{region}.example.com/mcp", variables: { region: { default: "eu" } } }],
  packages: [{
    registryType: "npm",
    identifier: "@example/weather",
    version: "1.0.2",
    runtimeHint: "npx",
    runtimeArguments: [{ type: "positional", value: "-y" }],
    packageArguments: [{ type: "named", name: "--units", choices: ["metric"] }],
    environmentVariables: [{ name: "API_KEY", isRequired: true, isSecret: true }],
  }],
  publisherProvided: { build: "1" },
};

test("server.json has what the registry's schema requires", () => {
  const document = serverJson(SERVER);
  assert.equal(validateJson(document), []);
  assert.equal(validateJson(serverJson({ ...SERVER, remotes: [] })), []);
  assert.equal((document.remotes as { type: string }[])[0]!.type, "streamable-http");
  assert.equal((document.packages as { transport: object }[])[0]!.transport, { type: "stdio" });
  assert.not.ok("publisherProvided" in document);
});

test("a document that the registry would refuse is refused", () => {
  const [pack] = SERVER.packages!;
  const wrong: Partial<ServerJsonOptions>[] = [
    { name: "weather" },
    { name: "com.example/a/b" },
    { version: "^1.0.0" },
    { version: "1.x" },
    { version: "latest" },
    { description: "" },
    { description: "x".repeat(101) },
    { title: "" },
    { websiteUrl: "http://example.com" },
    { repository: { url: "git@github.com:a/b", source: "github" } },
    { repository: { ...SERVER.repository!, subfolder: "../a" } },
    { icons: [{ src: "data:image/png;base64,AA==" }] },
    { remotes: [], packages: [] },
    { remotes: [{ url: "http://localhost:8787/mcp" }] },
    { remotes: [{ url: "https://localhost/mcp" }] },
    { packages: [{ ...pack!, version: "latest" }] },
    { packages: [{ ...pack!, registryType: "mcpb" }] },
    { packages: [{ ...pack!, fileSha256: "AB" }] },
    { packages: [{ ...pack!, packageArguments: [{ type: "positional" }] }] },
    {
      packages: [{
        registryType: "npm",
        identifier: "a",
        runtimeArguments: [{ type: "positional", value: "-y" }],
      }],
    },
  ];
  for (const each of wrong) {
    assert.throws(() => serverJson({ ...SERVER, ...each }), TypeError, JSON.stringify(each));
  }
});

const card = (options: Partial<ServerCardOptions> = {}) =>
  newServer({
    issuer: "https://example.com/agents",
    base: "/agents",
    title: "Weather",
    auth: "required",
    card: serverCard({ name: "com.example/weather", description: "Weather for agents", ...options }),
  }).server;

const get = (method = "GET", headers: Record<string, string> = {}) =>
  card().fetch(new Request("https://example.com/agents/mcp/server-card", { method, headers }));

test("the card is at the address of the server, for everyone, and agrees with the server", async () => {
  const response = await get();
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/mcp-server-card+json");
  assert.is(response.headers.get("access-control-allow-origin"), "*");
  assert.match(response.headers.get("cache-control")!, /public/);
  const document = await response.json();
  assert.equal(validateCard(document), []);
  assert.is(document.version, "1.2.3");
  assert.is(document.title, "Weather");
  const [{ type, url, supportedProtocolVersions }] = document.remotes;
  assert.equal([type, url], ["streamable-http", "https://example.com/agents/mcp"]);
  assert.ok(supportedProtocolVersions.includes("2026-07-28"));
});

test("the card is for every origin, and for the hosts of the server only", async () => {
  assert.is((await get("GET", { origin: "https://app.example" })).status, 200);
  assert.is((await get("GET", { host: "evil.example" })).status, 403);
});

test("the card has an entity tag, and answers only GET, HEAD and preflights", async () => {
  const tag = (await get()).headers.get("etag")!;
  assert.is((await get("GET", { "if-none-match": tag })).status, 304);
  const head = await get("HEAD");
  assert.equal([head.status, await head.text()], [200, ""]);
  assert.is((await get("OPTIONS")).status, 204);
  assert.is((await get("POST")).status, 405);
});

test("an invalid card is refused when the server is created, and without the option there is none", async () => {
  assert.throws(() => card({ name: "weather" }), TypeError);
  assert.throws(() => card({ description: "" }), TypeError);
  const { server } = newServer();
  assert.is((await server.fetch(new Request("http://127.0.0.1:8787/mcp/server-card"))).status, 404);
});

test.run();
