import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newDataFolder, type RunningTrivet, startTrivet, temporaryFolder } from "../test_process.ts";
import { runCommand } from "./test_command.ts";

/** The same commands on a store with `--data`, and on a running server with `--url`: they print the same. */
const test = suite("administration of a store and of a server");
const folder = temporaryFolder();
const data = join(folder.path, "store");
const served = join(folder.path, "served");
let server: RunningTrivet;
let key: string;

test.before(async () => {
  await newDataFolder(data);
  server = await startTrivet(["--data", served, "--no-demo"]);
  // Both have one key.
  for (const place of [data, served]) {
    const { stdout } = await runCommand(
      ["key", "add", "--name", "operator", "--scope", "admin", "--json", "--data", place],
    );
    key = JSON.parse(stdout).secret;
  }
});
test.after(async () => {
  await server?.stop();
  folder.remove();
});

/** What differs between two runs. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/http:\/\/127\.0\.0\.1:\d+/g, "ISSUER"],
  [/ \(\w+_error, request [\w-]+\)/g, ""],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/trivet_(cs|key|iv)_[\w.-]+/g, "SECRET"],
  [/(user|client|key)_[\w-]{22}/g, "$1_ID"],
  [/(password {2}|"secret":")[\w-]{20}(?=["\s])/g, "$1PASSWORD"],
  [/("id":"|invitation {2}|^)[\w-]{22}(?=["\s])/gm, "$1ID"],
];

async function run(command: readonly string[], place: "store" | "server") {
  const isStore = place === "store";
  const variables = {
    TRIVET_URL: undefined,
    TRIVET_TOKEN: undefined,
    TRIVET_API_KEY: isStore ? undefined : key,
  };
  const where = isStore ? ["--data", data] : ["--url", server.facts.url];
  const { code, stdout, stderr } = await runCommand([...command, ...where], variables);
  const plain = (text: string) =>
    CHANGING.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), text);
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

const ROWS: readonly (readonly [command: string, code: number])[] = [
  ["user list", 0],
  ["user add alice --generate --email a@example.com", 0],
  ["user add bob --generate --role author --json", 0],
  ["user add ALICE --generate", 1],
  ["user list --search ali", 0],
  ["user list --limit 1 --search bob --json", 0],
  ["user show alice", 0],
  ["user show bob --json", 0],
  ["user show carol", 1],
  ["user update alice --role admin", 0],
  ["user update alice --role root", 2],
  ["user update carol --role admin", 1],
  ["user lock bob", 0],
  ["user unlock bob --json", 0],
  ["user password bob --generate --sign-out", 0],
  ["user reset-factors bob", 1],
  ["session list bob", 0],
  ["session remove bob unknown", 1],
  ["session remove bob", 0],
  ["grant list bob --json", 0],
  ["grant remove bob --all", 0],
  ["grant remove bob unknown", 1],
  ["client add --name App --domain app.example --json", 0],
  ["client add --id worker --grant-type client_credentials --scope skills:read", 0],
  ["client add --id worker --public", 1],
  ["client list --search worker", 0],
  ["client show worker", 0],
  ["client show App --json", 0],
  ["client update worker --unset scope --name Worker", 0],
  ["client update worker --redirect-uri http://public.example/", 1],
  ["client rotate-secret worker --keep-old 1h", 0],
  ["client remove App", 0],
  ["client remove App", 1],
  ["provider add oidc --id work --issuer https://idp.example --client-id c1", 0],
  ["provider add oidc --id work --issuer https://idp.example --client-id c1", 1],
  ["provider list", 0],
  ["provider show work --json", 0],
  ["provider update work --domain example.com", 0],
  ["provider update work --unset domain --json", 0],
  ["provider remove work", 0],
  ["key add --name ci --scope skills:read", 0],
  ["key update ci --scope skills:write", 0],
  ["key show ci", 0],
  ["key add --scope skils:read", 2],
  ["key remove ci", 0],
  ["key remove ci", 1],
  ["invitation add --email b@example.com --role author", 0],
  ["invitation list", 0],
  ["invitation remove unknown", 1],
  ["user remove bob --json", 0],
  ["user remove bob", 1],
];

test("every command prints the same on a store and on a server", async () => {
  for (const [command, code] of ROWS) {
    const words = command.split(" ");
    const [onStore, onServer] = [await run(words, "store"), await run(words, "server")];
    assert.is(onStore.code, code, `${command}: ${onStore.stderr}`);
    assert.equal(onServer, onStore, command);
    assert.is((code === 0 ? onStore.stdout : onStore.stderr) === "", false, command);
  }
});

test("the audit trails name who changed what: the command line, or the API key", async () => {
  const readTrail = async (place: string) => {
    const { stdout } = await runCommand([
      "audit",
      "list",
      "--type",
      "admin_changed",
      "--json",
      "--data",
      place,
    ]);
    return (JSON.parse(stdout).data as { fields: Record<string, string> }[]).map(({ fields }) => fields);
  };
  const onStore = await readTrail(data);
  let onServer = await readTrail(served);
  // A server writes its records a little later than it answers.
  for (let tries = 0; onServer.length < onStore.length && tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    onServer = await readTrail(served);
  }
  assert.equal(onServer.map(({ operation }) => operation), onStore.map(({ operation }) => operation));
  assert.ok(onStore.every(({ actor }) => actor === "command line"));
  assert.ok(onServer.slice(1).every(({ actor }) => actor!.startsWith("key_")));
  assert.ok(onStore.length >= 20, String(onStore.length));
});

test("a server needs a key with the scope admin", async () => {
  const { stdout } = await runCommand(["key", "add", "--scope", "skills:read", "--json", "--data", served]);
  const { secret } = JSON.parse(stdout);
  for (
    const [given, message] of [
      [undefined, "TRIVET_API_KEY"],
      [undefined, "trivet key add --name NAME --scope admin"],
      ["trivet_key_wrong", "TRIVET_API_KEY"],
      [secret, "scope"],
    ] as const
  ) {
    const { code, stdout, stderr } = await runCommand(
      ["user", "list", "--url", server.facts.url],
      { TRIVET_API_KEY: given, TRIVET_TOKEN: undefined },
    );
    assert.equal([code, stdout], [1, ""]);
    assert.match(stderr, message);
    if (given) assert.not.match(stderr, given);
  }
});

test.run();
