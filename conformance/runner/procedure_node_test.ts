/**
 * Procedures that are programs: variables in, captures out, and every way in which they fail.
 *
 * @module
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runOne, testTarget } from "./test_run.ts";

const test = suite("procedure");

/** A program of one line; `input` is what came on standard input. */
function program(line: string): { exec: readonly string[] } {
  const read =
    'import process from "node:process"; let text = ""; for await (const chunk of process.stdin) text += chunk; const input = JSON.parse(text);';
  const flags = "Deno" in globalThis
    ? ["eval", "--ext=mjs"]
    : "Bun" in globalThis
    ? ["-e"]
    : ["--input-type=module", "-e"];
  return { exec: [process.execPath, ...flags, `${read} ${line}`] };
}

async function call(offer: { exec: readonly string[] }): Promise<string> {
  const target = testTarget((request) => new Response(new URL(request.url).pathname), {
    offers: { go: offer },
  });
  const { outcome, reason } = await runOne(target, [
    { call: "go", with: { word: "hello" } },
    { request: { url: "/{{got}}" }, expect: { body: "/hello!" } },
  ]);
  return reason === undefined ? outcome : `${outcome}: ${reason}`;
}

test("a program is given the variables and gives captures", async () => {
  assert.is(await call(program('console.log(JSON.stringify({ got: input.word + "!" }));')), "pass");
});

test("a program that fails is setup, with its exit code", async () => {
  assert.match(await call(program("process.exit(4);")), /^setup: The procedure "go" failed: .* exit code 4/);
});

test("a program that writes no object is setup", async () => {
  assert.match(await call(program('console.log("done");')), /^setup: .*wrote no object of JSON/);
});

test("a program that is not there is setup", async () => {
  assert.match(
    await call({ exec: ["there-is-no-such-program"] }),
    /^setup: The procedure "go" failed: .*there-is-no-such-program/,
  );
});

test("a program that never reads is no matter", async () => {
  const flags = "Deno" in globalThis ? ["eval"] : ["-e"];
  const exec = [process.execPath, ...flags, 'console.log(JSON.stringify({ got: "hello!" }))'];
  assert.is(await call({ exec }), "pass");
});

test.run();
