import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findExclusion } from "./excluded_files.ts";

const test = suite("skills/package/excluded_files");

test("credentials, and files that are no part of a skill, are excluded", () => {
  const cases: readonly [ReturnType<typeof findExclusion>, readonly string[]][] = [
    ["credentials", [
      ".env",
      "a/.env",
      ".ENV",
      ".env.local",
      ".env.production.local",
      ".envrc",
      ".npmrc",
      "a/.ssh",
      ".git-credentials",
      "id_rsa",
      "keys/id_ed25519",
    ]],
    ["other", [
      ".git",
      "a/.git",
      ".svn",
      "node_modules",
      "a/b/node_modules",
      "__pycache__",
      "a.pyc",
      ".DS_Store",
      "._a",
      "__MACOSX",
      ".a.swp",
      "a~",
      ".#a",
      ".idea",
      ".vscode",
    ]],
    [undefined, [
      "SKILL.md",
      ".env.example",
      ".env.production.sample",
      ".environment",
      "env",
      "a.env",
      ".gitignore",
      ".gitattributes",
      ".github",
      "git",
      "node_modules.md",
      "template/.vscode",
      "id_rsa.pub",
      "a.swf",
      "a.py",
    ]],
  ];
  for (const [exclusion, paths] of cases) {
    for (const path of paths) assert.is(findExclusion(path), exclusion, path);
  }
});

test.run();
