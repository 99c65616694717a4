import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseIp } from "./ip_address.ts";
import { isPublicIp } from "./ip_range.ts";

const test = suite("http/ip_range");

for (
  const ip of [
    "1.1.1.1",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
  ]
) {
  test(`${ip} is public`, () => assert.ok(isPublicIp(parseIp(ip)!)));
}

for (
  const ip of [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "2002:7f00:1::1",
    "2001:db8::1",
    "2001::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "ff02::1",
    "100::1",
  ]
) {
  test(`${ip} is not public`, () => assert.not.ok(isPublicIp(parseIp(ip)!)));
}

test("bytes that are not an address are not public", () => {
  for (const bytes of [[], [8], [8, 8, 8], [8, 8, 8, 8, 8], new Array(15).fill(32), new Array(17).fill(32)]) {
    assert.not.ok(isPublicIp(new Uint8Array(bytes)));
  }
});

test.run();
