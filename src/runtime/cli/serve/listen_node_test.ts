import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createLateHandler } from "./listen.ts";

const test = suite("cli/serve/listen");

test("a server that starts is alive and not ready, and its other requests wait", async () => {
  const late = createLateHandler();
  const send = async (path: string) => (await late.fetch(new Request(`http://127.0.0.1${path}`))).status;
  assert.equal([await send("/healthz"), await send("/readyz?from=balancer")], [200, 503]);
  const waiting = send("/other");
  late.start({ fetch: () => new Response(null, { status: 204 }) });
  assert.equal([await waiting, await send("/readyz")], [204, 204]);
});

test.run();
