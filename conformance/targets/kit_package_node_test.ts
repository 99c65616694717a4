/**
 * The kit as its users get it: the package installed in an empty folder and run against a Trivet over HTTP, the GitHub
 * Action's script, and the files that the container recipe copies.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { type RunningTrivet, startTrivet } from "../../src/end_to_end/test_process.ts";
import { VERSION } from "../runner/version.ts";

const test = suite("conformance/package");
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const KIT = fileURLToPath(new URL("..", import.meta.url));
const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
let folder: string;
let trivet: RunningTrivet;
let url: string;

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), "kit-package-"));
  trivet = await startTrivet(["--data", join(folder, "data")]);
  url = trivet.facts.url;
});
test.after(async () => {
  await trivet.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
}

function call(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Ended {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 1 << 26,
  });
  return { code: status, out: stdout + stderr };
}

/** Packs the built kit and installs the archive in an empty folder. Returns the path of the command. */
function install(): string {
  const [built, installed] = [join(folder, "built"), join(folder, "installed")];
  // Types are removed by Node, on whichever runtime this test runs.
  const script = `import { buildConformance, measureConformance } from "./scripts/build_conformance.ts";
    buildConformance(${JSON.stringify(built)}); console.log(measureConformance().text);`;
  const written = call(join(REPOSITORY, "node_modules/.bin/node"), [
    "--input-type=module",
    "-e",
    script,
  ], REPOSITORY);
  assert.is(written.code, 0, written.out);
  mkdirSync(installed);
  const packed = call(
    "npm",
    ["pack", "--silent", "--pack-destination", folder],
    built,
  );
  const archive = join(folder, packed.out.trim().split("\n").at(-1)!);
  // As in scripts/build_conformance.ts: with source maps since 2.0.0.
  assert.ok(
    statSync(archive).size < 720 * 1024,
    `${statSync(archive).size} bytes`,
  );
  const measured = Number(/(\d+) KB packed/.exec(written.out)![1]) * 1024;
  assert.ok(Math.abs(measured / statSync(archive).size - 1) < 0.03, written.out);
  const { code, out } = call("npm", [
    "install",
    "--offline",
    "--silent",
    "--prefix",
    installed,
    archive,
  ], installed);
  assert.is(code, 0, out);
  const listed = call("npm", ["ls", "--all", "--parseable"], installed).out.match(/^\/.*/gm) ?? [];
  assert.equal(listed.map((line) => basename(line)), [
    "installed",
    "trivet-conformance",
  ]);
  return join(installed, "node_modules/trivet-conformance/runner/cli.js");
}

test("the installed package runs against a Trivet over HTTP", () => {
  const cli = install();
  const cwd = join(folder, "installed");
  const run = (...args: readonly string[]) => call(process.execPath, [...runtime, cli, ...args], cwd);
  assert.equal(run("--version"), { code: 0, out: `${VERSION}\n` });
  const self = run("self");
  assert.is(self.code, 0, self.out);
  const mcp = run("mcp", `${url}/mcp`, "--report-dir", "report");
  assert.is(mcp.code, 0, mcp.out);
  const report = JSON.parse(
    readFileSync(join(cwd, "report/report.json"), "utf8"),
  );
  assert.is(report.kit, VERSION);
  assert.ok(report.summary.pass > 50, `${report.summary.pass} pass`);
  const metadata = run("oauth", url, "--only", "oauth/metadata");
  assert.is(metadata.code, 0, metadata.out);
  const bare = run("oauth", url);
  assert.is(bare.code, 2, bare.out);
  assert.match(bare.out, /not tested\. Only \d+ of \d+ vectors were asked/);
});

test("package.json has the version of the runner and no dependencies", () => {
  const kit = JSON.parse(readFileSync(join(KIT, "package.json"), "utf8"));
  assert.is(kit.version, VERSION);
  assert.equal([kit.dependencies, kit.peerDependencies, kit.devDependencies], [
    undefined,
    undefined,
    undefined,
  ]);
  assert.match(
    readFileSync(join(KIT, "CHANGELOG.md"), "utf8"),
    `## ${VERSION}\n`,
  );
});

test("the action runs the kit, adds its summary and ends with its exit code", () => {
  const { inputs, runs } = parse(readFileSync(join(KIT, "action.yml"), "utf8"));
  const { env, run } = runs.steps.find((step: { run?: string }) => step.run !== undefined);
  const given: Readonly<Record<string, string>> = {
    suite: "mcp/initialize jsonrpc/request",
    target: `${url}/mcp`,
    arguments: "--only\nmcp/initialize\n",
    report: join(folder, "action"),
  };
  assert.equal(Object.keys(inputs), Object.keys(given));
  const filled = Object.entries<string>(env).map(([name, text]) => [
    name,
    text.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, input) => given[input]!),
  ]);
  const files = {
    GITHUB_STEP_SUMMARY: join(folder, "step.md"),
    GITHUB_OUTPUT: join(folder, "output"),
  };
  const node = fileURLToPath(
    new URL("../../node_modules/.bin", import.meta.url),
  );
  const path = {
    PATH: `${node}:${process.env["PATH"]}`,
    GITHUB_ACTION_PATH: KIT,
  };
  const runAction = (more: Readonly<Record<string, string>>) =>
    call("bash", ["-c", run], folder, {
      ...Object.fromEntries(filled),
      ...files,
      ...path,
      ...more,
    });
  const { code, out } = runAction({});
  assert.is(code, 0, out);
  assert.match(
    readFileSync(files.GITHUB_STEP_SUMMARY, "utf8"),
    /^# .*: mcp\/initialize, jsonrpc\/request\n/,
  );
  assert.is(
    readFileSync(files.GITHUB_OUTPUT, "utf8"),
    `report=${given["report"]}\n`,
  );
  assert.is(runAction({ TARGET: "nothing.json" }).code, 2);
});

test("the container has what the kit needs", () => {
  const recipe = readFileSync(join(KIT, "Dockerfile"), "utf8");
  const root = join(folder, "root");
  for (const [, words = ""] of recipe.matchAll(/^COPY (.*)$/gm)) {
    const names = words.split(" ");
    const to = join(root, names.pop()!);
    for (const name of names) {
      const isFolder = statSync(join(KIT, name)).isDirectory();
      cpSync(join(KIT, name), isFolder ? to : join(to, name), {
        recursive: true,
      });
    }
  }
  const entry: readonly string[] = JSON.parse(
    /^ENTRYPOINT (.*)$/m.exec(recipe)![1]!,
  );
  const cli = join(root, entry[1]!);
  assert.ok(existsSync(cli));
  const commands = [...recipe.matchAll(/^RUN (.*)$/gm)].map(([, words = ""]): string[] => JSON.parse(words));
  assert.equal(commands.map(([, , command]) => command), ["self", "oauth", "client"]);
  for (const [, , ...args] of commands) {
    const { code, out } = call(process.execPath, [...runtime, cli, ...args], root);
    assert.is(code, 0, out);
  }
});

test.run();
