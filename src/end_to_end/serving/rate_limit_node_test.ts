import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("serving/rate_limit");
const folder = temporaryFolder();
test.after(() => folder.remove());
const CALLER = "198.51.100.7";

test("--rate-limit and --trusted-proxy: each caller behind the proxy has a limit, health checks have none", async () => {
  const data = ["--data", join(folder.path, "limited")];
  const server = await startTrivet([
    ...data,
    "--trusted-proxy",
    "127.0.0.1",
    "--rate-limit",
    "address=3/1h",
    "--rate-limit",
    "mcp.address=2/1h",
    "--metrics-port",
    "0",
  ]);
  const { issuer } = server.facts;
  const send = (path: string, forwarded: string, init: RequestInit = {}) =>
    fetch(issuer + path, { ...init, headers: { "x-forwarded-for": forwarded, ...init.headers } });
  const ping = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  };
  try {
    // The entries on the left are the caller's own.
    for (let i = 0; i < 3; i++) assert.is((await send("/", `203.0.113.${i}, ${CALLER}`)).status, 200);
    const refused = await send("/v1/skills", `203.0.113.9, ${CALLER}`);
    assert.is(refused.status, 429);
    assert.is(refused.headers.get("ratelimit-policy"), '"address";q=3;w=3600');
    assert.match(refused.headers.get("ratelimit")!, /^"address";r=0;t=3\d\d\d$/);
    assert.ok(Number(refused.headers.get("retry-after")) > 3000);
    for (const path of ["/healthz", "/readyz"]) {
      for (let i = 0; i < 5; i++) assert.is((await send(path, CALLER)).status, 200, path);
    }
    assert.is((await send("/mcp", "198.51.100.8", ping)).status, 200);
    assert.is((await send("/mcp", "198.51.100.8", ping)).status, 200);
    assert.is((await send("/mcp", "198.51.100.8", ping)).status, 429);
    assert.is((await send("/", "198.51.100.8")).status, 200);
  } finally {
    assert.is(await server.stop(), 0);
  }
  const lines = server.stderr().trim().split("\n").map((line) => JSON.parse(line));
  const reported = lines.filter(({ event }) => event === "rate_limited")
    .map(({ level, scope, limit, ip, count }) => [level, scope, limit, ip, count]);
  assert.equal(reported, [
    ["warn", "address", "address", CALLER, 1],
    ["warn", "address", "mcp.address", "198.51.100.8", 1],
  ]);
  const listed = await trivet(["audit", "list", "--json", "--type", "rate_limited", ...data]);
  assert.is(JSON.parse(listed.stdout).data.length, 2, listed.stderr);
});

test("private addresses are limited with --trusted-proxy none; without it a line at start says that they are not", async () => {
  for (const proxy of [[], ["--trusted-proxy", "none"]]) {
    const data = ["--data", join(folder.path, `private ${proxy.length}`)];
    const server = await startTrivet([
      ...data,
      "--rate-limit",
      "mcp.address=9/1h",
      "--rate-limit",
      "address=2/1h",
      ...proxy,
    ]);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await fetch(server.facts.issuer)).status);
    assert.is(await server.stop(), 0);
    assert.equal(statuses, proxy.length === 0 ? [200, 200, 200] : [200, 200, 429]);
    const checked = server.stderr().trim().split("\n").map((line) => JSON.parse(line))
      .filter(({ event, check }) => event === "checked" && check === "limits").map(({ level }) => level);
    assert.equal(checked, proxy.length === 0 ? ["warn"] : []);
  }
  for (const more of [["--trusted-proxy", "10.0.0.1"], ["--trusted-proxy-field", "forwarded"]]) {
    assert.is((await trivet(["serve", "--trusted-proxy", "none", ...more])).code, 2);
  }
});

test("a limit that cannot be is refused at start", async () => {
  for (
    const limits of [["address"], ["address=0/1m"], ["ip=5/1m"], ["user=5/2d"], ["user=5/1m", "user=6/1m"]]
  ) {
    const { code, stderr } = await trivet(["serve", ...limits.flatMap((limit) => ["--rate-limit", limit])]);
    assert.is(code, 2, stderr);
    assert.match(stderr, "--rate-limit");
  }
});

test.run();
