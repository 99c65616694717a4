import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkPath, collisionKey, isSystemFile, showPath } from "./path.ts";

const test = suite("skills/package/path");
const codeOf = (path: string): string => {
  const checked = checkPath(path);
  return "problem" in checked ? checked.problem.rule : checked.path;
};

for (
  const [path, expected] of [
    ["a/b.txt", "a/b.txt"],
    ["a\\b.txt", "a/b.txt"],
    ["cafe\u0301", "caf\u00e9"],
    ["x".repeat(255), "x".repeat(255)],
    ["a/".repeat(15) + "b", "a/".repeat(15) + "b"],
    ["com/console/nul-l/auxiliary.txt", "com/console/nul-l/auxiliary.txt"],
    [".a/..b/...c", ".a/..b/...c"],
    ["日本語 (1)/👩‍💻.md", "日本語 (1)/👩‍💻.md"],
  ] as const
) {
  test(`${path.slice(0, 30)} is accepted as ${expected.slice(0, 30)}`, () =>
    assert.is(codeOf(path), expected));
}

for (
  const [path, rule] of [
    ["", "path-length"],
    [("x".repeat(99) + "/").repeat(6), "path-length"],
    ["x".repeat(256), "path-part-length"],
    ["é".repeat(128), "path-part-length"],
    ["a/".repeat(16) + "b", "path-depth"],
    ["/a", "path-absolute"],
    ["\\\\srv\\a", "path-absolute"],
    ["c:a", "path-absolute"],
    ["C:\\a", "path-absolute"],
    ["a//b", "path-part-empty"],
    ["a/", "path-part-empty"],
    ["a\\..\\b", "path-dots"],
    ["..", "path-dots"],
    ["./a", "path-dots"],
    ["a./b", "path-part-end"],
    ["a /b", "path-part-end"],
    ["...", "path-part-end"],
    ["a/NUL", "path-device"],
    ["a/lpt1.txt/b", "path-device"],
    ["a|b", "path-character"],
    ["a\nb", "path-control"],
    ["a\u0085b", "path-control"],
    ["a\ufffdb", "path-control"],
    ["a\ud800b", "path-control"],
    ["a\u202eb", "path-hidden"],
    ["a\u{e0041}", "path-hidden"],
    ["a\u200b", "path-hidden"],
  ] as const
) {
  test(`${JSON.stringify(path).slice(0, 30)} is refused: ${rule}`, () => assert.is(codeOf(path), rule));
}

test("system files are those of archivers and desktops, not all names with a dot", () => {
  for (
    const path of [
      "__MACOSX/a",
      "a/__MACOSX/b",
      ".DS_Store",
      "a/.DS_Store",
      "a/._b",
      "Thumbs.db",
      "a/desktop.ini",
    ]
  ) {
    assert.ok(isSystemFile(path), path);
  }
  for (const path of [".env", ".github/x", "a/.keep", "_MACOSX/a", "DS_Store", "a._b", "thumbs.db.txt"]) {
    assert.not.ok(isSystemFile(path), path);
  }
});

test("names that a file system may treat as equal have one collision key", () => {
  for (
    const [a, b] of [
      ["A", "a"],
      ["É", "e\u0301"],
      ["a\u00adb", "ab"],
      ["ẞ", "ß"],
      ["straße", "STRASSE"],
      ["\ufb01t", "fit"],
      ["ς", "σ"],
      ["ϵ", "Ε"],
    ] as const
  ) {
    assert.is(collisionKey(a), collisionKey(b));
  }
  assert.is.not(collisionKey("é"), collisionKey("e"));
});

test("a path is shown truncated, with hidden characters escaped", () => {
  assert.is(showPath('a "b"\\c é'), 'a "b"\\c é');
  assert.is(showPath("a\n\u202e\ud800"), "a\\u{a}\\u{202e}\\u{d800}");
  assert.is(showPath("x".repeat(101)), "x".repeat(99) + "…");
});

test.run();
