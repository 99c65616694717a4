/**
 * Calls that wait for the same connection, of which some cancel.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../test_until.ts";
import {
  connect,
  failure,
  type Received,
  result,
  type ScriptedServer,
  scriptedServer,
} from "./test_servers.ts";

const test = suite("mcp client/connecting");
const call = { name: "t", arguments: {} };

/** A server that answers `server/discover` when the test says so. */
function slowServer(): ScriptedServer & { answer(): void } {
  let answer = (): void => {};
  const released = new Promise<void>((resolve) => answer = resolve);
  const server = scriptedServer(async (received) => {
    if (received.message.method !== "server/discover") {
      return result(received, { resultType: "complete", content: [] });
    }
    await released;
    return result(received, {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
    });
  });
  return Object.assign(server, { answer });
}

const discoveries = ({ received }: ScriptedServer): Received[] =>
  received.filter(({ message }) => message.method === "server/discover");

for (
  const [what, begin] of [
    ["connect", (client: ReturnType<typeof connect>) => client.connect()],
    ["a request", (client: ReturnType<typeof connect>) => client.request("tools/call", call)],
  ] as const
) {
  test(`a connect that cancels does not end the connecting that ${what} waits for`, async () => {
    const server = slowServer();
    const client = connect(server);
    const abort = new AbortController();
    const cancelled = failure(client.connect({ signal: abort.signal }));
    const other = begin(client);
    await until(() => server.received.length === 1);
    abort.abort(new Error("enough"));
    assert.is((await cancelled).message, "enough");
    server.answer();
    await other;
    assert.equal(discoveries(server).map(({ signal }) => signal.aborted), [false]);
    await client.close();
  });
}

test("the connecting ends with the last connect that cancels, and the next call connects anew", async () => {
  const server = slowServer();
  const client = connect(server);
  const aborts = [new AbortController(), new AbortController()];
  const cancelled = aborts.map(({ signal }) => failure(client.connect({ signal })));
  await until(() => server.received.length === 1);
  for (const [i, abort] of aborts.entries()) {
    abort.abort(new Error(`enough ${i}`));
    assert.is((await cancelled[i]!).message, `enough ${i}`);
  }
  assert.is(discoveries(server)[0]!.signal.aborted, true);
  server.answer();
  assert.is((await client.connect()).revision, "2026-07-28");
  assert.is(discoveries(server).length, 2);
  await client.close();
});

test("a request that cancels does not end the connecting, which the next one needs", async () => {
  const server = slowServer();
  const client = connect(server);
  const abort = new AbortController();
  const cancelled = failure(client.request("tools/call", call, { signal: abort.signal }));
  await until(() => server.received.length === 1);
  abort.abort(new Error("enough"));
  assert.is((await cancelled).message, "enough");
  server.answer();
  await client.request("tools/call", call);
  assert.is(discoveries(server).length, 1);
  await client.close();
});

test.run();
