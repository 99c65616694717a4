import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Finding } from "../../runtime/cli/doctor/finding.ts";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from "./test_faulty_proxy.ts";

const test = suite("cli/doctor of a server");
const folder = temporaryFolder();
const data = ["--data", join(folder.path, "data")];
let proxy: FaultyProxy;
let server: Awaited<ReturnType<typeof startTrivet>>;

test.before(async () => {
  proxy = await startFaultyProxy();
  server = await startTrivet([...data, "--issuer", proxy.url]);
  proxy.target = server.facts.url;
});
test.after(async () => {
  await server.stop();
  await proxy.close();
  folder.remove();
});

async function doctor(args: readonly string[]) {
  const { code, stdout, stderr } = await trivet(["doctor", ...args]);
  return { code, stdout, stderr };
}

async function findings(args: readonly string[]): Promise<readonly Finding[]> {
  const { stdout, stderr } = await doctor([...args, "--json"]);
  assert.not.match(stdout + stderr, server.facts.client.secret!);
  return JSON.parse(stdout);
}

test("a sound server behind a proxy has no findings, and each check prints a line", async () => {
  const { code, stdout, stderr } = await doctor([...data, "--url", proxy.url]);
  assert.is(code, 0, stdout + stderr);
  const lines = stdout.trimEnd().split("\n");
  assert.ok(lines.every((line) => /^ok {4}\S+ +\S/.test(line)), stdout);
  const names = lines.map((line) => line.split(/ +/)[1]);
  const expected =
    "files disk store durable format expired clock keys secret audit providers address issuer https " +
    "ready resource clock host stream keep-alive body";
  assert.is(names.join(" "), expected);
});

const FAULTS: readonly (readonly [fault: ProxyFault, check: string, level: string, what: RegExp])[] = [
  ["buffers", "stream", "FAIL", /do not arrive/],
  ["closes", "keep-alive", "warn", /new connection/],
  ["own host", "host", "FAIL", /refuses the host/],
  ["limits bodies", "body", "FAIL", /3 MiB is refused/],
  ["wrong date", "clock", "FAIL", /behind/],
  ["hides well-known", "issuer", "FAIL", /without metadata/],
  ["hides resource", "resource", "FAIL", /do not find/],
  ["not ready", "ready", "FAIL", /not ready/],
];
for (const [fault, check, level, what] of FAULTS) {
  test(`a proxy that "${fault}" is found`, async () => {
    proxy.fault = fault;
    try {
      const found = (await findings([...data, "--url", proxy.url])).filter(({ level }) => level !== "ok");
      assert.ok(found.some((each) => each.check === check && each.level === level && what.test(each.what)));
      assert.ok(found.every(({ advice }) => advice !== undefined && advice !== ""));
    } finally {
      proxy.fault = undefined;
    }
  });
}

test("a server with another issuer, and one that does not answer, are found", async () => {
  const [other] = (await findings([...data, "--url", server.facts.url])).filter(({ check }) =>
    check === "issuer"
  );
  assert.is(other!.level, "FAIL");
  assert.match(other!.what, proxy.url);
  const { code, stdout, stderr } = await doctor([
    "--url",
    "http://127.0.0.1:9",
    "--data",
    join(folder.path, "data"),
  ]);
  assert.is(code, 1);
  assert.match(stdout, /^FAIL {2}issuer +http:\/\/127\.0\.0\.1:9\/ does not answer — /m);
  assert.match(stderr, "checks failed");
});

test("a key file that cannot be read is one finding beside the others", async () => {
  const found = await findings([...data, "--url", proxy.url, "--key-file", join(folder.path, "absent")]);
  assert.equal(found.filter(({ level }) => level === "FAIL").map(({ check }) => check), ["key"]);
  assert.ok(found.some(({ check, level }) => check === "body" && level === "ok"));
});

test("a server that believes every X-Forwarded-For is found", async () => {
  const own = ["--data", join(folder.path, "trusting")];
  const trusting = await startTrivet([...own, "--trusted-proxy", "127.0.0.1"]);
  try {
    const found = await findings([...own, "--url", trusting.facts.issuer]);
    const [address] = found.filter(({ check }) => check === "address");
    assert.is(address!.level, "FAIL");
    assert.match(address!.what, "made up");
  } finally {
    await trusting.stop();
  }
});

test("files that others can read, and a store that cannot be opened, are found", async () => {
  const path = join(folder.path, "broken");
  const other = await startTrivet(["--data", path]);
  await other.stop();
  const file = join(path, "trivet.db");
  chmodSync(file, 0o644);
  const [files] = await findings(["--data", path]);
  assert.equal([files!.check, files!.level], ["files", "FAIL"]);
  writeFileSync(file, "no database, but long enough to be taken for one ".repeat(100));
  const store = (await findings(["--data", path])).filter(({ check }) => check === "store");
  assert.equal(store.map(({ level }) => level), ["FAIL"]);
  const { code, stdout, stderr } = await doctor([
    "--store",
    "postgres://someone:pw-hidden@127.0.0.1:9/none?timeout=1",
  ]);
  assert.is(code, 1);
  assert.match(stdout, /^FAIL {2}store /m);
  assert.not.match(stdout + stderr, "pw-hidden");
});

test.run();
