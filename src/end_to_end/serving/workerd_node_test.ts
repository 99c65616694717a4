import { resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type RunningWorker, startWorker } from "../../../scripts/test/workerd.ts";

const test = suite("serving by workerd");
let worker: RunningWorker;

test.before(async () => {
  const from = (file: string): string => JSON.stringify(resolve("src", file));
  worker = await startWorker(`
    import { createTrivet, memoryStore, tool } from ${from("mod.ts")};
    import { toWorker } from ${from("runtime/workerd.ts")};
    import { createApiKey } from ${from("skills/api_key.ts")};
    let made = 0;
    export default toWorker(() => {
      made++;
      const store = memoryStore();
      let key;
      const trivet = createTrivet({
        issuer: "http://127.0.0.1",
        store,
        oauth: { clients: [{ id: "app", secret: "secret" }], accessTokenFormat: "jwt" },
        mcp: { tools: [tool({ name: "made", description: "How often the handler was made", run: () => made })] },
      });
      return {
        async fetch(request, context) {
          if (!request.url.endsWith("/key")) return trivet.fetch(request, context);
          key ??= await createApiKey(store, { name: "test" });
          return new Response(key.secret);
        },
      };
    });
  `);
});
test.after(() => worker.stop());

test("all services work without nodejs_compat", async () => {
  assert.match(await (await fetch(worker.url)).text(), "Trivet</h1>");
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: "app",
    client_secret: "secret",
  });
  const token = await (await fetch(`${worker.url}/oauth/token`, { method: "POST", body: form })).json();
  assert.is(token.access_token.split(".").length, 3);

  const key = await (await fetch(`${worker.url}/key`)).text();
  const body = new FormData();
  body.append(
    "files[]",
    new Blob(["---\nname: edge\ndescription: Runs at the edge.\n---\nText"]),
    "edge/SKILL.md",
  );
  const headers = { "x-api-key": key };
  assert.is((await fetch(`${worker.url}/v1/skills`, { method: "POST", headers, body })).status, 200);
  const bearer = { authorization: `Bearer ${token.access_token}` };
  assert.is((await (await fetch(`${worker.url}/v1/skills`, { headers: bearer })).json()).data.length, 1);
});

test("the handler is created once, with the first request", async () => {
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${worker.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"made"}}',
    });
    assert.is((await response.json()).result.content[0].text, "1");
  }
});

test("when the handler or its creation throws, the client gets 500 without the error, and onError gets the error", async () => {
  const faulty = await startWorker(`
    import { toWorker } from ${JSON.stringify(resolve("src/runtime/workerd.ts"))};
    const heard = [];
    let made = 0;
    export default toWorker(() => {
      // The first request is the one that waits for workerd to listen.
      if (made++ < 2) throw new Error("no binding");
      return {
        async fetch(request, context) {
          const { pathname } = new URL(request.url);
          if (pathname === "/throws") throw new Error("the database password is hunter2");
          if (pathname === "/ip") return new Response(context.ip ?? "none");
          return new Response(heard.join());
        },
      };
    }, { onError: (error) => heard.push(error.message) });
  `);
  try {
    for (const path of ["/making", "/throws"]) {
      const response = await fetch(faulty.url + path);
      assert.is(response.status, 500);
      assert.equal(await response.json(), {
        error: "server_error",
        error_description: "The server failed: try again later",
      });
    }
    assert.is(
      await (await fetch(faulty.url)).text(),
      "no binding,no binding,the database password is hunter2",
    );
    const headers = { "cf-connecting-ip": "192.0.2.7" };
    assert.is(await (await fetch(`${faulty.url}/ip`, { headers })).text(), "192.0.2.7");
  } finally {
    faulty.stop();
  }
});

test.run();
