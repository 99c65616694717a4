import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ConfigurationError } from "./configuration/configuration.ts";
import { callContext, INPUT, scripted } from "./test_scripted_client.ts";
import type { Upstreams } from "./upstream_definition.ts";
import { createUpstreams } from "./upstreams.ts";
import { findTool, first, names, start } from "./test_upstreams.ts";
import { until } from "../../test_until.ts";

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
  for (const each of ["echo", "only_a", "only_b", "c_x"]) {
    assert.ok(seen[0]!.includes(each));
  }
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
