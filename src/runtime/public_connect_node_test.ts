import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createServer as createTlsServer } from "node:https";
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
    const get = createPublicFetch({ connect: createPublicConnect(resolve, { isAllowed: () => true }) });
    // The listener has no TLS, so the request fails after the connection.
    const error = await get(`https://rebind.example:${listener.port}/x`).catch((error) => error);
    assert.instance(error, PublicFetchError);
    assert.equal([lookups, listener.connections()], [1, 1]);
  } finally {
    listener.close();
  }
});

for (
  const [what, init, expected] of [
    ["a GET", {}, ["GET", "", undefined]],
    ["a form", { method: "POST", body: new URLSearchParams({ a: "b c" }) }, [
      "POST",
      "a=b+c",
      "application/x-www-form-urlencoded;charset=UTF-8",
    ]],
    ["a text with its own type", {
      method: "POST",
      body: '{"id":"\u{1f600}"}',
      headers: { "content-type": "application/json" },
    }, ["POST", '{"id":"\u{1f600}"}', "application/json"]],
    ["bytes", { method: "PUT", body: new TextEncoder().encode("bytes") }, ["PUT", "bytes", undefined]],
    ["an empty body", { method: "POST", body: "" }, ["POST", "", "text/plain;charset=UTF-8"]],
    ["a DELETE", { method: "DELETE" }, ["DELETE", "", undefined]],
  ] as readonly [string, RequestInit, readonly [string, string, string | undefined]][]
) {
  test(`${what} arrives with its method, header fields and body`, async () => {
    const received: unknown[] = [];
    const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk) => text += chunk);
      request.on("end", () => {
        received.push([request.method, text, request.headers["content-type"]]);
        response.writeHead(201, { "x-seen": "yes" }).end("answer");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const connect = createPublicConnect(() => Promise.resolve([{ address: "127.0.0.1", family: 4 }]), {
        isAllowed: () => true,
        ca: CERTIFICATE,
      });
      const url = `https://public.example:${(server.address() as AddressInfo).port}/path?query`;
      const response = await connect(url, init);
      assert.equal([response.status, response.headers.get("x-seen"), await response.text()], [
        201,
        "yes",
        "answer",
      ]);
      assert.equal(received, [expected]);
    } finally {
      server.close();
    }
  });
}

// A key for this test alone: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500
// -subj /CN=public.example -addext subjectAltName=DNS:public.example
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLZQ7n4H6JBLntGxc
Tw3l6W90Z1jMT+geeQyjkEWcqnihRANCAAQ6pHqdeUsFY8oT0aIy1bkLiVlCTCYU
wGgI6ShiOu2s7MQR6omkXgLYY65IX8i61ioGJNrHKKRMfjilpKLwaArG
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBpDCCAUqgAwIBAgIUCTb39jn3OJ+LpDG1fDz17yhphYgwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOcHVibGljLmV4YW1wbGUwIBcNMjYxMTI4MTcyNjI3WhgPMjEy
NjExMDQxNzI2MjdaMBkxFzAVBgNVBAMMDnB1YmxpYy5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEOqR6nXlLBWPKE9GiMtW5C4lZQkwmFMBoCOkoYjrt
rOzEEeqJpF4C2GOuSF/IutYqBiTaxyikTH44paSi8GgKxqNuMGwwHQYDVR0OBBYE
FNa7XKedtiPlx4xzJdi3dCj6EIb3MB8GA1UdIwQYMBaAFNa7XKedtiPlx4xzJdi3
dCj6EIb3MA8GA1UdEwEB/wQFMAMBAf8wGQYDVR0RBBIwEIIOcHVibGljLmV4YW1w
bGUwCgYIKoZIzj0EAwIDSAAwRQIhAPvi8cGZKsRMVXCiy/XpKQFjW1FoqU4CJZ9O
p15G4zdUAiA6PsXW1BDWcO6obHgLqv9fp7lufw+sNGAXl/YtTaknbA==
-----END CERTIFICATE-----`;

test.run();
