import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createPublicFetch, PublicFetchError } from "../http/network/public_fetch.ts";
import { createPublicConnect } from "./public_connect.ts";

const test = suite("createPublicConnect");

/** A listener that counts connections. */
async function listen(): Promise<{ port: number; connections: () => number; close: () => void }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () => server.close(),
  };
}

for (const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1"]) {
  test(`a name that resolves to ${address} gets no connection`, async () => {
    const listener = await listen();
    try {
      const connect = createPublicConnect(() =>
        Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }])
      );
      const get = createPublicFetch({ connect });
      const error = await get(`https://rebound.example:${listener.port}/x`).catch((error) => error);
      assert.instance(error, PublicFetchError);
      assert.is(listener.connections(), 0);
    } finally {
      listener.close();
    }
  });
}

test("a name with one private address among public ones gets no connection", async () => {
  const listener = await listen();
  const addresses = [{ address: "127.0.0.1", family: 4 }, { address: "93.184.216.34", family: 4 }];
  try {
    for (const order of [addresses, addresses.toReversed()]) {
      const connect = createPublicConnect(() => Promise.resolve(order));
      const error = await connect(`https://mixed.example:${listener.port}/x`, {}).catch((error) => error);
      assert.match(String(error), "public");
      assert.is(listener.connections(), 0);
    }
  } finally {
    listener.close();
  }
});

test("a name without an address and a name that cannot be resolved are errors", async () => {
  for (const resolve of [() => Promise.resolve([]), () => Promise.reject(new Error("ENOTFOUND"))]) {
    const error = await createPublicFetch({ connect: createPublicConnect(resolve) })(
      "https://unknown.example/x",
    ).catch((error) => error);
    assert.instance(error, PublicFetchError);
  }
});

test("a name is resolved once, and the connection uses the checked address", async () => {
  const listener = await listen();
  try {
    let lookups = 0;
    const resolve = () =>
      Promise.resolve([{ address: lookups++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    const get = createPublicFetch({ connect: createPublicConnect(resolve, () => true) });
    // The listener has no TLS, so the request fails after the connection.
    const error = await get(`https://rebind.example:${listener.port}/x`).catch((error) => error);
    assert.instance(error, PublicFetchError);
    assert.equal([lookups, listener.connections()], [1, 1]);
  } finally {
    listener.close();
  }
});

test.run();
