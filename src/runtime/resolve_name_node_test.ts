import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPublicFetch, PublicFetchError } from "../http/network/public_fetch.ts";
import { createPublicConnect } from "./public_connect.ts";
import { createResolve } from "./resolve_name.ts";

const test = suite("createResolve");
const NO_HOSTS = "/missing/hosts";

/** A name server that answers queries of `known` names only, with an A record. */
async function serveNames(known: Readonly<Record<string, string>>) {
  let queries = 0;
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    queries++;
    let end = 12;
    const labels: string[] = [];
    while (query[end]! > 0) {
      labels.push(query.toString("latin1", end + 1, end + 1 + query[end]!));
      end += 1 + query[end]!;
    }
    const ip = known[labels.join(".").toLowerCase()];
    if (ip === undefined) return;
    const isA = query.readUInt16BE(end + 1) === 1;
    const head = Buffer.from(query.subarray(0, 12));
    // A response without further sections: RFC 1035 section 4.1.1.
    head.writeUInt16BE(0x8180, 2);
    for (const [at, count] of [[4, 1], [6, isA ? 1 : 0], [8, 0], [10, 0]] as const) {
      head.writeUInt16BE(count, at);
    }
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...ip.split(".").map(Number)]);
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...(isA ? [record] : [])]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    servers: [`127.0.0.1:${(socket.address() as AddressInfo).port}`],
    queries: () => queries,
    close: () => socket.close(),
  };
}

test("the configured name server resolves names", async () => {
  const names = await serveNames({ "client.example": "93.184.216.34" });
  try {
    const resolve = createResolve({ servers: names.servers, hostsFile: NO_HOSTS });
    for (const name of ["client.example", "CLIENT.example."]) {
      assert.equal(await resolve(name), [{ address: "93.184.216.34", family: 4 }]);
    }
  } finally {
    names.close();
  }
});

test("a query without a response rejects when the signal aborts, and does not delay other queries", async () => {
  const names = await serveNames({ "client.example": "93.184.216.34" });
  try {
    const resolve = createResolve({ servers: names.servers, hostsFile: NO_HOSTS });
    const stop = new AbortController();
    const pending = Array.from(
      { length: 40 },
      (_, i) => resolve(`n${i}.silent.example`, stop.signal).then(() => "resolved", () => "aborted"),
    );
    assert.equal(await resolve("client.example"), [{ address: "93.184.216.34", family: 4 }]);
    const first = await Promise.race([...pending, Promise.resolve("pending")]);
    assert.is(first, "pending");
    stop.abort(new Error("timeout"));
    assert.equal(new Set(await Promise.all(pending)), new Set(["aborted"]));
    const before = names.queries();
    await resolve("n.silent.example", stop.signal).catch(() => {});
    assert.is(names.queries(), before, "no query after the abort");
  } finally {
    names.close();
  }
});

test("a fetch fails after its timeout when the name server sends no response", async () => {
  const names = await serveNames({});
  try {
    const connect = createPublicConnect(createResolve({ servers: names.servers, hostsFile: NO_HOSTS }));
    const error = await createPublicFetch({ connect, timeout: 200 })("https://n.silent.example/x")
      .catch((error) => error);
    assert.instance(error, PublicFetchError);
    assert.match(error.message, "200 ms");
  } finally {
    names.close();
  }
});

test("the hosts file precedes the name server, and loopback names are never queried", async () => {
  const names = await serveNames({ "local.localhost": "93.184.216.34", "listed.example": "93.184.216.34" });
  const folder = await mkdtemp(join(tmpdir(), "trivet-hosts-"));
  try {
    const hostsFile = join(folder, "hosts");
    await writeFile(
      hostsFile,
      "# a comment\n10.1.2.3\tlisted.example Other.example # more\n2001:db8::1 listed.example\nnonsense x.example\n",
    );
    const resolve = createResolve({ servers: names.servers, hostsFile });
    assert.equal(await resolve("listed.example"), [
      { address: "10.1.2.3", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ]);
    assert.equal(await resolve("other.example"), [{ address: "10.1.2.3", family: 4 }]);
    for (const name of ["localhost", "local.localhost"]) {
      assert.equal((await resolve(name)).map(({ address }) => address), ["127.0.0.1", "::1"]);
    }
    assert.is(names.queries(), 0);
  } finally {
    names.close();
    await rm(folder, { recursive: true });
  }
});

test.run();
