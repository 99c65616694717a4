import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import { RpcError } from "../../jsonrpc/error.ts";
import { prompt, tool } from "../definition/define.ts";
import { modernHeaders, modernParams } from "../test_exchange.ts";
import { call, newServer, request, STREAMABLE } from "../test_server.ts";

const test = suite("mcp/http");
const NOTIFICATION = { jsonrpc: "2.0", method: "notifications/initialized" };

// The Streamable HTTP profile.

test("streamable: notifications and responses get 202 with an empty body", async () => {
  for (const message of [NOTIFICATION, { jsonrpc: "2.0", id: 1, result: {} }]) {
    const { status, body } = await newServer().post(message, STREAMABLE);
    assert.is(status, 202);
    assert.is(body, undefined);
  }
});

for (
  const [what, message, status, code] of [
    ["an unknown method", request("no/such"), 200, -32601],
    ["an unknown tool", call("nothing"), 200, -32602],
    ["an unknown prompt", request("prompts/get", { name: "nothing" }), 200, -32602],
    ["an unknown resource", request("resources/read", { uri: "test://nothing" }), 200, -32002],
    ["a missing parameter", request("tools/call", {}), 200, -32602],
    ["invalid JSON", "{", 400, -32700],
    ["a message of another version", { jsonrpc: "1.0", id: 1, method: "ping" }, 400, -32600],
    ["a batch in 2025-11-25", [request("ping")], 400, -32600],
  ] as const
) {
  test(`streamable: ${what} gets ${status} with ${code}`, async () => {
    const answer = await newServer().post(message, STREAMABLE);
    assert.is(answer.status, status);
    assert.is(answer.body.error.code, code);
  });
}

test("streamable: batches are allowed only in 2025-03-26, which is the default", async () => {
  const { post } = newServer();
  const accept = STREAMABLE.accept;
  assert.is((await post([request("ping")], { accept })).status, 200);
  assert.is((await post([request("ping")], { accept, "mcp-protocol-version": "2025-03-26" })).status, 200);
  assert.is((await post([NOTIFICATION], { accept })).status, 202);
  for (const revision of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
    assert.is((await post([request("ping")], { accept, "mcp-protocol-version": revision })).status, 400);
  }
});

test("an unsupported MCP-Protocol-Version is refused with 400 and the supported revisions", async () => {
  for (const version of ["2099-01-01", "1999-01-01", "", "2025-11-25, 2025-06-18"]) {
    const { status, body } = await newServer().post(request("ping"), { "mcp-protocol-version": version });
    assert.is(status, 400);
    assert.is(body.id, 1);
    assert.is(body.error.code, -32022);
    assert.equal(body.error.data, {
      supported: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
      requested: version,
    });
  }
});

// Checks before a message is dispatched.

test("a foreign Host or Origin is refused with 403", async () => {
  const { server } = newServer();
  for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(request("ping")),
    };
    const response = await server.fetch(
      new Request(`http://${"host" in headers ? headers.host : "127.0.0.1"}/mcp`, init),
    );
    assert.is(response.status, 403);
    assert.is((await response.json()).error.code, -32600);
  }
});

test("GET and DELETE without a session, and PUT, are refused with 405 and Allow", async () => {
  const { server } = newServer();
  for (const method of ["GET", "DELETE", "PUT"]) {
    const response = await server.fetch(new Request("http://127.0.0.1/mcp", { method }));
    assert.is(response.status, 405);
    assert.is(
      response.headers.get("allow"),
      method === "PUT" ? "POST, GET, DELETE, OPTIONS" : "POST, OPTIONS",
    );
  }
  const options = await server.fetch(new Request("http://127.0.0.1/mcp", { method: "OPTIONS" }));
  assert.is(options.status, 204);
  assert.is(options.headers.get("allow"), "POST, GET, DELETE, OPTIONS");
});

const unwritable = [
  tool({
    name: "big",
    description: "Returns a value that JSON cannot represent",
    run: () => ({ content: [], _meta: { of: 1n } }),
  }),
  prompt({ name: "big", get: () => ({ messages: [], _meta: { of: 1n } }) }),
  tool({
    name: "refuse",
    description: "Throws data that JSON cannot represent",
    run() {
      throw new RpcError(7, "No", 1n);
    },
  }),
];
for (const headers of [{}, STREAMABLE, { accept: STREAMABLE.accept }]) {
  for (const message of [call("big"), request("prompts/get", { name: "big" }), call("refuse")]) {
    const profile = Object.keys(headers).join() || "plain";
    test(`${profile}: a result that JSON cannot represent is an internal error`, async () => {
      const { post, events } = newServer({ definitions: unwritable });
      const { status, body } = await post(message, headers);
      assert.is(status, profile === "plain" ? 500 : 200);
      assert.equal([body.id, body.error.code], [1, -32603]);
      assert.is(events.filter(({ type }) => type === "fault").length, 1);
    });
  }
}

test("a method does not run as a notification, nor a notification as a request", async () => {
  const { post, events } = newServer();
  for (const headers of [{}, STREAMABLE]) {
    const { id: _, ...notification } = call("no_input");
    assert.is((await post(notification, headers)).body, undefined);
    const { body } = await post(request("notifications/cancelled", { requestId: 1 }), headers);
    assert.is(body.error.code, -32601);
  }
  assert.equal(events, []);
});

test("an id beyond the exact integers is refused in every era", async () => {
  const { post } = newServer();
  const params = JSON.stringify(modernParams());
  for (const headers of [{}, STREAMABLE, modernHeaders("server/discover")]) {
    const { status, body } = await post(
      `{"jsonrpc":"2.0","id":12345678901234567890,"method":"server/discover","params":${params}}`,
      headers,
    );
    assert.equal([status, body.error.code, body.id ?? null], [400, -32600, null]);
  }
});

test("a progress token that notifications could not repeat is ignored", async () => {
  const asks = tool({
    name: "asks",
    description: "Reports",
    async run(_, context) {
      await context.progress(1);
      return "done";
    },
  });
  const { post } = newServer({ definitions: [asks] });
  for (const token of ["1e999", "12345678901234567890", "null"]) {
    const text =
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks","_meta":{"progressToken":${token}}}}`;
    const { headers } = await post(text, STREAMABLE);
    assert.is(headers.get("content-type"), "application/json");
  }
});

test("a browser's preflight is answered without a token", async () => {
  const response = await newServer({ auth: "required" }).server.fetch(
    new Request("http://127.0.0.1/mcp", {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,mcp-protocol-version",
      },
    }),
  );
  assert.is(response.status, 204);
  assert.is(response.headers.get("access-control-allow-headers"), "authorization,mcp-protocol-version");
});

test("on loopback scripts of the requesting origin may read, elsewhere those of all allowed origins", async () => {
  const allowed = ["https://app.example"];
  for (
    const [issuer, origin, expected] of [
      ["http://127.0.0.1", "http://localhost:3000", "http://localhost:3000"],
      ["http://127.0.0.1", "https://app.example", "https://app.example"],
      ["https://a.example", "https://app.example", "*"],
    ] as const
  ) {
    const { server } = newServer({ issuer, allowedOrigins: allowed });
    const preflight = { origin, "access-control-request-method": "POST" };
    const json = { origin, "content-type": "application/json" };
    const body = JSON.stringify(request("ping"));
    for (
      const init of [
        { method: "OPTIONS", headers: preflight },
        { method: "POST", headers: json, body },
        { method: "POST", headers: json, body: "{" },
      ]
    ) {
      const { headers } = await server.fetch(new Request(`${issuer}/mcp`, init));
      assert.is(headers.get("access-control-allow-origin"), expected);
      assert.is(/\borigin\b/.test(headers.get("vary") ?? ""), expected !== "*");
    }
    const own = await server.fetch(new Request(`${issuer}/mcp`, { method: "POST" }));
    assert.is(own.headers.get("access-control-allow-origin"), null);
  }
});

test("a Content-Type that is not JSON is refused with 415", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]) {
    assert.is((await newServer().post(request("ping"), { "content-type": type })).status, 415);
  }
  assert.is(
    (await newServer().post(request("ping"), { "content-type": "Application/JSON; charset=utf-8" })).status,
    200,
  );
});

test("other paths get 404", async () => {
  const { server } = newServer();
  for (const path of ["/mcp/", "/mcp/x", "/mcpx"]) {
    assert.is((await server.fetch(new Request("http://127.0.0.1" + path, { method: "POST" }))).status, 404);
    assert.is((await server.fetch(new Request("http://evil.example" + path))).status, 403);
  }
});

// Arbitrary input.

test("a thousand generated messages get valid responses, and 500 only for unknown names", async () => {
  const { post, events } = newServer();
  const random = createRandom(7);
  const values = [null, true, 0, -1, 1e308, "", "add", "tools/call", "\u0000", "\ud800", [], [[]], {}, {
    name: "add",
  }, { __proto__: 1 }];
  const pick = (): unknown => values[random(values.length)];
  const methods = ["tools/call", "tools/list", "initialize", "ping", "prompts/get", "resources/read", "x"];
  for (let i = 0; i < 1000; i++) {
    const message = random(4) === 0 ? pick() : {
      jsonrpc: random(8) === 0 ? pick() : "2.0",
      id: pick(),
      method: random(8) === 0 ? pick() : methods[random(methods.length)],
      params: random(3) === 0
        ? pick()
        : { name: pick(), arguments: pick(), uri: pick(), cursor: pick(), protocolVersion: pick() },
    };
    const { status, body } = await post(message, random(2) ? STREAMABLE : {});
    assert.ok([200, 202, 204, 400, 500].includes(status), `${status} for ${JSON.stringify(message)}`);
    for (const answer of Array.isArray(body) ? body : body ? [body] : []) {
      assert.is(answer.jsonrpc, "2.0");
      assert.ok(("result" in answer) !== ("error" in answer));
      if (status === 500) assert.is(answer.error.code, -32000);
    }
  }
  assert.equal(events.filter((event) => event.type === "fault"), []);
});

test("deeply nested JSON is refused with 400 and -32700", async () => {
  const { post } = newServer({ bodyLimit: 10_000_000 });
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const top = await post(deep);
  assert.equal([top.status, top.body.error.code], [400, -32700]);
  const { status, body } = await post(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":${deep}}}}`,
  );
  assert.equal([status, body.error.code], [400, -32700]);
});

test.run();
