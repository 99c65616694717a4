import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { RpcError } from "../../jsonrpc/error.ts";
import { prompt, resource, tool } from "../definition/define.ts";
import { client, modern, modernHeaders, modernParams } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/input_required");
const FORMS = { elicitation: {} };
const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

let made = 0;
const greet = tool({
  name: "greet",
  description: "Asks for a name",
  input: { type: "object", properties: { greeting: { type: "string" } } },
  async run({ greeting = "Hello" }, call) {
    const answer = await call.elicit({ key: "user_name", message: "Who are you?", schema: NAME });
    return answer.action === "accept" ? `${greeting}, ${answer.content.name}` : `They ${answer.action}`;
  },
});
const steps = tool({
  name: "steps",
  description: "Asks twice, and makes a number once",
  async run(_, call) {
    const number = await call.once("number", () => ++made);
    const first = await call.elicit({ message: "First?", schema: v.object({ a: v.number() }) });
    const second = await call.elicit({ message: "Second?", schema: v.object({ b: v.number() }) });
    return `${number}: ${first.content?.a} ${second.content?.b}`;
  },
});
const several = tool({
  name: "several",
  description: "Asks all at once",
  async run(_, call) {
    const [form, model, roots] = await Promise.all([
      call.elicit({ key: "form", message: "Name?", schema: NAME }),
      call.sample({ key: "model", messages: [], maxTokens: 5 }),
      call.listRoots({ key: "roots" }),
    ]);
    return [form.content?.name, model.content.text, roots[0]?.uri].join(" ");
  },
});
const { server, events } = newServer({
  definitions: [
    greet,
    steps,
    several,
    tool({
      name: "site",
      description: "Requests a URL elicitation",
      run: async (_, call) =>
        (await call.elicit({ mode: "url", message: "Pay there", url: "https://pay.example/" })).action,
    }),
    tool({
      name: "swallows",
      description: "Catches the Suspension",
      async run(_, call) {
        try {
          await call.elicit({ message: "?", schema: NAME });
        } catch {
          return "never mind";
        }
        return "asked";
      },
    }),
    tool({
      name: "hurries",
      description: "Asks, and returns or throws without waiting",
      input: { type: "object", properties: { fails: { type: "boolean" } } },
      run({ fails }, call) {
        call.elicit({ message: "?", schema: NAME }).catch(() => {});
        if (fails) throw new Error("Too early");
        return "not waiting";
      },
    }),
    prompt({
      name: "ask",
      get: async (_, call) => `For ${(await call.elicit({ message: "Who?", schema: NAME })).content?.name}`,
    }),
    resource({
      uri: "test://asked",
      name: "asked",
      read: async (call) => `For ${(await call.elicit({ message: "Who?", schema: NAME })).content?.name}`,
    }),
  ],
});

const callTool = (
  name: string,
  more: Record<string, unknown> = {},
  capabilities: Record<string, unknown> = FORMS,
) => modern(server, "tools/call", { name, ...more }, { capabilities });
const accept = (content: unknown) => ({ action: "accept", content });

test("the result has an input request and requestState, and the retry with a response completes the call", async () => {
  const { status, answer } = await callTool("greet", { arguments: { greeting: "Hi" } });
  assert.is(status, 200);
  const { resultType, inputRequests, requestState, ...rest } = answer.result;
  assert.is(resultType, "input_required");
  assert.equal(inputRequests, {
    user_name: {
      method: "elicitation/create",
      params: { mode: "form", message: "Who are you?", requestedSchema: NAME },
    },
  });
  assert.type(requestState, "string");
  assert.equal(Object.keys(rest), ["_meta"], "no cache hints");

  const retry = await callTool("greet", {
    arguments: { greeting: "Hi" },
    requestState,
    inputResponses: { user_name: accept({ name: "Ann" }) },
  });
  assert.equal(retry.answer.result.content, [{ type: "text", text: "Hi, Ann" }]);
  assert.is(retry.answer.result.resultType, "complete");
});

test("a first request may have the responses already", async () => {
  const given = { arguments: { greeting: "Hi" }, inputResponses: { user_name: accept({ name: "Ann" }) } };
  const { result } = (await callTool("greet", given)).answer;
  assert.is(result.resultType, "complete");
  assert.equal(result.content, [{ type: "text", text: "Hi, Ann" }]);
  const { inputRequests } =
    (await callTool("steps", { inputResponses: { elicitation_1: accept({ a: 1 }) } })).answer
      .result;
  assert.equal(Object.keys(inputRequests), ["elicitation_2"]);
});

test("a handler that asks and does not wait is answered with its input request too", async () => {
  for (const fails of [false, true]) {
    const { answer } = await callTool("hurries", { arguments: { fails } });
    assert.equal(Object.keys(answer.result.inputRequests ?? {}), ["elicitation_1"]);
  }
});

test("decline and cancel are valid responses", async () => {
  const { requestState } = (await callTool("greet")).answer.result;
  for (const action of ["decline", "cancel"]) {
    const { answer } = await callTool("greet", { requestState, inputResponses: { user_name: { action } } });
    assert.is(answer.result.content[0].text, `They ${action}`);
  }
});

test("requestState keeps the responses of earlier rounds, and once() computes its value once", async () => {
  made = 0;
  const first = (await callTool("steps")).answer.result;
  assert.equal(Object.keys(first.inputRequests), ["elicitation_1"]);
  const second = (await callTool("steps", {
    requestState: first.requestState,
    inputResponses: { elicitation_1: accept({ a: 1 }) },
  })).answer.result;
  assert.equal(Object.keys(second.inputRequests), ["elicitation_2"]);
  assert.is.not(second.requestState, first.requestState);
  const last = (await callTool("steps", {
    requestState: second.requestState,
    inputResponses: { elicitation_2: accept({ b: 2 }) },
  })).answer.result;
  assert.is(last.content[0].text, "1: 1 2");
  assert.is(made, 1);
});

test("an input request whose schema is still being prepared is sent with the one that ends the run", async () => {
  const both = tool({
    name: "both",
    description: "Asks for two forms at once, the second with a schema whose converter loads first",
    async run(_, call) {
      const answers = await Promise.all([
        call.elicit({ key: "ready", message: "Name?", schema: NAME }),
        call.elicit({ key: "prepared", message: "Age?", schema: v.object({ age: v.number() }) }),
      ]);
      return answers.map(({ action }) => action).join(" ");
    },
  });
  const alone = newServer({ definitions: [both] }).server;
  const { answer } = await modern(alone, "tools/call", { name: "both" }, { capabilities: FORMS });
  assert.equal(Object.keys(answer.result.inputRequests).sort(), ["prepared", "ready"]);
});

test("concurrent input requests are sent together", async () => {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const { inputRequests, requestState } = (await callTool("several", {}, capabilities)).answer.result;
  assert.equal(
    Object.entries(inputRequests).map(([key, each]) => [key, (each as { method: string }).method]),
    [
      ["form", "elicitation/create"],
      ["model", "sampling/createMessage"],
      ["roots", "roots/list"],
    ],
  );
  const inputResponses = {
    form: accept({ name: "Ann" }),
    model: { role: "assistant", content: { type: "text", text: "Hi" }, model: "m" },
  };
  // One response is missing: only this one is requested again.
  const partly = (await callTool("several", { requestState, inputResponses }, capabilities)).answer.result;
  assert.equal(Object.keys(partly.inputRequests), ["roots"]);
  const all = (await callTool("several", {
    requestState: partly.requestState,
    inputResponses: { roots: { roots: [{ uri: "file:///x" }] }, unknown: {} },
  }, capabilities)).answer.result;
  assert.is(all.content[0].text, "Ann Hi file:///x");
});

test("a URL elicitation requires its own capability and has no elicitation id", async () => {
  const refused = await callTool("site");
  assert.is(refused.status, 400);
  assert.equal(refused.answer.error.data, { requiredCapabilities: { elicitation: { url: {} } } });
  const { inputRequests } = (await callTool("site", {}, { elicitation: { url: {} } })).answer.result;
  assert.equal(inputRequests.elicitation_1.params, {
    mode: "url",
    message: "Pay there",
    url: "https://pay.example/",
  });
});

test("a tool that catches the Suspension still requests input", async () => {
  const { result } = (await callTool("swallows")).answer;
  assert.is(result.resultType, "input_required");
});

test("prompts and resources may request input", async () => {
  const inputResponses = { elicitation_1: accept({ name: "Ann" }) };
  const ask = (method: string, params: Record<string, unknown>) =>
    modern(server, method, params, { capabilities: FORMS });
  const first = (await ask("prompts/get", { name: "ask" })).answer.result;
  assert.is(first.resultType, "input_required");
  const { messages } = (await ask("prompts/get", {
    name: "ask",
    requestState: first.requestState,
    inputResponses,
  })).answer.result;
  assert.is(messages[0].content.text, "For Ann");
  const read = (await ask("resources/read", { uri: "test://asked" })).answer.result;
  assert.equal(Object.keys(read).sort(), ["_meta", "inputRequests", "requestState", "resultType"]);
  const { contents } = (await ask("resources/read", {
    uri: "test://asked",
    requestState: read.requestState,
    inputResponses,
  })).answer.result;
  assert.is(contents[0].text, "For Ann");
});

test("requestState is refused for other arguments, another tool or caller, and when expired or changed", async () => {
  let now = Date.now();
  const { server } = newServer({ definitions: [greet, steps], now: () => now });
  const ask = (params: Record<string, unknown>, headers: Record<string, string> = {}) =>
    modern(server, "tools/call", params, { capabilities: FORMS, headers });
  const given = { name: "greet", arguments: { greeting: "Hi" } };
  const { requestState } = (await ask(given)).answer.result;
  const inputResponses = { user_name: accept({ name: "Ann" }) };
  const refused = async (params: Record<string, unknown>, headers = {}) => {
    const { status, answer } = await ask({ inputResponses, requestState, ...params }, headers);
    assert.is(status, 200);
    assert.is(answer.error?.code, -32602);
    assert.ok(answer.error.message.includes("requestState"));
  };
  assert.ok((await ask({ ...given, requestState, inputResponses })).answer.result.content);
  await refused({ name: "greet", arguments: { greeting: "Ho" } });
  await refused({ name: "greet" });
  await refused({ name: "steps", arguments: { greeting: "Hi" } });
  await refused(given, { authorization: "Bearer reader" });
  await refused({ ...given, requestState: requestState + "-TAMPERED" });
  await refused({ ...given, requestState: "" });
  await refused({ ...given, requestState: 7 });
  now += 31 * 60_000;
  await refused(given);
});

test("the order of arguments does not matter", async () => {
  const twoArguments = tool({
    name: "two",
    description: "Takes two",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "object" } } },
    run: async (_, call) => (await call.elicit({ message: "?", schema: NAME })).action,
  });
  const { server } = newServer({ definitions: [twoArguments] });
  const ask = (params: Record<string, unknown>) =>
    modern(server, "tools/call", { name: "two", ...params }, { capabilities: FORMS });
  const { requestState } = (await ask({ arguments: { a: 1, b: { c: 1, d: 2 } } })).answer.result;
  const inputResponses = { elicitation_1: { action: "cancel" } };
  const { result } =
    (await ask({ arguments: { b: { d: 2, c: 1 }, a: 1 }, requestState, inputResponses })).answer;
  assert.is(result.content[0].text, "cancel");
});

for (
  const [what, inputResponses] of [
    ["a number", 7],
    ["a list", []],
    ["a null response", { user_name: null }],
    ["a response that is a string", { user_name: "Ann" }],
    ["a response without action", { user_name: { content: { name: "Ann" } } }],
    ["an unknown action", { user_name: { action: "maybe" } }],
    ["content that does not match the form", { user_name: accept({ name: 7 }) }],
    ["no content", { user_name: { action: "accept" } }],
  ] as const
) {
  test(`inputResponses with ${what} are refused with -32602`, async () => {
    const { requestState } = (await callTool("greet")).answer.result;
    const { answer } = await callTool("greet", { requestState, inputResponses });
    assert.is(answer.error?.code, -32602);
  });
}

test("requestState distinguishes Infinity from null", async () => {
  const send = async (more: string, state?: unknown) => {
    const params = {
      ...modernParams({ name: "greet", requestState: state }, FORMS),
      arguments: { more: "more" },
    };
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = modernHeaders("tools/call", { name: "greet" });
    return (await client(server).send(text.replace('"more":"more"', `"more":${more}`), headers)).answer;
  };
  const { requestState } = (await send("1e999")).result;
  assert.ok((await send("1e999", requestState)).result);
  assert.is((await send("null", requestState)).error.code, -32602);
});

test("a response with an unknown key is ignored, and the input is requested again", async () => {
  const { requestState } = (await callTool("greet")).answer.result;
  const { result } =
    (await callTool("greet", { requestState, inputResponses: { other: accept({}) } })).answer;
  assert.equal(Object.keys(result.inputRequests), ["user_name"]);
});

test("tool_called is emitted only for the completed call", async () => {
  events.length = 0;
  const { requestState } = (await callTool("greet")).answer.result;
  assert.equal(events, []);
  await callTool("greet", { requestState, inputResponses: { user_name: { action: "cancel" } } });
  assert.equal(events.map(({ type }) => type), ["tool_called"]);
});

test("an RpcError of a tool becomes a JSON-RPC error", async () => {
  const { server } = newServer({
    definitions: [tool({
      name: "breaks",
      description: "Breaks the protocol",
      run: () => {
        throw new RpcError(12345, "No", { why: "because" });
      },
    })],
  });
  const { status, answer } = await modern(server, "tools/call", { name: "breaks" });
  assert.is(status, 200);
  assert.equal(answer.error, { code: 12345, message: "No", data: { why: "because" } });
});

test.run();
