import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { ConnectionError, McpError } from "../../mcp_client/client.ts";
import { MAX_FAILURES } from "./circuit_breaker.ts";
import { callContext, INPUT, scripted } from "./test_scripted_client.ts";
import type { Upstreams } from "./upstream_definition.ts";
import { UpstreamFailure } from "./failure.ts";
import { toPromptResult, toReadResult } from "./proxy/result.ts";
import { createUpstreams } from "./upstreams.ts";
import type { UriMap } from "./uris.ts";
import { findTool, names, start } from "./test_upstreams.ts";
import { until } from "../../test_until.ts";

const test = suite("gateway/upstream: failures");

/** The text of the result, or of the error. */
async function call(
  upstreams: Upstreams,
  name: string,
  signal?: AbortSignal,
): Promise<string> {
  try {
    const result = await findTool(upstreams, name).run(
      { a: 1 },
      callContext(signal),
    );
    return (result as { content: [{ text: string }] }).content[0].text;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const HANGS = () => new Promise<never>(() => {});

test("one that hangs or fails does not affect the others", async () => {
  const { upstreams } = start({
    hangs: { connect: HANGS },
    lists_nothing: { list: HANGS },
    fails: {
      connect: () =>
        Promise.reject(
          new ConnectionError("unreachable", "fails", "no connection"),
        ),
    },
    lies: {
      list: () => [{ name: 1 }, { name: "a", inputSchema: "none" }] as never,
    },
    works: {},
  }, { startTimeout: 50 });
  // It settles although two hang.
  await upstreams.ready();
  const settled = (): boolean =>
    names(upstreams).length > 0 && upstreams.status()[2]!.leftOut.length > 0 &&
    upstreams.status()[3]!.state === "connected";
  while (!settled()) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(names(upstreams), ["works_echo"]);
  assert.is(await call(upstreams, "works_echo"), '{"a":1}');
  assert.equal(
    upstreams.status().map(({ name, state }) => [name, state]),
    [["fails", "failed"], ["hangs", "connecting"], ["lies", "connected"], [
      "lists_nothing",
      "connected",
    ], [
      "works",
      "connected",
    ]],
  );
  await upstreams.close();
});

test("one that hangs is waited for once, and not after each change of another", async () => {
  let time = 0;
  const { upstreams } = start({ hangs: { connect: HANGS } }, { startTimeout: 1000, now: () => time });
  let isPrepared = false;
  const prepared = upstreams.prepare(undefined).then(() => isPrepared = true);
  await new Promise((resolve) => setTimeout(resolve));
  assert.is(isPrepared, false);
  time = 1000;
  await upstreams.prepare(undefined);
  assert.is(isPrepared, false, "it did not wait");
  await prepared;
  await upstreams.close();
});

test("one that could not be reached at first is waited for later", async () => {
  let time = 0;
  let isUp = false;
  const now = () => time;
  const connect = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (!isUp) throw new ConnectionError("unreachable", "late", "no connection");
  };
  const access = {
    partition: (caller?: Principal) => caller?.subject ?? "",
    headers: () => Promise.resolve({}),
    refused: () => Promise.resolve(false),
  };
  const { upstreams } = start({ late: { connect } }, {
    startTimeout: 1000,
    now,
    access: () => access,
  });
  const ann = { subject: "ann", scopes: new Set<string>(), workspace: "" };
  await upstreams.prepare(ann);
  assert.is(upstreams.list(ann).length, 0);
  isUp = true;
  time = 60_000;
  await upstreams.prepare(ann);
  assert.ok(upstreams.list(ann).length > 0);
  await upstreams.close();
});

test("a call of a crashed upstream fails with its name, and the next one starts it again", async () => {
  let hang = true;
  const { upstreams, clients } = start({
    up: {
      call: () => hang ? HANGS() : Promise.resolve({ content: [{ type: "text", text: "ok" }] }),
    },
  });
  await upstreams.ready();
  const calls = [call(upstreams, "up_echo"), call(upstreams, "up_echo")];
  await Promise.resolve();
  clients[0]!.crash();
  for (const each of await Promise.all(calls)) {
    assert.match(each, /ToolError: Upstream "up" closed the connection/);
  }
  // The list is still there.
  assert.equal(names(upstreams), ["up_echo"]);
  hang = false;
  assert.is(await call(upstreams, "up_echo"), "ok");
  assert.is(clients.length, 2);
  await upstreams.close();
  assert.ok(clients.every(({ isClosed }) => isClosed));
});

test("the late end of a replaced connection does not end the one that replaced it", async () => {
  const { upstreams, clients } = start({ up: {} });
  await upstreams.ready();
  clients[0]!.crash();
  const late = new ConnectionError("closed", "up", "late");
  assert.match(await call(upstreams, "up_echo"), '"a":1');
  clients[0]!.options.onClosed?.(late);
  const [status] = upstreams.status();
  assert.is(status!.state, "connected");
  assert.is(clients[1]!.isClosed, false);
  assert.match(await call(upstreams, "up_echo"), '"a":1');
  assert.is(clients.length, 2);
  await upstreams.close();
});

test("a call that cannot connect leaves its place", async () => {
  let works = true;
  let time = 0;
  const refuse = () => Promise.reject(new ConnectionError("unreachable", "up", "no connection"));
  const { upstreams, clients } = start(
    { up: { connect: () => works ? Promise.resolve() : refuse() } },
    { breaker: { now: () => time += 60_000 } },
  );
  await upstreams.ready();
  works = false;
  clients[0]!.crash();
  for (let i = 0; i < 3; i++) {
    assert.match(await call(upstreams, "up_echo"), /Upstream "up" is not reachable/);
  }
  const [{ running, waiting, state, lastError }] = upstreams.status() as [ReturnType<Upstreams["status"]>[0]];
  assert.equal([running, waiting, state], [0, 0, "failed"]);
  assert.match(lastError!, "no connection");
  await upstreams.close();
});

test("after failures in a row calls fail at once, and a trial ends that", async () => {
  let time = 0;
  let works = false;
  let tries = 0;
  const { upstreams } = start({
    up: {
      call: () => {
        tries++;
        return works ? Promise.resolve({ content: [{ type: "text", text: "ok" }] }) : Promise.reject(
          new ConnectionError("timeout", "up", "sent nothing"),
        );
      },
    },
  }, { breaker: { now: () => time, random: () => 1 } });
  await upstreams.ready();
  for (let i = 0; i < MAX_FAILURES; i++) {
    assert.match(
      await call(upstreams, "up_echo"),
      "does not answer (timeout after 30 s)",
    );
    time += 60_000;
  }
  time -= 60_000;
  works = true;
  assert.match(
    await call(upstreams, "up_echo"),
    /failed 5 times in a row and is paused. Try again in \d+ s/,
  );
  assert.is(tries, MAX_FAILURES);
  time += 60_000;
  assert.is(await call(upstreams, "up_echo"), "ok");
  assert.is(await call(upstreams, "up_echo"), "ok");
  await upstreams.close();
});

test("attack: calls whose arguments are refused do not pause the upstream for the others", async () => {
  let time = 0;
  let status: number | undefined = 413;
  const { upstreams } = start({
    up: {
      call: () =>
        status === undefined
          ? Promise.resolve({ content: [{ type: "text", text: "ok" }] })
          : Promise.reject(new ConnectionError("status", "up", "refused", { status })),
    },
  }, { breaker: { now: () => time, random: () => 1 } });
  await upstreams.ready();
  for (let i = 0; i <= MAX_FAILURES; i++) {
    assert.match(await call(upstreams, "up_echo"), "refused the request (HTTP status 413).");
    time += 60_000;
  }
  status = undefined;
  assert.is(await call(upstreams, "up_echo"), "ok");
  status = 503;
  assert.match(await call(upstreams, "up_echo"), "HTTP status 503. Try again later.");
  await upstreams.close();
});

test("connects again when its first lists cannot be read, and keeps the connection when later ones cannot", async () => {
  let isDown = true;
  const list = () =>
    isDown
      ? Promise.reject(new ConnectionError("timeout", "up", "no answer"))
      : [{ name: "a", inputSchema: INPUT }];
  const { clients, upstreams: options } = scripted({ up: { list } });
  const upstreams = createUpstreams({ ...options, startTimeout: 100, breaker: { random: () => 0 } });
  await upstreams.ready();
  assert.equal(upstreams.list(undefined), []);
  isDown = false;
  await until(() => upstreams.list(undefined).length > 0);
  assert.is(upstreams.list(undefined).length, 1);
  assert.equal(clients.map(({ isClosed }) => isClosed), [...clients.slice(1).map(() => true), false]);
  isDown = true;
  const { length } = clients;
  clients.at(-1)!.options.onNotification?.("notifications/tools/list_changed", {});
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.is(upstreams.list(undefined).length, 1);
  assert.is(clients.length, length);
  await upstreams.close();
});

test("a list that fails is read again, and the status says so meanwhile", async () => {
  const failures = [
    new McpError(-32603, "The database is starting"),
    new ConnectionError("status", "up", "answered HTTP 503", { status: 503 }),
  ];
  for (const failure of failures) {
    let fails = failure instanceof McpError;
    const tools = [{ name: "a", inputSchema: INPUT }];
    const { upstreams, clients } = start({
      up: {
        capabilities: { tools: { listChanged: true }, prompts: {} },
        list: (list) => {
          if (list === "prompts") return [{ name: "p" }];
          return fails ? Promise.reject(failure) : [...tools];
        },
      },
    });
    await upstreams.ready();
    if (fails) {
      assert.equal(names(upstreams), ["up_p"]);
      assert.equal(upstreams.status()[0]!.leftOut, ["tools: The database is starting"]);
      fails = false;
      await until(() => upstreams.status()[0]!.leftOut.length === 0);
    }
    assert.equal(names(upstreams), ["up_a", "up_p"]);
    fails = true;
    tools.push({ name: "b", inputSchema: INPUT });
    clients[0]!.options.onNotification!("notifications/tools/list_changed", {});
    const isReported = () => {
      const { state, leftOut } = upstreams.status()[0]!;
      return failure instanceof McpError ? leftOut.length === 1 : state === "failed";
    };
    await until(isReported);
    assert.equal(names(upstreams), ["up_a", "up_p"]);
    fails = false;
    await until(() => names(upstreams).length === 3);
    await until(() => !isReported());
    assert.is(upstreams.status()[0]!.state, "connected");
    assert.is(clients.length, 1);
    await upstreams.close();
  }
});

test("a list that the upstream has no method for is not read again", async () => {
  const read: string[] = [];
  const { upstreams, clients } = start({
    up: {
      capabilities: { tools: { listChanged: true }, prompts: {} },
      list: (list) => {
        read.push(list);
        if (list === "prompts") return Promise.reject(new McpError(-32601, "Method not found"));
        return [{ name: `a${read.length}`, inputSchema: INPUT }];
      },
    },
  });
  await upstreams.ready();
  const [before] = names(upstreams);
  clients[0]!.options.onNotification!("notifications/tools/list_changed", {});
  await until(() => names(upstreams)[0] !== before);
  assert.equal(read, ["tools", "prompts", "tools"]);
  assert.equal(upstreams.status()[0]!.leftOut, ["prompts: Method not found"]);
  await upstreams.close();
});

test("cancels a call, and limits how many run", async () => {
  let running = 0;
  let most = 0;
  const { upstreams } = scripted({
    up: {
      call: async (_, { signal }) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        running--;
        throw signal!.reason;
      },
    },
  });
  const limited = createUpstreams({
    ...upstreams,
    startTimeout: 30_000,
    mcpServers: { up: { url: "https://up.example", maxConcurrent: 2 } },
  });
  await limited.ready();
  const controller = new AbortController();
  const calls = Array.from(
    { length: 11 },
    () => call(limited, "up_echo", controller.signal),
  );
  assert.match(await calls[10]!, 'Upstream "up" is busy');
  controller.abort();
  for (const each of await Promise.all(calls.slice(0, 10))) {
    assert.match(each, "AbortError");
  }
  assert.is(most, 2);
  assert.equal([limited.status()[0]!.running, limited.status()[0]!.waiting], [
    0,
    0,
  ]);
  await limited.close();
});

test("a result with invalid content is a failure that names the upstream", async () => {
  let result: Record<string, unknown> = {};
  const { upstreams } = start({ up: { call: () => Promise.resolve(result) } }, {});
  await upstreams.ready();
  for (
    const each of [
      { content: [null] },
      { content: ["text"] },
      { content: [{ text: "x" }] },
      { content: [{ type: "text" }] },
      { content: [], isError: "yes" },
    ]
  ) {
    result = each;
    assert.match(await call(upstreams, "up_echo"), 'Upstream "up" sent a result with invalid content');
  }
  await upstreams.close();
});

test("contents and messages that a client would refuse are a failure of the upstream", () => {
  const uris = { toPublic: (uri: string) => uri } as UriMap;
  const content = { type: "text", text: "x" };
  for (const each of [null, { text: "x" }, { uri: "x://y" }, { uri: "x://y", text: 5 }]) {
    assert.throws(() => toReadResult({ contents: [each] }, uris), isFailure);
  }
  for (
    const each of [{ role: "system", content }, { content }, { role: "user", content: { type: "text" } }]
  ) {
    assert.throws(() => toPromptResult({ messages: [each] }, uris), isFailure);
  }
  toReadResult({ contents: [{ uri: "x://y", blob: "AQI=" }] }, uris);
  toPromptResult({ messages: [{ role: "assistant", content }] }, uris);
});

function isFailure(error: Error): boolean {
  return error instanceof UpstreamFailure;
}

test.run();
