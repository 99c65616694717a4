/**
 * Tests the packages as a user gets them: installs them in an empty folder with only their own dependencies, imports every
 * entry, bundles an app for Node, compiles the declarations, runs `trivet serve`, and tests it with the installed
 * conformance kit.
 *
 * @module
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { VERSION } from "../../src/version.ts";
import { checkDeclarations, COMPILER } from "./check_declarations.ts";

// The package is run on this Node, not on the one of the machine.
const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env.PATH };
const folder = mkdtempSync(join(tmpdir(), "trivet-package-"));
const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, {
    env,
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 120_000,
  });

/** The entry whose declarations name the types of an optional package. */
const TRACED = "./opentelemetry";

/** An app that a bundler for Node makes one file of, as frameworks do. */
const APP = `import { tool, toolServer } from "trivet/mcp";
import { memoryStore } from "trivet/store/memory";
const tools = [tool({ name: "ping", description: "Answers", run: () => "pong" })];
export default toolServer({ url: "https://tools.example", store: memoryStore(), tools });
`;
const BUNDLER = "esbuild@0.25";
/** The app has 166 kB. With the bundle of the command line it had 888. */
const MAX_APP_BYTES = 250_000;

/** Installs and runs both packages. @param tarballs absolute paths @throws {Error} for the first that does not work */
export async function checkPackages(tarballs: { trivet: string; kit: string }): Promise<void> {
  try {
    const { version, exports } = JSON.parse(readFileSync("dist/package.json", "utf8"));
    if (version !== VERSION) {
      throw new Error(
        `The versions of dist/package.json (${version}) and src/version.ts (${VERSION}) differ`,
      );
    }
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    const install = (...names: string[]) =>
      run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...names], folder);
    const started = performance.now();
    install(tarballs.trivet, tarballs.kit);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const packages = run("npm", ["ls", "--all", "--parseable"], folder).trim().split("\n").length - 1;
    console.log(`installed ${packages} packages in ${seconds} s`);

    // Some entries need an optional package.
    const entries = Object.keys(exports).filter((entry) => !/package\.json|hattip/.test(entry));
    const optional = ["./store/postgres", "./store/redis", "./s3", TRACED];
    importAll(entries.filter((entry) => !optional.includes(entry)));
    install("--no-save", BUNDLER);
    bundleApp();
    install("--no-save", ...COMPILER);
    // Before the optional packages are installed: their types are not needed.
    checkDeclarations(
      folder,
      Object.keys(exports).filter((entry) => entry !== "./package.json" && entry !== TRACED),
    );
    await serve();
    await checkMissing("postgres", ["--store", "postgres://127.0.0.1/none"]);
    await checkMissing("redis", ["--store", "redis://127.0.0.1/0"]);
    await checkMissing("aws4fetch", ["--blobs", "s3://bucket"]);
    await checkMissing("@opentelemetry/api", ["--otel"]);
    install("postgres", "redis", "aws4fetch", "@opentelemetry/api");
    importAll(optional);
    install("--no-save", ...COMPILER);
    checkDeclarations(folder, [TRACED]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function importAll(entries: readonly string[]): void {
  const imports = entries.map((entry) => `await import(${JSON.stringify(join("trivet", entry))});`);
  writeFileSync(join(folder, "entries.mjs"), imports.join("\n"));
  run(process.execPath, ["entries.mjs"], folder);
  console.log(`imported ${entries.join(" ")}`);
}

/** Bundles an app while the optional packages are not installed. */
function bundleApp(): void {
  writeFileSync(join(folder, "app.mjs"), APP);
  const args = ["app.mjs", "--bundle", "--platform=node", "--format=esm", "--minify"];
  const { length } = run(join(folder, "node_modules/.bin/esbuild"), args, folder);
  if (length > MAX_APP_BYTES) throw new Error(`A tool server bundled for Node has ${length} bytes`);
  console.log(`a tool server bundled for Node has ${length} bytes`);
}

/** Checks that the command names the missing package and how to install it. */
async function checkMissing(name: string, args: readonly string[]): Promise<void> {
  const child = spawn("npx", [
    "--no-install",
    "trivet",
    "serve",
    "--port",
    "0",
    "--data",
    join(folder, "data"),
    ...args,
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
    throw new Error(`trivet serve without ${name} exited with ${code}: ${stderr}`);
  }
  console.log(`without ${name}: ${stderr.trim().split("\n").at(-1)}`);
}

/** Starts the installed command and sends each service one request. */
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
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), 30_000);
  try {
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("close", (code) => reject(new Error(`trivet serve exited with ${code}`)));
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
    const responses = await Promise.all([
      fetch(issuer),
      fetch(`${issuer}/oauth/token`, { method: "POST", body: form }),
      fetch(`${issuer}/v1/skills`, { headers: { "x-api-key": api_key } }),
      fetch(`${issuer}/mcp`, ping),
    ]);
    const statuses = responses.map(({ status }) => status).join(" ");
    if (statuses !== "200 200 200 200") throw new Error(`The installed server responded with ${statuses}`);
    console.log("npx trivet serve responds at /, /oauth/token, /v1/skills and /mcp");
    const kit = ["--no-install", "trivet-conformance", "mcp", `${issuer}/mcp`, "--level", "MUST"];
    console.log(`npx trivet-conformance: ${run("npx", kit, folder).trim().split("\n").at(-1)}`);
  } finally {
    clearTimeout(timer);
    if (child.exitCode === null) process.kill(-child.pid!, "SIGTERM");
  }
}
