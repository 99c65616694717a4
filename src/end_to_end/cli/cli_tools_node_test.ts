import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { environment, exchange, stdioCommand, toolFolder } from "./test_tool_folder.ts";

const test = suite("a module of tools");
const folder = toolFolder();
const data = ["--data", join(folder.path, "data")];
test.after(() => folder.remove());

const info = { name: "trivet-test", version: "1.0.0" };
const SKILL_TOOLS = ["list_skills", "load_skill", "read_skill_file"];

// The README's example, unchanged.

const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
const section = /\n## A tool server in 12 lines\n(.*?)\n## /s.exec(readme)![1]!;
const [, source] = /```ts\n(.*?)```/s.exec(section)!;
const commands = [...section.matchAll(/^npx trivet (\S+) (\S+) (\S+)/gm)].map(([, ...args]) => args);

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  readResource(request: { uri: string }): Promise<unknown>;
  getPrompt(request: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

async function useReadme(client: AnyClient): Promise<void> {
  assert.equal((await client.listTools()).tools.map(({ name }) => name), ["weekday"]);
  const call = async (date: string) =>
    await client.callTool({ name: "weekday", arguments: { date } }) as {
      content: { text: string }[];
      isError?: boolean;
    };
  assert.is((await call("2026-07-28")).content[0]!.text, "Tuesday");
  assert.is((await call("next week")).isError, true);
  const { contents: [today] } = await client.readResource({ uri: "date://today" }) as {
    contents: { text: string }[];
  };
  assert.is(today!.text.slice(0, 10), new Date().toISOString().slice(0, 10));
  const { messages } = await client.getPrompt({ name: "plan" }) as { messages: unknown[] };
  assert.is(messages.length, 1);
  await client.close();
}

test("the README's tool server has 12 lines", () => {
  assert.is(source!.trim().split("\n").length, 12);
  assert.equal(commands.map(([command]) => command), ["serve", "stdio"]);
});

test("the README's tool server runs over HTTP with the README's command", async () => {
  folder.write("readme/tools.ts", source!);
  const [, , ...args] = commands[0]!;
  const server = await startTrivet([join(folder.path, "readme/tools.ts"), ...args, ...data]);
  const client = new ClientV1(info);
  await client.connect(new HttpV1(new URL(server.facts.mcp)) as Parameters<typeof client.connect>[0]);
  await useReadme(client as unknown as AnyClient);
  assert.is(await server.stop(), 0);
  assert.is(server.problems(), "");
});

test("the README's tool server runs over stdio with the README's command", async () => {
  folder.write("readme/tools.ts", source!);
  const [, ...args] = commands[1]!;
  const client = new ClientV2(info);
  await client.connect(
    new StdioV2({
      ...stdioCommand([...args, ...data]),
      cwd: join(folder.path, "readme"),
      env: environment(),
    }),
  );
  await useReadme(client as unknown as AnyClient);
});

// Valid exports.

const LIST = { method: "tools/list" };
const HEAD = 'import { group, prompt, resource, tool, ToolError } from "trivet";\n' +
  'const make = (name: string) => tool({ name, description: "A tool", run: () => name });\n';

/** The names of a module's tools. */
async function toolsOf(file: string): Promise<string[]> {
  const { results: [listed], stderr, code } = await exchange([file, ...data], [LIST]);
  assert.is(stderr, "");
  assert.is(code, 0);
  return (listed as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

test("default and named exports can be definitions, nested lists and groups; each is listed once", async () => {
  const file = folder.write(
    "all.ts",
    HEAD + `
export const one = make("one");
export default [one, [make("two"), [make("three")]], group({ prefix: "g_" }, [make("four")])];
export const more = [make("five"), prompt({ name: "p", get: () => "text" })];
export const place = resource({ uri: "x://y", name: "place", read: () => "here" });
export type Ignored = string;
`,
  );
  assert.equal(await toolsOf(file), ["one", "two", "three", "g_four", "five"]);
});

test("a module is loaded in a folder that npm init made, with specifiers that end in .js except on Deno", async () => {
  folder.write("commonjs/package.json", '{ "name": "mine", "type": "commonjs" }');
  folder.write("commonjs/names.ts", 'export const name: string = "renamed";');
  const ending = "Deno" in globalThis ? "ts" : "js";
  const head = `import { name } from "./names.${ending}";\n${HEAD}`;
  assert.equal(await toolsOf(folder.write("commonjs/tools.ts", head + "export const a = make(name);")), [
    "renamed",
  ]);
  const required = 'const { tool } = require("trivet");\n' +
    'exports.a = tool({ name: "required", description: "A tool", run: () => 1 });';
  assert.equal(await toolsOf(folder.write("commonjs/old.cjs", required)), ["required"]);
});

if (!("Bun" in globalThis || "Deno" in globalThis)) {
  test("a module is loaded where trivet is not installed, such as in the root folder", async () => {
    const elsewhere = temporaryFolder();
    const file = join(elsewhere.path, "tools.ts");
    writeFileSync(
      file,
      'import { tool } from "trivet";\nexport const a = tool({ name: "a", description: "a", run: () => 1 });',
    );
    const { results: [listed] } = await exchange([file, ...data], [LIST], { cwd: "/" });
    assert.equal((listed as { tools: { name: string }[] }).tools.map(({ name }) => name), ["a"]);
    elsewhere.remove();
  });
}

test("with a module the server offers its tools alone; --skills adds the tools for skills", async () => {
  const file = folder.write("alone.ts", HEAD + 'export const one = make("one");');
  assert.equal(await toolsOf(file), ["one"]);
  const { results: [listed] } = await exchange([file, "--skills", join(folder.path, "mine"), ...data], [
    LIST,
  ]);
  assert.equal((listed as { tools: { name: string }[] }).tools.map(({ name }) => name), [
    ...SKILL_TOOLS,
    "one",
  ]);
});

test("trivet serve has a name, and can leave out skills, the demo and the banner", async () => {
  const args = ["--no-skills", "--name", "Weather desk", "--no-demo", ...data];
  const server = await startTrivet(args);
  const client = new ClientV1(info);
  await client.connect(new HttpV1(new URL(server.facts.mcp)) as Parameters<typeof client.connect>[0]);
  assert.is(client.getServerVersion()!.name, "Weather desk");
  await client.close();
  assert.is((await fetch(`${server.facts.url}/v1/skills`)).status, 404);
  assert.match(await (await fetch(`${server.facts.url}/login`)).text(), "Weather desk");
  await server.stop();
  const { code, stderr } = await trivet(["serve", "--no-skills", "--upstream", "https://a.example"]);
  assert.is(code, 2);
  assert.match(stderr, "--upstream");
});

test("a default export can be one definition or a promise of definitions", async () => {
  assert.equal(
    await toolsOf(folder.write("later.ts", HEAD + 'export default Promise.resolve([make("a")]);')),
    [
      "a",
    ],
  );
  assert.equal(await toolsOf(folder.write("one.ts", HEAD + 'export default make("one");')), ["one"]);
});

test("a default export can be an async function, which gets the store", async () => {
  const file = folder.write(
    "stored.ts",
    HEAD + `
import type { Store } from "trivet";
export default async ({ store }: { store: Store }) => {
  await store.commit({ set: [{ key: ["diary", 1], value: "kept" }] });
  return [tool({ name: "read", description: "Reads", run: async () => (await store.get(["diary", 1]))!.value })];
};
`,
  );
  const { results: [read] } = await exchange([file, ...data], [
    { method: "tools/call", params: { name: "read" } },
  ]);
  assert.equal(read, { content: [{ type: "text", text: "kept" }] });
});

test("a module can be JavaScript, as an ES module or CommonJS, without a warning", async () => {
  folder.write("js/package.json", "{}");
  const js = 'import { tool } from "trivet";\n' +
    'export const one = tool({ name: "one", description: "A tool", run: () => "1" });\n';
  assert.equal(await toolsOf(folder.write("js/one.js", js)), ["one"]);
  assert.equal(await toolsOf(folder.write("js/one.mjs", js)), ["one"]);
  const plain = '{ kind: "tool", name: "one", description: "A tool", run: () => "1" }';
  assert.equal(await toolsOf(folder.write("named.cjs", `exports.one = ${plain};`)), ["one"]);
  assert.equal(await toolsOf(folder.write("list.cjs", `module.exports = [${plain}];`)), ["one"]);
  assert.equal(await toolsOf(folder.write("only.cjs", `module.exports = ${plain};`)), ["one"]);
  const call = `module.exports = async () => [${plain}];`;
  assert.equal(await toolsOf(folder.write("call.cjs", call)), ["one"]);
});

test("the console of a tool writes to standard error; ToolError is the class of the package", async () => {
  const file = folder.write(
    "noisy.ts",
    HEAD + `
console.log("loading");
export const noisy = tool({
  name: "noisy",
  description: "Writes to the console",
  run() { console.info("running"); console.table([1]); throw new ToolError("Say a number"); },
});
`,
  );
  const { results: [failed], stdout, stderr } = await exchange([file, ...data], [
    { method: "tools/call", params: { name: "noisy" } },
  ]);
  assert.equal(failed, { content: [{ type: "text", text: "Say a number" }], isError: true });
  assert.is(stdout.split("\n").length, 2);
  for (const text of ["loading", "running"]) assert.match(stderr, text);
});

// Invalid exports.

/** The standard error for an invalid module. */
async function errorOf(text: string, name: string = "refused.ts"): Promise<string> {
  const file = folder.write(name, text);
  const { code, stdout, stderr } = await exchange([file, ...data], []);
  assert.is(code, 1);
  assert.is(stdout, "");
  return stderr;
}

test("the error names each invalid export and what to export", async () => {
  const error = await errorOf(
    HEAD + `
export const limit = 5;
export const helper = () => 1;
export const raw = { name: "raw" };
export const empty = { kind: "tool", name: "empty", description: "Has no run" };
export default [make("fine"), [null]];
`,
  );
  for (
    const text of [
      /"default\[1\]\[0\]".* null/,
      /"limit".* number/,
      /"helper".* function/,
      /"raw".* object/,
      /"empty".* tool .*"run"/,
      /tool\(\), resource\(\), resourceTemplate\(\), prompt\(\) and group\(\)/,
    ]
  ) assert.match(error, text);
  assert.match(error, /^trivet stdio: .*".*refused\.ts"/);
  assert.not.match(error, /"default\[0\]"|\n +at /);
});

test("the return value of an exported function is checked", async () => {
  assert.match(await errorOf("export default () => undefined;"), /"default\(\)".* undefined/);
  assert.match(await errorOf("export default async () => [1];"), /"default\(\)\[0\]".* number/);
});

test("a module without exports is refused", async () => {
  assert.match(await errorOf("const x: number = 1; void x;"), /nothing.*tool\(\)/);
  assert.match(
    await errorOf("module.exports = {};", "empty.cjs"),
    /nothing.*tool\(\)/,
  );
});

test("two definitions of one name are refused", async () => {
  assert.match(await errorOf(HEAD + 'export default [make("a"), make("a")];'), '"a" twice');
});

test("a syntax error is reported with its file and line", async () => {
  assert.match(await errorOf("\nexport const a = ;\n"), /refused\.ts:2/);
  assert.match(await errorOf("\nexport const a = ;\n", "refused.js"), /refused\.js:2/);
  const twice = "\nexport const a: number = 1;\nexport const a: number = 2;\n";
  assert.match(await errorOf(twice), /refused\.ts:3/);
});

test("an error that a module throws is reported with its file and line, without frames of Trivet", async () => {
  const error = await errorOf('\nthrow new Error("no database");\n');
  assert.match(error, /Error: no database\n\s+at .*refused\.ts:2/);
  assert.not.match(error, /node:|reimport|trivet=/);
  const late = await errorOf('export default async () => {\n  throw new Error("no database");\n};');
  assert.match(late, /no database\n\s+at .*refused\.ts:2/);
});

test("an import of a missing file is reported", async () => {
  assert.match(await errorOf('import "./absent.ts";\nexport default [];'), "absent.ts");
});

test("--help of both commands describes modules", async () => {
  for (const command of ["serve", "stdio"]) {
    const { stdout } = await trivet([command, "--help"]);
    for (const text of [`Usage: trivet ${command} [MODULE]`, "--watch", "({ store }) => definitions"]) {
      assert.match(stdout, text);
    }
  }
});

test.run();
