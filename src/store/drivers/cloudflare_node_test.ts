import { skipBecause } from "../../../scripts/test/run_files.ts";
import { resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runOnCloudflare, withWorker } from "../../../scripts/test/cloudflare.ts";

const test = suite("D1 and Durable Objects, inside workerd");

if ("Deno" in globalThis || "Bun" in globalThis) {
  // The code under test runs on workerd all the same; Miniflare, which starts it, is made for Node.
  skipBecause(test, "Miniflare runs on Node: the contract on D1 and Durable Objects is tested there");
} else {
  test("the whole store contract, and Trivet on both", async () => {
    const { passed, failed, errors } = await runOnCloudflare("src/store/cloudflare_suite.ts");
    assert.is(failed, 0, errors);
    assert.ok(passed >= 75, `${passed} tests`);
  });

  /** A Worker whose isolate keeps one store; the first call that reaches the database is never answered. */
  const WORKER = `
    import { d1Store } from ${JSON.stringify(resolve("src/store/drivers/d1.ts"))};
    let store, stuck = false;
    export default {
      async fetch(request, { DB }) {
        store ??= d1Store({
          prepare: (sql) => DB.prepare(sql),
          batch(statements) {
            if (stuck) return DB.batch(statements);
            stuck = true;
            return new Promise(() => {});
          },
        }, { lookEvery: 20 });
        const [, action, name] = new URL(request.url).pathname.split("/");
        if (action === "set") return Response.json(await store.commit({ set: [{ key: ["k", name], value: name }] }));
        if (action === "elsewhere") {
          return Response.json(await d1Store(DB).commit({ set: [{ key: ["k", name], value: name }] }));
        }
        if (action === "get") return Response.json(await store.get(["k", name]) ?? null);
        const reader = store.watch(["k"]).getReader();
        const { readable, writable } = new IdentityTransformStream();
        const writer = writable.getWriter();
        (async () => {
          await writer.write(new TextEncoder().encode("watching "));
          await writer.write(new TextEncoder().encode(JSON.stringify((await reader.read()).value)));
          await reader.cancel();
          await writer.close();
        })();
        return new Response(readable, { headers: { "content-type": "text/event-stream", "content-encoding": "identity" } });
      },
    };
  `;

  test("D1: an isolate outlives a first request that broke off, and each watcher looks by itself", () =>
    withWorker(WORKER, {}, async (worker) => {
      const send = (path: string) => worker.dispatchFetch("http://tests" + path);
      // The runtime ends a request that waits for nothing that could come.
      assert.not(await send("/set/a").then(({ ok }) => ok, () => false));
      assert.is(await (await send("/set/b")).json(), true);
      assert.is((await (await send("/get/b")).json() as { value: string }).value, "b");
      for (const name of ["c", "d"]) {
        // The first watcher's request has ended when the second one comes.
        const reader = (await send("/watch")).body!.getReader();
        const decoder = new TextDecoder();
        assert.is(decoder.decode((await reader.read()).value), "watching ");
        await new Promise((resolve) => setTimeout(resolve, 100));
        assert.is(await (await send(`/elsewhere/${name}`)).json(), true);
        assert.is(decoder.decode((await reader.read()).value), '[["k"]]');
        assert.ok((await reader.read()).done);
      }
    }));
}

test.run();
