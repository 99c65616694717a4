import { suite } from "uvu";
import * as assert from "uvu/assert";
import { networkOf } from "./network.ts";

const test = suite("http/network");

test("the network is the IPv4 address or the /64 of the IPv6 address, in any spelling", () => {
  assert.is(networkOf({ ip: "203.0.113.9" }), "203.0.113.9");
  assert.is(networkOf({ ip: "::ffff:203.0.113.9" }), "203.0.113.9");
  assert.is(networkOf({ ip: "2001:db8:1:2::1" }), networkOf({ ip: "2001:DB8:1:2:ffff::9" }));
  assert.is.not(networkOf({ ip: "2001:db8:1:2::1" }), networkOf({ ip: "2001:db8:1:3::1" }));
});

test("an unknown or malformed address has no network", () => {
  for (const ip of [undefined, "", "unknown", "unix:", "1.2.3.4.5"]) {
    assert.is(networkOf({ ip }), undefined, String(ip));
    assert.is(networkOf({ ip, peer: "10.0.0.1" }), undefined, String(ip));
  }
});

for (
  const ip of [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.1.1",
    "172.31.0.1",
    "192.168.1.1",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "fd00::1",
    "fe80::1%eth0",
  ]
) {
  test(`the private address ${ip} has a network only when trusted proxies are configured`, () => {
    assert.is(networkOf({ ip }), undefined);
    assert.is.not(networkOf({ ip, peer: ip }), undefined);
  });
}

for (const ip of ["100.128.0.1", "172.32.0.1", "11.0.0.1", "::2", "2001:4860::1"]) {
  test(`the public address ${ip} has a network`, () => assert.is.not(networkOf({ ip }), undefined));
}

test.run();
