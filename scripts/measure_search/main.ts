/**
 * `node scripts/measure_search/main.ts [FOLDER]`: measures what search mode and code mode save on the tools of seven public
 * servers: tokens at start and for a few tasks, how often the right tool is among the first five for questions that were
 * written before the ranking, and how fast a search is. Installs the servers into FOLDER, by default a temporary one.
 *
 * @module
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { codeMode } from "../../src/gateway/code/code_mode.ts";
import { createSearchIndex } from "../../src/gateway/search/search_index.ts";
import { searchMode } from "../../src/gateway/search/search_mode.ts";
import { toFields } from "../../src/gateway/search/tool_fields.ts";
import type { ToolDefinition } from "../../src/mcp/definition/definition.ts";
import type { Arrange } from "../../src/mcp/definition/definition_source.ts";
import { toolServer } from "../../src/mcp_service.ts";
import { quickJs } from "../../src/runtime/code/code_mode.ts";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import { callTool, type Conversation, listTools } from "./conversation.ts";
import { measureEventLoop, measureSearch } from "./measure_speed.ts";
import { connect, install, SERVERS } from "./public_servers.ts";
import { FILES, TASKS } from "./tasks.ts";

const given = process.argv[2];
const folder = given ? resolve(given) : mkdtempSync(join(tmpdir(), "trivet-measure-"));
if (!existsSync(join(folder, "node_modules"))) install(folder);
const tokenizer = pathToFileURL(join(folder, "node_modules/gpt-tokenizer/esm/encoding/o200k_base.js")).href;
const { encode } = await import(tokenizer) as { encode: (text: string) => readonly number[] };
const count = (text: string): number => encode(text).length;

const work = join(folder, "work");
rmSync(work, { recursive: true, force: true });
for (const each of ["notes", "drafts"]) mkdirSync(join(work, each), { recursive: true });
for (let i = 1; i <= FILES; i++) {
  writeFileSync(
    join(work, `notes/note-${i}.md`),
    `# Note ${i}\n\n${"Water the plants. ".repeat(20 + (i * 7) % 40)}`,
  );
}
const resetDrafts = (): void => {
  for (const i of [1, 2, 3]) {
    rmSync(join(work, `drafts/final-${i}.md`), { force: true });
    writeFileSync(join(work, `drafts/draft-${i}.md`), "A draft");
  }
  rmSync(join(work, ".memory"), { force: true });
};

const connected = [];
for (const server of SERVERS) connected.push({ server, ...await connect(server, folder, work) });
const tools: ToolDefinition[] = connected.flatMap((each) => [...each.tools]);
const serve = (arrange?: Arrange) =>
  toolServer({ url: "http://127.0.0.1:8787", store: memoryStore(), tools, ...(arrange && { arrange }) });
const modes = {
  direct: serve(),
  search: serve(searchMode()),
  code: serve(codeMode({ engine: quickJs() })),
};

console.log("Tokens at start (o200k_base, of the names, descriptions and input schemas in tools/list)");
const start: Record<string, number> = {};
for (const { server, tools } of connected) {
  const own = toolServer({ url: "http://127.0.0.1:8787", store: memoryStore(), tools });
  console.log(`  ${server.package}: ${tools.length} tools, ${count(await listTools(own))}`);
}
for (const [mode, server] of Object.entries(modes)) {
  start[mode] = count(await listTools(server));
  console.log(`  all ${tools.length} tools, ${mode}: ${start[mode]}`);
}

console.log("Tokens that a model writes and reads for a task, and its turns; with those at start");
for (const task of TASKS) {
  const search = task.queries.map((query) => ({ tool: "search_tools", input: { query } }));
  const used = [...new Set(task.steps.map((step) => step.tool))];
  const conversations: Record<keyof typeof modes, Conversation> = {
    direct: task.steps,
    search: [
      ...search,
      ...used.map((name) => ({ tool: "describe_tool", input: { name } })),
      ...task.steps.map(({ tool, input }) => ({
        tool: "call_tool",
        input: { name: tool, arguments: input },
      })),
    ],
    code: [
      ...task.queries.map((query) => ({ tool: "describe_api", input: { query } })),
      { tool: "run_code", input: { code: task.program } },
    ],
  };
  for (const [mode, steps] of Object.entries(conversations) as [keyof typeof modes, Conversation][]) {
    resetDrafts();
    let tokens = 0;
    for (const { tool, input } of steps) {
      const text = await callTool(modes[mode], tool, input);
      tokens += count(JSON.stringify({ name: tool, arguments: input })) + count(text);
    }
    console.log(`  ${task.name}, ${mode}: ${tokens}, ${steps.length} turns, ${tokens + start[mode]!}`);
  }
}

console.log("Right tool among the first answers");
interface Question {
  readonly ask: string;
  readonly right: readonly string[];
}
const readQuestions = (file: string): Question[] =>
  JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));
const questions = readQuestions("./questions.json");
const documents = tools.map(({ name, title, description, input }) =>
  toFields({ name, title, description, inputSchema: input })
);
const { search } = await createSearchIndex(documents);
const ranksOf = (questions: readonly Question[]): number[] =>
  questions.map(({ ask, right }) =>
    search(ask, 10, () => true).findIndex(({ at }) => right.includes(tools[at]!.name))
  );
const ranks = ranksOf(questions);
const share = (of: readonly number[], most: number): string => {
  const found = of.filter((rank) => rank >= 0 && rank < most).length;
  return `${found}/${of.length} = ${(found / of.length).toFixed(3)}`;
};
for (
  const [name, part] of [
    ["all", ranks],
    ["tuned on (even)", ranks.filter((_, at) => at % 2 === 0)],
    ["held out (odd)", ranks.filter((_, at) => at % 2 === 1)],
    ["second set", ranksOf(readQuestions("./second_questions.json"))],
  ] as const
) console.log(`  ${name}: first 1 ${share(part, 1)}, first 5 ${share(part, 5)}, first 10 ${share(part, 10)}`);

await measureSearch(documents, questions.map(({ ask }) => ask));
await measureEventLoop();
for (const { client } of connected) await client.close();
if (!given) rmSync(folder, { recursive: true, force: true });
process.exit(0);
