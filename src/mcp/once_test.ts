import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "./context.ts";
import { prompt, resource, tool } from "./definition/define.ts";
import { modern, session } from "./test_exchange.ts";
import { call, newServer, STREAMABLE } from "./test_server.ts";

const test = suite("mcp/once");
const FORMS = { elicitation: {} };
const NAME = { type: "object", properties: { name: { type: "string" } } } as const;
const accept = { action: "accept", content: { name: "Ann" } };

let made = 0;
const give = (name: string, run: (call: CallContext) => unknown) =>
  newServer({ definitions: [tool({ name, description: "d", run: (_, call) => run(call) })] });

const HANDLERS: Readonly<Record<string, (call: CallContext) => Promise<unknown>>> = {
  "sequentially": async (call) => [
    await call.once("key", () => ++made),
    await call.once("key", () => ++made),
  ],
  "concurrently": (call) =>
    Promise.all([call.once("key", async () => await ++made), call.once("key", () => ++made)]),
  "with the key __proto__": async (call) => [
    await call.once("__proto__", () => ++made),
    await call.once("__proto__", () => ++made),
  ],
};
for (const [how, handler] of Object.entries(HANDLERS)) {
  test(`once() computes one value for a key in every revision: ${how}`, async () => {
    const { server, post } = give("same", handler);
    made = 0;
    const { result } = (await modern(server, "tools/call", { name: "same" })).answer;
    assert.is(result.content[0].text, "[1,1]");
    assert.is((await post(call("same"), STREAMABLE)).body.result.content[0].text, "[2,2]");
    const own = await session(server);
    assert.is((await own.request("tools/call", { name: "same" })).answer.result.content[0].text, "[3,3]");
  });
}

test("a failed computation is repeated", async () => {
  let tries = 0;
  const { post } = give("tries", async (call) => {
    const make = () => {
      if (++tries < 3) throw new Error("Not yet");
      return tries;
    };
    const first = await call.once("key", make).catch(() => "failed");
    const second = await call.once("key", () => Promise.reject(new Error(String(++tries)))).catch(() =>
      "too"
    );
    return [first, second, await call.once("key", make)];
  });
  assert.is((await post(call("tries"))).body.result.content[0].text, '["failed","too",3]');
});

for (const nothing of [undefined, null]) {
  test(`a function that returns ${nothing} runs once, and each run gets the same value`, async () => {
    made = 0;
    const { server } = give("charge", async (call) => {
      const value = await call.once("charge", () => {
        made++;
        return nothing as never;
      });
      await call.elicit({ key: "name", message: "?", schema: NAME });
      return String(value);
    });
    const options = { capabilities: FORMS };
    const { requestState } = (await modern(server, "tools/call", { name: "charge" }, options)).answer.result;
    const inputResponses = { name: accept };
    const { result } =
      (await modern(server, "tools/call", { name: "charge", requestState, inputResponses }, options)).answer;
    assert.equal([result.content[0].text, made], ["null", 1]);
  });
}

test("a value that is being computed when the run is suspended is kept", async () => {
  made = 0;
  const { server } = give("both", async (call) => {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return ++made;
    };
    const [value, answer] = await Promise.all([
      call.once("slow", slow),
      call.elicit({ key: "name", message: "?", schema: NAME }),
    ]);
    return `${value} ${answer.content?.name}`;
  });
  const options = { capabilities: FORMS };
  const { requestState } = (await modern(server, "tools/call", { name: "both" }, options)).answer.result;
  const inputResponses = { name: accept };
  const { result } =
    (await modern(server, "tools/call", { name: "both", requestState, inputResponses }, options)).answer;
  assert.equal([result.content[0].text, made], ["1 Ann", 1]);
});

test("requestState is bound to its method", async () => {
  const ask = async (call: CallContext) => {
    const secret = await call.once("secret", () => ++made);
    return `${secret} ${(await call.elicit({ key: "name", message: "?", schema: NAME })).action}`;
  };
  const { server } = newServer({
    definitions: [
      tool({ name: "same", description: "d", run: (_, call) => ask(call) }),
      prompt({ name: "same", get: (_, call) => ask(call) }),
      resource({ uri: "test://same", name: "same", read: ask }),
    ],
  });
  const requests = [
    ["tools/call", { name: "same" }],
    ["prompts/get", { name: "same" }],
    ["resources/read", { uri: "test://same" }],
  ] as const;
  const states = new Map<string, unknown>();
  for (const [method, params] of requests) {
    const { result } = (await modern(server, method, params, { capabilities: FORMS })).answer;
    states.set(method, result.requestState);
  }
  for (const [made, requestState] of states) {
    for (const [method, params] of requests) {
      const retry = { ...params, requestState, inputResponses: { name: accept } };
      // With the parameters of another method.
      const { answer } = await modern(server, method, retry, { capabilities: FORMS });
      assert.is(answer.error?.code, method === made ? undefined : -32602, `${made} then ${method}`);
    }
  }
});

test.run();
