import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ToolCalled, TrivetEvent } from "../../events.ts";
import { resourceTemplate, tool, toolServer } from "../../mcp_service.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { gateway } from "../gateway.ts";
import { approveHeldTool } from "./held/held_tools.ts";
import { digestJson } from "./canonical_json.ts";
import type { PolicyOptions } from "./policy_options.ts";
import { until } from "../../test_until.ts";

const test = suite("gateway/policy, proxied calls");
const ISSUER = "http://127.0.0.1:8787";
const ANY = { type: "object", additionalProperties: true } as const;

const started: { readonly gateway?: { close(): Promise<void> } | undefined }[] = [];
test.after(async () => {
  for (const each of started) await each.gateway!.close();
});

function setUp(policy: PolicyOptions, description = "Reads") {
  const store = memoryStore();
  const events: TrivetEvent[] = [];
  const read = (description: string) => [
    tool({ name: "read", description, input: ANY, run: ({ path }) => `content of ${path}` }),
    tool({ name: "hang", description: "Never ends", run: () => new Promise(() => {}) }),
    resourceTemplate({
      uriTemplate: "file:///{+path}",
      name: "files",
      read: ({ path }) => `text of ${path}`,
    }),
  ];
  const upstream = toolServer({
    url: "https://files.example",
    store: memoryStore(),
    definitions: read(description),
  });
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    skills: false,
    onEvent: (event) => void events.push(event),
    gateway: gateway({
      mcpServers: { files: { url: "https://files.example/mcp", timeout: 0.2 } },
      fetch: (url, init) => upstream.fetch(new Request(url, init)),
      policy,
    }),
  });
  started.push(trivet);
  const rpc = async (method: string, params?: object) => {
    const response = await trivet.fetch(
      new Request(`${ISSUER}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    );
    return (await response.json()).result;
  };
  const call = async (name: string, args: object) => {
    const { content, isError = false } = await rpc("tools/call", { name, arguments: args });
    return [isError, content[0].text];
  };
  const calls = () => events.filter(({ type }) => type === "tool_called") as ToolCalled[];
  const replace = (description: string) => upstream.replace(read(description));
  return { store, trivet, rpc, call, calls, events, replace };
}

test("conditions decide about the arguments that the MCP server gets, and the event names it", async () => {
  const { call, calls } = setUp({
    default: "deny",
    rules: [{ upstreams: "files", when: { "arguments.path": { under: "/srv" } }, effect: "allow" }],
  });
  assert.equal(await call("files_read", { path: "/srv/a" }), [false, "content of /srv/a"]);
  for (const path of ["/etc/passwd", "/srv/../etc/passwd", ["/srv/a"], undefined]) {
    assert.is((await call("files_read", { path }))[0], true, String(path));
  }
  assert.is((await call("files_read", { path: "/srv/a", Path: "/etc/passwd" }))[0], true);
  const [first, second] = calls();
  assert.equal([first!.upstream, first!.outcome, first!.arguments_digest], [
    "files",
    "ok",
    digestJson({ path: "/srv/a" }),
  ]);
  assert.equal([second!.outcome, second!.reason], ["denied", "default"]);
  assert.is(calls().length, 6);
});

test("attack: a resource of an MCP server is read by another spelling of its URI", async () => {
  const uri = (path: string) => `upstream://files/file:///${path}`;
  const read = async (policy: PolicyOptions, path: string) =>
    (await setUp(policy).rpc("resources/read", { uri: uri(path) }))?.contents?.[0].text;
  const deny: PolicyOptions = { rules: [{ resources: uri("etc/*"), effect: "deny" }] };
  for (
    const path of [
      "etc/passwd",
      "x/../etc/passwd",
      "/etc/passwd",
      "ETC/passwd",
      "./etc/passwd",
      "%65tc/passwd",
    ]
  ) {
    assert.is(await read(deny, path), undefined, path);
  }
  assert.is(await read(deny, "srv/a"), "text of srv/a");
  const allow: PolicyOptions = { default: "deny", rules: [{ resources: uri("srv/*"), effect: "allow" }] };
  assert.is(await read(allow, "srv/a"), "text of srv/a");
  for (const path of ["etc/passwd", "srv/../etc/passwd"]) assert.is(await read(allow, path), undefined, path);
});

test("attack: a subscription to a resource that the caller may not read", async () => {
  const { rpc } = setUp({ rules: [{ resources: "upstream://files/file:///etc/*", effect: "deny" }] });
  const subscribe = (path: string) => rpc("resources/subscribe", { uri: `upstream://files/file:///${path}` });
  assert.equal(await subscribe("srv/a"), {});
  for (const path of ["etc/passwd", "../etc/passwd", "ETC/passwd"]) {
    assert.is(await subscribe(path), undefined, path);
  }
});

test("an MCP server that does not answer is recorded as a timeout", async () => {
  const { call, calls } = setUp({});
  assert.is((await call("files_hang", {}))[0], true);
  assert.equal(calls().map(({ outcome }) => outcome), ["timeout"]);
});

test("a changed tool can be called again after its approval", async () => {
  const { store, trivet, rpc, events, replace } = setUp({});
  const descriptions = async () =>
    (await rpc("tools/list")).tools.map((each: { description: string }) => each.description);
  assert.equal(await descriptions(), ["Reads", "Never ends"]);
  await replace("Reads better");
  trivet.gateway!.reconnect("files", undefined);
  const becomes = (expected: readonly string[]) =>
    until(async () => (await descriptions()).join() === expected.join());
  await becomes(["Never ends"]);
  assert.is(events.filter(({ type }) => type === "tool_held").length, 1);
  const [held] = await store.list(["held_tool"]);
  await approveHeldTool(store, String(held!.key[1]), "admin", Date.now());
  await becomes(["Reads better", "Never ends"]);
});

test.run();
