import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRequest, newMessages } from "./test_messages.ts";

const test = suite("skills/messages/request");

const { post, send } = newMessages();

async function refused(body: unknown): Promise<string> {
  const response = await post(body);
  assert.is(response.status, 400);
  const { error, message } = await response.json();
  if (error) assert.is(error.type, "invalid_request_error");
  return message ?? error.message;
}

test("a body that is not a JSON object is refused with 400", async () => {
  for (const body of ["", "{", "\0", "null", "[]", '"text"', "5"]) await refused(body);
});

test("the error names the invalid member", async () => {
  const user = { role: "user", content: "Hi" };
  for (
    const [more, member] of [
      [{ model: undefined }, "model"],
      [{ model: "" }, "model"],
      [{ max_tokens: undefined }, "max_tokens"],
      [{ max_tokens: -1 }, "max_tokens"],
      [{ max_tokens: 1.5 }, "max_tokens"],
      [{ messages: undefined }, "messages"],
      [{ messages: [] }, "messages"],
      [{ messages: [user, "Hi"] }, "messages.1"],
      [{ messages: [{ ...user, role: "tool" }] }, "messages.0.role"],
      [{ messages: [{ role: "user" }] }, "messages.0.content"],
      [{ messages: [{ ...user, content: ["Hi"] }] }, "messages.0.content.0"],
      [{ messages: [{ ...user, content: [{ type: "text" }] }] }, "messages.0.content.0.text"],
      [{ system: 5 }, "system"],
      [{ system: [null] }, "system.0"],
      [{ tools: {} }, "tools"],
      [{ tools: [null] }, "tools.0"],
      [{ tools: [{}] }, "tools.0.name"],
      [{ tools: [{ name: "x", type: 5 }] }, "tools.0.type"],
      [{ stream: "yes" }, "stream"],
    ] as const
  ) {
    for (const body of [createRequest(["forms"], more), createRequest([], more)]) {
      const message = await refused(body);
      assert.is(message.slice(0, message.indexOf(":")), member);
    }
  }
});

test("a body above bodyLimit is refused with 413", async () => {
  const { post } = newMessages(undefined, { bodyLimit: 100 });
  const response = await post(createRequest(["forms"]));
  assert.is(response.status, 413);
});

test("a deeply nested body is refused, and the next request succeeds", async () => {
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  const body = JSON.stringify(createRequest(["forms"])).replace('"any"', `"any","metadata":${deep}`);
  const response = await post(body);
  assert.is(response.status, 400);
  assert.is((await response.json()).error.type, "invalid_request_error");
  assert.is((await post(createRequest(["forms"]))).status, 200);
});

test("__proto__ and constructor are ordinary names", async () => {
  const body = '{"__proto__":{"stream":true},"constructor":5,' +
    JSON.stringify(createRequest(["forms"])).slice(1);
  const answer = await send(JSON.parse(body));
  assert.is(answer.type, "message");
  const names = createRequest(["forms"], {
    tools: [{ name: "__proto__", input_schema: {} }, ...createRequest([]).tools as unknown[]],
  });
  assert.is((await send(names)).type, "message");
  const response = await post(createRequest(["__proto__"]));
  assert.is(response.status, 404);
});

test("a body with more values than the limit is refused with 413", async () => {
  const many = `[${Array.from({ length: 200_000 }, () => "{}").join(",")}]`;
  const body = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":${many}}]}`;
  const response = await newMessages().post(body);
  assert.is(response.status, 413);
  assert.is((await response.json()).error.type, "request_too_large");
});

test.run();
