import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BodyError } from "./body.ts";
import { type Pace, readPaced, SlowBodyError } from "./paced_body.ts";

const test = suite("http/paced_body");

/** Reads a body; the pieces that came, what was thrown, and whether the sender was cut off. */
async function read(
  source: UnderlyingDefaultSource<Uint8Array>,
  pace: Pace = { idle: 5000, whole: 5000 },
  take: (piece: Uint8Array) => void = () => {},
): Promise<{ sizes: number[]; error: unknown; cut: boolean }> {
  let cut = false;
  const body = new ReadableStream<Uint8Array>({ ...source, cancel: () => void (cut = true) });
  const sizes: number[] = [];
  const error = await readPaced(body, pace, (piece) => {
    sizes.push(piece.length);
    take(piece);
  }).then(() => undefined, (error) => error);
  // The sender hears of it in a turn of its own.
  await new Promise((resolve) => setTimeout(resolve, 1));
  return { sizes, error, cut };
}

test("all pieces come in order", async () => {
  let sent = 0;
  const { sizes, error, cut } = await read({
    pull(controller) {
      if (sent === 3) controller.close();
      else controller.enqueue(new Uint8Array(++sent));
    },
  });
  assert.equal(sizes, [1, 2, 3]);
  assert.is(error, undefined);
  assert.not.ok(cut);
});

test("the memory of a piece is given back when it was looked at, unless somebody else may have it", async () => {
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

test("a sender that brings too little is cut off when he has had time to get up to speed", async () => {
  for (const rate of [0, 1_000_000]) {
    let sent = 0;
    const { sizes, error, cut } = await read({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (++sent === 40) controller.close();
        else controller.enqueue(new Uint8Array(10));
      },
    }, { idle: 5000, whole: 60_000, rate, grace: 50 });
    if (rate === 0) assert.is(error, undefined);
    else assert.instance(error, SlowBodyError);
    assert.is(cut, rate > 0);
    assert.ok(rate === 0 ? sizes.length === 39 : sizes.length < 39);
  }
});

test("a sender that falls silent is given up and cut off", async () => {
  const { error, cut } = await read({ start: (controller) => controller.enqueue(new Uint8Array(1)) }, {
    idle: 20,
    whole: 5000,
  });
  assert.instance(error, SlowBodyError);
  assert.is((error as SlowBodyError).status, 400);
  assert.is((error as SlowBodyError).limit, "idle");
  assert.match((error as SlowBodyError).message, "1 s");
  assert.ok(cut);
});

test("a sender that drips is given up and cut off as well", async () => {
  const { sizes, error, cut } = await read({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      controller.enqueue(new Uint8Array(1));
    },
  }, { idle: 5000, whole: 100 });
  assert.ok(sizes.length > 0);
  assert.instance(error, SlowBodyError);
  assert.is((error as SlowBodyError).limit, "whole");
  assert.match((error as SlowBodyError).message, "1 s");
  assert.ok(cut);
});

test("a sender that breaks off is 400", async () => {
  const { error } = await read({ pull: (controller) => controller.error(new Error("connection lost")) });
  assert.instance(error, BodyError);
  assert.not.instance(error, SlowBodyError);
  assert.is((error as BodyError).status, 400);
});

test("what the reader throws ends it, and cuts the sender off", async () => {
  const refusal = new BodyError(413, "too much");
  const { sizes, error, cut } = await read(
    { pull: (controller) => controller.enqueue(new Uint8Array(9)) },
    undefined,
    () => {
      throw refusal;
    },
  );
  assert.is(error, refusal);
  assert.equal(sizes, [9]);
  assert.ok(cut);
});

test.run();
