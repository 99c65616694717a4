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
  format: 2,
  suite: "oauth/x",
  title: "X",
  count: vectors.length,
  vectors,
  ...more,
});

test("a vector has its name and the strength of its strongest row", () => {
  const both = { ...VECTOR, id: "x/two", covers: ["rfc0001#1.2/1", "rfc0001#1.2/2"] };
  const loaded = load(fileOf([VECTOR, both]));
  assert.equal(loaded.map(({ name, strength }) => [name, strength]), [["oauth/x/one", "SHOULD"], [
    "oauth/x/two",
    "MUST",
  ]]);
});

test("a row links to its section", () => {
  assert.is(
    loadRequirements(root).rows.get("rfc0001#1.2/2")!.link,
    "https://rfc.example/rfc0001#section-1.2",
  );
});

test("a row links to its own section, to that of its part of the id, or by the template", () => {
  write("requirements/mcp.json", {
    document: "mcp",
    title: "Three",
    url: "https://mcp.example/{section}",
    sections: {
      lifecycle: "https://mcp.example/basic#start",
      "lifecycle/2": "https://mcp.example/basic#version",
    },
    rows: ["lifecycle/1", "lifecycle/2", "tools/1"].map((place) => ({
      id: `mcp#${place}`,
      level: "MUST",
      text: "a",
    })),
  });
  const { rows } = loadRequirements(root);
  assert.equal(
    ["lifecycle/1", "lifecycle/2", "tools/1"].map((place) => rows.get(`mcp#${place}`)!.link),
    ["https://mcp.example/basic#start", "https://mcp.example/basic#version", "https://mcp.example/tools"],
  );
  rmSync(join(root, "requirements/mcp.json"));
});

const FRAGMENTS = {
  post: {
    request: { url: "/rpc", json: { id: { $slot: "id", else: 2 }, method: { $slot: "method" } } },
    expect: { $slot: "expect" },
  },
  ping: { $use: "post", method: "ping", expect: { $slot: "expect" } },
  circle: { $use: "circle" },
};

function expandStep(step: unknown): unknown {
  return load(fileOf([{ ...VECTOR, steps: [step] }], { fragments: FRAGMENTS }))[0]!.vector.steps[0];
}

test("a fragment takes the place of its use, with slots filled, defaulted or left out", () => {
  assert.equal(expandStep({ $use: "post", id: 3, method: "ping", expect: { status: 200 } }), {
    request: { url: "/rpc", json: { id: 3, method: "ping" } },
    expect: { status: 200 },
  });
  assert.equal(expandStep({ $use: "post" }), { request: { url: "/rpc", json: { id: 2 } } });
});

const useOf = (name: string, slots: object = {}) =>
  fileOf([{ ...VECTOR, steps: [{ $use: name, ...slots }] }], { fragments: FRAGMENTS });

test("a fragment uses another, and hands on its slots", () => {
  assert.equal(expandStep({ $use: "ping" }), { request: { url: "/rpc", json: { id: 2, method: "ping" } } });
});

const WRONG: readonly (readonly [string, () => unknown, RegExp])[] = [
  ["text that is not JSON", () => "{", /x\.json/],
  ["an array", () => [], /x\.json.*object/],
  ["an unknown format", () => fileOf([VECTOR], { format: 1 }), /x\.json.*format 1/],
  ["half a file", () => fileOf([VECTOR], { count: 2 }), /"count" .*2.*1/],
  ["another suite's name", () => fileOf([VECTOR], { suite: "oauth/y" }), /"suite"/],
  ["another file's id", () => fileOf([{ ...VECTOR, id: "y/one" }]), /"x\/"/],
  ["a duplicate id", () => fileOf([VECTOR, VECTOR]), /"oauth\/x\/one"/],
  ["nothing covered", () => fileOf([{ ...VECTOR, covers: [] }]), /"covers"/],
  ["an unknown row", () => fileOf([{ ...VECTOR, covers: ["rfc0001#9/9"] }]), /"rfc0001#9\/9"/],
  ["an unknown fragment", () => useOf("unknown"), /"unknown" is not a fragment/],
  ["an inherited name as a fragment", () => useOf("constructor"), /"constructor" is not a fragment/],
  ["an unknown slot", () => useOf("post", { methods: "ping" }), /"post" has no slot "methods"/],
  ["a fragment that uses itself", () => useOf("circle"), /"circle" uses itself/],
  ["no steps", () => fileOf([{ ...VECTOR, steps: [] }]), /"steps"/],
];

for (const [name, file, message] of WRONG) {
  test(`${name} is refused, with file and reason`, () => assert.throws(() => load(file()), message));
}

test("a suite that is named twice, or with one of its files, is loaded once", () => {
  load(fileOf([VECTOR]));
  for (const suites of [["oauth", "oauth"], ["oauth", "oauth/x"], ["oauth", "all"]]) {
    assert.is(loadVectors(root, suites, loadRequirements(root)).length, 1);
  }
});

test("an unknown suite is refused", () => {
  assert.throws(() => loadVectors(root, ["unknown"], loadRequirements(root)), /"unknown"/);
});

test("a duplicate row is refused", () => {
  const row = { id: "rfc0002#1/1", level: "MUST", text: "a" };
  write("requirements/rfc0002.json", { document: "rfc0002", title: "Two", url: "u", rows: [row, row] });
  assert.throws(() => loadRequirements(root), /"rfc0002#1\/1"/);
  rmSync(join(root, "requirements/rfc0002.json"));
});

test.run();
