import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ToolDefinition } from "../../mcp/definition/definition.ts";
import { callContext, type Script, scripted } from "./test_scripted_client.ts";
import { until } from "../../test_until.ts";
import { createUpstreams } from "./upstreams.ts";

const test = suite("gateway/upstream/crashes");
const UPSTREAMS = 10;
const CRASHES = 2000;

test("thousands of crashes leave no connection, no call and no place of one", async () => {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
  const script: Script = {
    call: async () => {
      await pause();
      return { content: [{ type: "text", text: "ok" }] };
    },
  };
  const { clients, upstreams: options } = scripted(
    Object.fromEntries(Array.from({ length: UPSTREAMS }, (_, i) => [`up${i}`, script])),
  );
  // Each reading of the clock is a minute later, so that no pause after a failure delays the test.
  let time = 0;
  const upstreams = createUpstreams({
    ...options,
    startTimeout: 30_000,
    breaker: { now: () => time += 60_000, random: () => 0 },
  });
  await upstreams.ready();
  const tools = upstreams.list(undefined) as readonly ToolDefinition[];
  assert.is(tools.length, UPSTREAMS);
  let crashes = 0;
  const outcomes = { ok: 0, failed: 0 };
  const random = (limit: number): number => Math.floor(Math.random() * limit);
  const call = async (): Promise<void> => {
    while (crashes < CRASHES) {
      try {
        await tools[random(UPSTREAMS)]!.run({}, callContext());
        outcomes.ok++;
      } catch (error) {
        assert.match((error as Error).message, /^Upstream "up\d" /);
        outcomes.failed++;
      }
    }
  };
  const crash = async (): Promise<void> => {
    while (crashes < CRASHES) {
      const open = clients.filter(({ isClosed }) => !isClosed);
      for (let i = 0; i < 3 && open.length > 0; i++) {
        open[random(open.length)]!.crash();
        crashes++;
      }
      await pause();
    }
  };
  await Promise.all([crash(), ...Array.from({ length: 20 }, call)]);
  assert.ok(outcomes.ok > 100 && outcomes.failed > 100, JSON.stringify(outcomes));
  // At most one connection of each upstream is open at a time.
  assert.ok(clients.filter(({ isClosed }) => !isClosed).length <= UPSTREAMS);
  for (const { running, waiting } of upstreams.status()) assert.equal([running, waiting], [0, 0]);
  await upstreams.close();
  assert.is(clients.filter(({ isClosed }) => !isClosed).length, 0);
});

test("a subscription that an upstream refuses after a crash is made again when it is renewed", async () => {
  let requests = 0;
  const script: Script = {
    capabilities: { resources: { subscribe: true } },
    subscribe: () =>
      ++requests === 2 || requests === 3 ? Promise.reject(new Error("still loading")) : Promise.resolve(),
  };
  const { clients, upstreams: options } = scripted({ one: script });
  const upstreams = createUpstreams({ ...options, startTimeout: 30_000 });
  await upstreams.ready();
  const renew = () => upstreams.subscribe("upstream://one/test://a", undefined);
  await renew();
  clients.at(-1)!.crash();
  await until(() => requests === 2, "the subscription is resumed");
  await renew().catch(() => {});
  assert.is(requests, 3);
  for (let i = 0; i < 2; i++) await renew();
  assert.is(requests, 4);
  clients.at(-1)!.crash();
  await until(() => requests === 5, "the subscription is resumed after another crash");
  await upstreams.close();
});

test.run();
