import { suite } from "uvu";
import * as assert from "uvu/assert";
import { VARIANTS } from "../../../fixtures/packages/variants.ts";
import { checkMarkdown } from "./check_markdown.ts";
import { checkPackage } from "./package.ts";
import type { Problem } from "./problem.ts";
import { OUTCOMES } from "./test_package_outcomes.ts";
import { newService } from "../test_service.ts";

const test = suite("skills/package: variants of packages");
const LIMIT = 1_000_000;
const encoder = new TextEncoder();

test("each variant has one outcome", () => {
  assert.equal(OUTCOMES.map(([what]) => what), Object.keys(VARIANTS));
});

const codes = (problems: readonly Problem[]): string[] => [...new Set(problems.map(({ rule }) => rule))];
const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? encoder.encode(content) : content;

for (const [what, upload, local] of OUTCOMES) {
  const sent = VARIANTS[what]!.map(([path, content]) => ({ path, bytes: bytesOf(content) }));

  test(`${what}: as an upload`, async () => {
    const { package: content, problems, warnings } = await checkPackage(sent, LIMIT);
    const outcome = problems.length > 0 ? ["refused", ...codes(problems)] : ["accepted", ...codes(warnings)];
    assert.is(outcome.join(" "), upload);
    assert.is(content === undefined, problems.length > 0);
  });

  test(`${what}: in a local folder`, () => {
    const markdown = sent.find(({ path }) => /^[^/]+\/SKILL\.md$/.test(path));
    if (!markdown) return assert.is(local, "");
    const folder = markdown.path.slice(0, -"/SKILL.md".length);
    const { problems, warnings, advice } = checkMarkdown(markdown.bytes, folder, "lenient");
    const reported = codes([...warnings, ...advice]);
    const outcome = problems.length > 0 ? ["skipped", ...codes(problems)] : ["served", ...reported];
    assert.is(outcome.join(" "), local);
  });
}

test("the service accepts and refuses the same variants", async () => {
  const service = await newService({ uploadLimit: LIMIT });
  for (const [what, upload] of OUTCOMES) {
    const response = await service.upload(VARIANTS[what]!);
    const { error } = await response.json();
    const expected = upload.startsWith("accepted") ? 200 : upload.endsWith(" upload-too-large") ? 413 : 400;
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
  test(`${what}: the description has its intended text`, () => {
    const markdown = bytesOf(VARIANTS[what]![0]![1]);
    assert.is(checkMarkdown(markdown, "demo", "lenient").skill?.description, description);
  });
}

test("files of desktops are omitted, and other files are unchanged", async () => {
  for (const what of ["litter of desktops", "dotfiles", "binary files", "empty files", "backslashes"]) {
    const sent = VARIANTS[what]!.map(([path, content]) => ({ path, bytes: bytesOf(content) }));
    const expected = sent.filter(({ path }) => !/MACOSX|DS_Store|Thumbs/.test(path))
      .map(({ path, bytes }) => ({ path: path.replaceAll("\\", "/").slice("demo/".length), bytes }));
    assert.equal((await checkPackage(sent, LIMIT)).package?.files, expected, what);
  }
});

test.run();
