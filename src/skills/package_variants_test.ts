import { suite } from "uvu";
import * as assert from "uvu/assert";
import { VARIANTS } from "../../fixtures/packages/variants.ts";
import { checkMarkdown } from "./check_markdown.ts";
import { checkPackage } from "./package.ts";
import type { Problem } from "./problem.ts";
import { newService } from "./test_service.ts";

const test = suite("skills/package: every oddity of the wild");
const LIMIT = 100_000;
const encoder = new TextEncoder();

/**
 * What becomes of each: as an upload ("taken" or "refused", with the codes of warnings or problems), and of its SKILL.md
 * in a local folder ("served" or "skipped"; nothing when it lies in no folder).
 */
const OUTCOMES: readonly (readonly [what: string, upload: string, local: string])[] = [
  ["plain", "taken", "served"],
  ["CRLF", "taken", "served"],
  ["CR only", "taken", "served"],
  ["a byte order mark", "taken byte-order-mark", "served byte-order-mark"],
  [
    "a byte order mark, CRLF and a bare colon",
    "refused yaml-bare-colon",
    "served byte-order-mark yaml-bare-colon",
  ],
  ["block scalar |", "taken", "served"],
  ["block scalar >-", "taken", "served"],
  ["block scalar |-", "taken", "served"],
  ["block scalar with indentation", "taken", "served"],
  ["value on the next line", "taken", "served"],
  ["value on the next line, with a bare colon", "refused yaml-bare-colon", "served yaml-bare-colon"],
  ["value on several lines", "taken", "served"],
  ["value on several lines, with a bare colon", "refused yaml-bare-colon", "served yaml-bare-colon"],
  ["bare colon", "refused yaml-bare-colon", "served yaml-bare-colon"],
  ["bare colon and a trailing comment", "refused yaml-bare-colon", "served yaml-bare-colon"],
  [
    "bare colon, and a field that is not allowed",
    "refused yaml-bare-colon yaml-duplicate",
    "skipped yaml-bare-colon yaml-duplicate",
  ],
  ["bare colon in another field", "refused yaml-bare-colon", "served yaml-bare-colon"],
  ["bare colon inside metadata", "refused yaml", "skipped yaml"],
  ["bare colon at the end", "refused yaml-bare-colon", "served yaml-bare-colon"],
  ["colon in quotes", "taken", "served"],
  ["quotes in a text with a bare colon", "refused yaml-bare-colon", "served yaml-bare-colon"],
  ["comments", "taken", "served"],
  ["quoted twice over", "taken", "served"],
  ["empty lines", "taken", "served"],
  ["hyphens in the body", "taken", "served"],
  ["ASCII escapes in quotes", "taken", "served"],
  ["dates and numbers", "taken unknown-key", "served unknown-key"],
  ["list of tools", "taken allowed-tools-list", "served allowed-tools-list"],
  ["flow list of tools", "taken allowed-tools-list", "served allowed-tools-list"],
  ["tools as text", "taken", "served"],
  ["flow map", "taken", "served"],
  ["numbers in metadata", "taken metadata-text", "served metadata-text"],
  ["a list in metadata", "taken metadata-text", "served metadata-text"],
  ["keys of clients", "taken unknown-key", "served unknown-key"],
  ["keys in another spelling", "taken unknown-key", "served unknown-key"],
  ["every field", "taken", "served"],
  ["emoji", "taken", "served"],
  ["another language", "taken", "served"],
  ["no folder", "taken", ""],
  ["no folder, several files", "taken", ""],
  ["nested folders", "taken", "served"],
  ["binary files", "taken", "served"],
  ["an archive inside", "taken", "served"],
  ["empty files", "taken", "served"],
  ["a long file name", "taken", "served"],
  ["file names beyond ASCII", "taken", "served"],
  ["blanks and signs in file names", "taken", "served"],
  ["dotfiles", "taken", "served"],
  ["litter of desktops", "taken", "served"],
  ["backslashes", "taken", ""],
  ["sixteen parts", "taken", "served"],
  ["Latin-1", "refused encoding", "skipped encoding"],
  ["UTF-16", "refused encoding", "skipped encoding"],
  ["a NUL", "refused encoding", "skipped encoding"],
  ["no front matter", "refused front-matter", "skipped front-matter"],
  ["front matter without end", "refused front-matter", "skipped front-matter"],
  ["long front matter", "refused front-matter-size", "skipped front-matter-size"],
  ["many lines of front matter", "refused front-matter-size", "skipped front-matter-size"],
  ["tabs", "refused yaml", "skipped yaml"],
  ["an open quote", "refused yaml", "skipped yaml"],
  ["a backtick", "refused yaml", "skipped yaml"],
  ["a field twice", "refused yaml-duplicate", "skipped yaml-duplicate"],
  ["an anchor", "refused yaml-anchor", "skipped yaml-anchor"],
  ["a tag", "refused yaml-tag", "skipped yaml-tag"],
  ["a merge key", "refused yaml-field-name", "skipped yaml-field-name"],
  ["a list for front matter", "refused yaml-fields", "skipped yaml-fields"],
  ["65 keys", "refused yaml-keys", "skipped yaml-keys"],
  ["deep nesting", "refused yaml-depth", "skipped yaml-depth"],
  ["no name", "refused name-required", "served name-required"],
  ["no description", "refused description-required", "skipped description-required"],
  ["nothing for a description", "refused description-required", "skipped description-required"],
  ["a list for a name", "refused name-text", "served name-text"],
  ["a map for a description", "refused description-text", "skipped description-text"],
  ["a number for a name", "taken unquoted-text", "served unquoted-text"],
  ["a long name", "refused name-length", "served name-length"],
  ["capitals in the name", "refused name-form name-folder", "served name-form name-folder"],
  ["a name beyond ASCII", "refused name-form", "served name-form"],
  ["a tag in the name", "refused name-markup name-folder", "served name-markup name-folder"],
  ["a reserved name", "refused name-reserved", "served name-reserved"],
  ["another folder", "refused name-folder", "served name-folder"],
  ["a long description", "refused description-length", "served description-length metadata-tokens"],
  ["a tag in the description", "refused description-markup", "served description-markup"],
  ["a list for a license", "refused license-text", "served license-text"],
  ["a list for compatibility", "refused compatibility-text", "served compatibility-text"],
  ["no compatibility", "refused compatibility-empty", "served compatibility-empty"],
  ["long compatibility", "refused compatibility-length", "served compatibility-length"],
  ["a text for metadata", "refused metadata-map", "served metadata-map"],
  ["a map for tools", "refused allowed-tools-text", "served allowed-tools-text"],
  ["tag characters", "refused hidden-characters", "served hidden-characters"],
  ["a hidden character behind an escape", "refused hidden-characters", "served hidden-characters"],
  ["no instructions", "taken instructions-empty", "served instructions-empty"],
  ["long instructions", "taken instructions-tokens", "served instructions-tokens"],
  ["many lines of instructions", "taken instructions-lines", "served instructions-lines"],
  ["a description that costs much", "taken metadata-tokens", "served metadata-tokens"],
  ["a description without when", "taken description-when", "served description-when"],
  [
    "several problems",
    "refused name-form name-folder description-length description-markup compatibility-empty",
    "served name-form name-folder description-length description-markup compatibility-empty metadata-tokens",
  ],
  ["nothing", "refused no-files", ""],
  ["no SKILL.md", "refused skill-md-missing", ""],
  ["skill.md", "refused skill-md-missing", ""],
  ["SKILL.md too deep", "refused skill-md-missing", ""],
  ["two skills", "refused several-skills", "skipped front-matter"],
  ["a file outside", "refused outside-folder", "served"],
  ["a climbing path", "refused path-dots", "served"],
  ["an absolute path", "refused path-absolute", "served"],
  ["a control character", "refused path-control", "served"],
  ["a hidden character", "refused path-hidden", "served"],
  ["a long path", "refused path-length", "served"],
  ["seventeen parts", "refused path-depth", "served"],
  ["an empty part", "refused path-part-empty", "served"],
  ["a dot at the end", "refused path-part-end", "served"],
  ["a device", "refused path-device", "served"],
  ["a sign", "refused path-character", "served"],
  ["a part of 256 bytes", "refused path-part-length", "served"],
  ["a file twice", "refused path-twice", "served"],
  ["names in two cases", "refused path-collision", "served"],
  ["a file and a folder", "refused path-file-and-folder", "served"],
  ["a hundred bad paths", "refused path-character", "served"],
  ["too many bytes", "refused package-size", "served"],
];

test("every variant has an outcome, and every outcome a variant", () => {
  assert.equal(OUTCOMES.map(([what]) => what), Object.keys(VARIANTS));
});

const codes = (problems: readonly Problem[]): string[] => [...new Set(problems.map(({ rule }) => rule))];
const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? encoder.encode(content) : content;

for (const [what, upload, local] of OUTCOMES) {
  const sent = VARIANTS[what]!.map(([path, content]) => ({ path, bytes: bytesOf(content) }));

  test(`${what}: as an upload`, () => {
    const { package: content, problems, warnings } = checkPackage(sent, LIMIT);
    const outcome = problems.length > 0 ? ["refused", ...codes(problems)] : ["taken", ...codes(warnings)];
    assert.is(outcome.join(" "), upload);
    assert.is(content === undefined, problems.length > 0);
  });

  test(`${what}: in a local folder`, () => {
    const markdown = sent.find(({ path }) => /^[^/]+\/SKILL\.md$/.test(path));
    if (!markdown) return assert.is(local, "");
    const folder = markdown.path.slice(0, -"/SKILL.md".length);
    const { problems, warnings, advice } = checkMarkdown(markdown.bytes, folder, "lenient");
    const told = codes([...warnings, ...advice]);
    const outcome = problems.length > 0 ? ["skipped", ...codes(problems)] : ["served", ...told];
    assert.is(outcome.join(" "), local);
  });
}

test("the service says the same of each", async () => {
  const service = await newService({ uploadLimit: LIMIT });
  for (const [what, upload] of OUTCOMES) {
    const response = await service.upload(VARIANTS[what]!);
    const { error } = await response.json();
    const expected = upload.startsWith("taken") ? 200 : upload.endsWith(" package-size") ? 413 : 400;
    assert.is(response.status, expected, `${what}: ${JSON.stringify(error)}`);
  }
  assert.equal(service.events.filter(({ type }) => type === "fault"), []);
});

for (
  const [what, description] of [
    ["plain", "Shows how it is done. Use when testing."],
    ["CR only", "Shows how it is done. Use when testing."],
    ["block scalar |", "Shows how: it is done. Use when testing."],
    ["block scalar >-", "Shows how it is done. Use when: testing."],
    ["block scalar with indentation", "Shows how. Use when testing."],
    ["value on the next line", "Shows how it is done. Use when testing."],
    ["value on the next line, with a bare colon", "Use when: testing."],
    ["value on several lines, with a bare colon", "Shows how. Use when: testing."],
    ["bare colon and a trailing comment", "Use when: testing"],
    ["bare colon at the end", "Use when testing:"],
    ["quotes in a text with a bare colon", 'Use when: "testing" \\ so'],
    ["quoted twice over", `Use "it" when it's tested`],
    ["ASCII escapes in quotes", "Café. Use when testing."],
    ["a byte order mark, CRLF and a bare colon", "Use when: always"],
  ] as const
) {
  test(`${what}: the description is what its author meant`, () => {
    const markdown = bytesOf(VARIANTS[what]![0]![1]);
    assert.is(checkMarkdown(markdown, "demo", "lenient").skill?.description, description);
  });
}

test("litter is no part of the package; all else is, byte by byte", () => {
  for (const what of ["litter of desktops", "dotfiles", "binary files", "empty files", "backslashes"]) {
    const sent = VARIANTS[what]!.map(([path, content]) => ({ path, bytes: bytesOf(content) }));
    const expected = sent.filter(({ path }) => !/MACOSX|DS_Store|Thumbs/.test(path))
      .map(({ path, bytes }) => ({ path: path.replaceAll("\\", "/").slice("demo/".length), bytes }));
    assert.equal(checkPackage(sent, LIMIT).package?.files, expected, what);
  }
});

test.run();
