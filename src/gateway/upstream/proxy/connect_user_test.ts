import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../../../mcp/definition/define.ts";
import { until } from "../../../test_until.ts";
import { type Message, modern } from "../../../mcp/test_exchange.ts";
import { ConnectionRequired } from "../../credentials/access.ts";
import { newGateway, type TestGateway, upstreamOf } from "../test_gateway.ts";

const test = suite("gateway/upstream/proxy/connect_user");
const PAGE = "https://gateway.example/connect";
const capabilities = { elicitation: { url: {} } };

/** A gateway whose upstream must be connected first. */
async function newUnconnected(
  isConnected: { value: boolean },
  run = (count: number): string | Promise<string> => `run ${count}`,
  onState = (_upstream: string, _state: string): void => {},
) {
  let runs = 0;
  const work = tool({ name: "work", description: "Works", run: () => run(++runs) });
  /** How many calls held a place whenever the credentials were missing. */
  const running: number[] = [];
  let gateway: TestGateway | undefined = undefined;
  gateway = await newGateway({ up: upstreamOf([work]) }, {
    upstreams: {
      onState,
      access: ({ name }) => ({
        partition: () => "user",
        headers() {
          if (isConnected.value) return Promise.resolve({});
          if (gateway) running.push(gateway.upstreams.status()[0]!.running);
          return Promise.reject(new ConnectionRequired(name, PAGE));
        },
        refused: () => Promise.resolve(false),
      }),
    },
  });
  return { ...gateway, running };
}

const call = async (server: Parameters<typeof modern>[0], name: string, more = {}): Promise<Message> =>
  (await modern(server, "tools/call", { name, arguments: {}, ...more }, { capabilities })).answer.result;

test("a user is sent to the page, and the call continues once the upstream is connected", async () => {
  const isConnected = { value: true };
  const { server, upstreams, running } = await newUnconnected(isConnected);
  assert.is((await call(server, "up_work")).content[0].text, "run 1");
  // The session was lost, and the credentials with it.
  isConnected.value = false;
  const asking = await call(server, "up_work");
  assert.is(asking.resultType, "input_required");
  const [[key, request]] = Object.entries<Message>(asking.inputRequests) as [[string, Message]];
  assert.equal([request.method, request.params.mode, request.params.url], [
    "elicitation/create",
    "url",
    PAGE,
  ]);
  const retry = (action: string) =>
    call(server, "up_work", { requestState: asking.requestState, inputResponses: { [key]: { action } } });
  assert.is((await retry("decline")).isError, true);
  running.length = 0;
  const continued = retry("accept");
  await until(() => running.length === 2, "the call waits for the user");
  // It takes no place meanwhile, nor gives up one that it does not have.
  assert.equal(running, [1, 0]);
  isConnected.value = true;
  assert.is((await continued).content[0].text, "run 2");
  await upstreams.close();
});

test("a session that runs a call starts again with new credentials once the call has ended", async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  let hasBegun = false;
  const isConnected = { value: true };
  const states: string[] = [];
  const { server, upstreams } = await newUnconnected(isConnected, async (count) => {
    hasBegun = true;
    await ended;
    return `run ${count}`;
  }, (_, state) => states.push(state));
  const running = call(server, "up_work");
  await until(() => hasBegun);
  upstreams.reconnect("up", undefined, "idle");
  upstreams.reconnect("up", undefined, "idle");
  assert.equal(states, ["connecting", "connected"]);
  end();
  const { isError, content } = await running;
  assert.equal([isError, content[0].text], [undefined, "run 1"]);
  assert.equal(states.slice(2, 4), ["idle", "connecting"]);
  assert.is((await call(server, "up_work")).content[0].text, "run 2");
  states.length = 0;
  upstreams.reconnect("up", undefined, "idle");
  assert.equal(states, ["idle", "connecting"]);
  await upstreams.close();
});

test("the tool that connects becomes the tools of the upstream", async () => {
  const isConnected = { value: false };
  const { server, upstreams } = await newUnconnected(isConnected);
  const names = async () =>
    (await modern(server, "tools/list")).answer.result.tools.map((each: Message) => each.name);
  assert.equal(await names(), ["up_connect"]);
  const asking = await call(server, "up_connect");
  assert.is(asking.resultType, "input_required");
  isConnected.value = true;
  const [key] = Object.keys(asking.inputRequests);
  const inputResponses = { [key!]: { action: "accept" } };
  const done = await call(server, "up_connect", { requestState: asking.requestState, inputResponses });
  assert.is(done.isError, undefined);
  while ((await names())[0] !== "up_work") await new Promise((resolve) => setTimeout(resolve, 5));
  await upstreams.close();
});

test.run();
