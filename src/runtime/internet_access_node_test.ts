import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createSocket } from "node:dgram";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { hasInternetAccess, watchInternetAccess } from "./internet_access.ts";

const test = suite("runtime/internet_access");

/** A name server that answers NS queries of the root with this record data, or with an error (RFC 1035 section 4.1). */
async function serveRoot(answer: "servers" | "no such name" | "silence") {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    if (answer === "silence") return;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(answer === "servers" ? 0x8180 : 0x8183, 2);
    for (const [at, count] of [[4, 1], [6, answer === "servers" ? 1 : 0], [8, 0], [10, 0]] as const) {
      head.writeUInt16BE(count, at);
    }
    const name = Buffer.from("\x01a\x0croot-servers\x03net\0", "latin1");
    const record = Buffer.concat([Buffer.from([0, 0, 2, 0, 1, 0, 0, 0, 60, 0, name.length]), name]);
    socket.send(
      Buffer.concat([head, query.subarray(12, 17), ...(answer === "servers" ? [record] : [])]),
      port,
      address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    servers: [`127.0.0.1:${(socket.address() as AddressInfo).port}`],
    close: () => socket.close(),
  };
}

for (const [answer, isOpen] of [["servers", true], ["no such name", false], ["silence", false]] as const) {
  test(`a name server that answers with ${answer}: ${isOpen ? "access" : "no access"}`, async () => {
    const root = await serveRoot(answer);
    try {
      assert.is(await hasInternetAccess(new AbortController().signal, root.servers), isOpen);
    } finally {
      root.close();
    }
  });
}

test("there is no access until it is known, and a change is reported once", async () => {
  const changes: boolean[] = [];
  let answer: (isOpen: boolean) => void;
  const access = watchInternetAccess(
    (isOpen) => changes.push(isOpen),
    () => new Promise((resolve) => answer = resolve),
  );
  assert.equal([access.isOpen(), changes], [false, []]);
  answer!(true);
  assert.is(await access.first, true);
  assert.equal([access.isOpen(), changes], [true, [true]]);
  access.stop();
});

test("the name server is asked again until there is access, and then no more", async () => {
  const changes: boolean[] = [];
  const answers = [false, false, true, false];
  let asked = 0;
  const opened = Promise.withResolvers<void>();
  const access = watchInternetAccess(
    (isOpen) => {
      changes.push(isOpen);
      if (isOpen) opened.resolve();
    },
    () => Promise.resolve(answers[asked++]!),
    1,
  );
  // The timer alone keeps no process running.
  const held = setInterval(() => {}, 1000);
  await opened.promise;
  await new Promise((resolve) => setTimeout(resolve, 20));
  clearInterval(held);
  assert.equal([asked, changes, access.isOpen()], [3, [false, true], true]);
  access.stop();
});

test("stopping during a check reports nothing more", async () => {
  const changes: boolean[] = [];
  let answer: (isOpen: boolean) => void;
  const access = watchInternetAccess(
    (isOpen) => changes.push(isOpen),
    () => new Promise((resolve) => answer = resolve),
  );
  access.stop();
  answer!(true);
  await access.first;
  assert.equal(changes, []);
});

test.run();
