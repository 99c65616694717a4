import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet serve without --json");
const folder = temporaryFolder();
test.after(() => folder.remove());

/** Starts `trivet serve` without `--json`, passes its output to `check`, and stops it. */
async function withBanner(
  args: readonly string[],
  check: (text: string) => Promise<void> | void,
): Promise<void> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, "serve", "--port", "0", ...args], { stdio: "pipe" });
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  let text = "";
  let errors = "";
  child.stderr.on("data", (chunk) => errors += chunk);
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => (text += chunk).includes("Ctrl+C") && resolve());
      ended.then((code) => reject(new Error(`trivet serve exited with ${code}: ${errors}`)));
    });
    await check(text);
    process.kill(child.pid!, "SIGTERM");
    assert.is(await ended, 0);
    const events = errors.trim().split("\n").map((line) => JSON.parse(line).event);
    assert.equal(events.filter((event) => event === "started" || event === "stopping"), [
      "started",
      "stopping",
    ]);
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
  }
}

/** Sends the request of a curl command: its URL, `-H` and `-d`, with or without single quotes. */
async function runCurl(line: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
  const all = (option: string): string[] => args.filter((_, i) => args[i - 1] === option);
  const headers = new Headers(
    all("-H").map((field): [string, string] => {
      const [name, value] = field.split(": ");
      return [name!, value!];
    }),
  );
  const data = all("-d").join("&");
  if (data && !headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded");
  const response = await fetch(args.find((word) => word.startsWith("http"))!, {
    headers,
    ...(data && { method: "POST", body: data }),
  });
  return { status: response.status, body: await response.json() };
}

test("serve prints the services and, for each, a command that works as printed", async () => {
  await withBanner(["--data", join(folder.path, "first")], async (text) => {
    assert.match(text, / http:\/\/127\.0\.0\.1:[1-9]\d+\n/);
    for (const word of ["permission", "know-how", "tools", "trivet_cs_", "trivet_key_", "password"]) {
      assert.match(text, word);
    }
    const [token, skills, tool, ...more] = text.split("\n").filter((line) => line.startsWith("  curl "));
    assert.is(more.length, 0);
    const answers = [await runCurl(token!), await runCurl(skills!), await runCurl(tool!)];
    assert.equal(answers.map(({ status }) => status), [200, 200, 200]);
    assert.match(String(answers[0]!.body.access_token), "trivet_at_");
    assert.is((answers[1]!.body.data as unknown[]).length, 2);
    assert.match(JSON.stringify(answers[2]!.body.result), "commit-messages");
  });
});

test("later starts print secrets only with --show-secrets; placeholders are quoted", async () => {
  const data = ["--data", join(folder.path, "later")];
  let first = "";
  await withBanner(data, (text) => void (first = text));
  const secrets = first.match(/trivet_(?:cs|key)_[\w-]+|(?<=password )\S+/g)!;
  assert.is(new Set(secrets).size, 3);
  await withBanner(data, (text) => {
    for (const secret of secrets) assert.not.match(text, secret);
    assert.match(text, "--show-secrets");
    assert.match(text, "'client_secret=<client secret>'");
  });
  await withBanner([...data, "--show-secrets"], (text) => {
    for (const secret of secrets) assert.match(text, secret);
  });
});

test("--show-secrets prints no secret that was changed or removed since", async () => {
  const data = ["--data", join(folder.path, "changed")];
  const { facts, stop } = await startTrivet(data);
  assert.is(await stop(), 0);
  const change = async (...args: string[]) => {
    const { code, stderr } = await trivet([...args, ...data]);
    assert.is(code, 0, stderr);
  };
  const password = facts.user.password!;
  await change("user", "password", "demo", "--generate");
  await withBanner([...data, "--show-secrets"], (text) => {
    assert.not.match(text, password);
    assert.is(text.split("(changed since)").length, 2);
    assert.match(text, facts.client.secret!);
    assert.match(text, facts.api_key!);
  });
  await change("client", "rotate-secret", "demo-client", "--keep-old", "1h");
  await change("key", "remove", "demo");
  await withBanner([...data, "--show-secrets"], (text) => {
    for (const secret of [password, facts.client.secret!, facts.api_key!]) assert.not.match(text, secret);
    assert.is(text.split("(changed since)").length, 4);
    assert.match(text, "'client_secret=<client secret>'");
    assert.match(text, "'x-api-key: <api key>'");
  });
  const later = await startTrivet([...data, "--show-secrets"]);
  assert.equal([later.facts.client, later.facts.user, later.facts.api_key], [
    { ...facts.client, secret: null },
    { ...facts.user, password: null },
    null,
  ]);
  assert.is(await later.stop(), 0);
});

test("--no-demo prints no demo; --mcp-auth required adds a token to the command", async () => {
  await withBanner(
    ["--data", join(folder.path, "no-demo"), "--no-demo", "--mcp-auth", "required"],
    (text) => {
      assert.not.match(text, /trivet_cs_|trivet_key_|secret trivet|demo-client/);
      assert.match(text, /\/mcp -H .*'authorization: Bearer <access token>'/);
    },
  );
});

test("an issuer with a slash at its end has the address of the tools below it", async () => {
  const args = ["--no-demo", "--no-skills", "--issuer", "https://agents.example/"];
  const server = await startTrivet(["--data", join(folder.path, "slash"), ...args]);
  assert.equal([server.facts.issuer, server.facts.mcp], [
    "https://agents.example/",
    "https://agents.example/mcp",
  ]);
  assert.is(await server.stop(), 0);
});

test("a second signal ends the process at once, with exit code 1", async () => {
  const server = await startTrivet(["--data", join(folder.path, "signals")]);
  const { port } = new URL(server.facts.issuer);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  // The first signal waits for this request, which never ends.
  socket.write("POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n");
  socket.write("Content-Type: application/x-www-form-urlencoded\r\n\r\na=");
  // The server reads its connections in turn: it answers these requests after it has read that one.
  for (let i = 0; i < 3; i++) await (await fetch(server.facts.url + "/oauth/jwks")).text();
  const started = Date.now();
  const ended = server.stop("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.is(server.child.exitCode, null, "the first signal waits for the request");
  process.kill(server.child.pid!, "SIGINT");
  assert.is(await ended, 1);
  assert.ok(Date.now() - started < 5000);
  socket.destroy();
});

test.run();
