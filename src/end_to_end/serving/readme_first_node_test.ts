/**
 * The first example of the README: its server, its call, and the answer as it is written there.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toolFolder } from "../cli/test_tool_folder.ts";

const test = suite("the first example of README.md");
// The example imports "trivet/node".
const NODE = fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url));
const PORT = "8787";

/** A port that nothing uses. */
async function findPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

test("it prints its address, and answers the call of a tool with what the README shows", async () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const [, source] = /```ts\n(.*?)```/s.exec(readme)!;
  const [, call, answer] = /```sh\n(curl .*?)```\n\n```text\n(.*?)```/s.exec(readme)!;
  const [, url] = /(http:\S+)/.exec(call!)!;
  const [, body] = /-d '([^']*)'/.exec(call!)!;
  const port = await findPort();
  const folder = toolFolder();
  const file = folder.write("server.mts", source!.replaceAll(PORT, port));
  const child = spawn(NODE, [file], { cwd: folder.path, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const printed = await new Promise<string>((resolve) => {
      child.stdout.once("data", (chunk) => resolve(String(chunk)));
      child.once("close", (code) => resolve(`ended with ${code}`));
    });
    assert.match(printed, `http://127.0.0.1:${port}`);
    const response = await fetch(url!.replace(PORT, port), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: body!,
    });
    assert.equal(await response.json(), JSON.parse(answer!));
  } finally {
    child.kill("SIGKILL");
    await new Promise((resolve) =>
      child.exitCode === null && child.signalCode === null ? child.once("close", resolve) : resolve(0)
    );
    folder.remove();
  }
});

test.run();
