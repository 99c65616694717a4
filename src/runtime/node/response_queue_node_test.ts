import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../node.ts";
import { createResponseQueue } from "./response_queue.ts";

const test = suite("runtime/node/response_queue");

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("the responses of a turn are sent after it, in order, and at most 16 wait", async () => {
  const sent: number[] = [];
  const queue = createResponseQueue((_, { status }) => sent.push(status));
  const send = (status: number): void => queue({} as ServerResponse, new Response(null, { status }));
  const expected = Array.from({ length: 20 }, (_, i) => 201 + i).filter((status) => status !== 204);
  const all = [...expected, 230];

  for (const status of all.slice(0, 15)) send(status);
  assert.equal(sent, [], "15 wait");
  send(all[15]!);
  assert.equal(sent, all.slice(0, 16), "with the 16th all are sent");
  for (const status of all.slice(16)) send(status);
  assert.is(sent.length, 16);
  await turn();
  assert.equal(sent, all);

  send(200);
  await turn();
  assert.equal(sent, [...all, 200], "the next turn begins anew");
});

test("a client that leaves while its response waits costs no other client theirs", async () => {
  const left: Socket[] = [];
  const errors: unknown[] = [];
  const server = await serve({
    fetch({ url }) {
      // Both requests are in before the responses of their turn are sent.
      if (url.endsWith("/leave")) { for (const socket of left) socket.destroy(); }
      return Promise.resolve(new Response(new URL(url).pathname));
    },
  }, { port: 0, onError: (error) => errors.push(error) });
  try {
    const open = async (): Promise<Socket> => {
      const socket = connect(server.port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    };
    const [leaving, staying] = [await open(), await open()];
    left.push(leaving);
    const ended = once(leaving, "close");
    leaving.write("GET /leave HTTP/1.1\r\nhost: a\r\n\r\n");
    staying.write(
      "GET /one HTTP/1.1\r\nhost: a\r\n\r\nGET /two HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    );
    let text = "";
    staying.setEncoding("latin1").on("data", (chunk) => text += chunk);
    await once(staying, "close");
    await ended;
    assert.equal(text.match(/^\/\w+/gm), ["/one", "/two"], "in the order of the requests");
    assert.equal(errors, []);
  } finally {
    await server.close();
  }
});

test.run();
