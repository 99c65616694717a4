/**
 * `trivet stdio`: what a module of tools writes to standard output does not mix with the messages.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { exchange, toolFolder } from "./test_tool_folder.ts";

const test = suite("trivet stdio: standard output");
const folder = toolFolder();

test.after(() => folder.remove());

const MODULE = `import { tool } from "trivet";
import process, { stdout } from "node:process";
process.stdout.write("1 load");
export const writes = tool({
  name: "writes",
  description: "Writes in every way",
  async run() {
    process.stdout.write("2 process");
    stdout.write("3 import");
    console.log("4 console");
    const { Deno, Bun } = globalThis;
    Deno?.stdout.writeSync(new TextEncoder().encode("5 runtime"));
    await Deno?.stdout.write(new TextEncoder().encode("6 runtime"));
    await Bun?.write(Bun.stdout, "5 runtime 6 runtime");
    if (!Deno && !Bun) process.stderr.write("5 runtime 6 runtime");
    await new Promise((resolve) => process.stdout.end("7 end", resolve));
    return "done";
  },
});
`;

test("a module that writes to standard output writes to standard error, also without a newline", async () => {
  const file = folder.write("writes.js", MODULE);
  const { results, stdout, stderr, code } = await exchange([file, "--data", `${folder.path}/data`], [
    { method: "tools/call", params: { name: "writes" } },
    { method: "ping" },
  ]);
  const done = { content: [{ type: "text", text: "done" }] };
  assert.equal([code, results], [0, [done, {}]]);
  assert.is(stdout.trimEnd().split("\n").length, 2);
  for (const text of ["load", "process", "import", "console", "runtime", "runtime", "end"].entries()) {
    assert.match(stderr, `${text[0] + 1} ${text[1]}`);
  }
});

test.run();
