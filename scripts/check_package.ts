/**
 * The package as a user gets it: packed, installed in an empty folder with its own dependencies only, every entry
 * imported, and `trivet serve` run from it.
 *
 * @module
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { VERSION } from "../src/version.ts";

// What the package runs on is this Node, whatever the machine's is.
const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env.PATH };
const folder = mkdtempSync(join(tmpdir(), "trivet-package-"));
const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 120_000,
  });

try {
  const { version, exports } = JSON.parse(readFileSync("dist/package.json", "utf8"));
  if (version !== VERSION) throw new Error(`package.json says ${version}, src/version.ts says ${VERSION}`);
  const tarball = run("npm", ["pack", "--silent", "--pack-destination", folder], resolve("dist")).trim()
    .split("\n").at(-1)!;
  const size = statSync(join(folder, tarball)).size;

  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const started = performance.now();
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", `./${tarball}`], folder);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const packages = run("npm", ["ls", "--all", "--parseable"], folder).trim().split("\n").length - 1;
  console.log(`packed ${(size / 1024).toFixed(0)} KB; installed ${packages} packages in ${seconds} s`);

  // Some entries need a package that the user chooses; the others nothing more.
  const entries = Object.keys(exports).filter((entry) => !/package\.json|hattip/.test(entry));
  const choices = ["./store/postgres", "./store/redis", "./s3"];
  importAll(entries.filter((entry) => !choices.includes(entry)));
  await serve();
  await refuseWithout("postgres", ["--store", "postgres://127.0.0.1/none"]);
  await refuseWithout("redis", ["--store", "redis://127.0.0.1/0"]);
  await refuseWithout("aws4fetch", ["--blobs", "s3://bucket"]);
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "postgres", "redis", "aws4fetch"], folder);
  importAll(choices);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function importAll(entries: readonly string[]): void {
  const imports = entries.map((entry) => `await import(${JSON.stringify(join("trivet", entry))});`);
  writeFileSync(join(folder, "entries.mjs"), imports.join("\n"));
  run(process.execPath, ["entries.mjs"], folder);
  console.log(`imported ${entries.join(" ")}`);
}

/** The command says which package is missing. */
async function refuseWithout(name: string, words: readonly string[]): Promise<void> {
  const child = spawn("npx", [
    "--no-install",
    "trivet",
    "serve",
    "--port",
    "0",
    "--data",
    join(folder, "data"),
    ...words,
  ], {
    cwd: folder,
    env: { ...env, AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => stderr += chunk);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const expected = `npm install ${name}`;
  if (code !== 1 || !stderr.includes(`"${name}"`) || !stderr.includes(expected)) {
    throw new Error(`Without ${name} it ended with ${code}: ${stderr}`);
  }
  console.log(`without ${name}: ${stderr.trim().split("\n").at(-1)}`);
}

/** Starts the installed command and asks each service one question. */
async function serve(): Promise<void> {
  const child = spawn("npx", [
    "--no-install",
    "trivet",
    "serve",
    "--port",
    "0",
    "--json",
    "--data",
    join(folder, "data"),
  ], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const late = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), 30_000);
  try {
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("close", (code) => reject(new Error(`trivet serve ended with ${code}`)));
    });
    const { issuer, client, api_key } = JSON.parse(line);
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client.id,
      client_secret: client.secret,
    });
    const ping = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    };
    const answers = await Promise.all([
      fetch(issuer),
      fetch(`${issuer}/oauth/token`, { method: "POST", body: form }),
      fetch(`${issuer}/v1/skills`, { headers: { "x-api-key": api_key } }),
      fetch(`${issuer}/mcp`, ping),
    ]);
    const statuses = answers.map((answer) => answer.status).join(" ");
    if (statuses !== "200 200 200 200") throw new Error(`The installed server answered ${statuses}`);
    console.log("npx trivet serve answers /, /oauth/token, /v1/skills and /mcp");
  } finally {
    clearTimeout(late);
    if (child.exitCode === null) process.kill(-child.pid!, "SIGTERM");
  }
}
