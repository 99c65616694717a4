import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { UpstreamAuth } from "../credentials/upstream_auth.ts";
import type { McpServer } from "../upstream/configuration/configuration.ts";
import { resealGatewayRecords } from "../reseal.ts";
import {
  addStoredUpstream,
  createUpstreamSealer,
  openStoredUpstream,
  type StoredUpstream,
  upstreamKey,
} from "./stored_upstream.ts";

const test = suite("gateway/stored");

const sealer = createUpstreamSealer(() => soleSecret(new Uint8Array(32).fill(1)));
const GITHUB: McpServer = {
  url: "https://mcp.example.com/mcp?key=query-secret",
  headers: { authorization: "Bearer header-secret" },
};

test("no secret of a configuration is readable in the store", async () => {
  const store = memoryStore();
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const { value } = (await store.get(upstreamKey("github")))!;
  assert.not.match(JSON.stringify(value), /secret/);
});

test("a private address is refused, unless the option allows it", async () => {
  const store = memoryStore();
  const urls = [
    "http://127.0.0.1:3000/mcp",
    "https://10.0.0.7/mcp",
    "https://metadata.internal/mcp",
    "https://[::1]/mcp",
  ];
  for (const url of urls) {
    let refusal: unknown;
    await addStoredUpstream(store, sealer, "inside", { url }).catch((error) => refusal = error);
    assert.match(String(refusal), /mcpServers\.inside\.url/, url);
    const trusted = await addStoredUpstream(store, sealer, "inside", { url }, { isTrusted: true }).catch(
      () => {},
    );
    assert.is(trusted?.isTrusted, true, url);
  }
  let refusal: unknown;
  const auth = { type: "oauth", allowPrivateAddresses: true } as const;
  const url = "https://mcp.example.com/mcp";
  await addStoredUpstream(store, sealer, "x", { url, auth }).catch((error) => refusal = error);
  assert.match(String(refusal), /allowPrivateAddresses/);
});

test("attack: an administrator has tokens requested at a private address", async () => {
  const store = memoryStore();
  const client = { clientId: "gateway", clientSecret: "secret" };
  const inside = "http://127.0.0.1:9200/_shutdown";
  const auths: UpstreamAuth[] = [
    { type: "token-exchange", ...client, tokenEndpoint: inside, subject: { provider: "corp" } },
    {
      type: "id-jag",
      ...client,
      issuer: "https://as.example",
      provider: { ...client, id: "corp", tokenEndpoint: inside },
    },
  ];
  for (const auth of auths) {
    const server = { url: "https://mcp.example.com/mcp", auth };
    let refusal: unknown;
    await addStoredUpstream(store, sealer, "x", server).catch((error) => refusal = error);
    assert.match(String(refusal), /mcpServers\.x\.auth\.(provider\.)?tokenEndpoint/);
    assert.ok(await addStoredUpstream(store, sealer, "x", server, { isTrusted: true }));
  }
});

test("a command is refused, unless the option allows it", async () => {
  const store = memoryStore();
  const server: McpServer = { command: "node", args: ["server.js"] };
  let refusal: unknown;
  await addStoredUpstream(store, sealer, "local", server).catch((error) => refusal = error);
  assert.match(String(refusal), /mcpServers\.local\.command/);
  assert.is(await store.get(upstreamKey("local")), undefined);
  assert.ok(await addStoredUpstream(store, sealer, "local", server, { isTrusted: true }));
});

test("invalid configurations are not stored, and a taken name is kept where it must be new", async () => {
  const store = memoryStore();
  let refusal: unknown;
  await addStoredUpstream(store, sealer, "x", { url: "ftp://x" }).catch((error) => refusal = error);
  assert.match(String(refusal), /mcpServers\.x\.url/);
  const misspelt = { url: "https://x.example", auth: { type: "oauht" } } as unknown as McpServer;
  await addStoredUpstream(store, sealer, "x", misspelt).catch((error) => refusal = error);
  assert.match(String(refusal), /mcpServers\.x\.auth\.type/);
  assert.ok(await addStoredUpstream(store, sealer, "github", GITHUB, { isNew: true }));
  assert.is(await addStoredUpstream(store, sealer, "github", GITHUB, { isNew: true }), undefined);
});

test("a rotated server secret seals the configurations anew", async () => {
  const store = memoryStore();
  const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(9)];
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const both = async () => ({ current, accepted: [current, old], first: old });
  assert.is(await resealGatewayRecords(store, both), 1);
  assert.is(await resealGatewayRecords(store, both), 0);
  const { value } = (await store.get<StoredUpstream>(upstreamKey("github")))!;
  const onlyNew = createUpstreamSealer(() => soleSecret(current));
  assert.equal(await openStoredUpstream(value, onlyNew), GITHUB);
});

test.run();
