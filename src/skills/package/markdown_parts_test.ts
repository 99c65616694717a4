import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readSkillMarkdown } from "./front_matter.ts";
import { bodyOf, splitMarkdown } from "./markdown_parts.ts";

const test = suite("skills/package/markdown_parts");

test("front matter ends at the first line of exactly ---", () => {
  for (
    const [text, expected] of [
      ["---\nname: a\n---\nbody\n---\n", { frontMatter: "name: a", body: "body\n---\n" }],
      ["---\nname: a\n----\n---", { frontMatter: "name: a\n----", body: "" }],
      ["---\nname: a\n --- \n---\n\nbody", { frontMatter: "name: a\n --- ", body: "\nbody" }],
      ["---\n---\n", { frontMatter: "", body: "" }],
      ["----\nname: a\n---\n", "unopened"],
      ["\n---\nname: a\n---\n", "unopened"],
      ["", "unopened"],
      ["---\nname: a\n--- ", "unclosed"],
      ["---", "unclosed"],
    ] as const
  ) assert.equal(splitMarkdown(text), expected, JSON.stringify(text));
});

test("the body of an uploaded skill is the one that its check saw", () => {
  for (
    const text of [
      "---\nname: a\n---\n# A\n\ndo\n",
      "\ufeff---\r\nname: a\r\n---\r\n# A\r\ndo",
      "---\nname: a\n---",
    ]
  ) {
    const bytes = new TextEncoder().encode(text);
    const read = readSkillMarkdown(bytes);
    assert.ok("body" in read);
    assert.is(bodyOf(bytes), read.body);
  }
});

test.run();
