import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serve } from "../node.ts";
import { createResponseQueue } from "./response_queue.ts";

const test = suite("runtime/node/response_queue");

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A queue, what it has sent, and a function that gives it so many responses in one turn. */
function createQueue() {
  const sent: string[] = [];
  const queue = createResponseQueue((res) => sent.push(res as unknown as string));
  const response = new Response();
  let made = 0;
  const give = (count: number): void => {
    for (let i = 0; i < count; i++) queue(String(++made) as unknown as ServerResponse, response);
  };
  /** After many turns with so many responses. */
  const settle = async (count: number): Promise<void> => {
    for (let i = 0; i < 70; i++) {
      give(count);
      await turn();
    }
    assert.is(sent.length, made);
  };
  return { sent, give, settle, made: () => made };
}

test("the responses of turns with few are sent at once", async () => {
  for (const few of [1, 7]) {
    const { sent, give, settle, made } = createQueue();
    await settle(few);
    give(few);
    assert.is(sent.length, made());
  }
});

test("the responses of turns with many are sent after their turn, in order, and at most 16 wait", async () => {
  for (const many of [8, 100]) {
    const { sent, give, settle, made } = createQueue();
    await settle(many);
    const before = sent.length;
    give(15);
    assert.is(sent.length, before, "15 wait");
    give(1);
    assert.is(sent.length, before + 16, "with the 16th all are sent");
    give(4);
    assert.is(sent.length, before + 16);
    await turn();
    assert.equal(sent, Array.from({ length: made() }, (_, i) => String(i + 1)));
    give(4);
    assert.is(sent.length, before + 20, "the next turn waits as well");
    await turn();
    give(1);
    await turn();
    assert.is(sent.length, made());
    give(1);
    assert.is(sent.length, made(), "after a turn with few they are sent at once again");
  }
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
