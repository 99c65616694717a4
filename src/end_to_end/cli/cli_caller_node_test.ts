import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, trivet } from "../test_process.ts";
import { environment, exchange, stdioCommand, toolFolder } from "./test_tool_folder.ts";
import { until } from "../../test_until.ts";

const test = suite("trivet stdio: TRIVET_TOKEN and TRIVET_SCOPES");
const folder = toolFolder();
const data = ["--data", join(folder.path, "data")];
test.after(() => folder.remove());

const file = folder.write(
  "who.ts",
  `import { tool } from "trivet";
export const who = tool({
  name: "who",
  description: "Returns the caller",
  run: (_, { principal }) => ({ ...principal, scopes: [...principal!.scopes] }),
});
export const write = tool({ name: "write", description: "Writes", scopes: ["write"], run: () => "written" });
`,
);
const WHO = { method: "tools/call", params: { name: "who" } };
const WRITE = { method: "tools/call", params: { name: "write" } };

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]!.text;

/** The principal of a call, and the result of a call that needs the scope `write`. */
async function callAs(
  env: Record<string, string>,
): Promise<{ who: Record<string, unknown>; write: unknown }> {
  const { results: [who, write], stderr, code } = await exchange([file, ...data], [WHO, WRITE], { env });
  assert.is(stderr, "");
  assert.is(code, 0);
  return { who: JSON.parse(textOf(who)), write };
}

/** The standard error of a call that must end with this exit code, without the token. */
async function errorOf(
  expected: 1 | 2,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<string> {
  const { stdout, stderr, code } = await exchange([file, ...data, ...args], [WHO], { env });
  assert.is(stdout, "");
  assert.is(code, expected);
  if (env.TRIVET_TOKEN) assert.not.match(stderr, env.TRIVET_TOKEN.trim());
  return stderr;
}

async function addKey(scope: string): Promise<{ id: string; secret: string }> {
  const { stdout } = await trivet(["key", "add", "--json", "--scope", scope, ...data]);
  return JSON.parse(stdout);
}

test("without both variables the client is local and can read skills", async () => {
  const { who, write } = await callAs({});
  assert.equal(who, { client: "stdio", workspace: "default", scopes: ["skills:read"] });
  const { code, message } = write as { code: number; message: string };
  assert.is(code, -32000);
  assert.match(message, /\bwrite\b/);
});

test("TRIVET_SCOPES sets the scopes; an empty value sets no scope", async () => {
  const { who, write } = await callAs({ TRIVET_SCOPES: " write  skills:read " });
  assert.equal(who.scopes, ["write", "skills:read"]);
  assert.is(textOf(write), "written");
  assert.equal((await callAs({ TRIVET_SCOPES: "" })).who.scopes, []);
});

test("TRIVET_TOKEN accepts an API key of the store", async () => {
  const { id, secret } = await addKey("admin");
  const { who, write } = await callAs({ TRIVET_TOKEN: secret });
  assert.equal(who, { client: id, workspace: "default", scopes: ["admin"] });
  assert.is(textOf(write), "written", "admin includes every scope");
});

test("TRIVET_TOKEN accepts an access token only for the resource of the tool server", async () => {
  const server = await startTrivet(data);
  const { issuer, mcp, client } = server.facts;
  const request = async (more: Record<string, string>): Promise<string> => {
    const form = { grant_type: "client_credentials", client_id: client.id, client_secret: client.secret! };
    const body = new URLSearchParams({ ...form, ...more });
    return (await (await fetch(`${issuer}/oauth/token`, { method: "POST", body })).json()).access_token;
  };
  const token = await request({ scope: "write", resource: mcp });
  const other = await request({ resource: `${issuer}/v1/skills` });
  await server.stop();
  const args = [file, ...data, "--issuer", issuer];
  const { results: [who, write] } = await exchange(args, [WHO, WRITE], { env: { TRIVET_TOKEN: token } });
  const { client: caller, scopes, audience } = JSON.parse(textOf(who));
  assert.equal({ caller, scopes, audience }, {
    caller: client.id,
    scopes: ["write", "read"],
    audience: [mcp],
  });
  assert.is(textOf(write), "written");

  assert.match(await errorOf(1, { TRIVET_TOKEN: other }, ["--issuer", issuer]), mcp);
  assert.match(await errorOf(1, { TRIVET_TOKEN: token }), "http://127.0.0.1:8787/mcp");
});

test("an invalid token ends the process with 1, a malformed one with 2, and neither is printed", async () => {
  const named = /^trivet stdio: TRIVET_TOKEN /;
  assert.match(
    await errorOf(1, { TRIVET_TOKEN: "trivet_key_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }),
    named,
  );
  assert.match(await errorOf(1, { TRIVET_TOKEN: "no-such-token" }), named);
  assert.match(await errorOf(2, { TRIVET_TOKEN: "two words" }), named);
  assert.match(await errorOf(2, { TRIVET_TOKEN: "zwölf" }), named);
  assert.match(await errorOf(1, { TRIVET_TOKEN: "{braces}" }), named);
});

test("an empty token is an error; TRIVET_TOKEN and TRIVET_SCOPES exclude each other", async () => {
  assert.match(await errorOf(2, { TRIVET_TOKEN: "" }), /^trivet stdio: TRIVET_TOKEN /);
  assert.match(
    await errorOf(2, { TRIVET_TOKEN: "x-y-z", TRIVET_SCOPES: "write" }),
    /TRIVET_SCOPES and TRIVET_TOKEN/,
  );
});

test("a token that is revoked later ends the process", async () => {
  const { id, secret } = await addKey("skills:read");
  const { command, args } = stdioCommand([file, ...data]);
  const child: ChildProcessWithoutNullStreams = spawn(command, args, {
    env: environment({ TRIVET_TOKEN: secret }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += chunk);
  child.stderr.on("data", (chunk) => stderr += chunk);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  child.stdin.on("error", () => {});
  child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 1, ...WHO }) + "\n");
  await until(() => stdout.includes("\n"), "the response");
  await trivet(["key", "remove", id, ...data]);
  assert.is(await ended, 1);
  clearTimeout(late);
  assert.match(stderr, /^trivet stdio: TRIVET_TOKEN /);
  assert.not.match(stderr, secret);
});

test("--help lists the environment variables", async () => {
  const { stdout } = await trivet(["stdio", "--help"]);
  for (const text of ["TRIVET_TOKEN", "TRIVET_SCOPES", "--issuer URL"]) assert.match(stdout, text);
});

test.run();
