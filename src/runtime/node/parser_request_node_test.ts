import { once } from "node:events";
import { connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../node.ts";

const test = suite("runtime/node/parser_request");

test("the URL of a request is its own, whatever the one before had", async () => {
  const server = await serve({ fetch: ({ url }) => Promise.resolve(new Response(url)) }, { port: 0 });
  try {
    const own = `127.0.0.1:${server.port}`;
    for (
      const [target, host, expected] of [
        ["/a", "one.example", "http://one.example/a"],
        ["/a", "one.example", "http://one.example/a"],
        ["/a", "two.example", "http://two.example/a"],
        ["/b?x=1", "two.example", "http://two.example/b?x=1"],
        ["/b", "two.example", "http://two.example/b"],
        ["/a/../b", "two.example", "http://two.example/b"],
        ["http://three.example/b", "two.example", "http://three.example/b"],
        ["/b", undefined, `http://${own}/b`],
        ["/b", "two.example", "http://two.example/b"],
      ] as const
    ) {
      const socket = connect(server.port, "127.0.0.1");
      const head = host === undefined ? "HTTP/1.0\r\n" : `HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n`;
      socket.end(`GET ${target} ${head}\r\n`);
      let text = "";
      socket.setEncoding("latin1").on("data", (chunk) => text += chunk);
      await once(socket, "close");
      assert.is(/^http:.*$/m.exec(text)?.[0].trimEnd(), expected);
    }
  } finally {
    await server.close();
  }
});

test.run();
