import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadRequirements, loadVectors } from "./load.ts";

const test = suite("load");
let root: string;

test.before(() => {
  root = mkdtempSync(join(tmpdir(), "conformance-"));
  for (const folder of ["requirements", "vectors/oauth"]) mkdirSync(join(root, folder), { recursive: true });
  write("requirements/rfc0001.json", {
    document: "rfc0001",
    title: "One",
    url: "https://rfc.example/rfc0001#section-{section}",
    rows: [{ id: "rfc0001#1.2/1", level: "SHOULD", text: "a" }, {
      id: "rfc0001#1.2/2",
      level: "MUST NOT",
      text: "b",
    }],
  });
});
test.after(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, value: unknown): void {
  writeFileSync(join(root, path), typeof value === "string" ? value : JSON.stringify(value));
}

const VECTOR = { id: "x/one", title: "It is so", covers: ["rfc0001#1.2/1"], steps: [{}] };

function load(file: unknown): ReturnType<typeof loadVectors> {
  write("vectors/oauth/x.json", file);
  return loadVectors(root, ["oauth"], loadRequirements(root));
}

const fileOf = (vectors: readonly unknown[], more: object = {}) => ({
  format: 1,
  suite: "oauth/x",
  title: "X",
  count: vectors.length,
  vectors,
  ...more,
});

test("a vector has its name, and the strongest of its rows", () => {
  const both = { ...VECTOR, id: "x/two", covers: ["rfc0001#1.2/1", "rfc0001#1.2/2"] };
  const loaded = load(fileOf([VECTOR, both]));
  assert.equal(loaded.map(({ name, strength }) => [name, strength]), [["oauth/x/one", "SHOULD"], [
    "oauth/x/two",
    "MUST",
  ]]);
});

test("a row leads to its section", () => {
  assert.is(
    loadRequirements(root).rows.get("rfc0001#1.2/2")!.link,
    "https://rfc.example/rfc0001#section-1.2",
  );
});

const WRONG: readonly (readonly [string, () => unknown, RegExp])[] = [
  ["a text that is no JSON", () => "{", /Cannot read .*x\.json/],
  ["a list", () => [], /must be an object/],
  ["an unknown format", () => fileOf([VECTOR], { format: 2 }), /knows format 1, but it has 2/],
  ["half a file", () => fileOf([VECTOR], { count: 2 }), /"count" says 2, but it has 1/],
  ["another suite's name", () => fileOf([VECTOR], { suite: "oauth/y" }), /"suite" must be/],
  ["another file's id", () => fileOf([{ ...VECTOR, id: "y/one" }]), /must begin with the file's name/],
  ["an id that is there twice", () => fileOf([VECTOR, VECTOR]), /another of this id/],
  ["nothing covered", () => fileOf([{ ...VECTOR, covers: [] }]), /what it "covers"/],
  ["an unknown row", () => fileOf([{ ...VECTOR, covers: ["rfc0001#9/9"] }]), /"rfc0001#9\/9" is no row/],
  ["no steps", () => fileOf([{ ...VECTOR, steps: [] }]), /must have "steps"/],
];

for (const [name, file, message] of WRONG) {
  test(`${name} is refused, with file and reason`, () => assert.throws(() => load(file()), message));
}

test("an unknown suite is refused", () => {
  assert.throws(() => loadVectors(root, ["nobody"], loadRequirements(root)), /no vectors of this name/);
});

test("a row that is there twice is refused", () => {
  const row = { id: "rfc0002#1/1", level: "MUST", text: "a" };
  write("requirements/rfc0002.json", { document: "rfc0002", title: "Two", url: "u", rows: [row, row] });
  assert.throws(() => loadRequirements(root), /"rfc0002#1\/1" is there twice/);
  rmSync(join(root, "requirements/rfc0002.json"));
});

test.run();
