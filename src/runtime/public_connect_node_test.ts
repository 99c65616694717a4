import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createPublicFetch, PublicFetchError } from "../http/network/public_fetch.ts";
import { createPublicConnect } from "./public_connect.ts";

const test = suite("runtime/public_connect");

/** A listener that counts connections. */
async function listen(): Promise<{ port: number; knocks: () => number; close: () => void }> {
  let knocks = 0;
  const server = createServer((socket) => {
    knocks++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, knocks: () => knocks, close: () => server.close() };
}

for (const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1"]) {
  test(`a public name that resolves to ${address} is not connected to`, async () => {
    const listener = await listen();
    try {
      const connect = createPublicConnect(() =>
        Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }])
      );
      const get = createPublicFetch({ connect });
      const error = await get(`https://rebound.example:${listener.port}/x`).catch((error) => error);
      assert.instance(error, PublicFetchError);
      assert.is(listener.knocks(), 0);
    } finally {
      listener.close();
    }
  });
}

test("a name with one private address among public ones is not connected to", async () => {
  const connect = createPublicConnect(() =>
    Promise.resolve([{ address: "93.184.216.34", family: 4 }, { address: "127.0.0.1", family: 4 }])
  );
  const error = await connect("https://mixed.example/x", {}).catch((error) => error);
  assert.match(String(error), "not public");
});

test("a name without an address, and one that cannot be resolved, fail", async () => {
  for (const resolve of [() => Promise.resolve([]), () => Promise.reject(new Error("ENOTFOUND"))]) {
    const error = await createPublicFetch({ connect: createPublicConnect(resolve) })(
      "https://nowhere.example/x",
    ).catch((error) => error);
    assert.instance(error, PublicFetchError);
  }
});

test("a name is resolved once: the connection goes to the checked address", async () => {
  const listener = await listen();
  try {
    let asked = 0;
    const resolve = () =>
      Promise.resolve([{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    const get = createPublicFetch({ connect: createPublicConnect(resolve, () => true) });
    // The listener does not use TLS: only the connection counts.
    const error = await get(`https://rebind.example:${listener.port}/x`).catch((error) => error);
    assert.instance(error, PublicFetchError);
    assert.equal([asked, listener.knocks()], [1, 1]);
  } finally {
    listener.close();
  }
});

test.run();
