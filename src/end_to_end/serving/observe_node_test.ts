import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../../../conformance/runner/target/free_port.ts";
import { CLI, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("serving/observe");
const folder = temporaryFolder();
const PASSWORD = "a-wrong-password-in-the-form";
const CODE = "trivet_ac_in_the_query";
const TOKEN = "metrics-token-of-the-operator";

const lines = (text: string): Record<string, unknown>[] =>
  text.trim().split("\n").map((line) => JSON.parse(line));

test("failed logins leave a line and an audit record each, with the request's id and without what was typed", async () => {
  const data = ["--data", join(folder.path, "audited")];
  const server = await startTrivet([...data, "--log-requests"]);
  const { issuer } = server.facts;
  let id: string | null = null;
  try {
    for (const username of ["unknown", PASSWORD]) {
      const body = new URLSearchParams({ username, password: PASSWORD });
      const response = await fetch(`${issuer}/login`, { method: "POST", body });
      assert.is(response.status, 401);
      id = response.headers.get("x-request-id");
    }
    await (await fetch(`${issuer}/oauth/authorize?client_id=none&code=${CODE}`)).text();
  } finally {
    assert.is(await server.stop(), 0);
  }
  const written = lines(server.stderr());
  assert.not.match(server.stderr(), PASSWORD);
  assert.not.match(server.stderr(), CODE);
  const events = written.map(({ event }) => event);
  assert.is(events.find((event) => event !== "checked"), "started");
  assert.is(events.at(-1), "stopping");
  assert.is(events.filter((event) => event === "login_failed").length, 2);
  const last = written.filter(({ event }) => event === "login_failed").at(-1)!;
  assert.equal([last["level"], last["ip"], last["request"]], ["warn", "127.0.0.1", id]);
  const outcome = written.find(({ event, request }) => event === "request" && request === id)!;
  assert.equal([outcome["method"], outcome["path"], outcome["status"]], ["POST", "/login", 401]);

  const listed = await trivet(["audit", "list", "--json", "--type", "login_failed", ...data]);
  assert.is(listed.code, 0, listed.stderr);
  const { data: records } = JSON.parse(listed.stdout) as { data: { request: string }[] };
  assert.is(records.at(-1)!.request, id);
  assert.not.match(listed.stdout, PASSWORD);
  const verified = await trivet(["audit", "verify", ...data]);
  assert.is(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /^2 records/);
  const noted = verified.stdout.match(/\d+:[\w-]{43}/)![0];
  assert.is((await trivet(["audit", "verify", "--noted", noted, ...data])).code, 0);
  const other = noted.slice(0, -1) + (noted.endsWith("A") ? "B" : "A");
  assert.is((await trivet(["audit", "verify", "--noted", other, ...data])).code, 1);
});

test("the audit trail is written while the server runs, and a killed server leaves what was listed", async () => {
  const data = ["--data", join(folder.path, "killed")];
  const server = await startTrivet(data);
  const { issuer } = server.facts;
  const list = async () => {
    const { stdout } = await trivet(["audit", "list", "--json", "--type", "login_failed", ...data]);
    return (JSON.parse(stdout) as { data: { number: number }[] }).data;
  };
  const exited = once(server.child, "exit");
  let listed;
  try {
    const body = new URLSearchParams({ username: "unknown", password: PASSWORD });
    assert.is((await fetch(`${issuer}/login`, { method: "POST", body })).status, 401);
    listed = await until(async () => {
      const records = await list();
      return records.length > 0 ? records : undefined;
    });
  } finally {
    server.child.kill("SIGKILL");
    await exited;
  }
  assert.equal(await list(), listed);
  assert.is((await trivet(["audit", "verify", ...data])).code, 0);
});

test("health, readiness and metrics have a port of their own; /metrics is not on the main one", async () => {
  const server = await startTrivet([
    "--store",
    "memory",
    "--data",
    join(folder.path, "ports"),
    "--metrics-port",
    "0",
  ]);
  try {
    const { metrics } = await until(() =>
      lines(server.stderr() || "{}").find(({ event }) => event === "started")
    ) as {
      metrics: string;
    };
    const { url } = server.facts;
    for (const base of [url, metrics]) {
      assert.is((await fetch(base + "/healthz")).status, 200);
      assert.is((await fetch(base + "/readyz")).status, 200);
      // Load balancers and monitors may add a query.
      assert.is((await fetch(base + "/readyz?from=balancer")).status, 200);
    }
    assert.is((await fetch(url + "/metrics")).status, 404);
    assert.is((await fetch(metrics + "/login")).status, 404);
    const text = await (await fetch(metrics + "/metrics")).text();
    assert.match(text, /^trivet_requests_total\{method="GET",route="other",status="404"\} 1$/m);
    assert.match(text, /^trivet_store_seconds_count\{operation="get"\} \d+$/m);
  } finally {
    assert.is(await server.stop(), 0);
  }
});

test("while the server starts, it is alive and not ready", async () => {
  const [module, end] = [join(folder.path, "slow.mjs"), join(folder.path, "end")];
  writeFileSync(
    module,
    `import { existsSync } from "node:fs";
while (!existsSync(${JSON.stringify(end)})) await new Promise((resolve) => setTimeout(resolve, 5));
export default [];
`,
  );
  const port = await freePort();
  const status = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.status, () => undefined);
  const starting = startTrivet([module, "--store", "memory", "--no-demo", "--metrics-port", String(port)]);
  try {
    assert.is(await until(() => status("/healthz")), 200);
    assert.is(await status("/readyz"), 503);
  } finally {
    writeFileSync(end, "");
    const server = await starting;
    assert.is(await status("/readyz"), 200);
    assert.is(await server.stop(), 0);
  }
});

test("/metrics on the main port needs the token", async () => {
  const data = ["--store", "memory", "--data", join(folder.path, "token")];
  const server = await startTrivet(data, { TRIVET_METRICS_TOKEN: TOKEN });
  try {
    const status = async (authorization?: string) =>
      (await fetch(`${server.facts.url}/metrics`, { headers: authorization ? { authorization } : {} }))
        .status;
    assert.is(await status(), 401);
    assert.is(await status("Bearer wrong"), 401);
    assert.is(await status(`Bearer ${TOKEN}`), 200);
  } finally {
    assert.is(await server.stop(), 0);
  }
});

test("after SIGTERM /readyz is 503 while requests are still served, then the server stops", async () => {
  const server = await startTrivet([
    "--store",
    "memory",
    "--data",
    join(folder.path, "drain"),
    "--drain",
    "1500",
  ]);
  const { url } = server.facts;
  const ended = server.stop();
  await until(async () => (await fetch(url + "/readyz")).status === 503 || undefined);
  assert.is((await fetch(url + "/healthz")).status, 200);
  assert.is((await fetch(url + "/login")).status, 200);
  assert.is(await ended, 0);
  assert.is(await fetch(url + "/healthz").then(() => "answered", () => "closed"), "closed");
});

test("--log-level and --log-format choose what is written; a short metrics token is refused", async () => {
  const server = await startTrivet([
    ...["--store", "memory", "--data", join(folder.path, "levels")],
    ...["--log-level", "warn", "--log-format", "text", "--audit", "off"],
  ]);
  const body = new URLSearchParams({ username: "a", password: "b" });
  await fetch(`${server.facts.url}/login`, { method: "POST", body });
  assert.is(await server.stop(), 0);
  assert.match(server.stderr(), /^\d\d:\d\d:\d\d\.\d{3} warn {2}login_failed ip=127\.0\.0\.1 request=\S+\n$/);

  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, "serve", "--store", "memory"], {
    env: { ...process.env, TRIVET_METRICS_TOKEN: "short" },
  });
  assert.is(await new Promise((resolve) => child.on("close", resolve)), 2);
});

test.after(() => folder.remove());
test.run();
