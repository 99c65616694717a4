import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { judgeSubject } from "./check_commits.ts";
import { checkImports } from "./check_imports.ts";
import { checkSize } from "./check_size.ts";
import { checkWords } from "./check_words.ts";

const test = suite("scripts/check");

/** What the checks find in a tree of these files. */
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
  const [what, file, text, message] of [
    [
      "one service that imports another",
      "src/oauth/a.ts",
      'import { x } from "../skills/b.ts";',
      "oauth may not import skills",
    ],
    [
      "a type of another service",
      "src/mcp/a.ts",
      'import type { X } from "../oauth/b.ts";',
      "mcp may not import oauth",
    ],
    [
      "HTTP that knows a service",
      "src/http/a.ts",
      'export { x } from "../mcp/b.ts";',
      "http may not import mcp",
    ],
    ["JSON-RPC that knows MCP", "src/jsonrpc/a.ts", 'import "../mcp/b.ts";', "jsonrpc may not import mcp"],
    [
      "a service that imports a driver",
      "src/oauth/a.ts",
      'import { m } from "../store/memory.ts";',
      "not a driver",
    ],
    [
      "a service that imports the composed server",
      "src/oauth/a.ts",
      'import { t } from "../trivet.ts";',
      "only src/mod.ts",
    ],
    [
      "core that imports a runtime entry",
      "src/trivet.ts",
      'import { serve } from "./runtime/node.ts";',
      "root may not import runtime",
    ],
    ["a node: module in core", "src/oauth/a.ts", 'import fs from "node:fs";', "belongs to a runtime"],
    [
      "a dynamic import of one",
      "src/oauth/a.ts",
      'const fs = await import("node:fs");',
      "belongs to a runtime",
    ],
    ["Deno in core", "src/skills/a.ts", "const x = Deno.cwd();", '"Deno" belongs to a runtime'],
    ["process in core", "src/skills/a.ts", "const x = process.env.X;", '"process" belongs to a runtime'],
    ["Buffer in core", "src/skills/a.ts", "const x = Buffer.from([]);", '"Buffer" belongs to a runtime'],
    ["a package in core", "src/oauth/a.ts", 'import x from "lodash";', 'the package "lodash"'],
    ["yaml in a second file", "src/skills/a.ts", 'import { parse } from "yaml";', 'the package "yaml"'],
    [
      "an import that leads out",
      "src/oauth/a.ts",
      'import x from "../../scripts/x.ts";',
      "leads out of src/",
    ],
    [
      "a runner of the kit that imports Trivet",
      "conformance/runner/a.ts",
      'import x from "../../src/mod.ts";',
      "leads out of conformance/runner/",
    ],
    ["core that imports a test", "src/oauth/a.ts", 'import x from "./b_test.ts";', "only tests import"],
  ] as const
) {
  test(`${what} is found, with file and line`, () => {
    const [found] = withTree({ [file]: `// A comment.\n${text}\n` }, checkImports);
    assert.is(found?.file, file);
    assert.is(found?.line, 2);
    assert.match(found!.message, message);
  });
}

test("files that import each other are found", () => {
  const files = { "src/http/a.ts": 'import "./b.ts";', "src/http/b.ts": 'import "./a.ts";' };
  assert.match(withTree(files, checkImports)[0]!.message, "src/http/a.ts -> src/http/b.ts -> src/http/a.ts");
});

for (const folder of ["conformance/runner", "scripts"]) {
  test(`in ${folder} too, by their types as well`, () => {
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

test("what is allowed is not found: arrows along the way, names in comments and texts, tests", () => {
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

test("a retired word is found with its line and the word of the field", () => {
  const files = {
    "src/oauth/a.ts": "// Plain.\nconst MOST_BYTES = 1;\n",
    "src/oauth/b.ts": "// The client is told.\n",
    "src/oauth/b_test.ts": "// The client is told.\n",
    "src/oauth/c.ts": "const MAX_BYTES = 1; // The client receives an error.\n",
    "conformance/runner/d.ts": "export const LONGEST = 1;\n",
  };
  const found = withTree(files, checkWords);
  assert.equal(found.map(({ file, line }) => [file, line]), [
    ["conformance/runner/d.ts", 1],
    ["src/oauth/a.ts", 2],
    ["src/oauth/b.ts", 1],
  ]);
  assert.match(found[0]!.message, "MAX_");
});

test("a commit subject names its area, is an imperative and is short", () => {
  for (const good of ["oauth: check the nonce", "conformance, scripts: untie files", "src: bring order"]) {
    assert.is(judgeSubject(good), undefined);
  }
  for (
    const bad of [
      "check the nonce",
      "oauth: checked the nonce",
      "oauth: checking",
      `oauth: ${"x".repeat(60)}`,
    ]
  ) {
    assert.type(judgeSubject(bad), "string");
  }
});

test.run();
