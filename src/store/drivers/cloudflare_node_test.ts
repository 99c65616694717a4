import { skipBecause } from "../../../scripts/test/run_files.ts";
import { resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runOnCloudflare, withWorker } from "../../../scripts/test/cloudflare.ts";

const test = suite("D1 and Durable Objects, inside workerd");

if ("Deno" in globalThis || "Bun" in globalThis) {
  // The code under test runs on workerd in any case, and Miniflare, which starts it, requires Node.
  skipBecause(test, "Miniflare runs on Node: the contract on D1 and Durable Objects is tested there");
} else {
  test("the store contract and Trivet pass on D1 and Durable Objects", async () => {
    const { passed, failed, errors } = await runOnCloudflare("src/store/contract/cloudflare_suite.ts");
    assert.is(failed, 0, errors);
    assert.ok(passed >= 75, `${passed} tests`);
  });

  /** A Worker whose isolate has one store. The first call of the database never settles. */
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
        }, { pollEvery: 20 });
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

  test("D1: an isolate works after its first request was aborted, and each watcher polls by itself", () =>
    withWorker(WORKER, {}, async (worker) => {
      const send = (path: string) => worker.dispatchFetch("http://tests" + path);
      // The runtime aborts a request whose promise can never settle.
      assert.not(await send("/set/a").then(({ ok }) => ok, () => false));
      assert.is(await (await send("/set/b")).json(), true);
      assert.is((await (await send("/get/b")).json() as { value: string }).value, "b");
      for (const name of ["c", "d"]) {
        // The request of the first watcher has ended before the second one begins.
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
