import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addProvider, createSecretSealer } from "../../oauth/sign_in/stored_provider.ts";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { findEngine } from "../../store/test_engines.ts";
import { until } from "../../test_until.ts";
import { CLI, newDataFolder, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("end_to_end/start_checks");
const folder = temporaryFolder();

interface Line {
  readonly level: string;
  readonly event: string;
  readonly check: string;
  readonly what: string;
}

const checksOf = (stderr: string): Line[] =>
  stderr.split("\n").slice(0, -1).filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
    .filter(({ event }) => event === "checked");

/** Starts a server that cannot start. */
async function startBroken(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, "serve", "--port", "0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr!.on("data", (chunk) => stderr += chunk);
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(late);
  return { code, stderr };
}

test("serve says in a line each what it checked, and warns of a provider that it cannot use", async () => {
  const path = await newDataFolder(join(folder.path, "sound"));
  const store = sqliteStore(join(path, "trivet.db"));
  const sealer = createSecretSealer(() => soleSecret(new Uint8Array(32)));
  await addProvider(store, sealer, { kind: "github", clientId: "a", clientSecret: "of-github" });
  await store.close();
  const server = await startTrivet(["--data", path]);
  try {
    // The server writes them before the line that startTrivet waits for, but to another pipe.
    const lines = await until(() => {
      const checks = checksOf(server.stderr());
      return checks.at(-1)?.check === "tls" && checks;
    });
    const levels = Object.fromEntries(lines.map(({ check, level }) => [check, level]));
    assert.equal(levels, {
      store: "info",
      clock: "info",
      keys: "info",
      secret: "info",
      providers: "warn",
      files: "info",
      disk: levels.disk,
      tools: "info",
      tls: "info",
    });
    assert.match(lines.find(({ check }) => check === "providers")!.what, "github");
    assert.not.match(server.stderr(), "of-github");
  } finally {
    assert.is(await server.stop(), 0);
  }
});

test("serve and doctor say why a store cannot be reached", async () => {
  const redis = await findEngine("redis");
  const gone = "redis://127.0.0.1:1?timeout=0.5";
  const server = await startTrivet(["--store", gone, "--data", join(folder.path, "gone")]);
  const found = await until(() => checksOf(server.stderr()).find(({ check }) => check === "store"));
  assert.is(found.level, "warn");
  assert.match(found.what, "ECONNREFUSED");
  // Said at the first call that fails, before the checks.
  assert.match(server.stderr(), /^trivet: warning: .*ECONNREFUSED.*--store$/m);
  await server.stop();
  const listed = await trivet(["user", "list", "--store", gone]);
  assert.is(listed.code, 1);
  assert.match(listed.stderr, /^trivet user: .*ECONNREFUSED.*\n$/);
  const places: readonly (readonly [store: string, code: string])[] = [
    [gone, "ECONNREFUSED"],
    ["postgres://127.0.0.1:1/none?timeout=0.5", "ECONNREFUSED"],
    ["redis://127.0.0.1:1/abc", "abc"],
    ...redis === undefined
      ? []
      : [[`${redis.replace("//", "//stranger:hidden-secret@")}?timeout=0.5`, "WRONGPASS"] as const],
  ];
  for (const [store, code] of places) {
    const { code: status, stdout } = await trivet(["doctor", "--store", store, "--json"]);
    assert.is(status, 1);
    // No other check can say anything.
    const findings = JSON.parse(stdout) as readonly { readonly check: string; readonly what: string }[];
    assert.equal(findings.map(({ check }) => check), ["store"], stdout);
    assert.match(findings[0]!.what, code);
    assert.not.match(stdout, "hidden-secret");
    if (code === "ECONNREFUSED") continue;
    const { code: ended, stderr } = await startBroken([
      "--store",
      store,
      "--data",
      join(folder.path, "refused"),
    ]);
    assert.is(ended, 1, stderr);
    assert.match(stderr, code);
    assert.not.match(stderr, "hidden-secret");
  }
});

test("serve stops with one line for keys that cannot be read, a file that is no store, tools and certificates that cannot be used", async () => {
  const keys = await newDataFolder(join(folder.path, "keys"));
  const store = sqliteStore(join(keys, "trivet.db"));
  const value = { kid: "key_broken", alg: "ES256", jwk: { kty: "EC" }, generation: 0, created: 1, starts: 1 };
  await store.commit({ set: [{ key: ["signing_key", "ES256", 0], value }] });
  await store.close();
  const file = await newDataFolder(join(folder.path, "file"));
  writeFileSync(join(file, "trivet.db"), "no database, but long enough to be taken for one ".repeat(100));
  const tools = join(folder.path, "tools.ts");
  writeFileSync(tools, "export default 5;\n");
  const pem = join(folder.path, "cert.pem");
  writeFileSync(pem, "not a certificate");
  const broken: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [["--data", keys], /key_broken cannot be read/],
    [["--data", file], /Cannot open/],
    [[tools, "--store", "memory", "--data", join(folder.path, "tools")], /tools\.ts/],
    [["--store", "memory", "--tls-cert", pem, "--tls-key", pem], /--tls-cert/],
  ];
  for (const [args, message] of broken) {
    const { code, stderr } = await startBroken(args);
    assert.ok(code === 1 || code === 2, `${args.join(" ")}: ${code}`);
    const lines = stderr.trimEnd().split("\n").filter((line) =>
      !line.startsWith("{") && !line.startsWith("Try: ")
    );
    assert.is(lines.length, 1, stderr);
    assert.match(lines[0]!, /^trivet serve: /);
    assert.match(lines[0]!, message);
  }
});

test.after(() => folder.remove());
test.run();
