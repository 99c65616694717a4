import { connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries, sendRaw } from "../test_entries.ts";

/** Requests after which the connection must close, and the valid statuses for each. */
const REQUESTS: readonly (readonly [what: string, text: string, statuses: readonly (number | "closed")[]])[] =
  [
    ["a line that is not HTTP", "nonsense\r\n\r\n", [400]],
    ["a missing Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", [400, 200]],
    ["no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", [200]],
    ["an empty Host", get("/", ""), [400]],
    ["a Host with spaces", get("/", "a b/\\"), [400]],
    ["a Host with a path", get("/", "a/oauth/token?c"), [400]],
    ["a Host with a user", get("/", "user@a"), [400]],
    ["a Host with an invalid port", get("/", "a:99999"), [400]],
    ["a Host with markup", get("/", "<script>"), [400]],
    ["two Host fields", get("/", "a\r\nHost: b"), [400]],
    ["two equal Host fields", get("/", "a\r\nHost: a"), [400]],
    ["an absolute target", get("http://other.example/missing?x=1", "a"), [404]],
    // Bun answers 200.
    ["an invalid absolute target", get("http://[bad/", "a"), [400, 200]],
    ["a target of another scheme", get("ftp://a/b", "a"), [400]],
    ["a target without a slash", get("missing", "a"), [400]],
    ["a target that begins with two slashes", get("//evil.example/p", "a"), [404]],
    ["a target with an invalid percent-encoding", get("/v1/skills/%zz%", "a"), [401, 404]],
    ["the target *", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [404, 400]],
    ["TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [405, 400]],
    ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [400, 404, 405, "closed"]],
    ["an unknown method", "FROB / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [400, 405, "closed"]],
    ["an invalid Content-Length", post("Content-Length: many", ""), [400]],
    ["two Content-Length fields", post("Content-Length: 1\r\nContent-Length: 2", "x"), [400]],
    [
      "Content-Length with Transfer-Encoding",
      post("Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
      [400],
    ],
    ["an invalid chunk", post("Transfer-Encoding: chunked", "zz\r\n"), [400, "closed"]],
    ["an unknown transfer coding", post("Transfer-Encoding: gzip", ""), [400]],
    ["a field name with a space", `GET / HTTP/1.1\r\nHost: a\r\nbad name: x\r\nConnection: close\r\n\r\n`, [
      400,
    ]],
    ["a field with a NUL", `GET / HTTP/1.1\r\nHost: a\r\nx: \0\r\nConnection: close\r\n\r\n`, [400]],
    ["endless header fields", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(600_000)}`, [400, 431, "closed"]],
    ["an endless target", get(`/${"a".repeat(600_000)}`, "a"), [400, 414, 431, "closed"]],
  ];

function get(target: string, host: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
}

function post(field: string, body: string): string {
  const type = "Content-Type: application/json";
  return `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${type}\r\n${field}\r\nConnection: close\r\n\r\n${body}`;
}

for (const [name, serve] of Object.entries(entries)) {
  const test = suite(`malformed HTTP on ${name}`);
  const faults: unknown[] = [];
  let server: RunningServer;
  test.before(async () => {
    const trivet = createTrivet({
      issuer: "http://127.0.0.1",
      store: memoryStore(),
      mcp: { allowedHosts: ["*"] },
      onEvent: (event) => event.type === "fault" && faults.push(event.error),
    });
    server = await serve(trivet, { port: 0, onError: (error) => faults.push(error) });
  });
  test.after(() => server.close());

  for (const [what, text, statuses] of REQUESTS) {
    test(`${what} gets ${statuses.join(" or ")} and is not a fault`, async () => {
      faults.length = 0;
      const answer = await sendRaw(server.port, text);
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1];
      assert.ok(statuses.includes(status === undefined ? "closed" : Number(status)), answer.slice(0, 200));
      assert.not.match(answer, /\n\s+at |\.[jt]s:\d/);
      assert.equal(faults, []);
      assert.is((await fetch(server.url)).status, 200, "the server still answers");
    });
  }

  test("HEAD has the Content-Length of GET and no content", async () => {
    for (const path of ["/", "/login", "/.well-known/oauth-authorization-server", "/v1/skills", "/missing"]) {
      const line = `${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
      const [head, content] = (await sendRaw(server.port, `HEAD ${line}`)).split("\r\n\r\n");
      const length = (await (await fetch(server.url + path)).arrayBuffer()).byteLength;
      const stated = /^content-length: (\d+)\r?$/im.exec(head!)?.[1];
      // Hattip sends a body of unknown length, which HEAD does not have to state.
      assert.ok(stated === undefined ? name === "hattip-node" : Number(stated) === length, path);
      assert.is(content, "");
    }
  });

  test("a second Host field gets 400 also behind the Host of the request before", async () => {
    const host = `127.0.0.1:${server.port}`;
    assert.match(await sendRaw(server.port, get("/", host)), /^HTTP\/1\.1 200/);
    assert.match(await sendRaw(server.port, get("/", `${host}\r\nHost: b`)), /^HTTP\/1\.1 400/);
  });

  test("two fields of one name reach the handler as both, never as one of them", async () => {
    const echo = await serve({
      fetch: ({ headers }) =>
        Response.json(
          ["authorization", "content-type", "cookie", "x-api-key"].map((each) => headers.get(each)),
        ),
    }, { port: 0 });
    const fields = ["Authorization: Bearer", "Content-Type:", "Cookie:", "X-Api-Key:"]
      .map((each) => `${each} a\r\n${each} b\r\n`).join("");
    const answer = await sendRaw(
      echo.port,
      `GET / HTTP/1.1\r\nHost: a\r\n${fields}Connection: close\r\n\r\n`,
    );
    assert.equal(JSON.parse(/\[.*\]/.exec(answer)![0]), ["Bearer a, Bearer b", "a, b", "a; b", "a, b"]);
    await echo.close();
  });

  test("an interrupted upload is not a fault; other requests are answered", async () => {
    faults.length = 0;
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(
          "POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n",
        );
        socket.write("Content-Length: 100\r\n\r\ngrant_type=");
        setTimeout(() => socket.destroy(), 30);
      });
      socket.on("close", () => resolve());
    });
    assert.is((await fetch(server.url)).status, 200);
    assert.equal(faults, []);
  });

  test.run();
}
