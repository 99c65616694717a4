import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RateLimitError } from "../rate_limit.ts";
import { ArrivingBodies } from "./arriving_bodies.ts";
import { readChunks } from "./body_chunks.ts";

const test = suite("http/arriving_bodies");
const KB = 1024;
const LIMIT = 1000 * KB;

/** A body that a test sends chunk by chunk, and how reading it ends: the number of its bytes, or the error. */
function newBody(arriving: ArrivingBodies) {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (isCancelled = true),
  });
  let outcome: unknown = "arriving";
  readChunks(stream.getReader(), 2 * LIMIT, undefined, arriving).then(
    ({ length }) => outcome = length,
    (error) => outcome = error,
  );
  return {
    async send(bytes: number, { isLast = false } = {}) {
      controller.enqueue(new Uint8Array(bytes));
      if (isLast) controller.close();
      const isRead = () => isLast ? outcome !== "arriving" : controller.desiredSize === 1;
      do await new Promise((resolve) => setTimeout(resolve)); while (!isRead());
    },
    outcome: () => outcome,
    isCancelled: () => isCancelled,
  };
}

test("above the limit the body that was held back the longest is ended with 429", async () => {
  const arriving = new ArrivingBodies(LIMIT);
  const [older, held, newer] = [newBody(arriving), newBody(arriving), newBody(arriving)];
  await older.send(300 * KB);
  await held.send(300 * KB);
  // The first one still sends, so it is not the one that is held back.
  await older.send(100 * KB);
  await newer.send(400 * KB);
  assert.instance(held.outcome(), RateLimitError);
  assert.ok(held.isCancelled());
  await older.send(100 * KB, { isLast: true });
  await newer.send(100 * KB, { isLast: true });
  assert.is(older.outcome(), 500 * KB);
  assert.is(newer.outcome(), 500 * KB);
});

test("bodies that have arrived, failed or are too large are no longer counted", async () => {
  const arriving = new ArrivingBodies(LIMIT);
  const held = newBody(arriving);
  await held.send(300 * KB);
  for (let i = 0; i < 5; i++) await newBody(arriving).send(600 * KB, { isLast: true });
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(600 * KB));
      controller.error(new Error("gone"));
    },
  }, { highWaterMark: 0 });
  for (
    const [stream, limit] of [[broken, 2 * LIMIT], [
      new Blob([new Uint8Array(600 * KB)]).stream(),
      KB,
    ]] as const
  ) {
    await readChunks(stream.getReader(), limit, undefined, arriving).then(
      () => assert.unreachable(),
      () => {},
    );
  }
  await newBody(arriving).send(600 * KB);
  assert.is(held.outcome(), "arriving");
  await newBody(arriving).send(200 * KB);
  assert.instance(held.outcome(), RateLimitError);
});

test("a body of up to 64 KB is never ended, and neither is the only one above the limit", async () => {
  const arriving = new ArrivingBodies(LIMIT);
  const small = newBody(arriving);
  await small.send(64 * KB);
  const large = newBody(arriving);
  await large.send(LIMIT);
  await large.send(LIMIT, { isLast: true });
  await small.send(0, { isLast: true });
  assert.is(large.outcome(), 2 * LIMIT);
  assert.is(small.outcome(), 64 * KB);
});

test.run();
