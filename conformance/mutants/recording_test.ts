/**
 * Replaying a recorded exchange finds what a fault changes.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { onPath, pathOf, withBody, withHeaders, withRequestHeaders } from "./http_faults.ts";
import type { Handler, Wrap } from "./mutant.ts";
import { findAffected, record, type RecordedExchange } from "./recording.ts";

const test = suite("recording");

const server: Handler = async (request) => {
  if (pathOf(request) === "/empty") return new Response(null, { status: 204 });
  if (pathOf(request) === "/stream") return new Response(new ReadableStream({ start: (c) => c.enqueue(B) }));
  return Response.json({ sent: await request.text() }, { headers: { "x-kept": "yes" } });
};
const B = new Uint8Array([1]);
const at = (path: string, body?: string): Request =>
  new Request(`https://server.example${path}`, { ...(body !== undefined && { method: "POST", body }) });

async function recordAll(vectors: Record<string, Request[]>): Promise<Map<string, RecordedExchange[]>> {
  const recordings = new Map<string, RecordedExchange[]>();
  for (const [name, requests] of Object.entries(vectors)) {
    const exchanges: RecordedExchange[] = [];
    const handler = record(server, exchanges);
    for (const request of requests) {
      const answer = await handler(request);
      if (pathOf(request) === "/stream") await answer.body!.cancel();
      else await answer.text();
    }
    recordings.set(name, exchanges);
  }
  return recordings;
}

const recordings = await recordAll({
  form: [at("/token", "code=C"), at("/token", "code=D")],
  page: [at("/page"), at("/empty")],
});
const affected = async (wrap: Wrap): Promise<string[]> => [...await findAffected(wrap, recordings)];

test("what is recorded reaches the server and the vector unchanged", async () => {
  const exchanges: RecordedExchange[] = [];
  const answer = await record(server, exchanges)(at("/token", "code=C"));
  assert.equal(await answer.json(), { sent: "code=C" });
  assert.is(answer.headers.get("x-kept"), "yes");
  assert.equal(exchanges.map(({ path, method, isComplete }) => [path, method, isComplete]), [
    ["/token", "POST", true],
  ]);
});

test("a fault that changes nothing affects no vector, also when it copies", async () => {
  assert.equal(await affected((next) => next), []);
  const copy: Wrap = (next) => async (request) => {
    const answer = await next(request.clone() as Request);
    return new Response(await answer.text() || null, { status: answer.status, headers: answer.headers });
  };
  assert.equal(await affected(copy), []);
});

test("a fault affects the vectors whose request, response or number of requests it changes", async () => {
  const onForms = (change: (next: Handler) => Handler): Wrap => (next) => async (request) =>
    await (/D/.test(await request.clone().text()) ? change(next) : next)(request);
  const faults: ((next: Handler) => Handler)[] = [
    (next) => async (request) => await next(withRequestHeaders(request, { authorization: "Bearer x" })),
    (next) => async (request) => await next(new Request(request.url, { method: "POST", body: "code=C" })),
    (next) => async (request) => withHeaders(await next(request), { "x-kept": undefined }),
    (next) => async (request) => withBody(await next(request), "{}"),
    (next) => async (request) => withHeaders(await next(request), {}, 400),
    (next) => async (request) => {
      await next(request.clone() as Request);
      return await next(request);
    },
    () => () => Promise.resolve(new Response('{"sent":"code=D"}')),
    () => () => Promise.reject(new Error("broken")),
    () => () => new Promise(() => {}),
  ];
  for (const fault of faults) assert.equal(await affected(onForms(fault)), ["form"]);
});

test("a fault of one path affects the vectors that request it, and remembers other paths", async () => {
  const seen: string[] = [];
  const remember: Wrap = Object.assign((next: Handler): Handler => (request) => {
    seen.push(pathOf(request));
    return next(request);
  }, { path: "/page" });
  assert.equal(await affected(remember), []);
  assert.equal(seen, ["/page", "/empty"]);
  const wrap = onPath("/empty", () => () => Promise.resolve(new Response("more")));
  assert.equal(await affected(wrap), ["page"]);
});

test("a vector that leaves a stream open counts as affected", async () => {
  const open = await recordAll({ open: [at("/stream")] });
  assert.equal([...await findAffected((next) => next, open)], ["open"]);
});

test.run();
