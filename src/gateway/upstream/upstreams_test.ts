import { suite } from "uvu";
import * as assert from "uvu/assert";
import { INTERNAL_ERROR, INVALID_PARAMS, type RpcError } from "../../jsonrpc/error.ts";
import { ConnectionError, McpError } from "../../mcp_client/client.ts";
import { ConfigurationError, type McpServer } from "./configuration/configuration.ts";
import { callContext, INPUT, type Script, scripted } from "./test_scripted_client.ts";
import type { Upstreams } from "./upstream_definition.ts";
import { createUpstreams } from "./upstreams.ts";
import { findTool, first, names, start } from "./test_upstreams.ts";
import { until } from "../../test_until.ts";
import { putClockAhead } from "../../test_clock.ts";

const test = suite("gateway/upstream/upstreams");

/** Resolves after the next change. */
const nextChange = (upstreams: Upstreams): Promise<unknown> => first(upstreams.watch);

test("refreshes its lists when they change, and a flood of notifications is one refresh", async () => {
  const tools = [{ name: "first", inputSchema: INPUT }];
  let lists = 0;
  const { upstreams, clients } = start({
    up: {
      list: (list) => {
        lists++;
        return list === "tools" ? [...tools] : [];
      },
    },
  }, { now: () => performance.now() + lists * 10_000 });
  await upstreams.ready();
  const before = upstreams.list(undefined);
  assert.is(upstreams.list(undefined), before);
  tools.push({ name: "second", inputSchema: INPUT });
  const changed = nextChange(upstreams);
  for (let i = 0; i < 10_000; i++) {
    clients[0]!.options.onNotification!("notifications/tools/list_changed", {});
  }
  await changed;
  assert.equal(names(upstreams), ["up_first", "up_second"]);
  assert.is(lists, 2);
  await upstreams.close();
});

test("after a clock that was ahead is corrected, a list that changed is read", async () => {
  const tools = [{ name: "first", inputSchema: INPUT }];
  const correct = putClockAhead();
  const { upstreams, clients } = start({ up: { list: () => tools } });
  try {
    await upstreams.ready();
  } finally {
    correct();
  }
  tools.push({ name: "second", inputSchema: INPUT });
  clients[0]!.options.onNotification!("notifications/tools/list_changed", {});
  await until(() => names(upstreams).includes("up_second"));
  await upstreams.close();
});

test("a list whose changes are not announced is read again when it is asked for after its time, at most every 30 s", async () => {
  let time = 0;
  const reads = { announced: 0, silent: 0 };
  const list = (name: keyof typeof reads) => () => [{ name: `tool_${++reads[name]}`, inputSchema: INPUT }];
  const { upstreams } = start({
    announced: { ttl: 0, list: list("announced") },
    silent: { ttl: 0, list: list("silent"), capabilities: { tools: {} } },
  }, { now: () => time });
  await upstreams.ready();
  const offered = ["announced_tool_1", "silent_tool_1"];
  time = 29_999;
  assert.equal(names(upstreams), offered);
  // A read would have begun.
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(reads, { announced: 1, silent: 1 });
  time = 30_000;
  assert.equal(names(upstreams), offered);
  await until(() => names(upstreams).includes("silent_tool_2"));
  assert.equal(reads, { announced: 1, silent: 2 });
  await upstreams.close();
});

test("reads its lists again after an upstream did not know the name of a call, at most every 30 s", async () => {
  let time = 0;
  let lists = 0;
  let code = INTERNAL_ERROR;
  const { upstreams } = start({
    up: {
      list: () => [{ name: "same", inputSchema: INPUT }, { name: `tool_${++lists}`, inputSchema: INPUT }],
      call: () => Promise.reject(new McpError(code, "Unknown tool: same")),
    },
  }, { now: () => time });
  await upstreams.ready();
  const call = async (): Promise<unknown> => {
    try {
      return await findTool(upstreams, "up_same").run({}, callContext());
    } catch (error) {
      return (error as RpcError).code;
    }
  };
  time = 10_000;
  assert.is(await call(), INTERNAL_ERROR);
  code = INVALID_PARAMS;
  assert.is(await call(), INVALID_PARAMS);
  await until(() => names(upstreams).includes("up_tool_2"));
  time = 39_999;
  assert.is(await call(), INVALID_PARAMS);
  await new Promise((resolve) => setTimeout(resolve));
  assert.is(lists, 2);
  time = 40_000;
  assert.is(await call(), INVALID_PARAMS);
  await until(() => names(upstreams).includes("up_tool_3"));
  await upstreams.close();
});

test("keeps what it offers while a changed list is checked", async () => {
  const tools = Array.from({ length: 5000 }, (_, i) => ({ name: `tool_${i}`, inputSchema: INPUT }));
  const { upstreams, clients } = start({ up: { list: () => [...tools] } });
  await upstreams.ready();
  tools.push({ name: "new", inputSchema: INPUT });
  clients[0]!.options.onNotification!("notifications/tools/list_changed", {});
  const seen = new Set<number>();
  await until(() => seen.add(upstreams.list(undefined).length).has(5001));
  assert.equal([...seen], [5000, 5001]);
  await upstreams.close();
});

test("lists that are announced as changed and are as before are reported, and what is offered stays", async () => {
  const { upstreams, clients } = start({ up: {} }, {});
  await upstreams.ready();
  const before = upstreams.list(undefined);
  const announced = first(upstreams.watchAnnouncements);
  clients[0]!.options.onNotification!("notifications/resources/list_changed", {});
  assert.equal([...await announced], ["resources", "resourceTemplates", "skills"]);
  assert.is(upstreams.list(undefined), before);
  await upstreams.close();
});

test("asks an upstream for the revision of its configuration", async () => {
  const { upstreams, clients } = scripted({ up: {} });
  const mcpServers = { up: { url: "https://up.example", revision: "2025-06-18" } };
  const some = createUpstreams({ ...upstreams, mcpServers });
  await some.ready();
  assert.is(clients[0]!.options.revision, "2025-06-18");
  await some.close();
});

test("adds and removes upstreams while it runs", async () => {
  const { upstreams } = start({
    a: {},
    a_b: {
      list: (l) => l === "tools" ? [{ name: "c", inputSchema: INPUT }] : [],
    },
  }, {});
  await upstreams.ready();
  await upstreams.remove("a_b");
  assert.equal(names(upstreams), ["a_echo"]);
  assert.throws(
    () => upstreams.add("x", { url: "none" }),
    (error: unknown) => error instanceof ConfigurationError,
  );
  assert.throws(
    () => upstreams.add("x", { url: "https://x.example", prefix: "a" }),
    (error: unknown) => error instanceof ConfigurationError,
  );
  upstreams.add("a_b", { url: "https://b.example" });
  await upstreams.prepare(undefined);
  assert.equal(names(upstreams), ["a_echo", "a_b_c"]);
  assert.is(await upstreams.remove("none"), false);
  const stale = findTool(upstreams, "a_echo");
  await upstreams.remove("a");
  try {
    await stale.run({}, callContext());
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, 'Upstream "a" was removed');
  }
  await upstreams.close();
});

test("another server of the same name can be told from the one before", async () => {
  const { upstreams } = start({ up: {} });
  const digestOf = async (server: McpServer) => {
    upstreams.add("up", server);
    await upstreams.prepare(undefined);
    return new Set(upstreams.list(undefined).map(({ serverDigest }) => serverDigest));
  };
  const headers = { "x-key": "another secret" };
  const [digest, more] = await digestOf({ url: "https://up.example/mcp" });
  assert.is(more, undefined);
  assert.equal(await digestOf({ url: "https://up.example/mcp", headers }), new Set([digest]));
  assert.not.equal(await digestOf({ url: "https://other.example/mcp" }), new Set([digest]));
  const program = await digestOf({ command: "npx", args: ["one"] });
  assert.equal(await digestOf({ command: "npx", args: ["one"], env: { KEY: "another" } }), program);
  assert.not.equal(await digestOf({ command: "npx", args: ["two"] }), program);
  await upstreams.close();
});

test("names do not depend on the order in which upstreams connect", async () => {
  const list = (...tools: string[]) => (l: string) =>
    l === "tools" ? tools.map((name) => ({ name, inputSchema: INPUT })) : [];
  const seen: string[][] = [];
  for (const first of ["a", "b"]) {
    let go = (): void => {};
    const wait = new Promise<void>((resolve) => go = resolve);
    const { upstreams } = scripted({
      a: {
        list: list("echo", "only_a", "c_x"),
        connect: () => first === "a" ? Promise.resolve() : wait,
      },
      b: {
        list: list("echo", "only_b"),
        connect: () => first === "b" ? Promise.resolve() : wait,
      },
      c: { list: list("x") },
    });
    const both = createUpstreams({
      ...upstreams,
      startTimeout: 30_000,
      mcpServers: {
        b: { url: "https://b.example", prefix: "" },
        a: { url: "https://a.example", prefix: "" },
        c: { url: "https://c.example" },
      },
    });
    const changed = nextChange(both);
    await changed;
    go();
    await both.ready();
    seen.push(names(both));
    await both.close();
  }
  assert.equal(seen[0], seen[1]);
  assert.is(new Set(seen[0]).size, 6);
  for (const each of ["echo", "only_a", "b_echo", "b_only_b", "c_x"]) {
    assert.ok(seen[0]!.includes(each));
  }
});

test("attack: an upstream takes no name or URI of another that is not connected, where neither has a prefix", async () => {
  const script: Script = {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    list: (list) => {
      if (list === "tools") return [{ name: "send", inputSchema: INPUT }];
      if (list === "prompts") return [{ name: "ask" }];
      return list === "resources" ? [{ uri: "notes://1", name: "note" }] : [];
    },
  };
  const down = () => Promise.reject(new ConnectionError("unreachable", "a", "no connection"));
  const { upstreams, clients } = scripted({
    a: { ...script, connect: down },
    b: script,
    c: { connect: down },
  });
  const plain = (name: string) => ({ url: `https://${name}.example`, prefix: "" });
  const both = createUpstreams({
    ...upstreams,
    startTimeout: 30_000,
    mcpServers: { a: plain("a"), b: plain("b") },
  });
  await both.ready();
  const uris = () => both.list(undefined).flatMap((each) => each.kind === "resource" ? [each.uri] : []);
  assert.equal(names(both), ["b_send", "b_ask"]);
  assert.equal(uris(), ["upstream://b/notes://1"]);
  await both.subscribe("notes://1", undefined);
  const updates: string[] = [];
  both.watchResources((uri) => updates.push(uri));
  const updated = first(both.watchResources);
  await both.subscribe("upstream://b/notes://1", undefined);
  clients.find(({ options }) => options.transport.name === "b")!
    .options.onNotification!("notifications/resources/updated", { uri: "notes://1" });
  await updated;
  assert.equal(updates, ["upstream://b/notes://1"]);
  // Without the first one, the next has its names.
  await both.remove("a");
  assert.equal([...names(both), ...uris()], ["send", "ask", "notes://1"]);
  // The prefix that it would have again is taken meanwhile.
  both.add("c", { url: "https://c.example", prefix: "b" });
  assert.throws(() => both.add("a", plain("a")), (error: unknown) => error instanceof ConfigurationError);
  assert.equal(names(both), ["send", "ask"]);
  await both.close();
});

test("the status has no secret", async () => {
  const { upstreams } = scripted({ up: {} });
  const some = createUpstreams({
    ...upstreams,
    mcpServers: {
      up: {
        url: "https://up.example/mcp?token=hunter2",
        headers: { authorization: "Bearer hunter2" },
      },
    },
  });
  await some.ready();
  assert.not.match(JSON.stringify(some.status()), "hunter2");
  assert.is(some.status()[0]!.server, "https://up.example/mcp");
  await some.close();
});

test.run();
