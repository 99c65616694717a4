/**
 * Frozen sets from end to end: `scripts/freeze_set.ts` writes one in a copy of the kit, and runs with `--set` count its
 * vectors alone.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("frozen sets");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FREEZE = fileURLToPath(new URL("../../scripts/freeze_set.ts", import.meta.url));
let folder: string;
const inKit = (name: string) => join(folder, "conformance", name);

test.before(() => {
  folder = mkdtempSync(join(tmpdir(), "conformance-"));
  for (const name of ["runner", "requirements"]) {
    cpSync(join(ROOT, name), inKit(name), { recursive: true });
  }
  mkdirSync(inKit("vectors/oauth"), { recursive: true });
  writeFileSync(inKit("sets.json"), "{}\n");
  writeFileSync(join(folder, "target.ts"), "export const fetch = () => new Response();\n");
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Puts vectors into the kit that ask for a status, which is always 200. */
function writeVectors(statuses: Readonly<Record<string, number>>): void {
  const vectors = Object.entries(statuses).map(([id, status]) => ({
    id: `mine/${id}`,
    title: `It is ${id}`,
    covers: [id === "should" ? "format#7/2" : "format#7/1"],
    steps: [{ title: "ask", request: { url: "/" }, expect: { status } }],
  }));
  const file = { format: 1, suite: "oauth/mine", title: "Mine", count: vectors.length, vectors };
  writeFileSync(inKit("vectors/oauth/mine.json"), JSON.stringify(file));
}

function call(script: string, words: readonly string[]): { code: number | null; out: string; err: string } {
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...runtime, script, ...words], {
    cwd: folder,
    encoding: "utf8",
  });
  return { code: status, out: stdout, err: stderr };
}

const freeze = (...words: readonly string[]) => call(FREEZE, words);
const run = (...words: readonly string[]) =>
  call(inKit("runner/cli.ts"), [...words, "--module", join(folder, "target.ts")]);
const sets = () => JSON.parse(readFileSync(inKit("sets.json"), "utf8"));

test("a set has the names of the vectors that there are, and is never changed", () => {
  writeVectors({ one: 200, another: 200, should: 200 });
  assert.is(freeze("oauth-2026-12-01", "oauth").out, "oauth-2026-12-01: 3 vectors\n");
  const frozen = { "oauth-2026-12-01": ["oauth/mine/another", "oauth/mine/one", "oauth/mine/should"] };
  assert.equal(sets(), frozen);
  const again = freeze("oauth-2026-12-01", "oauth");
  assert.is(again.code, 2);
  assert.match(again.err, "sets are never changed");
  assert.is(freeze("newest", "oauth").code, 2, "a name without a date");
  assert.is(freeze("oauth-2026-12-02").code, 2, "no suite");
  assert.equal(sets(), frozen);
});

test("a vector that came later is told, and does not count", () => {
  writeVectors({ one: 200, another: 200, should: 200, newer: 201 });
  assert.is(run("oauth").code, 1);
  const { code, out } = run("oauth", "--set", "oauth-2026-12-01");
  assert.is(code, 0, out);
  assert.match(out, /fail +oauth\/mine\/newer/);
  assert.match(out, "expected: not in the set oauth-2026-12-01");
});

test("a vector of the set counts", () => {
  writeVectors({ one: 201, another: 200, should: 200, newer: 200 });
  assert.is(run("oauth", "--set", "oauth-2026-12-01").code, 1);
});

test("a set of one level leaves the rest out", () => {
  writeVectors({ one: 200, should: 201 });
  assert.is(freeze("oauth-must-2026-12-01", "oauth", "--level", "MUST").code, 0);
  assert.equal(sets()["oauth-must-2026-12-01"], ["oauth/mine/one"]);
  assert.is(run("oauth", "--strict").code, 1);
  assert.is(run("oauth", "--strict", "--set", "oauth-must-2026-12-01").code, 0);
});

test("a run that asks nothing of the set, or names none, says so instead of passing", () => {
  writeVectors({ newer: 200 });
  const none = run("oauth", "--set", "oauth-2026-12-01");
  assert.is(none.code, 2);
  assert.match(none.err, "none of its vectors would be asked");
  const unknown = run("oauth", "--set", "oauth-1999-01-01");
  assert.is(unknown.code, 2);
  assert.match(unknown.err, 'there are "oauth-2026-12-01", "oauth-must-2026-12-01"');
});

test.run();
