import { resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type RunningWorker, startWorker } from "../../../scripts/test/workerd.ts";

const test = suite("toWorker on workerd");
let worker: RunningWorker;

test.before(async () => {
  const from = (file: string): string => JSON.stringify(resolve("src", file));
  worker = await startWorker(`
    import { createTrivet, memoryStore, tool } from ${from("mod.ts")};
    import { toWorker } from ${from("runtime/workerd.ts")};
    import { createApiKey } from ${from("skills/api_key.ts")};
    let created = 0;
    export default toWorker(() => {
      created++;
      const store = memoryStore();
      let key;
      const trivet = createTrivet({
        issuer: "http://127.0.0.1",
        store,
        oauth: { clients: [{ id: "app", secret: "secret" }], accessTokenFormat: "jwt" },
        mcp: { tools: [tool({ name: "created", description: "Returns how often the handler was created", run: () => created })] },
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

test("all services run without nodejs_compat", async () => {
  assert.match(await (await fetch(worker.url)).text(), /<h1[^>]*>Permission, know-how and tools/);
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
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"created"}}',
    });
    assert.is((await response.json()).result.content[0].text, "1");
  }
});

test("when the handler or its creation throws, the client gets 500 without the error, and onError gets the error", async () => {
  const faulty = await startWorker(`
    import { toWorker } from ${JSON.stringify(resolve("src/runtime/workerd.ts"))};
    const errors = [];
    let created = 0;
    export default toWorker(() => {
      // startWorker() sends the first request, to wait until workerd listens.
      if (created++ < 2) throw new Error("no binding");
      return {
        async fetch(request, context) {
          const { pathname } = new URL(request.url);
          if (pathname === "/throws") throw new Error("the database password is hunter2");
          if (pathname === "/ip") return new Response(context.ip ?? "unknown");
          return new Response(errors.join());
        },
      };
    }, { onError: (error) => errors.push(error.message) });
  `);
  try {
    for (const path of ["/create", "/throws"]) {
      const response = await fetch(faulty.url + path);
      assert.is(response.status, 500);
      const { error, error_description, ...rest } = await response.json();
      assert.equal([error, rest], ["server_error", {}]);
      assert.not.match(error_description, /binding|hunter2/);
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
