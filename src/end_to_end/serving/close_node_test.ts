import { connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../../test_until.ts";
import { entries, sendRaw, waitingHandler } from "../test_entries.ts";

for (const [name, serve] of Object.entries(entries)) {
  const test = suite(`close() of a server of ${name}`);

  test("close() waits for a request in flight and accepts no connections", async () => {
    const handler = waitingHandler();
    const server = await serve(handler, { port: 0 });
    await (await fetch(server.url)).text();
    const slow = fetch(`${server.url}/slow`);
    await handler.arrived;
    const closed = server.close();
    setTimeout(handler.release, 100);
    assert.is(await (await slow).text(), "done");
    await closed;
    assert.is(await fetch(server.url).then(() => "connected", () => "refused"), "refused");
  });

  test("the response during close() is the last one of its connection", async () => {
    const handler = waitingHandler();
    const server = await serve(handler, { port: 0 });
    const answer = sendRaw(server.port, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await handler.arrived;
    const closed = server.close();
    setTimeout(handler.release, 100);
    // Deno closes the connection without the field.
    assert.match(await answer, name === "deno" ? /^HTTP\/1\.1 200/ : /^connection: close\r$/im);
    await closed;
  });

  // The others read a request after the response to the one before.
  if (name.includes("node")) {
    test("pipelined requests that arrived before close() are all answered", async () => {
      const begun: (() => void)[] = [];
      const server = await serve({
        async fetch({ url }: Request) {
          await new Promise<void>((resolve) => begun.push(resolve));
          return new Response(new URL(url).pathname);
        },
      }, { port: 0 });
      const answer = sendRaw(
        server.port,
        ["/1", "/2"].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""),
      );
      await until(() => begun.length === 2, "both requests have begun");
      const closed = server.close();
      for (const end of begun) end();
      const text = await answer;
      assert.match(text, /\/1\r\n[^]*connection: close[^]*\/2\r\n/i);
      assert.is(text.match(/connection: close/gi)?.length, 1);
      await closed;
    });
  }

  test("close() closes idle connections at once, also those without a request", async () => {
    const handler = waitingHandler();
    const server = await serve(handler, { port: 0 });
    await (await fetch(server.url)).text();
    const silent = connect(server.port, "127.0.0.1");
    silent.on("error", () => {});
    const cut = new Promise<void>((resolve) => silent.on("close", () => resolve()));
    await new Promise((resolve) => silent.on("connect", resolve));
    // Accepted in the order of connections.
    await (await fetch(server.url, { headers: { connection: "close" } })).text();
    const started = Date.now();
    await server.close();
    assert.ok(Date.now() - started < 4000);
    silent.destroy();
    await cut;
  });

  test("close() stops waiting after closeTimeout", async () => {
    const handler = waitingHandler();
    const server = await serve(handler, { port: 0, closeTimeout: 100 });
    const slow = fetch(`${server.url}/slow`).then((response) => response.status, () => "broken");
    await handler.arrived;
    const started = Date.now();
    await server.close();
    handler.release();
    assert.ok(Date.now() - started < 5000);
    await slow;
  });

  test.run();
}
