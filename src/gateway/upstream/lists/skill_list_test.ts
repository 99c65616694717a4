import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readSkill } from "./skill_list.ts";

const test = suite("gateway/upstream/lists/skill_list");
const DIGEST = `sha256:${"0a".repeat(32)}`;
const file = (uri: string, more = {}) => ({ uri, digest: DIGEST, size: 1, ...more });
const SKILL = {
  uri: "skill://a%20b/pdf/SKILL.md",
  frontmatter: { name: "pdf", description: "Fills forms", metadata: { version: 1.5 } },
  resources: [file("skill://a%20b/pdf/SKILL.md"), file("skill://a%20b/pdf/x/%C3%A4.md")],
};

test("a skill is read with its front matter as it is", () => {
  const { path, frontMatter, files } = readSkill(SKILL);
  assert.equal(path, ["a b", "pdf"]);
  assert.is(frontMatter, SKILL.frontmatter);
  assert.equal(files!.map((each) => each.path), ["SKILL.md", "x/ä.md"]);
  assert.is(readSkill({ ...SKILL, resources: "dynamic" }).files, undefined);
});

test("what hosts would refuse, or what reaches out of the skill, is refused", () => {
  const [skillMd] = SKILL.resources;
  const within = (uri: string) => ({ resources: [skillMd, file(uri)] });
  for (
    const [problem, change] of [
      ["another scheme", { uri: "https://a.example/pdf/SKILL.md" }],
      ["no file", { uri: "skill://a%20b/pdf" }],
      ["no path", { uri: "skill://SKILL.md" }],
      ["no URI", { uri: 1 }],
      ["a long URI", { uri: `skill://${"a/".repeat(2000)}pdf/SKILL.md` }],
      ["another name", { frontmatter: { ...SKILL.frontmatter, name: "zip" } }],
      ["no description", { frontmatter: { name: "pdf" } }],
      ["a long description", { frontmatter: { name: "pdf", description: "a".repeat(16_385) } }],
      ["much front matter", { frontmatter: { ...SKILL.frontmatter, more: "a".repeat(65_536) } }],
      ["no front matter", { frontmatter: "name: pdf" }],
      ["no resources", { resources: undefined }],
      ["no SKILL.md", { resources: [] }],
      ["a file of another skill", within("skill://a%20b/zip/SKILL.md")],
      ["a way out", within("skill://a%20b/pdf/../zip/x.md")],
      ["an encoded way out", within("skill://a%20b/pdf/%2e%2e/zip/x.md")],
      ["an encoded separator", within("skill://a%20b/pdf/x%2fy.md")],
      ["a control character", within("skill://a%20b/pdf/x%00.md")],
      ["a file twice", within("skill://a%20b/pdf/%53KILL.md")],
      ["another digest", { resources: [{ ...skillMd, digest: "md5:0" }] }],
      ["no size", { resources: [{ ...skillMd, size: undefined }] }],
      ["too many bytes", { resources: [{ ...skillMd, size: 16 * 1024 * 1024 + 1 }] }],
      ["too many files", {
        resources: [skillMd, ...Array.from({ length: 512 }, (_, i) => file(`skill://a%20b/pdf/${i}`))],
      }],
    ] as const
  ) {
    assert.throws(
      () => readSkill({ ...SKILL, ...change }),
      (error: unknown) => error instanceof Error,
      problem,
    );
  }
});

test.run();
