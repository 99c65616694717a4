import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  call,
  createRequest,
  json,
  newMessages,
  readStream,
  type Script,
  split,
  sse,
  stream,
  streamText,
  text,
} from "./test_messages.ts";

const test = suite("skills/messages/upstream");

const PLAIN = { model: "any", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };

async function refused(
  script: Script,
  body: unknown = PLAIN,
  options: Parameters<typeof newMessages>[1] = {},
) {
  const messages = newMessages(script, options);
  const response = await messages.post(body);
  const { error } = await response.json();
  const fields = Object.fromEntries([...response.headers].filter(([name]) => name !== "content-type"));
  const faults = messages.events.flatMap((event) => event.type === "fault" ? [String(event.error)] : []);
  return { status: response.status, ...error, fields, faults };
}

const envelope = (type: string, message: string, init: ResponseInit) =>
  Response.json({ type: "error", error: { type, message } }, init);

test("errors of the request are forwarded", async () => {
  for (const body of [PLAIN, createRequest(["forms"])]) {
    assert.equal(
      await refused([envelope("invalid_request_error", "max_tokens: too large", { status: 400 })], body),
      {
        status: 400,
        type: "invalid_request_error",
        message: "max_tokens: too large",
        fields: {},
        faults: [],
      },
    );
  }
  const { status, type } = await refused([envelope("not_found_error", "model: any", { status: 404 })]);
  assert.equal([status, type], [404, "not_found_error"]);
  const large = await refused([envelope("request_too_large", "Too large", { status: 413 })]);
  assert.equal([large.status, large.type], [413, "request_too_large"]);
  const other = await refused([Response.json({ error: "no such field" }, { status: 422 })]);
  assert.equal([other.status, other.type, other.message], [400, "invalid_request_error", "no such field"]);
});

test("a long message is never cut within a character", async () => {
  const long = (most: number) => "x".repeat(most - 1) + "\u{1f600}";
  const whole = await refused([envelope("invalid_request_error", long(2000), { status: 400 })]);
  assert.is(whole.message, "x".repeat(1999) + "\ufffd");
  const event = { type: "error", error: { type: "api_error", message: long(1000) } };
  const streamed = await refused(
    [sse(split(`data: ${JSON.stringify(event)}\n\n`, 100))],
    createRequest(["forms"]),
  );
  assert.ok(streamed.message.endsWith("x\ufffd"), streamed.message);
});

test("429 and 529 are forwarded with retry-after", async () => {
  for (const [status, type] of [[429, "rate_limit_error"], [529, "overloaded_error"]] as const) {
    const headers = { "retry-after": "7", "anthropic-organization-id": "org" };
    assert.equal(await refused([envelope(type, "Slow down", { status, headers })]), {
      status,
      type,
      message: "Slow down",
      fields: { "retry-after": "7" },
      faults: [],
    });
  }
  const late = await refused([new Response("", { status: 504 })]);
  assert.equal([late.status, late.type], [504, "timeout_error"]);
});

test("a rejected server key becomes 502, and the key is masked", async () => {
  for (const status of [401, 403]) {
    const message = "invalid key sk-upstream-secret";
    const { message: shown, faults, ...rest } = await refused([
      envelope("authentication_error", message, { status }),
    ]);
    assert.equal(rest, { status: 502, type: "api_error", fields: { "x-should-retry": "false" } });
    assert.not.match(shown, "sk-upstream-secret");
    assert.is(faults.length, 1);
    assert.match(faults[0]!, `${status}: invalid key [hidden]`);
  }
  const echoed = await refused([
    envelope("invalid_request_error", "bad: sk-upstream-secret", { status: 400 }),
  ]);
  assert.is(echoed.message, "bad: [hidden]");
});

test("server errors, redirects and pages become 502", async () => {
  for (
    const [response, shown] of [
      [
        new Response("<h1>Bad gateway</h1>", { status: 503, headers: { "retry-after": "3" } }),
        "503",
      ],
      [new Response("", { status: 302, headers: { location: "https://elsewhere.test" } }), "302"],
      [new Response("Not found", { status: 404 }), "404"],
      [
        new Response("<h1>Hello</h1>", { headers: { "content-type": "text/html" } }),
        "",
      ],
    ] as const
  ) {
    const { status, type, message } = await refused([response]);
    assert.equal([status, type], [502, "api_error"]);
    assert.ok(message.includes(shown), message);
    assert.not.match(message, "<h1>");
  }
  const body = await refused([Response.json({ type: "message" })], createRequest(["forms"]));
  assert.equal([body.status, body.type], [502, "api_error"]);
  const unreachable = await refused([() => Promise.reject(new TypeError("connect ECONNREFUSED"))]);
  const { message, ...rest } = unreachable;
  assert.equal(rest, {
    status: 502,
    type: "api_error",
    fields: {},
    faults: ["TypeError: connect ECONNREFUSED"],
  });
  assert.not.match(message, "ECONNREFUSED");
});

test("a response with invalid or truncated UTF-8 becomes 502", async () => {
  const text = '{"type":"message","role":"assistant","content":[{"type":"text","text":"?"}],"model":"?"}';
  const events = `event: message_start\ndata: {"type":"message_start","message":${text}}\n\n`;
  for (const bytes of [[0xf0, 0x9f, 0x92], [0xff]]) {
    for (const [type, content] of [["application/json", text], ["text/event-stream", events]] as const) {
      const body = new TextEncoder().encode(content);
      const at = body.indexOf(0x3f);
      const broken = Uint8Array.from([...body.slice(0, at), ...bytes, ...body.slice(at + 1)]);
      const { status, type: kind } = await refused(
        [new Response(broken, { headers: { "content-type": type } })],
        createRequest(["forms"]),
      );
      assert.equal([status, kind], [502, "api_error"]);
    }
  }
});

/** A response whose body sends one chunk and does not end. */
function hanging(type: string, chunk: string, signals: boolean[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(chunk)),
    cancel: () => void signals.push(true),
  });
  return new Response(body, { headers: { "content-type": type } });
}

test("an endpoint that exceeds a timeout is aborted with 504, before and within its response", async () => {
  const never: Script[0] = () => new Promise(() => {});
  const begin = await refused([never], PLAIN, { upstream: { url: "https://models.test", answerLimit: 20 } });
  assert.equal([begin.status, begin.type], [504, "timeout_error"]);
  assert.match(begin.message, /0\.02 seconds/);
  const streamed = await refused([never], { ...PLAIN, stream: true }, {
    upstream: { url: "https://models.test", connectLimit: 20 },
  });
  assert.is(streamed.status, 504);

  const cancelled: boolean[] = [];
  const upstream = { url: "https://models.test", idleLimit: 20 };
  const silent = await refused([hanging("application/json", "{", cancelled)], PLAIN, { upstream });
  assert.equal([silent.status, silent.type], [504, "timeout_error"]);
  assert.match(silent.message, /0\.02 seconds/);
  for (const body of [PLAIN, createRequest(["forms"])]) {
    const start = streamText([text("abc")]).split("\n\n").slice(0, 3).join("\n\n") + "\n\n";
    const { post, modelRequests } = newMessages([hanging("text/event-stream", start, cancelled)], {
      upstream,
    });
    const events = await readStream(await post({ ...body, stream: true }));
    assert.equal(events.at(-1), { type: "error", error: { type: "timeout_error", message: silent.message } });
    assert.ok(modelRequests[0]!.signal.aborted);
  }
  assert.is(cancelled.length, 3);
});

test("a response above sizeLimit is aborted with 502", async () => {
  for (const type of ["application/json", "text/event-stream"]) {
    let cancelled = 0;
    const endless = () => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1000).fill(32)),
        cancel: () => void cancelled++,
      });
      return new Response(body, { headers: { "content-type": type } });
    };
    const upstream = { url: "https://models.test", sizeLimit: 100_000 };
    const { status, type: error, faults } = await refused([endless], createRequest(["forms"]), { upstream });
    assert.equal([status, error], [502, "api_error"]);
    assert.match(faults.join(), "more than 100000 bytes");
    assert.is(cancelled, 1);
  }
});

test("a truncated stream ends with an error event, or fails inside an event", async () => {
  const whole = streamText([text("abc")]);
  const half = whole.slice(0, whole.indexOf("content_block_stop"));
  const { post } = newMessages([sse(split(half, 10))]);
  const events = await readStream(await post(createRequest(["forms"], { stream: true })));
  const { type, error } = events.at(-1);
  assert.equal([type, error.type], ["error", "api_error"]);
  assert.is(events.at(-2).type, "content_block_delta");
  assert.equal((await refused([sse(split(half, 10))], createRequest(["forms"]))).status, 502);

  const breaking = (chunk: string) => {
    let isSent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isSent) return controller.error(new Error("reset"));
        isSent = true;
        controller.enqueue(new TextEncoder().encode(chunk));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const first = whole.slice(0, whole.indexOf("\n\n") + 2);
  const between = await newMessages([breaking(first)]).post({ ...PLAIN, stream: true });
  assert.equal((await readStream(between)).map(({ type }) => type), ["message_start", "error"]);
  for (const end of ["\r\n", "\r"]) {
    const lines = await newMessages([breaking(first.replaceAll("\n", end))]).post({ ...PLAIN, stream: true });
    assert.match(await lines.text(), "event: error");
  }
  const inside = await newMessages([breaking(half)]).post({ ...PLAIN, stream: true });
  assert.ok(await inside.text().then(() => false, () => true));
});

test("an error event ends the stream with its type, in any round", async () => {
  const error =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const { post } = newMessages([
    stream([call("toolu_1", "load_skill", { name: "forms" })]),
    sse(split(error, 9)),
  ]);
  const events = await readStream(await post(createRequest(["forms"], { stream: true })));
  const { type, error: last } = events.at(-1);
  assert.equal([type, last.type], ["error", "overloaded_error"]);
  assert.match(last.message, /: Overloaded$/);
  const whole = await refused([sse(split(error, 9))], createRequest(["forms"]));
  assert.equal([whole.status, whole.type, whole.message], [529, last.type, last.message]);
});

test("a refused later round ends a stream with an error event, and otherwise sets the status", async () => {
  const calls = [call("toolu_1", "load_skill", { name: "forms" })];
  const busy = () =>
    envelope("rate_limit_error", "Slow down", { status: 429, headers: { "retry-after": "2" } });
  const { post } = newMessages([stream(calls), busy()]);
  const events = await readStream(await post(createRequest(["forms"], { stream: true })));
  assert.equal(events.at(-1), { type: "error", error: { type: "rate_limit_error", message: "Slow down" } });
  const { status, fields } = await refused([json(calls), busy()], createRequest(["forms"]));
  assert.equal([status, fields], [429, { "retry-after": "2" }]);
});

test("a disconnect of the client aborts the request to the model endpoint", async () => {
  for (const body of [PLAIN, createRequest(["forms"])]) {
    const cancelled: boolean[] = [];
    const start = streamText([text("abc")]).split("\n\n").slice(0, 3).join("\n\n") + "\n\n";
    const { post, modelRequests } = newMessages([hanging("text/event-stream", start, cancelled)]);
    const response = await post({ ...body, stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    assert.ok(modelRequests[0]!.signal.aborted);
    assert.equal(cancelled, [true]);
  }
  const client = new AbortController();
  const { post, modelRequests, events } = newMessages([() => new Promise(() => {})]);
  const answer = post(PLAIN, { signal: client.signal });
  while (modelRequests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  client.abort();
  assert.is((await answer).status, 499);
  assert.ok(modelRequests[0]!.signal.aborted);
  assert.equal(events, []);
});

test("with skills the endpoint gets the client's version and the markers that Trivet does not handle", async () => {
  const upstream = {
    url: "https://models.test/anthropic/v1/?x=1",
    headers: { authorization: "Bearer other-secret", "x-api-key": "another" },
  };
  const { send, modelRequests } = newMessages([json([text("Hi")])], { upstream });
  const markers = "code-execution-2025-08-25, skills-2025-10-02 ,files-api-2025-04-14,context-1m";
  await send(createRequest(["forms"]), {
    "anthropic-version": "2023-06-01",
    "anthropic-beta": markers,
    "x-api-key": "mine",
  });
  assert.is(modelRequests[0]!.url, "https://models.test/anthropic/v1/messages?x=1");
  assert.equal(Object.fromEntries(modelRequests[0]!.headers), {
    accept: "application/json",
    "anthropic-beta": "files-api-2025-04-14,context-1m",
    "anthropic-version": "2023-06-01",
    authorization: "Bearer other-secret",
    "content-type": "application/json",
    "x-api-key": "another",
  });
});

test("an invalid URL or limit is refused at start", () => {
  for (const url of ["", "models.test", "ftp://models.test", "https://u:p@models.test"]) {
    assert.throws(
      () => newMessages([], { upstream: { url } }),
      (error: unknown) => error instanceof TypeError,
    );
  }
  for (const sizeLimit of [0, -1, 1.5, NaN]) {
    assert.throws(
      () => newMessages([], { upstream: { url: "https://models.test", sizeLimit } }),
      (error: unknown) => error instanceof RangeError && error.message.includes('"sizeLimit"'),
    );
  }
  for (const limit of [0, -1, 1.5, Infinity, NaN, 2 ** 31]) {
    const upstream = { url: "https://models.test", idleLimit: limit };
    assert.throws(
      () => newMessages([], { upstream }),
      (error: unknown) => error instanceof RangeError && error.message.includes('"idleLimit"'),
    );
  }
});

test.run();
