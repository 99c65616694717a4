import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addressBlock, parseIp } from "./ip_address.ts";

const test = suite("http/ip_address");

test("parseIp() accepts the standard spellings only", () => {
  assert.equal([...parseIp("192.0.2.1")!], [192, 0, 2, 1]);
  assert.equal([...parseIp("[::1]")!], [...new Array(15).fill(0), 1]);
  assert.equal([...parseIp("::ffff:127.0.0.1")!.subarray(10)], [255, 255, 127, 0, 0, 1]);
  assert.equal([...parseIp("2001:db8::8:800:200c:417a")!], [
    32,
    1,
    13,
    184,
    0,
    0,
    0,
    0,
    0,
    8,
    8,
    0,
    32,
    12,
    65,
    122,
  ]);
  assert.equal(parseIp("fe80::1%eth0"), parseIp("fe80::1"));
  for (
    const text of [
      "",
      "1.2.3",
      "1.2.3.256",
      "01.2.3.4",
      "0x7f.1",
      "1.2.3.4.5",
      ":::",
      "1::2::3",
      "1:2:3:4:5:6:7:8:9",
      "g::",
      "localhost",
    ]
  ) {
    assert.is(parseIp(text), undefined, text);
  }
});

test("addressBlock() is the /64 of an IPv6 address and the whole IPv4 address, in any spelling", () => {
  assert.is(addressBlock("2001:db8:1:2::1"), addressBlock("2001:DB8:1:2:ffff::9"));
  assert.is.not(addressBlock("2001:db8:1:2::1"), addressBlock("2001:db8:1:3::1"));
  assert.is(addressBlock("::ffff:192.0.2.1"), "192.0.2.1");
  assert.is(addressBlock("192.0.2.1"), "192.0.2.1");
  assert.is(addressBlock("unknown"), "unknown");
});

test.run();
