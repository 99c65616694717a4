import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { until } from "../../test_until.ts";
import { closeAll, start, upstreams } from "../test_server.ts";

const test = suite("gateway/stored_upstreams");
test.after(closeAll);

test("an upstream that an administrator adds is offered at every instance, and ends when it is removed", async () => {
  const store = memoryStore();
  const { fetch } = upstreams("one.example");
  const options = { fetch, connect: fetch };
  const [first, second] = [start(options, store), start(options, store)];
  assert.equal(await second.names(), ["own"]);
  const { stored } = first.trivet.gateway!;
  assert.is(await stored.add("late", { url: "https://one.example/mcp" }), true);
  await first.trivet.gateway!.ready();
  for (const { names } of [first, second]) {
    await until(async () => (await names()).length > 1);
    assert.equal(await names(), ["own", "late_echo", "late_remove"]);
  }
  assert.equal((await stored.list()).map(({ name }) => name), ["late"]);
  assert.is(await stored.remove("late"), true);
  assert.equal(await first.names(), ["own"]);
});

test("an upstream that an administrator adds is reached at public addresses only", async () => {
  const { fetch } = upstreams("one.example");
  const connected: string[] = [];
  const connect = (
    url: string,
    init: RequestInit,
  ): Promise<Response> => (connected.push(url), fetch(url, init));
  const forbidden = (): Promise<Response> =>
    Promise.reject(new Error("the platform's fetch checks no address"));
  const { trivet, names } = start({ connect, fetch: forbidden });
  await trivet.gateway!.stored.add("late", { url: "https://one.example/mcp" });
  await trivet.gateway!.ready();
  await until(async () => (await names()).length > 1);
  assert.equal(await names(), ["own", "late_echo", "late_remove"]);
  assert.ok(connected.length > 0);
});

test("attack: an upstream that an administrator adds gets no environment variable of the server", async () => {
  const { fetch } = upstreams("one.example");
  const sent: [url: string, header: string | null][] = [];
  const connect = (url: string, init: RequestInit): Promise<Response> => {
    sent.push([url, new Headers(init.headers).get("x-key")]);
    return fetch(url, init);
  };
  const { trivet, names } = start({ connect, fetch: connect, variable: (name) => `the ${name}` });
  const server = { url: "https://one.example/mcp?x=${PATH:-}", headers: { "X-Key": "pa${TRIVET_SECRET}s" } };
  assert.is(await trivet.gateway!.stored.add("late", server), true);
  await until(async () => (await names()).length > 1);
  assert.equal(await names(), ["own", "late_echo", "late_remove"]);
  for (const [url, header] of sent) {
    assert.equal([decodeURIComponent(new URL(url).search), header], ["?x=${PATH:-}", "pa${TRIVET_SECRET}s"]);
  }
});

test("an administrator does not replace or remove an upstream that the gateway was given while it runs", async () => {
  const { fetch } = upstreams("one.example", "two.example");
  const { trivet } = start({ fetch, connect: fetch });
  const { gateway } = trivet;
  const servers = () => gateway!.status().map(({ name, server }) => [name, server]);
  gateway!.add("late", { url: "https://one.example/mcp" });
  const other = { url: "https://two.example/mcp" };
  assert.is(await gateway!.stored.add("late", other, { isNew: true }), false);
  assert.is(await gateway!.stored.remove("late"), false);
  assert.equal(servers(), [["late", "https://one.example/mcp"]]);
  await gateway!.remove("late");
  assert.is(await gateway!.stored.add("late", other, { isNew: true }), true);
  assert.equal(servers(), [["late", "https://two.example/mcp"]]);
});

test("an administrator cannot add an upstream with the prefix of another one", async () => {
  const { fetch } = upstreams("one.example", "two.example");
  const { trivet } = start({ fetch, connect: fetch });
  const { stored } = trivet.gateway!;
  await stored.add("zeta", { url: "https://one.example/mcp", prefix: "p" });
  let refusal: unknown;
  await stored.add("alpha", { url: "https://two.example/mcp", prefix: "p" }).catch((error) =>
    refusal = error
  );
  assert.match(String(refusal), /mcpServers\.\w+\.prefix/);
  assert.equal((await stored.list()).map(({ name }) => name), ["zeta"]);
});

test.run();
