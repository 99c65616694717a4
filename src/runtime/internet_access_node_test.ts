import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createSocket } from "node:dgram";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { hasInternetAccess, watchInternetAccess } from "./internet_access.ts";

const test = suite("internet_access");

/** A name server that answers NS queries of the root with a record, an error or not at all (RFC 1035 section 4.1). */
async function serveRoot(answer: "a record" | "NXDOMAIN" | "nothing") {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    if (answer === "nothing") return;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(answer === "a record" ? 0x8180 : 0x8183, 2);
    for (const [at, count] of [[4, 1], [6, answer === "a record" ? 1 : 0], [8, 0], [10, 0]] as const) {
      head.writeUInt16BE(count, at);
    }
    const name = Buffer.from("\x01a\x0croot-servers\x03net\0", "latin1");
    const record = Buffer.concat([Buffer.from([0, 0, 2, 0, 1, 0, 0, 0, 60, 0, name.length]), name]);
    socket.send(
      Buffer.concat([head, query.subarray(12, 17), ...(answer === "a record" ? [record] : [])]),
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

for (const [answer, isOpen] of [["a record", true], ["NXDOMAIN", false], ["nothing", false]] as const) {
  test(`a name server that answers with ${answer} means ${isOpen ? "access" : "no access"}`, async () => {
    const root = await serveRoot(answer);
    try {
      assert.is(await hasInternetAccess(new AbortController().signal, root.servers), isOpen);
    } finally {
      root.close();
    }
  });
}

test("isOpen() is false before the first result; a change is reported once", async () => {
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

test("the check is repeated until there is access", async () => {
  const changes: boolean[] = [];
  const answers = [false, false, true, false];
  let checks = 0;
  const opened = Promise.withResolvers<void>();
  const access = watchInternetAccess(
    (isOpen) => {
      changes.push(isOpen);
      if (isOpen) opened.resolve();
    },
    () => Promise.resolve(answers[checks++]!),
    1,
  );
  // The timer of the check does not keep the process running.
  const running = setInterval(() => {}, 1000);
  await opened.promise;
  await new Promise((resolve) => setTimeout(resolve, 20));
  clearInterval(running);
  assert.equal([checks, changes, access.isOpen()], [3, [false, true], true]);
  access.stop();
});

test("stop() during a check prevents its report", async () => {
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
