import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { nodeFetch } from "./node_fetch.ts";

const test = suite("nodeFetch");

interface Listening {
  readonly url: string;
  /** Connections that were opened. */
  readonly sockets: Socket[];
  close(): void;
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<Listening> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    sockets,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const listen = (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> =>
  // The server itself closes no connection.
  listening(createServer({ keepAliveTimeout: 0 }, answer));

/** A server that sends these bytes to each request, and ends the connection where wanted. */
const listenRaw = (bytes: string, isEnded: boolean): Promise<Listening> =>
  listening(createTcpServer((socket) => {
    socket.on("data", () => isEnded ? socket.end(bytes) : socket.write(bytes));
  }));

const send = (url: string, init: RequestInit = {}): Promise<Response> =>
  nodeFetch(url, { redirect: "manual", ...init });

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.unreachable("it must fail"), (error) => error);

function defineTests(): void {
  test("a request and its response are those of fetch", async () => {
    const server = await listen((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part) => parts.push(part)).on("end", () => {
        const { method, headers } = request;
        response.setHeader("set-cookie", ["a=1", "b=2"]);
        response.setHeader("content-type", "application/json");
        response.statusCode = 201;
        response.end(JSON.stringify({ method, headers, body: Buffer.concat(parts).toString() }));
      });
    });
    try {
      for (
        const headers of [{ "X-Name": "value" }, new Headers({ "x-name": "value" }), [["X-Name", "value"]]]
      ) {
        const init = { method: "POST", body: '{"text":"\u00e4\u{1f600}"}', headers: headers as HeadersInit };
        const response = await send(server.url, init);
        assert.is(response.status, 201);
        assert.is(response.headers.get("content-type"), "application/json");
        assert.equal(response.headers.getSetCookie(), ["a=1", "b=2"]);
        const seen = await response.json() as {
          method: string;
          headers: Record<string, string>;
          body: string;
        };
        assert.is(seen.method, "POST");
        assert.is(seen.body, init.body);
        assert.is(seen.headers["x-name"], "value");
        assert.is(seen.headers["content-length"], String(Buffer.byteLength(init.body)));
      }
      assert.is(server.sockets.length, 1);
    } finally {
      server.close();
    }
  });

  for (
    const [coding, encode] of [["gzip", gzipSync], ["deflate", deflateSync], [
      "br",
      brotliCompressSync,
    ]] as const
  ) {
    test(`the content coding ${coding} is decoded`, async () => {
      const text = "text ".repeat(100_000);
      const server = await listen((_, response) => {
        response.setHeader("content-encoding", coding);
        response.end(encode(text));
      });
      try {
        assert.is(await (await send(server.url)).text(), text);
      } finally {
        server.close();
      }
    });
  }

  test("a body that is not what its content coding says is an error", async () => {
    const server = await listen((_, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end("not gzip");
    });
    try {
      assert.instance(await failureOf((await send(server.url)).text()), Error);
    } finally {
      server.close();
    }
  });

  for (const status of [204, 304]) {
    test(`a response with status ${status} has no body, and its connection is used again`, async () => {
      const server = await listen((_, response) => response.writeHead(status).end());
      try {
        for (let i = 0; i < 3; i++) assert.is((await send(server.url)).body, null);
        assert.is(server.sockets.length, 1);
      } finally {
        server.close();
      }
    });
  }

  test("a redirect is returned, not followed", async () => {
    const server = await listen((_, response) =>
      response.writeHead(307, { location: "http://10.0.0.1/" }).end()
    );
    try {
      const response = await send(server.url);
      assert.is(response.status, 307);
      assert.is(response.headers.get("location"), "http://10.0.0.1/");
    } finally {
      server.close();
    }
  });

  for (
    const [what, bytes, isEnded] of [
      ["a status that a response cannot have", "HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n", false],
      [
        "a protocol that was not asked for",
        "HTTP/1.1 101 Yes\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        false,
      ],
      ["no response", "", true],
      ["something else than HTTP", "SSH-2.0-x\r\n", true],
      ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", true],
      ["endless header fields", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}`, true],
    ] as const
  ) {
    test(`a server that sends ${what} is an error`, async () => {
      const server = await listenRaw(bytes, isEnded);
      try {
        assert.instance(await failureOf(send(server.url)), Error);
      } finally {
        server.close();
      }
    });
  }

  test("a connection that ends within a body is an error", async () => {
    for (const head of ["content-length: 10", "transfer-encoding: chunked"]) {
      const server = await listenRaw(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n2\r\nab`, true);
      try {
        assert.instance(await failureOf((await send(server.url)).text()), Error);
      } finally {
        server.close();
      }
    }
  });

  test("no connection is an error with the code of the system", async () => {
    const server = await listen(() => {});
    server.close();
    assert.is((await failureOf(send(server.url)) as { code: string }).code, "ECONNREFUSED");
  });

  test("the signal ends a request before, during and after its response begins", async () => {
    const reason = new Error("stop");
    const silent = await listen(() => {});
    const slow = await listen((_, response) => void response.write("part"));
    try {
      assert.is(await failureOf(send(silent.url, { signal: AbortSignal.abort(reason) })), reason);
      assert.is(silent.sockets.length, 0);

      const first = new AbortController();
      const waiting = failureOf(send(silent.url, { signal: first.signal }));
      while (silent.sockets.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const closed = once(silent.sockets[0]!, "close");
      first.abort(reason);
      assert.is(await waiting, reason);
      await closed;

      const second = new AbortController();
      const response = await send(slow.url, { signal: second.signal });
      const reader = response.body!.getReader();
      assert.is(new TextDecoder().decode((await reader.read()).value), "part");
      const ended = once(slow.sockets[0]!, "close");
      second.abort(reason);
      assert.is(await failureOf(reader.read()), reason);
      await ended;
    } finally {
      silent.close();
      slow.close();
    }
  });

  test("a cancelled body closes its connection, unless the response has arrived", async () => {
    const server = await listen((request, response) => {
      if (request.url === "/short") response.end("all");
      else response.write("part");
    });
    try {
      for (let i = 0; i < 3; i++) await (await send(new URL("/short", server.url).href)).body!.cancel();
      assert.is(server.sockets.length, 1);
      const closed = once(server.sockets[0]!, "close");
      await (await send(server.url)).body!.cancel();
      await closed;
    } finally {
      server.close();
    }
  });

  test("an unused connection is closed, so that a request does not meet its end at the server", async () => {
    const server = await listen((_, response) => void response.end("all"));
    try {
      await (await send(server.url)).text();
      await once(server.sockets[0]!, "close");
      await (await send(server.url)).text();
      assert.is(server.sockets.length, 2);
    } finally {
      server.close();
    }
  });

  test("a body that is not read stops the sender", async () => {
    const chunk = Buffer.alloc(1 << 16);
    let sent = 0;
    const server = await listen((_, response) => {
      const write = () => {
        while (response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
        response.once("drain", write);
      };
      write();
    });
    try {
      const response = await send(server.url);
      let before = -1;
      while (sent !== before) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.ok(sent < 1 << 26, `${sent} bytes`);
      const reader = response.body!.getReader();
      const more = sent + (1 << 20);
      for (let read = 0; read < more;) read += (await reader.read()).value!.length;
      await reader.cancel();
    } finally {
      server.close();
    }
  });

  test("a header field with a line break is refused", async () => {
    const server = await listen(() => {});
    try {
      assert.instance(await failureOf(send(server.url, { headers: { "x-name": "a\r\nb: c" } })), TypeError);
      assert.is(server.sockets.length, 0);
    } finally {
      server.close();
    }
  });

  test("a body that is not text is sent by the platform", async () => {
    const server = await listen((request, response) => void request.pipe(response));
    try {
      const response = await send(server.url, { method: "POST", body: new Uint8Array([65, 66]) });
      assert.is(await response.text(), "AB");
    } finally {
      server.close();
    }
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "Deno and Bun use their own fetch");
} else defineTests();

test.run();
