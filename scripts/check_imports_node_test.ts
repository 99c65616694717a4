import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findSubjectProblem } from "./check_commits.ts";
import { checkImports } from "./check_imports.ts";
import { checkSize } from "./check_size.ts";
import { checkWords } from "./check_words.ts";

const test = suite("scripts/check");

/** Runs a check on a temporary tree of these files. */
function withTree<Result>(files: Record<string, string>, check: (root: string) => Result): Result {
  const root = mkdtempSync(join(tmpdir(), "trivet-check-"));
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    return check(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

for (
  const [what, file, text, rule] of [
    [
      "one service that imports another",
      "src/oauth/a.ts",
      'import { x } from "../skills/b.ts";',
      "folder",
    ],
    [
      "a type of another service",
      "src/mcp/a.ts",
      'import type { X } from "../oauth/b.ts";',
      "folder",
    ],
    [
      "HTTP that imports a service",
      "src/http/a.ts",
      'export { x } from "../mcp/b.ts";',
      "folder",
    ],
    ["HTTP that imports a file of src/", "src/http/a.ts", 'import "../events.ts";', "folder"],
    ["a module for all that imports another", "src/timer.ts", 'import "./version.ts";', "folder"],
    ["JSON-RPC that imports MCP", "src/jsonrpc/a.ts", 'import "../mcp/b.ts";', "folder"],
    [
      "a service that imports a driver",
      "src/oauth/a.ts",
      'import { m } from "../store/memory.ts";',
      "driver",
    ],
    [
      "a service that imports the composed server",
      "src/oauth/a.ts",
      'import { t } from "../trivet.ts";',
      "composed server",
    ],
    [
      "core that imports a runtime entry",
      "src/trivet.ts",
      'import { serve } from "./runtime/node.ts";',
      "folder",
    ],
    ["a node: module in core", "src/oauth/a.ts", 'import fs from "node:fs";', "runtime"],
    [
      "a dynamic import of a node: module",
      "src/oauth/a.ts",
      'const fs = await import("node:fs");',
      "runtime",
    ],
    ["Deno in core", "src/skills/a.ts", "const x = Deno.cwd();", "runtime"],
    ["process in core", "src/skills/a.ts", "const x = process.env.X;", "runtime"],
    ["Buffer in core", "src/skills/a.ts", "const x = Buffer.from([]);", "runtime"],
    ["a package in core", "src/oauth/a.ts", 'import x from "lodash";', "package"],
    ["yaml in a second file", "src/skills/a.ts", 'import { parse } from "yaml";', "package"],
    [
      "an import from outside src/",
      "src/oauth/a.ts",
      'import x from "../../scripts/x.ts";',
      "outside",
    ],
    [
      "a runner of the kit that imports Trivet",
      "conformance/runner/a.ts",
      'import x from "../../src/mod.ts";',
      "outside",
    ],
    ["core that imports a test", "src/oauth/a.ts", 'import x from "./b_test.ts";', "test"],
  ] as const
) {
  test(`${what} is found, with file and line`, () => {
    const [found] = withTree({ [file]: `// A comment.\n${text}\n` }, checkImports);
    assert.is(found?.file, file);
    assert.is(found?.line, 2);
    assert.is(found?.rule, rule);
  });
}

test("an import cycle is found", () => {
  const files = { "src/http/a.ts": 'import "./b.ts";', "src/http/b.ts": 'import "./a.ts";' };
  assert.match(withTree(files, checkImports)[0]!.message, "src/http/a.ts -> src/http/b.ts -> src/http/a.ts");
});

for (const folder of ["conformance/runner", "scripts"]) {
  test(`an import cycle of types is found in ${folder}`, () => {
    const files = {
      [`${folder}/a.ts`]: 'import type { B } from "./b.ts";',
      [`${folder}/b.ts`]: 'import "./a.ts";',
    };
    assert.match(withTree(files, checkImports)[0]!.message, /a\.ts -> .*b\.ts -> .*a\.ts/);
  });
}

test("a folder with more than 22 source files is found", () => {
  const files = Object.fromEntries(
    Array.from({ length: 23 }, (_, i) => [`src/oauth/a${i}.ts`, "//\n"] as const),
  );
  const tests = { "src/oauth/a_test.ts": "//\n", "src/oauth/test_a.ts": "//\n", "src/b.ts": "//\n" };
  assert.equal(withTree({ ...files, ...tests }, checkSize).found.map((each) => each.file), ["src/oauth"]);
  const { "src/oauth/a0.ts": _, ...fewer } = files;
  assert.equal(withTree({ ...fewer, ...tests }, checkSize).found, []);
});

test("allowed imports, names in comments and strings, and tests pass", () => {
  const files = {
    "src/oauth/a.ts":
      'import { x } from "../http/b.ts";\nimport type { Store } from "../store/store.ts";\n// process.env, Deno.cwd()\nconst text = "Buffer.from, process.exit";',
    "src/oauth/a_node_test.ts":
      'import fs from "node:fs";\nimport { memoryStore } from "../store/memory.ts";',
    "src/runtime/node.ts":
      'import { x } from "srvx/node";\nimport process from "node:process";\nprocess.exit();',
    "src/trivet.ts": 'import { a } from "./oauth/a.ts";',
  };
  assert.equal(withTree(files, checkImports), []);
});

test("a file over 300 lines is found, unless its header says why", () => {
  const long = "//\n".repeat(301);
  const files = {
    "src/a.ts": long,
    "src/b.ts": `/** Long because it is a table. */\n${long}`,
    "src/c.ts": "//\n",
  };
  assert.equal(withTree(files, checkSize).found.map((each) => each.file), ["src/a.ts"]);
});

test("a retired word is found with its line", () => {
  const files = {
    "src/oauth/a.ts": "// Plain.\nconst MOST_BYTES = 1;\n",
    "src/oauth/b.ts": "// The client is told.\n",
    "src/oauth/b_test.ts": "// The client is told.\n",
    "src/b_test.ts": "// A code that is none.\n",
    "src/skills/b_test.ts": "// The client is told.\n",
    "src/end_to_end/cli/test_b.ts": "// The client is told.\n",
    "src/runtime/b_node_test.ts": "const heard = 1;\n",
    "src/oauth/c.ts": "const MAX_BYTES = 1; // The client receives an error.\n",
    "conformance/learn/f.ts": "// Nobody waits.\n",
    "conformance/runner/d.ts": "export const LONGEST = 1;\n",
    "conformance/runner/e.ts": "// The target is told.\n",
    "conformance/runner/e_test.ts": "// The target is told.\n",
    "scripts/bench/e.ts": "// The client is told.\n",
    "scripts/check_words.ts": "// The client is told.\n",
    "conformance/vectors/oauth/a.json":
      '{\n"id": "a/nobody-is-told",\n"title": "An unknown URI leads nowhere"\n}\n',
    "conformance/vectors/oauth/b.json": '{\n"title": "A secret proves nothing",\n"text": "told"\n}\n',
    "conformance/vectors/oauth/README.md": "# Good\n\nA token that is good for one use, `told`.\n",
    "conformance/requirements/mcp-1.json": '{ "text": "A token is no code." }\n',
    "conformance/requirements/rfc1.json": '{ "text": "The client is told." }\n',
  };
  const found = withTree(files, checkWords);
  assert.equal(found.map(({ file, line }) => [file, line]), [
    ["conformance/learn/f.ts", 1],
    ["conformance/runner/d.ts", 1],
    ["conformance/runner/e.ts", 1],
    ["conformance/runner/e_test.ts", 1],
    ["scripts/bench/e.ts", 1],
    ["src/b_test.ts", 1],
    ["src/end_to_end/cli/test_b.ts", 1],
    ["src/oauth/a.ts", 2],
    ["src/oauth/b.ts", 1],
    ["src/oauth/b_test.ts", 1],
    ["src/runtime/b_node_test.ts", 1],
    ["src/skills/b_test.ts", 1],
    ["conformance/requirements/mcp-1.json", 1],
    ["conformance/vectors/oauth/README.md", 3],
    ["conformance/vectors/oauth/a.json", 3],
    ["conformance/vectors/oauth/b.json", 2],
  ]);
  assert.ok(found.every(({ rule }) => rule === "word"));
});

test("a commit subject names its area, is an imperative and is short", () => {
  for (const good of ["oauth: check the nonce", "conformance, scripts: untie files", "src: bring order"]) {
    assert.is(findSubjectProblem(good), undefined);
  }
  for (
    const bad of [
      "check the nonce",
      "oauth: checked the nonce",
      "oauth: checking",
      `oauth: ${"x".repeat(60)}`,
    ]
  ) {
    assert.type(findSubjectProblem(bad), "string");
  }
});

test.run();
