/**
 * Makes a data folder with the code of a commit: `node scripts/make_data_folder.ts CHECKOUT NAME`, where CHECKOUT is a
 * work tree of that commit with its `node_modules`. Writes `NAME.db` into `fixtures/data_folders/`, and `NAME.json` with
 * the secrets that a test needs to use it. Runs on Linux.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

const ISSUER = "http://127.0.0.1:8787";
const SKILL = fileURLToPath(new URL("../fixtures/data_folders/greeting", import.meta.url));
const PAGE_BYTES = 1024;

const [checkout, name, ...flags] = process.argv.slice(2);
if (checkout === undefined || name === undefined) {
  throw new Error("Usage: node scripts/make_data_folder.ts CHECKOUT NAME [--no-skill] [--token-format jwt]");
}
const hasSkill = !flags.includes("--no-skill");
const serveFlags = flags.filter((flag) => flag !== "--no-skill");
const commit = spawnSync("git", ["-C", checkout, "rev-parse", "HEAD"], { encoding: "utf8" }).stdout.trim();
const folder = join(mkdtempSync(join(tmpdir(), "trivet-made-")), "data");
const cli = join(checkout, "src/runtime/cli.ts");

function trivet(args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args, "--data", folder], {
    input,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`trivet ${args.join(" ")}: ${stderr}`);
  return stdout;
}

async function post(url: string, form: Record<string, string>, headers: HeadersInit = {}): Promise<Response> {
  return await fetch(url, { method: "POST", body: new URLSearchParams(form), headers, redirect: "manual" });
}

const server = spawn(process.execPath, [
  cli,
  "serve",
  "--port",
  "0",
  "--issuer",
  ISSUER,
  "--json",
  "--data",
  folder,
  ...serveFlags,
], {
  stdio: ["ignore", "pipe", "inherit"],
});
const line = await new Promise<string>((resolve) =>
  createInterface({ input: server.stdout }).once("line", resolve)
);
const facts = JSON.parse(line);
const port = spawnSync("ss", ["-ltnp"], { encoding: "utf8" }).stdout.split("\n")
  .find((text) => text.includes(`pid=${server.pid},`))!.match(/:(\d+) /)![1];
const url = `http://127.0.0.1:${port}`;

const password = "fixture password 7";
trivet(
  ["user", "add", "alice", "--email", "alice@example.com", "--name", "Alice", "--password-stdin"],
  password,
);
trivet(["client", "add", "--public", "--id", "app", "--redirect-uri", "http://127.0.0.1/callback"]);
if (hasSkill) trivet(["skill", "add", SKILL]);

const login = await post(`${url}/login`, { username: "alice", password });
const cookies = login.headers.getSetCookie().map((text) => text.split(";", 1)[0]);
const verifier = "fixture-verifier-fixture-verifier-fixture-verifier";
const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
const query = new URLSearchParams({
  response_type: "code",
  client_id: facts.client.id,
  redirect_uri: facts.client.redirect_uri,
  scope: "skills:read",
  state: "s",
  code_challenge: Buffer.from(digest).toString("base64url"),
  code_challenge_method: "S256",
});
const headers = { cookie: cookies.join("; ") };
const page = await (await fetch(`${url}/oauth/authorize?${query}`, { headers, redirect: "manual" })).text();
const transaction = /name="transaction" value="([^"]+)"/.exec(page)![1]!;
const approved = await post(`${url}/oauth/authorize`, { transaction, decision: "approve" }, headers);
const code = new URL(approved.headers.get("location")!).searchParams.get("code")!;
const authorization = `Basic ${Buffer.from(`${facts.client.id}:${facts.client.secret}`).toString("base64")}`;
const tokens = await (await post(`${url}/oauth/token`, {
  grant_type: "authorization_code",
  code,
  redirect_uri: facts.client.redirect_uri,
  code_verifier: verifier,
}, { authorization })).json();
const machine =
  await (await post(`${url}/oauth/token`, { grant_type: "client_credentials", scope: "skills:read" }, {
    authorization,
  })).json();
if (!tokens.refresh_token || !machine.access_token) throw new Error(JSON.stringify({ tokens, machine }));

await new Promise((resolve) => {
  server.once("exit", resolve);
  server.kill("SIGTERM");
});
const file = join(folder, "trivet.db");
const database = new DatabaseSync(file);
// A file of the least size; the tables stay as that commit made them.
database.exec(`PRAGMA journal_mode = DELETE; PRAGMA page_size = ${PAGE_BYTES}; VACUUM`);
database.close();
const target = fileURLToPath(new URL(`../fixtures/data_folders/${name}`, import.meta.url));
cpSync(file, `${target}.db`);
const known = {
  commit,
  made: Date.now(),
  issuer: ISSUER,
  client: facts.client,
  user: { username: "alice", password },
  api_key: facts.api_key,
  session: cookies,
  access_token: tokens.access_token,
  refresh_token: tokens.refresh_token,
  client_token: machine.access_token,
};
writeFileSync(`${target}.json`, JSON.stringify(known, undefined, 2) + "\n");
rmSync(folder, { recursive: true });
