import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { ALICE, json, newMessages, type Script, stream, text } from "./test_messages.ts";

const test = suite("skills/messages: memory of all requests");

/** Memory for two requests without a declared length. */
const LIMITS = { bodyLimit: 1000, memory: 2000 };
const PLAIN = { model: "any", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
const callerOf = (client: string): Principal => ({ ...ALICE, client });
const pause = () => new Promise((resolve) => setTimeout(resolve, 30));
const never = (_: unknown, signal: AbortSignal) =>
  new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

interface Ending {
  /** The response of the model, from when `end` was called on. */
  readonly answer: Script[number];
  readonly isStream?: boolean;
  readonly end?: (response: Response) => Promise<unknown>;
  readonly disconnects?: boolean;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  "a message": { answer: () => json([text("Hello")]) },
  "a refusal of the model endpoint": { answer: () => Response.json({}, { status: 400 }) },
  "a model endpoint without connection": { answer: () => Promise.reject(new TypeError("fetch failed")) },
  "a stream that was read": {
    answer: () => stream([text("Hello")], {}, 50),
    isStream: true,
    end: (response) => response.text(),
  },
  "a stream that was cancelled": {
    answer: () => stream([text("Hello")], {}, 50),
    isStream: true,
    end: (response) => response.body!.cancel(),
  },
  "a client that disconnected": { answer: never, disconnects: true },
};

for (const [what, { answer, isStream = false, end, disconnects }] of Object.entries(ENDINGS)) {
  test(`a request beyond the share of its caller waits for an earlier one: ${what}`, async () => {
    const ending = Promise.withResolvers<void>();
    const client = new AbortController();
    const { post, modelRequests } = newMessages([
      async (body, signal) => {
        if (!isStream && !disconnects) await ending.promise;
        return await (answer as (body: unknown, signal: AbortSignal) => Response | Promise<Response>)(
          body,
          signal,
        );
      },
      json([text("other")]),
      json([text("later")]),
    ], LIMITS);
    const principal = callerOf("a");
    const first = post({ ...PLAIN, stream: isStream }, { principal, signal: client.signal }).catch(() =>
      undefined
    );
    const started = isStream ? await first : undefined;
    const later = post(PLAIN, { principal });
    assert.is((await post(PLAIN, { principal: callerOf("b") })).status, 200, "another caller does not wait");
    await pause();
    assert.is(modelRequests.length, 2, "the second request of the caller waits");
    ending.resolve();
    if (disconnects) client.abort();
    if (end) await end(started!);
    assert.equal((await (await later).json()).content, [text("later")]);
    await first;
  });
}

test("refused requests hold no memory, and a declared length is what a request holds", async () => {
  const { post, fetch, modelRequests } = newMessages([never, never, never, json([text("small")])], LIMITS);
  const principal = callerOf("a");
  for (let i = 0; i < 5; i++) {
    assert.is((await post("{", { principal })).status, 400);
    assert.is((await post("x".repeat(1001), { principal })).status, 413);
  }
  const body = JSON.stringify(PLAIN);
  const send = (own: Principal, signal?: AbortSignal) =>
    fetch(
      new Request("https://trivet.test/v1/messages", {
        method: "POST",
        body,
        headers: { "content-length": String(body.length) },
        ...(signal && { signal }),
      }),
      own,
    );
  const clients = new AbortController();
  const waiting = Array.from({ length: 3 }, () => send(principal, clients.signal).catch(() => undefined));
  while (modelRequests.length < 3) await pause();
  assert.is((await send(principal)).status, 200);
  clients.abort();
  await Promise.all(waiting);
});

test("where waiting bodies are in memory already, no more of them wait than there is memory for", async () => {
  const { fetch, modelRequests } = newMessages([never, never, never, never], LIMITS);
  const clients = new AbortController();
  const send = (client: string) => {
    const init = { method: "POST", body: JSON.stringify(PLAIN), signal: clients.signal };
    const request = new Request("https://trivet.test/v1/messages", init);
    return fetch(request, callerOf(client), { isBodyBuffered: true }).catch(() => undefined);
  };
  const first = ["a", "b"].map(send);
  while (modelRequests.length < 2) await pause();
  let settled = 0;
  const waiting = ["c", "d"].map((client) => send(client).then(() => settled++));
  const refused = await send("e");
  assert.is(settled, 0, "it is refused at once, while the others wait");
  assert.is(refused?.status, 529);
  assert.ok(refused?.headers.has("retry-after"));
  clients.abort();
  await Promise.all([...first, ...waiting]);
});

test.run();
