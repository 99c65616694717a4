/**
 * Targets that let the runner choose their port.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fillPort } from "./free_port.ts";
import { openTarget } from "./open_target.ts";

const test = suite("free_port");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test("{{port}} is replaced by one port everywhere, and nothing else is changed", async () => {
  const written = {
    base: "http://127.0.0.1:{{port}}/as",
    start: { command: ["server", "--port={{port}}"], env: { PORT: "{{port}}" } },
    vars: { audience: "{{base}}" },
  };
  const { base, start, vars } = await fillPort(written);
  const { port } = new URL(base!);
  assert.match(port, /^\d+$/);
  assert.equal([start!.command[1], start!.env!["PORT"]], [`--port=${port}`, port]);
  assert.equal(vars, written.vars);
  const fixed = { base: "http://127.0.0.1:8080" };
  assert.is(await fillPort(fixed), fixed);
});

test("two runs of one target file use two ports", async () => {
  const script = join(folder, "server.mjs");
  writeFileSync(
    script,
    'import { createServer } from "node:http";\n' +
      'createServer((_, response) => response.end("here")).listen(Number(process.argv[2]), "127.0.0.1");\n',
  );
  const target = join(folder, "target.json");
  const start = { command: ["node", "server.mjs", "{{port}}"], ready: "/" };
  writeFileSync(target, JSON.stringify({ base: "http://127.0.0.1:{{port}}", start, features: [] }));
  const opened = await Promise.all([openTarget({ target }), openTarget({ target })]);
  try {
    assert.is.not(opened[0].base, opened[1].base);
    for (const { base } of opened) assert.is(await (await fetch(base)).text(), "here");
  } finally {
    for (const each of opened) await each.close();
  }
});

test.run();
