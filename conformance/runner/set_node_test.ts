/**
 * Frozen sets: `scripts/freeze_set.ts` writes one in a copy of the kit, and runs with `--set` count only its
 * vectors.
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
import { digestVector } from "./vector/digest.ts";
import { loadRequirements, loadVectors } from "./vector/load.ts";

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
  writeTarget(200);
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a target that always returns this status. */
function writeTarget(status: number): void {
  writeFileSync(
    join(folder, "target.ts"),
    `export const fetch = () => new Response(null, { status: ${status} });\n`,
  );
}

/** Writes vectors that expect a status. */
function writeVectors(statuses: Readonly<Record<string, number>>): void {
  const vectors = Object.entries(statuses).map(([id, status]) => ({
    id: `mine/${id}`,
    title: `It is ${id}`,
    covers: [id === "should" ? "format#7/2" : "format#7/1"],
    steps: [{ title: "ask", request: { url: "/" }, expect: { status } }],
  }));
  const file = { format: 2, suite: "oauth/mine", title: "Mine", count: vectors.length, vectors };
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

test("a set lists the existing vectors, and is never changed", () => {
  writeVectors({ one: 200, another: 200, should: 200 });
  assert.is(freeze("oauth-2026-12-01", "oauth").out, "oauth-2026-12-01: 3 vectors\n");
  const frozen = sets();
  const { vectors } = frozen["oauth-2026-12-01"];
  assert.equal(Object.keys(vectors), ["oauth/mine/another", "oauth/mine/one", "oauth/mine/should"]);
  for (const digest of Object.values(vectors)) assert.match(String(digest), /^[\da-f]{32}$/);
  const again = freeze("oauth-2026-12-01", "oauth");
  assert.is(again.code, 2);
  assert.match(again.err, "sets are never changed");
  assert.is(freeze("newest", "oauth").code, 2, "a name without a date");
  assert.is(freeze("oauth-2026-12-02").code, 2, "no suite");
  assert.equal(sets(), frozen);
});

test("a later vector is reported, and does not count", () => {
  writeVectors({ one: 200, another: 200, should: 200, newer: 201 });
  assert.is(run("oauth").code, 1);
  const { code, out } = run("oauth", "--set", "oauth-2026-12-01");
  assert.is(code, 0, out);
  assert.match(out, /fail +oauth\/mine\/newer/);
  assert.match(out, /expected: .*oauth-2026-12-01/);
});

test("a vector of the set counts", () => {
  writeVectors({ one: 200, another: 200, should: 200, newer: 200 });
  writeTarget(404);
  const { code, out } = run("oauth", "--set", "oauth-2026-12-01");
  writeTarget(200);
  assert.is(code, 1);
  assert.match(out, /no vector changed since it was frozen/);
});

test("a vector that changed since does not count, until the set is amended with a reason", () => {
  writeVectors({ one: 201, another: 200, should: 200 });
  const { code, out } = run("oauth", "--set", "oauth-2026-12-01");
  assert.is(code, 0, out);
  assert.match(out, /Set oauth-2026-12-01: 1 vectors changed since .*: oauth\/mine\/one\./);
  assert.is(freeze("--amend", "oauth-2026-12-01").code, 2, "no reason");
  const amended = freeze("--amend", "oauth-2026-12-01", "--reason", "the row allows 201");
  assert.is(amended.out, "oauth-2026-12-01: 1 amendments\n");
  assert.match(run("oauth", "--set", "oauth-2026-12-01").out, /was frozen: the row allows 201/);
  assert.is(freeze("--amend", "oauth-2026-12-01", "--reason", "again").code, 2, "nothing changed since");
  writeVectors({ one: 202, another: 200, should: 200 });
  assert.is(freeze("--amend", "oauth-2026-12-01", "--reason", "the row allows 202").code, 0);
  const { amendments } = sets()["oauth-2026-12-01"];
  assert.is(amendments.length, 1, "one for each vector");
  assert.is(amendments[0].reason, "the row allows 202");
});

test("only what decides the outcome is frozen: not the titles", () => {
  const requirements = loadRequirements(ROOT);
  const [first] = loadVectors(ROOT, ["self/match"], requirements);
  const { vector, file, rows } = first!;
  const [step, ...steps] = vector.steps;
  const digest = digestVector(first!);
  const with_ = (change: Partial<typeof first>) => digestVector({ ...first!, ...change });
  const reworded = {
    ...vector,
    title: "Other",
    note: "Other",
    steps: [{ ...step!, title: "Other" }, ...steps],
  };
  assert.is(with_({ vector: reworded }), digest);
  const others = [
    { vector: { ...vector, steps: [{ ...step!, expect: { status: 299 } }, ...steps] } },
    { vector: { ...vector, needs: ["other"] } },
    { file: { ...file, before: [{ advance: 1 }] } },
    { rows: rows.map((row) => ({ ...row, level: "MAY" })) },
  ];
  for (const each of others) assert.is.not(with_(each), digest);
});

test("a set of one level leaves out other levels", () => {
  writeVectors({ one: 200, should: 201 });
  assert.is(freeze("oauth-must-2026-12-01", "oauth", "--level", "MUST").code, 0);
  assert.equal(Object.keys(sets()["oauth-must-2026-12-01"].vectors), ["oauth/mine/one"]);
  assert.is(run("oauth", "--strict").code, 1);
  assert.is(run("oauth", "--strict", "--set", "oauth-must-2026-12-01").code, 0);
});

test("a run without a vector of the set as it was frozen, or with an unknown set, fails", () => {
  writeVectors({ one: 203, another: 203, newer: 200 });
  const changed = run("oauth", "--set", "oauth-2026-12-01");
  assert.is(changed.code, 2);
  assert.match(changed.err, /"oauth-2026-12-01".*changed/);
  writeVectors({ newer: 200 });
  const none = run("oauth", "--set", "oauth-2026-12-01");
  assert.is(none.code, 2);
  assert.match(none.err, /"oauth-2026-12-01"/);
  const unknown = run("oauth", "--set", "oauth-1999-01-01");
  assert.is(unknown.code, 2);
  assert.match(unknown.err, '"oauth-2026-12-01", "oauth-must-2026-12-01"');
});

test.run();
