import { suite } from "uvu";
import * as assert from "uvu/assert";
import { networkOf } from "./network.ts";
import { createCallerFinder, type TrustedProxies } from "./trusted_proxy.ts";

const test = suite("http/trusted_proxy");

function callerOf(headers: Record<string, string>, peer: string | undefined, proxies: TrustedProxies) {
  const request = new Request("https://as.example/", { headers });
  return createCallerFinder(proxies)(request, { ip: peer }).ip;
}
const OURS: TrustedProxies = { addresses: ["10.0.0.0/8", "192.0.2.7", "fd00::/8"] };

test("forwarding fields of a peer that is not a trusted proxy are ignored", () => {
  const headers = { "x-forwarded-for": "198.51.100.1", forwarded: "for=198.51.100.2" };
  assert.is(callerOf(headers, "203.0.113.5", OURS), "203.0.113.5");
  assert.is(callerOf(headers, "192.0.2.8", OURS), "192.0.2.8");
  assert.is(callerOf(headers, undefined, OURS), undefined);
});

for (
  const [field, expected] of [
    ["198.51.100.1", "198.51.100.1"],
    ["1.2.3.4, 198.51.100.1", "198.51.100.1"],
    ["1.2.3.4,198.51.100.1, 10.0.0.9 ,192.0.2.7", "198.51.100.1"],
    ["10.0.0.9, 10.0.0.8", "10.0.0.9"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["198.51.100.1:55123", "198.51.100.1"],
    ["198.51.100.1, unknown", undefined],
    ["198.51.100.1, ", undefined],
    ["not an address", undefined],
    ["x".repeat(9000) + ", 198.51.100.1", "198.51.100.1"],
  ] as const
) {
  test(`X-Forwarded-For is read from the right: ${field.slice(-60)}`, () => {
    assert.is(callerOf({ "x-forwarded-for": field }, "10.0.0.1", OURS), expected);
    assert.is(callerOf({ "x-forwarded-for": field }, "::ffff:10.0.0.1", OURS), expected);
  });
}

for (
  const [field, expected] of [
    ["for=198.51.100.1", "198.51.100.1"],
    ["For=1.2.3.4, for=198.51.100.1;proto=https;by=10.0.0.1", "198.51.100.1"],
    ['by=x ; FOR = "198.51.100.1:80"', "198.51.100.1"],
    ['for="[2001:db8::1]:4711"', "2001:db8::1"],
    ['for="[2001:db8::1]", for=10.0.0.9', "2001:db8::1"],
    ["for=198.51.100.1, for=_hidden", undefined],
    ["for=198.51.100.1, for=unknown", undefined],
    ["for=198.51.100.1, proto=https", undefined],
    ['for="1.2.3.4, for=198.51.100.1', undefined],
    ['for=1.2.3.4;by="a, for=5.6.7.8", for="198.51.10\\0.1"', "198.51.100.1"],
  ] as const
) {
  test(`Forwarded is read from the right: ${field}`, () => {
    assert.is(callerOf({ forwarded: field }, "10.0.0.1", OURS), expected);
  });
}

test("only the field that the proxy writes is read, since the caller can send the other", () => {
  const headers = { "x-forwarded-for": "198.51.100.1", forwarded: "for=198.51.100.2" };
  assert.is(callerOf(headers, "10.0.0.1", OURS), "198.51.100.1");
  assert.is(callerOf(headers, "10.0.0.1", { ...OURS, field: "forwarded" }), "198.51.100.2");
  assert.is(callerOf(headers, "10.0.0.1", { ...OURS, field: "x-forwarded-for" }), "198.51.100.1");
  assert.is(
    callerOf({ forwarded: "for=1.2.3.4" }, "10.0.0.1", { ...OURS, field: "x-forwarded-for" }),
    undefined,
  );
  assert.is(
    callerOf({ "x-forwarded-for": "1.2.3.4" }, "10.0.0.1", { ...OURS, field: "forwarded" }),
    undefined,
  );
});

test("without a forwarding field the caller is unknown, and a forwarded private address has its own network", () => {
  const find = createCallerFinder(OURS);
  const request = new Request("https://as.example/");
  assert.is(networkOf(find(request, { ip: "10.0.0.1" })), undefined);
  const inside = new Request("https://as.example/", { headers: { "x-forwarded-for": "172.16.0.9" } });
  assert.is(networkOf(find(inside, { ip: "10.0.0.1" })), "172.16.0.9");
  assert.is(find(inside, { ip: "10.0.0.1" }).peer, "10.0.0.1");
  assert.is(networkOf({ ip: "172.16.0.9" }), undefined);
});

test("waitUntil() of the context is passed on, and does nothing without one", async () => {
  const waited: unknown[] = [];
  const context = { ip: "10.0.0.1", waitUntil: (promise: Promise<unknown>) => void waited.push(promise) };
  const found = createCallerFinder(OURS)(new Request("https://as.example/"), context);
  const promise = Promise.resolve();
  found.waitUntil!(promise);
  assert.equal(waited, [promise]);
  createCallerFinder(OURS)(new Request("https://as.example/"), {}).waitUntil!(promise);
  await promise;
});

for (
  const address of ["", "proxy", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "fd00::/129", "10.0.0.0/-1"]
) {
  test(`the proxy address "${address}" is refused at start`, () => {
    assert.throws(
      () => createCallerFinder({ addresses: [address] }),
      (error: unknown) => error instanceof TypeError,
    );
  });
}

test("proxies that are no list are refused, naming the option that must be one", () => {
  const cases = [
    ["10.0.0.1", "trustedProxies"],
    [5, "trustedProxies"],
    [{ addresses: "10.0.0.1" }, "trustedProxies.addresses"],
    [{ field: "forwarded" }, "trustedProxies.addresses"],
  ] as const;
  for (const [proxies, option] of cases) {
    assert.throws(
      () => createCallerFinder(proxies as never),
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${option}" must be`),
    );
  }
});

test("attack: the time to read a Forwarded field grows with its length, not with its square", () => {
  const millisecondsFor = (length: number) => {
    const forwarded = "for=a" + " ".repeat(length) + "b";
    const start = performance.now();
    for (let i = 0; i < 100; i++) assert.is(callerOf({ forwarded }, "10.0.0.1", OURS), undefined);
    return performance.now() - start;
  };
  millisecondsFor(100);
  const [short, long] = [millisecondsFor(100), millisecondsFor(4000)];
  assert.ok(long < short * 40 + 200, `${short} and ${long} ms`);
});

test.run();
