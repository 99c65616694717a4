import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventStream } from "./http/event_stream.ts";
import { readPaced } from "./http/body/paced_body.ts";
import { MAX_TIMER_MS, timerDelay } from "./timer.ts";

const test = suite("timer");
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

test("a delay above the maximum of timers becomes the maximum", () => {
  for (const long of [MAX_TIMER_MS, MAX_TIMER_MS + 1, 3e9, 2 ** 53, Infinity, NaN]) {
    assert.is(timerDelay(long), MAX_TIMER_MS);
  }
  for (const short of [0, 1, 15_000, MAX_TIMER_MS - 1]) assert.is(timerDelay(short), short);
});

for (const long of [3e9, Infinity]) {
  test(`an event stream with a keep-alive of ${long} ms does not send comments at once`, async () => {
    const stream = new EventStream({ keepAlive: long });
    await pause();
    stream.send("1");
    stream.close();
    assert.is(await stream.response().text(), "data: 1\n\n");
  });

  test(`a body with limits of ${long} ms is read`, async () => {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await pause();
        controller.enqueue(Uint8Array.of(1));
        controller.close();
      },
    }, { highWaterMark: 0 });
    let length = 0;
    await readPaced(body, { idle: long, whole: long }, (piece) => void (length += piece.length));
    assert.is(length, 1);
  });
}

test.run();
