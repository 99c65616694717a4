import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import { VARIANTS } from "../../../fixtures/packages/variants.ts";
import { checkMarkdown } from "./check_markdown.ts";
import { checkPackage } from "./package.ts";

const test = suite("skills/package: mutated SKILL.md");
const encoder = new TextEncoder();

/** Text that YAML or a rule treats specially. */
const PIECES = [
  ": ",
  " #",
  "- ",
  "\n",
  "\r",
  "\t",
  '"',
  "'",
  "{",
  "}",
  "[",
  "]",
  "|",
  ">",
  "&a ",
  "*a ",
  "!x ",
]
  .concat("\n---\n", "? ", "%", "@", "`", "~", "\u200b", "😀", "<b>", "\ufeff").map((text) =>
    encoder.encode(text)
  );

function mutate(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
  let mutated = bytes;
  for (let count = random(8); count >= 0; count--) {
    const at = random(mutated.length + 1);
    const piece = random(3) > 0 ? PIECES[random(PIECES.length)]! : Uint8Array.of(random(256));
    const rest = at + (random(3) === 0 ? random(6) : 0);
    mutated = Uint8Array.from([...mutated.subarray(0, at), ...piece, ...mutated.subarray(rest)]);
  }
  return mutated;
}

test("500 mutated files give problems with line and message, and the lenient profile accepts what the strict one does", async () => {
  const sources = Object.values(VARIANTS).flat()
    .filter(([path, content]) => path.endsWith("SKILL.md") && content.length < 2000)
    .map(([, content]) => typeof content === "string" ? encoder.encode(content) : content);
  const random = createRandom(7);
  for (let i = 0; i < 500; i++) {
    const bytes = mutate(sources[random(sources.length)]!, random);
    const text = new TextDecoder().decode(bytes);
    const strict = await checkPackage([{ path: "demo/SKILL.md", bytes }], 1e6);
    const lenient = checkMarkdown(bytes, "demo", "lenient");
    const lines = text.split(/\r\n?|\n/).length;
    for (const { rule, message, line = 1 } of [...strict.problems, ...strict.warnings, ...lenient.warnings]) {
      assert.ok(rule !== "" && message !== "" && line >= 1 && line <= lines, `${rule} ${line}: ${text}`);
    }
    assert.is(strict.package === undefined, strict.problems.length > 0, text);
    if (strict.package) {
      assert.equal(lenient.problems, [], text);
      assert.is(strict.package.name, "demo", text);
    }
    if (lenient.problems.length === 0) assert.is.not(lenient.skill?.description ?? "", "", text);
  }
});

test.run();
