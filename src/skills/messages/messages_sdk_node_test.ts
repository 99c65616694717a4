import Anthropic from "@anthropic-ai/sdk";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SKILL_MD } from "../test_service.ts";
import {
  type Any,
  call,
  CODE_EXECUTION,
  json,
  newMessages,
  type Script,
  stream,
  type TestMessages,
  text,
} from "./test_messages.ts";

const test = suite("skills/messages with the official SDK");

/** The SDK with a `fetch` that calls the endpoint. */
function newClient(script?: Script, retries = 0): TestMessages & { client: Anthropic } {
  const messages = newMessages(script);
  const client = new Anthropic({
    apiKey: "key",
    baseURL: "https://trivet.test",
    maxRetries: retries,
    fetch: (url, init) => messages.fetch(new Request(url, init)),
  });
  return { ...messages, client };
}

const USER = { role: "user", content: "Fill the form" } as const;
const PARAMS = { model: "any", max_tokens: 1000, messages: [USER], tools: [CODE_EXECUTION] };
const skills = (...ids: string[]) => ids.map((skill_id) => ({ type: "custom", skill_id } as const));

test("messages.create() accepts container as an object and then as an id", async () => {
  const { client, upload } = newClient();
  const { id, version } = await upload([["demo/SKILL.md", SKILL_MD]]);
  const container = { skills: [{ type: "custom", skill_id: id, version: "latest" } as const] };
  const messages = [{ role: "user", content: "Use demo" } as Anthropic.MessageParam];
  const first = await client.messages.create({ ...PARAMS, messages, container });
  assert.equal(first.container!.skills, [{ type: "custom", skill_id: id, version }]);
  assert.equal(first.content.map(({ type }) => type), [
    "text",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "text",
  ]);
  assert.is(first.stop_reason, "end_turn");
  // The response's content is valid in the next request.
  messages.push({ role: "assistant", content: first.content }, { role: "user", content: "And again demo" });
  const second = await client.messages.create({ ...PARAMS, messages, container: first.container!.id });
  assert.is(second.container!.id, first.container!.id);
  assert.equal(second.content.map(({ type }) => type), ["text"]);
  assert.match((second.content[0] as Any).text, /<skill_content name="demo"/);
});

test("messages.stream() assembles the message that create() returns", async () => {
  const rounds = (make: typeof stream) => [
    make([text("I look."), call("toolu_1", "load_skill", { name: "forms" })]),
    make([text("Filled.")]),
  ];
  const streamed = newClient(rounds(stream));
  const events: string[] = [];
  const running = streamed.client.messages.stream({ ...PARAMS, container: { skills: skills("forms") } });
  running.on("streamEvent", ({ type }) => events.push(type));
  const message = await running.finalMessage();
  assert.is(events[0], "message_start");
  assert.is(events.at(-1), "message_stop");
  const whole = newClient(rounds(json));
  const plain = await whole.client.messages.create({ ...PARAMS, container: { skills: skills("forms") } });
  const bare = (value: unknown): Any => ({
    ...JSON.parse(JSON.stringify(value)),
    container: 0,
    _request_id: 0,
  });
  assert.equal(bare(message).content, bare(plain).content);
  assert.equal(message.usage, plain.usage);
  assert.match(message.container!.id, /^container_01/);
  assert.is(message.container!.skills!.length, 1);
});

test("messages.create({ stream: true }) returns container in message_start and message_delta", async () => {
  const { client } = newClient();
  const events: Any[] = [];
  for await (
    const event of await client.messages.create({
      ...PARAMS,
      stream: true,
      container: { skills: skills("forms", "tables") },
    })
  ) events.push(event);
  const { container } = events[0].message;
  assert.is(container.skills.length, 2);
  assert.equal(events.find(({ type }) => type === "message_delta").delta.container, container);
});

test("beta.messages with the markers of October 2025 returns versions as epochs", async () => {
  const { client, upload } = newClient();
  const { id } = await upload([["demo/SKILL.md", SKILL_MD]]);
  const betas = ["code-execution-2025-08-25", "skills-2025-10-02", "files-api-2025-04-14"];
  const params = { ...PARAMS, betas, container: { skills: skills(id) } };
  const headers = { "anthropic-version": "2023-06-01" };
  const created = await client.beta.messages.create(params, { headers });
  assert.match(created.container!.skills![0]!.version, /^\d{16}$/);
  const message = await client.beta.messages.stream(params, { headers }).finalMessage();
  assert.equal(message.container!.skills, created.container!.skills);
  const again = await client.beta.messages.create({ ...params, container: created.container!.id }, {
    headers,
  });
  assert.equal([again.container!.id, again.container!.skills], [
    created.container!.id,
    created.container!.skills,
  ]);
  const missing = client.beta.messages.create({ ...params, betas: betas.slice(0, 1) }, { headers });
  const error = await missing.then(() => undefined, (error) => error);
  assert.instance(error, Anthropic.BadRequestError);
  assert.match(error.message, /skills-2025-10-02, files-api-2025-04-14/);
});

test("errors are instances of the SDK's classes", async () => {
  const { client } = newClient();
  const create = (more: Any): Promise<Any> =>
    client.messages.create({ ...PARAMS, ...more }).then(() => undefined, (error) => error);
  const unknown = await create({ container: { skills: skills("none") } });
  assert.instance(unknown, Anthropic.NotFoundError);
  assert.is(unknown.error.error.type, "not_found_error");
  assert.match(unknown.error.error.message, /^container\.skills\.0: .*"none"/);
  assert.instance(
    await create({ container: { skills: skills("forms") }, tools: [] }),
    Anthropic.BadRequestError,
  );
  assert.instance(await create({ container: "container_x" }), Anthropic.NotFoundError);
});

test("the SDK retries a busy model endpoint, and does not retry a rejected server key", async () => {
  const busy = () => new Response("{}", { status: 429, headers: { "retry-after-ms": "1" } });
  const { client, modelRequests } = newClient([busy(), busy(), json([text("Hi")])], 2);
  const message = await client.messages.create({ ...PARAMS, container: { skills: skills("forms") } });
  assert.is((message.content[0] as Any).text, "Hi");
  assert.is(modelRequests.length, 3);
  const wrong = newClient([new Response("{}", { status: 401 })], 2);
  const error = await wrong.client.messages.create(PARAMS).then(() => undefined, (error) => error);
  assert.is(error.status, 502);
  assert.is(wrong.modelRequests.length, 1);
});

test("an error event in a stream rejects with its type", async () => {
  const overloaded =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n';
  const headers = { "content-type": "text/event-stream" };
  const { client } = newClient([
    stream([call("toolu_1", "load_skill", { name: "forms" })]),
    new Response(overloaded, { headers }),
  ]);
  const running = client.messages.stream({ ...PARAMS, container: { skills: skills("forms") } });
  const error: Any = await running.finalMessage().then(() => undefined, (error) => error);
  assert.is(error.type, "overloaded_error");
});

test("abort() in the client cancels the request to the model endpoint", async () => {
  const start = stream([text("abc")]).text().then((whole) =>
    whole.split("\n\n").slice(0, 4).join("\n\n") + "\n\n"
  );
  const bytes = new TextEncoder().encode(await start);
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes),
    cancel: () => void (cancelled = true),
  });
  const { client, modelRequests } = newClient([
    new Response(body, { headers: { "content-type": "text/event-stream" } }),
  ]);
  const running = client.messages.stream({ ...PARAMS, container: { skills: skills("forms") } });
  running.on("text", () => running.abort());
  const error = await running.finalMessage().then(() => undefined, (error) => error);
  assert.instance(error, Anthropic.APIUserAbortError);
  for (let tries = 0; !cancelled && tries < 500; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.ok(cancelled);
  assert.ok(modelRequests[0]!.signal.aborted);
});

test.run();
