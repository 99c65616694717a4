import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../../test_until.ts";
import { streamOf } from "./node_upload_body.ts";

const test = suite("the body of a request on Node");

/** A request with two chunks, and how often its connection was cut. */
function createRequest(): { request: IncomingMessage & Readable; cuts: () => number } {
  const readable = new Readable({ read() {} });
  for (let i = 0; i < 2; i++) readable.push(new Uint8Array(8000));
  let cuts = 0;
  const request = Object.assign(readable, { socket: { destroy: () => cuts++ } });
  return { request: request as unknown as IncomingMessage, cuts: () => cuts };
}

/** Cancels the body, and then lets all time pass that anything waits for. */
async function cancelAndWait(body: ReadableStream): Promise<void> {
  const { setTimeout } = globalThis;
  const waiting: (() => void)[] = [];
  globalThis.setTimeout = ((work: () => void) => waiting.push(work)) as unknown as typeof setTimeout;
  await body.cancel().finally(() => globalThis.setTimeout = setTimeout);
  for (const work of waiting) work();
}

test("a body that is cancelled before its end is cut when the rest takes too long", async () => {
  const { request, cuts } = createRequest();
  await cancelAndWait(streamOf(request));
  assert.is(cuts(), 1);
});

test("a body that is cancelled after its end leaves the connection to the next request", async () => {
  const { request, cuts } = createRequest();
  request.push(null);
  const body = streamOf(request);
  await until(() => request.readableEnded, "the end of the request");
  await cancelAndWait(body);
  assert.is(cuts(), 0);
});

test.run();
