import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readSkillUri, writeSkillUri } from "./skill_uri.ts";

const test = suite("mcp/skill_uri");

test("readSkillUri() inverts writeSkillUri() for any characters", () => {
  for (
    const segments of [
      ["demo"],
      ["demo", "SKILL.md"],
      ["skill_01", "demo", "a b", "ä?#%.md"],
      ["demo", "%2F", "x@y:z&(1)'.txt", "日本語", "\u{1f600}"],
    ]
  ) {
    const uri = writeSkillUri(segments);
    assert.match(uri, /^skill:\/\/[\w\-.!~*'()%/]+$/);
    assert.is(new URL(uri).href, uri);
    assert.equal(readSkillUri(uri), segments);
  }
});

test("unneeded and some missing percent-encoding are accepted", () => {
  assert.equal(readSkillUri("skill://de%6Do/a%2emd"), ["demo", "a.md"]);
  assert.equal(readSkillUri("skill://demo/a b@ä"), ["demo", "a b@ä"]);
});

test("other URIs are refused", () => {
  for (
    const uri of [
      "",
      "demo",
      "skill:",
      "skill://",
      "skill:///SKILL.md",
      "skill://demo/",
      "skill://demo//SKILL.md",
      "skill://demo/a%2Fb",
      "skill://demo/%",
      "skill://demo/%zz",
      "skill://demo/%ff",
      "skill://demo/SKILL.md?x",
      "skill://demo/SKILL.md#x",
      "Skill://demo/SKILL.md",
      "file://demo/SKILL.md",
      " skill://demo/SKILL.md",
    ]
  ) {
    assert.is(readSkillUri(uri), undefined, uri);
  }
});

test("a URI beyond the maximum length is refused", () => {
  assert.is(readSkillUri("skill://" + "a/".repeat(4000) + "SKILL.md")?.length, 4001);
  assert.is(readSkillUri("skill://" + "a/".repeat(4200) + "SKILL.md"), undefined);
});

test("a lone surrogate in a name is replaced", () => {
  assert.is(writeSkillUri(["a\ud800"]), "skill://a%EF%BF%BD");
});

test.run();
