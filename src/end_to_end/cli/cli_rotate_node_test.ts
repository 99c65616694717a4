import { spawn } from "node:child_process";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listSecretRecords } from "../../server_secret/read_secrets.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { CLI, type Facts, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("cli/rotate");
const folder = temporaryFolder();
const STREAMABLE = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Makes tokens and sessions at each server, and uses all of them at every server, until `stop`. */
function useServers(urls: readonly string[], { client }: Facts) {
  const authorization = "Basic " + btoa(`${client.id}:${client.secret}`);
  const post = (url: string, form: Record<string, string>) =>
    fetch(url, { method: "POST", headers: { authorization }, body: new URLSearchParams(form) });
  const tokens: string[] = [];
  const sessions: string[] = [];
  const failures: string[] = [];
  let isStopped = false;

  async function issue(url: string): Promise<void> {
    const response = await post(`${url}/oauth/token`, { grant_type: "client_credentials" });
    const { access_token } = await response.json();
    if (access_token) tokens.push(access_token);
    else failures.push(`token: ${response.status}`);
    const started = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: STREAMABLE,
      body: JSON.stringify(initialize),
    });
    await started.text();
    const session = started.headers.get("mcp-session-id");
    if (session) sessions.push(session);
    else failures.push(`session: ${started.status}`);
  }
  async function use(url: string): Promise<void> {
    for (const token of [tokens[0]!, tokens.at(-1)!]) {
      const { active } = await (await post(`${url}/oauth/introspect`, { token })).json();
      if (!active) failures.push(`token refused after ${tokens.length}`);
    }
    for (const session of [sessions[0]!, sessions.at(-1)!]) {
      const response = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: { ...STREAMABLE, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" }),
      });
      await response.text();
      if (response.status !== 200) failures.push(`session: ${response.status} after ${sessions.length}`);
    }
  }
  const done = (async () => {
    while (!isStopped) {
      for (const url of urls) {
        await issue(url);
        for (const each of urls) await use(each);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    tokens,
    failures,
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

const kidOf = (token: string) => JSON.parse(atob(token.split(".")[0]!)).kid as string;

test("two servers go on without a refused request while keys and secret are rotated, also by a command that is killed", async () => {
  const data = ["--data", folder.path];
  const options = [...data, "--token-format", "jwt", "--allow-host", "*", "--no-skills"];
  const one = await startTrivet(options);
  const two = await startTrivet([...options, "--issuer", one.facts.issuer]);
  const store = sqliteStore(join(folder.path, "trivet.db"));
  const readSecrets = () => listSecretRecords(store);
  const using = useServers([one.facts.url, two.facts.url], one.facts);
  try {
    await until(() => using.tokens.length >= 4, "tokens are issued");
    const [command, before] = runtimeCommand();
    const killed = spawn(command, [...before, CLI, "rotate", "server-secret", ...data], { stdio: "ignore" });
    // Killed after it announced the new secret: it then waits 20 s until it uses it.
    await until(async () => (await readSecrets()).length === 2, "the new secret is stored");
    killed.kill("SIGKILL");
    const keys = await trivet(["rotate", "signing-keys", "--now", ...data, "--json"]);
    assert.is(keys.code, 0, keys.stderr);
    const rotated = await trivet(["rotate", "server-secret", ...data, "--json"]);
    assert.is(rotated.code, 0, rotated.stderr);
    const { resumed, secrets } = JSON.parse(rotated.stdout);
    assert.is(resumed, true);
    assert.equal(secrets.map(({ state }: { state: string }) => state), ["previous", "current"]);
    // Both instances read the keys again, which they do every 60 s; each issues every other token.
    const [old, current] = JSON.parse(keys.stdout).data;
    await until(
      () => using.tokens.slice(-2).every((token) => kidOf(token) === current.id),
      "both servers sign with the new key",
    );
    await using.stop();
    const { tokens } = using;
    assert.equal(using.failures, []);
    assert.ok(tokens.length > 50, `${tokens.length} tokens`);
    assert.equal([old.state, current.state], ["retired", "current"]);
    assert.equal([...new Set(tokens.map(kidOf))], [old.id, current.id]);
    assert.equal(tokens.slice(-2).map(kidOf), [current.id, current.id]);
    const listed = await trivet(["audit", "list", "--type", "admin_changed", "--json", ...data]);
    const { data: changes }: { data: { fields: Record<string, string> }[] } = JSON.parse(listed.stdout);
    assert.equal(changes.map(({ fields }) => [fields.operation, fields.actor]), [
      ["rotateSigningKeys", "command line"],
      ["rotateServerSecret", "command line"],
    ]);
    const output = rotated.stdout + rotated.stderr + keys.stdout + one.stderr() + two.stderr();
    const records = await readSecrets();
    assert.is(records.length, 2);
    for (const { value } of records) assert.not(output.includes(value.secret));
  } finally {
    await using.stop();
    await store.close();
    await one.stop();
    await two.stop();
  }
});

test("a store that does not exist, an unknown action, and options that exclude each other are errors", async () => {
  const missing = await trivet(["rotate", "list", "--data", folder.path + "/none"]);
  assert.is(missing.code, 1);
  assert.is((await trivet(["rotate", "everything"])).code, 2);
  assert.is(
    (await trivet(["rotate", "signing-keys", "--now", "--notice", "5", "--data", folder.path])).code,
    2,
  );
});

test.run();
