import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newDataFolder, type RunningTrivet, startTrivet, temporaryFolder } from "../test_process.ts";
import { type CommandOutcome, runCommand } from "./test_command.ts";

/** `trivet audit`, `rotate`, `tool` and `status`: on the store of a server, and by its API. */
const test = suite("trivet audit, rotate, tool and status");
const folder = temporaryFolder();
const data = join(folder.path, "data");
let server: RunningTrivet;
let key: string;

async function run(command: string, place: "store" | "server"): Promise<CommandOutcome> {
  const isServer = place === "server";
  const variables = {
    TRIVET_URL: undefined,
    TRIVET_TOKEN: undefined,
    TRIVET_API_KEY: isServer ? key : undefined,
  };
  const where = isServer ? ["--url", server.facts.url] : ["--data", data];
  return await runCommand([...command.split(" "), ...where], variables);
}

async function runJson(command: string, place: "store" | "server") {
  const { code, stdout, stderr } = await run(`${command} --json`, place);
  assert.is(code, 0, `${command}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The records that a command lists, once there are so many: a server writes them up to 50 ms after it answers. */
async function listRecords(command: string, count: number): Promise<{ fields: Record<string, string> }[]> {
  for (let tries = 0;; tries++) {
    const { data } = await runJson(command, "server");
    if (data.length >= count || tries === 100) return data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test.before(async () => {
  await newDataFolder(data);
  server = await startTrivet(["--data", data]);
  const added = await runCommand(["key", "add", "--scope", "admin", "--json", "--data", data]);
  key = JSON.parse(added.stdout).secret;
  for (const username of ["stranger", "other"]) {
    const body = new URLSearchParams({ username, password: "wrong" });
    await (await fetch(`${server.facts.url}/login`, { method: "POST", body })).body?.cancel();
  }
  await fetch(`${server.facts.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_skills", arguments: {} },
    }),
  });
  assert.is((await listRecords("audit list", 4)).length, 4);
});
test.after(async () => {
  await server?.stop();
  folder.remove();
});

test("audit list, export and verify print the same by the API and from the store", async () => {
  for (
    const command of [
      "audit list",
      "audit list --json",
      "audit list --type login_failed --type tool_called --last 2",
      "audit list --about stranger",
      "audit export",
      "audit export --type login_failed --since 1h",
      "audit export --last 1",
      "audit verify",
      "tool calls",
    ]
  ) {
    const [onServer, onStore] = [await run(command, "server"), await run(command, "store")];
    assert.is(onStore.code, 0, `${command}: ${onStore.stderr}`);
    assert.equal(onServer, onStore, command);
  }
  const types = (output: string) => output.trim().split("\n").map((line) => JSON.parse(line).type);
  assert.equal(types((await run("audit export --type login_failed", "server")).stdout), [
    "login_failed",
    "login_failed",
  ]);
  assert.is(types((await run("audit export", "server")).stdout)[0], undefined);
  const last = await run("audit list --last 1", "server");
  assert.is(last.stdout.trim().split("\n").length, 2);
  assert.match(last.stderr, "more than the last 1");
});

test("verify by the API knows a noted record, and fails for one that is not there", async () => {
  const [noted] = (await run("audit verify", "server")).stdout.match(/\d+:[\w-]{43}:\d+/)!;
  assert.is((await run(`audit verify --noted ${noted}`, "server")).code, 0);
  const other = await run(`audit verify --noted 999${noted}`, "server");
  assert.equal([other.code, other.stdout], [1, ""]);
  assert.match(other.stderr, "The audit trail is broken at record 999");
});

test("signing keys rotate by the API; the change names the API key", async () => {
  const before = await runJson("rotate list", "server");
  assert.equal(before, await runJson("rotate list", "store"));
  const rotated = await run("rotate signing-keys --now", "server");
  assert.is(rotated.code, 0, rotated.stderr);
  assert.is((await run("rotate signing-keys --now --notice 5", "server")).code, 2);
  const [, change] = await listRecords("audit list --type admin_changed", 2);
  assert.is(change?.fields.operation, "rotateSigningKeys");
  assert.match(change!.fields.actor!, /^key_/);
});

test("tool list and show need a server; status works with both", async () => {
  const { data: tools } = await runJson("tool list", "server");
  assert.ok(tools.length > 0);
  const { name } = tools[0];
  assert.match((await run(`tool show ${name}`, "server")).stdout, name);
  assert.match((await run("tool show none", "server")).stderr, 'Tool not found: "none"');
  assert.match((await run("tool list", "store")).stderr, "use --url");
  const { version, tools: count } = await runJson("status", "server");
  assert.is(count, tools.length);
  assert.is((await runJson("status", "store")).version, version);
  const shown = await run("status", "server");
  assert.match(shown.stdout, new RegExp(`^server +${server.facts.url}`));
});

test("unknown actions and options name the nearest", async () => {
  for (
    const [command, message] of [
      ["audit lst", 'Did you mean "list"?'],
      ["audit export --lats 5", 'Did you mean "--last"?'],
      ["audit list --type login-failed", 'Did you mean "login_failed"?'],
      ["audit export --type nothing", "login_failed, "],
      ["rotate signing-key", 'Did you mean "signing-keys"?'],
      ["tool ls", 'Did you mean "list"?'],
      ["statsu", 'Did you mean "status"?'],
      ["status --jsn", 'Did you mean "--json"?'],
    ] as const
  ) {
    const { code, stderr } = await run(command, "server");
    assert.is(code, 2, command);
    assert.match(stderr, message);
  }
});

test.run();
