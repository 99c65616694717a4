import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BodyError } from "./body_error.ts";
import { type Pace, readPaced, SlowBodyError } from "./paced_body.ts";

const test = suite("http/paced_body");
const isWorkerd = globalThis.navigator?.userAgent === "Cloudflare-Workers";

/** Reads a body; the sizes of its chunks, the error, and whether the body was cancelled. */
async function read(
  source: UnderlyingDefaultSource<Uint8Array>,
  pace: Pace = { idle: 5000, whole: 5000 },
  take: (piece: Uint8Array) => void = () => {},
): Promise<{ sizes: number[]; error: unknown; cancelled: boolean }> {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({ ...source, cancel: () => void (cancelled = true) });
  const sizes: number[] = [];
  const error = await readPaced(body, pace, (piece) => {
    sizes.push(piece.length);
    take(piece);
  }).then(() => undefined, (error) => error);
  // Cancelling is asynchronous.
  await new Promise((resolve) => setTimeout(resolve, 1));
  return { sizes, error, cancelled };
}

test("all chunks are read in order", async () => {
  let sent = 0;
  const { sizes, error, cancelled } = await read({
    pull(controller) {
      if (sent === 3) controller.close();
      else controller.enqueue(new Uint8Array(++sent));
    },
  });
  assert.equal(sizes, [1, 2, 3]);
  assert.is(error, undefined);
  assert.not.ok(cancelled);
});

test("a large chunk is taken in order, in steps between which other work runs", async () => {
  const chunk = new Uint8Array(1_000_000).map((_, i) => i % 251);
  const taken: number[] = [];
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const { error } = await read(
    {
      start(controller) {
        controller.enqueue(chunk);
        controller.close();
      },
    },
    undefined,
    (piece) => {
      for (const byte of piece) taken.push(byte);
      // The clock of workerd stops while code runs, so no slice ends there.
      for (const until = performance.now() + 11; !isWorkerd && performance.now() < until;);
    },
  );
  clearInterval(timer);
  assert.is(error, undefined);
  assert.equal(taken, [...chunk]);
  if (!isWorkerd) assert.ok(turns > 5);
});

test("the buffer of a chunk is detached after use, unless a tee of the stream shares it", async () => {
  const pieces: Uint8Array[] = [];
  const source = {
    start(controller: { enqueue(piece: Uint8Array<ArrayBuffer>): void; close(): void }) {
      controller.enqueue(Uint8Array.of(1, 2, 3));
      controller.close();
    },
  };
  const take = (piece: Uint8Array): void => {
    assert.equal([...piece], [1, 2, 3]);
    pieces.push(piece);
  };
  const pace = { idle: 5000, whole: 5000 };
  await readPaced(new ReadableStream({ ...source, type: "bytes" }), pace, take);
  const shared = new ReadableStream(source).tee();
  for (const body of shared) await readPaced(body, pace, take);
  assert.equal(pieces.map(({ length }) => length), [0, 3, 3]);
});

test("a body below the minimum rate is cancelled after the grace period", async () => {
  for (const rate of [0, 1_000_000]) {
    let sent = 0;
    const { sizes, error, cancelled } = await read({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (++sent === 40) controller.close();
        else controller.enqueue(new Uint8Array(10));
      },
    }, { idle: 5000, whole: 60_000, rate, grace: 50 });
    if (rate === 0) assert.is(error, undefined);
    else assert.instance(error, SlowBodyError);
    assert.is(cancelled, rate > 0);
    assert.ok(rate === 0 ? sizes.length === 39 : sizes.length < 39);
  }
});

test("a body that pauses longer than the idle limit gets 400 and is cancelled", async () => {
  const { error, cancelled } = await read({ start: (controller) => controller.enqueue(new Uint8Array(1)) }, {
    idle: 20,
    whole: 5000,
  });
  assert.instance(error, SlowBodyError);
  assert.is((error as SlowBodyError).status, 400);
  assert.is((error as SlowBodyError).limit, "idle");
  assert.match((error as SlowBodyError).message, "1 s");
  assert.ok(cancelled);
});

test("a body that takes longer than the whole limit is cancelled", async () => {
  const { sizes, error, cancelled } = await read({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      controller.enqueue(new Uint8Array(1));
    },
  }, { idle: 5000, whole: 100 });
  assert.ok(sizes.length > 0);
  assert.instance(error, SlowBodyError);
  assert.is((error as SlowBodyError).limit, "whole");
  assert.match((error as SlowBodyError).message, "1 s");
  assert.ok(cancelled);
});

test("a body that breaks off gets 400", async () => {
  const { error } = await read({ pull: (controller) => controller.error(new Error("connection lost")) });
  assert.instance(error, BodyError);
  assert.not.instance(error, SlowBodyError);
  assert.is((error as BodyError).status, 400);
});

test("an error of the consumer is thrown and cancels the body", async () => {
  const refusal = new BodyError(413, "too much");
  const { sizes, error, cancelled } = await read(
    { pull: (controller) => controller.enqueue(new Uint8Array(9)) },
    undefined,
    () => {
      throw refusal;
    },
  );
  assert.is(error, refusal);
  assert.equal(sizes, [9]);
  assert.ok(cancelled);
});

test.run();
