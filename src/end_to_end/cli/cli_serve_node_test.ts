import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

const test = suite("trivet serve, at a terminal");
const folder = temporaryFolder();
test.after(() => folder.remove());

/** Starts `trivet serve` without `--json`, passes its output to `look`, and stops it. */
async function withBanner(
  words: readonly string[],
  look: (text: string) => Promise<void> | void,
): Promise<void> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, "serve", "--port", "0", ...words], { stdio: "pipe" });
  const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  let text = "";
  let errors = "";
  child.stderr.on("data", (chunk) => errors += chunk);
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => (text += chunk).includes("Ctrl+C") && resolve());
      ended.then((code) => reject(new Error(`trivet serve exited with ${code}: ${errors}`)));
    });
    await look(text);
    process.kill(child.pid!, "SIGTERM");
    assert.is(await ended, 0);
    assert.is(errors, "Stopping after the requests in flight\n");
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
  }
}

/** Sends the request of a curl command: its URL, `-H` and `-d`, with or without single quotes. */
async function doCurl(line: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
  const all = (option: string): string[] => words.filter((_, i) => words[i - 1] === option);
  const headers = new Headers(
    all("-H").map((field): [string, string] => {
      const [name, value] = field.split(": ");
      return [name!, value!];
    }),
  );
  const data = all("-d").join("&");
  if (data && !headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded");
  const response = await fetch(words.find((word) => word.startsWith("http"))!, {
    headers,
    ...(data && { method: "POST", body: data }),
  });
  return { status: response.status, body: await response.json() };
}

test("it prints the services, and a command for each that works as printed", async () => {
  await withBanner(["--data", join(folder.path, "first")], async (text) => {
    assert.match(text, /Trivet runs at http:\/\/127\.0\.0\.1:[1-9]\d+\n/);
    for (const word of ["permission", "know-how", "tools", "trivet_cs_", "trivet_key_", "password"]) {
      assert.match(text, word);
    }
    const [token, skills, tool, ...more] = text.split("\n").filter((line) => line.startsWith("  curl "));
    assert.is(more.length, 0);
    const answers = [await doCurl(token!), await doCurl(skills!), await doCurl(tool!)];
    assert.equal(answers.map(({ status }) => status), [200, 200, 200]);
    assert.match(String(answers[0]!.body.access_token), "trivet_at_");
    assert.is((answers[1]!.body.data as unknown[]).length, 2);
    assert.match(JSON.stringify(answers[2]!.body.result), "commit-messages");
  });
});

test("later starts show no secret without --show-secrets; placeholders are quoted", async () => {
  const data = ["--data", join(folder.path, "later")];
  let first = "";
  await withBanner(data, (text) => void (first = text));
  const secrets = first.match(/trivet_(?:cs|key)_[\w-]+|(?<=password )\S+/g)!;
  assert.is(new Set(secrets).size, 3);
  await withBanner(data, (text) => {
    for (const secret of secrets) assert.not.match(text, secret);
    assert.match(text, "--show-secrets shows them again");
    assert.match(text, "'client_secret=<client secret>'");
  });
  await withBanner([...data, "--show-secrets"], (text) => {
    for (const secret of secrets) assert.match(text, secret);
  });
});

test("--no-demo shows no demo; where tools require a token, the command contains one", async () => {
  await withBanner(
    ["--data", join(folder.path, "none"), "--no-demo", "--mcp-auth", "required"],
    (text) => {
      assert.not.match(text, /trivet_cs_|trivet_key_|secret trivet|demo-client/);
      assert.match(text, /\/mcp -H .*'authorization: Bearer <access token>'/);
    },
  );
});

test("a second signal ends the process at once, with exit code 1", async () => {
  const server = await startTrivet(["--data", join(folder.path, "signals")]);
  const { port } = new URL(server.facts.issuer);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  // A request that never ends holds up the first signal.
  socket.write("POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n");
  socket.write("Content-Type: application/x-www-form-urlencoded\r\n\r\na=");
  await new Promise((resolve) => setTimeout(resolve, 150));
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
