import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, newDataFolder, runtimeCommand, temporaryFolder, trivet } from "../test_process.ts";

/** Commands of administration that wait: for standard input, or for servers to learn of a change. */
const test = suite("cli/interrupt");
const folder = temporaryFolder();
const data = ["--data", join(folder.path, "data")];

test.before(async () => {
  await newDataFolder(join(folder.path, "data"));
});
test.after(() => folder.remove());

/** Sends one signal when the command has printed something. Standard input stays open. */
function interrupt(command: string): Promise<{ code: number | null; stdout: string }> {
  const [runtime, before] = runtimeCommand();
  const child = spawn(runtime, [...before, CLI, ...command.split(" "), ...data], { stdio: "pipe" });
  return new Promise((resolve) => {
    let stdout = "";
    const late = setTimeout(() => child.kill("SIGKILL"), 25_000);
    child.stdout.on("data", (chunk) => stdout += chunk);
    // On Deno the exit code of a child is lost after child.kill().
    child.stderr.once("data", () => process.kill(child.pid!, "SIGTERM"));
    child.on("close", (code) => {
      clearTimeout(late);
      resolve({ code, stdout });
    });
  });
}

test("one signal ends a command that waits for a secret on standard input", async () => {
  // The warning about the scope comes before the secret is read.
  const command = "provider update work --scope-group unknown=Owners --secret-stdin";
  assert.equal(await interrupt(command), { code: 143, stdout: "" });
});

test("one signal ends a rotation that waits for the servers", async () => {
  assert.equal(await interrupt("rotate server-secret"), { code: 143, stdout: "" });
});

test("a secret on standard input is limited in size", async () => {
  const input = new Uint8Array(16 * 2 ** 20 + 1).fill(97);
  const { code, stderr } = await trivet(["user", "add", "bob", "--password-stdin", ...data], { input });
  assert.equal([code, stderr.includes("16777216")], [2, true]);
});

test.run();
