import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema } from "../json_schema/compile.ts";
import type { ContentItem } from "../mcp/definition/content.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { keepAnswers } from "./kept_answers.ts";
import { errorOf, newApi, oneOperation, type Recorded, user } from "./test_api.ts";

const test = suite("openapi/answer");

const document = oneOperation({});
const reply = (answer: (request: Recorded) => Response | Promise<Response>, options = {}) =>
  newApi({ document, ...options }, answer);
const result = (response: Response, options = {}) => reply(() => response, options).call("op");
const text = (item: ContentItem | undefined) => item?.type === "text" ? item.text : undefined;
const linkOf = (items: readonly ContentItem[]) =>
  items.flatMap((each) => each.type === "resource_link" ? [each] : [])[0];

test("JSON is structured content and text", async () => {
  const { content, structuredContent, isError } = await result(Response.json({ a: [1] }));
  assert.equal(structuredContent, { a: [1] });
  assert.is(text(content[0]), '{"a":[1]}');
  assert.is(isError, undefined);
  const problem = new Response('{"a":1}', { headers: { "content-type": "application/problem+json" } });
  assert.equal((await result(problem)).structuredContent, { a: 1 });
  const broken = new Response("{", { headers: { "content-type": "application/json" } });
  assert.equal(await result(broken), { content: [{ type: "text", text: "{" }] });
});

test("text is text, images and sound are content, other bytes are a resource", async () => {
  const of = (type: string, body: BodyInit = "x") =>
    result(new Response(body, { headers: { "content-type": type } }));
  assert.is(text((await of("text/csv; charset=utf-8")).content[0]), "x");
  assert.equal((await of("image/png")).content, [{ type: "image", data: "eA==", mimeType: "image/png" }]);
  assert.is((await of("audio/mpeg")).content[0]!.type, "audio");
  const latin = await of("text/plain; charset=iso-8859-1", Uint8Array.of(0xe9));
  assert.is(text(latin.content[0]), "é");
  const bytes = await of("application/pdf");
  assert.is(linkOf(bytes.content)?.mimeType, "application/pdf");
  assert.is(
    text((await result(new Response(null, { status: 204 }))).content[0]),
    "Status 204, without content.",
  );
});

test("a tool with an output schema always has an object as structured content", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const described = oneOperation({ responses: { 200: { content: { "application/json": { schema } } } } });
  const structured = async (response: Response) =>
    (await result(response, { document: described, answerLimit: 100 })).structuredContent;
  assert.equal(await structured(Response.json({ a: "x" })), { a: "x" });
  assert.equal(await structured(Response.json({ a: null })), { a: null });
  assert.equal(await structured(Response.json([1])), { value: [1] });
  for (
    const other of [
      new Response("text"),
      new Response(null, { status: 204 }),
      Response.json({ a: "x".repeat(200) }),
    ]
  ) {
    assert.type((await structured(other) as { notice: string }).notice, "string");
  }
});

test("the output schema allows each object, also where its members have names of ours", async () => {
  const properties = { name: { type: "string" }, uri: { type: "string" }, notice: { type: "string" } };
  const schema = { type: "object", properties, required: ["name"] };
  const described = oneOperation({ responses: { 200: { content: { "application/json": { schema } } } } });
  for (const answer of [{ name: "a", uri: null }, { notice: { text: "b" } }, { uri: 1 }]) {
    const api = reply(() => Response.json(answer), { document: described });
    const { structuredContent } = await api.call("op");
    assert.equal(structuredContent, answer);
    assert.equal(compileSchema(api.tool("op").output as JsonSchema)(structuredContent), []);
  }
});

test("a large answer is cut and linked, and only its caller can read it", async () => {
  const whole = JSON.stringify({ text: "x".repeat(500) });
  const api = reply(() => new Response(whole, { headers: { "content-type": "application/json" } }), {
    answerLimit: 100,
  });
  const mine = { principal: user("a") };
  const { content, structuredContent } = await api.call("op", {}, mine);
  assert.is(structuredContent, undefined);
  const link = linkOf(content)!;
  assert.is(link.size, whole.length);
  assert.match(link.uri, /^openapi:\/\/one\/answers\//);
  assert.equal(await api.read(link.uri, mine), { content: whole, mimeType: "application/json" });
  for (const other of [user("b"), { ...user("a"), client: "c" }, { ...user("a"), issuer: "i" }, undefined]) {
    assert.is(await api.read(link.uri, { principal: other }), undefined);
  }
});

test("a call does not fail because its answer cannot be kept", async () => {
  const answers = {
    set: () => Promise.reject(new StoreUnavailableError("away")),
    get: () => undefined,
  };
  const long = await result(Response.json("x".repeat(500)), { answers, answerLimit: 100 });
  assert.is(long.isError, undefined);
  assert.match(
    text(long.content[0])!,
    /^The answer has 502 bytes, .* ask for less\. The whole could not be kept\.$/,
  );
  assert.match(text(long.content[1])!, /^It begins with:\n"xxx/);
  const bytes = await result(new Response("x", { headers: { "content-type": "application/pdf" } }), {
    answers,
  });
  assert.equal(bytes, {
    content: [{ type: "text", text: "An answer of application/pdf, 1 bytes, which could not be kept." }],
  });
});

test("kept answers end with their time, and one caller cannot drop those of others", async () => {
  let now = 0;
  const store = keepAnswers({ maxBytes: 10_000, lifetime: 100, now: () => now });
  const answer = { bytes: new Uint8Array(100), mimeType: "" };
  await store.set(["b", "first"], answer);
  for (let i = 0; i < 50; i++) await store.set(["a", String(i)], answer);
  assert.ok(await store.get(["b", "first"]));
  assert.ok(await store.get(["a", "49"]));
  assert.is(await store.get(["a", "0"]), undefined);
  for (let i = 0; i < 20; i++) await store.set([`u${i}`, "x"], answer);
  assert.is(await store.get(["b", "first"]), undefined);
  assert.ok(await store.get(["u19", "x"]));
  now = 101;
  assert.is(await store.get(["u19", "x"]), undefined);
});

test("many small kept answers count with what they take besides their content", async () => {
  const store = keepAnswers({ maxBytes: 4_000_000 });
  for (let i = 0; i < 20_000; i++) {
    await store.set(["a", String(i)], { bytes: new Uint8Array(1), mimeType: "" });
  }
  assert.is(await store.get(["a", "17000"]), undefined);
  assert.ok(await store.get(["a", "19000"]));
});

test("an answer above the limit of bytes is not read to its end", async () => {
  let sent = 0;
  let isCancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      sent++;
      controller.enqueue(new Uint8Array(1000));
    },
    cancel() {
      isCancelled = true;
    },
  });
  const message = await errorOf(() => result(new Response(endless), { downloadLimit: 10_000 }));
  assert.match(message, /more than 10000 bytes/);
  assert.ok(sent < 20);
  assert.ok(isCancelled);
});

test("errors are results with status and the beginning of the body", async () => {
  const { content, isError } = await result(new Response("y".repeat(9000), { status: 500 }));
  assert.is(isError, true);
  assert.match(text(content[0])!, /status 500/);
  assert.ok(text(content[0])!.length < 5000);
  for (
    const [status, pattern] of [[401, /credentials/], [403, /credentials/], [404, /nothing/], [
      418,
      /418/,
    ]] as const
  ) {
    assert.match(text((await result(new Response("", { status }))).content[0])!, pattern);
  }
});

test("429 and 503 say when to call again", async () => {
  const wait = async (value: string) =>
    text((await result(new Response("", { status: 429, headers: { "retry-after": value } }))).content[0])!;
  assert.match(await wait("7"), /after 7 seconds/);
  assert.match(await wait(new Date(Date.now() + 90_000).toUTCString()), /after \d\d seconds/);
  assert.match(await wait("soon"), /later/);
});

test("redirects are refused", async () => {
  const api = reply(() =>
    new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } })
  );
  const message = await errorOf(() => api.call("op"));
  assert.match(message, /redirect/);
  assert.not.match(message, /169/);
  assert.is(api.requests.length, 1);
});

test("links to other pages are told", async () => {
  const headers = { link: '<https://api.example/things?page=2>; rel="next"' };
  const { content } = await result(Response.json([1], { headers }));
  assert.match(text(content[1])!, /page=2/);
});

test("time is limited, also where fetch ignores the signal, and a cancelled call ends", async () => {
  const never = () => new Promise<Response>(() => {});
  assert.match(await errorOf(() => reply(never, { timeout: 5 }).call("op")), /did not answer within 5 ms/);
  const stalled = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }));
  assert.match(await errorOf(() => reply(stalled, { timeout: 5 }).call("op")), /did not answer within/);
  const controller = new AbortController();
  const call = errorOf(() => reply(never).call("op", {}, { signal: controller.signal }));
  controller.abort();
  assert.match(await call, /cancelled/);
});

test("the error of a connection names no address", async () => {
  const api = reply(() => {
    throw new TypeError("connect ECONNREFUSED https://api.example?key=secret");
  });
  assert.is(await errorOf(() => api.call("op")), "The API could not be reached");
});

test.run();
