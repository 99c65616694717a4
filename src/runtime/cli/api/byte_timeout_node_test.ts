import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTimeout } from "./byte_timeout.ts";

const test = suite("timeout between bytes");
const URL_OF_SERVER = new URL("http://127.0.0.1:8787");

test("a chunk that is sent after the response starts no timer: the process could not end", async () => {
  const interrupt = new AbortController().signal;
  const timeout = startTimeout(URL_OF_SERVER, interrupt, 1);
  timeout.stop();
  timeout.restart();
  // A timer that `restart` had started would end before that of a later timeout.
  const late = startTimeout(URL_OF_SERVER, interrupt, 20);
  await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
  assert.is(timeout.signal.aborted, false);
});

test("the signal aborts without a byte in time, and not after a stop", async () => {
  const interrupt = new AbortController().signal;
  const stopped = startTimeout(URL_OF_SERVER, interrupt, 1);
  stopped.stop();
  const late = startTimeout(URL_OF_SERVER, interrupt, 1);
  await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
  assert.match(String(late.signal.reason), "127.0.0.1:8787");
  assert.is(stopped.signal.aborted, false);
});

test.run();
