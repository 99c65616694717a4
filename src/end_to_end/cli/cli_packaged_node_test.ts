import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { buildPackage, type BuiltPackage } from "../../../examples/test_package.ts";
import { runtimeCommand } from "../test_process.ts";
import { exchange, type ToolFolder, toolFolder } from "./test_tool_folder.ts";

const test = suite("the command of the package");
/** Where the command is a bundle. */
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const HANDSHAKE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};
/** Files of the package outside its bundle that start the command. */
const BEFORE_BUNDLE = ["runtime/cli.js"];
/** A start reads so many files of the package at most: hundreds take as long as everything else. */
const MAX_FILES = 12;

let built: BuiltPackage;
let folder: ToolFolder;
let cli: string;
test.before(() => {
  built = buildPackage();
  folder = toolFolder(built.dist);
  cli = join(built.dist, "runtime/cli.js");
});
test.after(() => {
  folder?.remove();
  built?.remove();
});

test("the README says how large the package is, and how many packages it depends on", () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const [, size] = /package\s+itself is about (\d+) MB/.exec(readme)!;
  let bytes = 0;
  for (const entry of readdirSync(built.dist, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  assert.ok(Math.abs(bytes / 1e6 / Number(size) - 1) < 0.2, `${bytes} bytes`);
  const { dependencies } = JSON.parse(readFileSync(join(built.dist, "package.json"), "utf8"));
  const words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];
  assert.match(readme, `has ${words[Object.keys(dependencies).length]} dependencies`);
});

const TOOLS = `
const asks = tool({ name: "asks", description: "", run: () => { throw new ToolError("not today"); } });
const copies = tool({ name: "copies", description: "", run: () => String(ToolError === OfMcp) });
`;
const FILES: Readonly<Record<string, string>> = {
  "tools.mjs": `import { tool, ToolError } from "trivet";
import { ToolError as OfMcp } from "trivet/mcp";
${TOOLS}
export default [asks, copies];`,
  "tools.ts": `import { tool, ToolError } from "trivet";
import { ToolError as OfMcp } from "trivet/mcp";
${TOOLS}
const tools: readonly unknown[] = [asks, copies];
export default tools;`,
  "tools.cjs": `const { tool, ToolError } = require("trivet");
const { ToolError: OfMcp } = require("trivet/mcp");
${TOOLS}
module.exports = [asks, copies];`,
};

for (const [name, text] of Object.entries(FILES)) {
  for (const watch of name.endsWith(".ts") ? [[], ["--watch"]] : [[]]) {
    test(`${[name, ...watch].join(" ")} uses "trivet" beside the command`, async () => {
      folder.write(name, text);
      const called = await exchange([name, ...watch, "--data", "data"], [
        { method: "initialize", params: HANDSHAKE },
        { method: "tools/call", params: { name: "asks", arguments: {} } },
        { method: "tools/call", params: { name: "copies", arguments: {} } },
      ], { cwd: folder.path, cli });
      assert.is(called.stderr, "");
      assert.equal(called.results.slice(1).map((result) => (result as { content: unknown }).content), [
        [{ type: "text", text: "not today" }],
        [{ type: "text", text: "true" }],
      ]);
    });
  }
}

test("the command and the tools it serves load one copy of the package, in few files", async () => {
  if (!isNode) return;
  const list = join(folder.path, "loaded");
  const preload = folder.write(
    "list_loaded.mjs",
    `import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({ load(url, context, next) { appendFileSync(${
      JSON.stringify(list)
    }, url + "\\n"); return next(url, context); } });`,
  );
  folder.write("one.mjs", FILES["tools.mjs"]!);
  writeFileSync(list, "");
  const { results } = await exchange(["one.mjs", "--data", "data"], [
    { method: "initialize", params: HANDSHAKE },
  ], { cwd: folder.path, cli, env: { NODE_OPTIONS: `--import ${pathToFileURL(preload)}` } });
  assert.is((results[0] as { protocolVersion: string }).protocolVersion, HANDSHAKE.protocolVersion);
  const root = pathToFileURL(built.dist).href + "/";
  const loaded = readFileSync(list, "utf8").split("\n").filter((url) => url.startsWith(root)).map((url) =>
    url.slice(root.length)
  );
  assert.equal(loaded.filter((file) => !file.startsWith("bundle/")), BEFORE_BUNDLE);
  assert.ok(loaded.length > BEFORE_BUNDLE.length && loaded.length <= MAX_FILES, loaded.join(" "));
});

test("each entry exports the same names from the bundle and from modules", () => {
  if (!isNode) return;
  const script = folder.write(
    "entries.mjs",
    `const root = new URL(${JSON.stringify(pathToFileURL(built.dist).href + "/")});
const { exports } = (await import(new URL("package.json", root), { with: { type: "json" } })).default;
const names = async (path) => Object.keys(await import(new URL(path, root))).sort().join();
const found = { differing: [], missing: [] };
for (const { node, default: path } of Object.values(exports)) {
  if (path === undefined) continue;
  if (node === undefined) found.missing.push(path);
  else if (await names(node) !== await names(path)) found.differing.push(path);
}
console.log(JSON.stringify(found));`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  assert.is(stderr, "");
  assert.equal(JSON.parse(stdout), {
    differing: [],
    missing: ["./runtime/workerd.js"],
  });
});

test("it prints its help and version", () => {
  const [command, before] = runtimeCommand();
  for (const [word, expected] of [["--help", "\n  stdio +serves"], ["--version", "^\\d+\\.\\d+\\.\\d+"]]) {
    const { status, stdout } = spawnSync(command, [...before, cli, word!], { encoding: "utf8" });
    assert.is(status, 0);
    assert.match(stdout, new RegExp(expected!));
  }
});

test.run();
