import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseLimit } from "./limit.ts";
import { rateLimits } from "./rate_limits.ts";

const test = suite("rate_limits/limit");

test("a limit has a name, requests and a window", () => {
  assert.equal(parseLimit("address", "600/1m"), {
    name: "address",
    scope: "address",
    service: undefined,
    requests: 600,
    seconds: 60,
  });
  assert.equal(parseLimit("mcp.user", "5/10s"), {
    name: "mcp.user",
    scope: "user",
    service: "mcp",
    requests: 5,
    seconds: 10,
  });
  assert.is(parseLimit("client", "1/h")?.seconds, 3600);
  assert.is(parseLimit("client", "1/24h")?.seconds, 86_400);
  assert.is(parseLimit("client", "1/1d")?.seconds, 86_400);
});

test("another name, number or window is refused, also as an option", () => {
  const invalid = [
    ["ip", "1/s"],
    ["web.user", "1/s"],
    ["mcp.", "1/s"],
    [".user", "1/s"],
    ["constructor", "1/s"],
    ["user", ""],
    ["user", "600"],
    ["user", "0/1m"],
    ["user", "-1/1m"],
    ["user", "1.5/1m"],
    ["user", "1000000000/1m"],
    ["user", "1/0s"],
    ["user", "1/25h"],
    ["user", "1/2d"],
    ["user", "1/1w"],
    ["user", "1/1m "],
  ] as const;
  for (const [name, text] of invalid) {
    assert.is(parseLimit(name, text), undefined, `${name}=${text}`);
    assert.throws(() => rateLimits({ [name]: text }), (error: Error) => error instanceof TypeError);
  }
});

test.run();
