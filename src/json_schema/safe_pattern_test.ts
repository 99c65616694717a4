import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { compileSchema } from "./compile.ts";
import { isSafePattern } from "./safe_pattern.ts";

const test = suite("json_schema/safe_pattern");

test("patterns that could take long are left out, simple ones are kept", () => {
  for (
    const safe of [
      "^[a-z]+$",
      "^\\d{4}-\\d\\d$",
      "^a+b*$",
      "abc",
      "[0-9]+",
      "^(a|b)$",
      "^(get|put|post|patch|head|delete)$",
      "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$",
      "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
      "^([a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9])$",
      "[0-9a-f]{64}",
      "^[^|(?*+{]+[)|]$",
      "^data:image/png;base64,[A-Za-z0-9+/=]+$",
      "^arn:aws:[a-z]+$",
      "https?://",
      "^[^@]+@[^@]+$",
    ]
  ) assert.ok(isSafePattern(safe), safe);
  for (
    const unsafe of [
      "^(a+)+$",
      "(a|a)*b",
      "a*a*b",
      "^a*a*a*$",
      "(?=x)y",
      "(a)\\1",
      "[",
      "a?".repeat(9),
      "^(?:a?){9}$",
      `^${"(a|[ab])".repeat(29)}$`,
      `${"(|)".repeat(24)}x`,
      `^${"((a|b)|[ab])".repeat(3)}$`,
      `^${"(?:a|[ab])".repeat(3)}a?a?x`,
      `^${"a??".repeat(3)}x`,
      "^a*a*a{1000}x",
      "a*a{1000}x",
      "^a*a*a?a?a?a?a{8}x",
      "^(a*|b)+$",
      "^(a*){2,}$",
      "(?!x)y",
      "(?<=x)y",
      "(?<name>a)\\k<name>",
      "(?i:a)",
      "^[^x]*" + "[^y]{99}".repeat(54),
      "^[^x]*[^x]*" + "[^y]".repeat(50) + "z",
      "\\S*" + "\\S".repeat(100) + "z",
      "a?a?a*z",
      "\\S".repeat(120) + "z",
    ]
  ) assert.not.ok(isSafePattern(unsafe), unsafe);
});

test("no pattern that is kept holds the event loop", async () => {
  const classes = ["[^y]", "\\S", "\\p{L}", "[^\\p{Lu}]"];
  const beginnings = ["", "^"].flatMap((anchor) => ["", "C*", "C*C*", "C?C*"].map((begin) => anchor + begin));
  const middles = ["C", "C{99}", "(?:CC|C{2})", "C{1,99}", "(?:C|C|C|C)"];
  let kept = 0;
  for (const begin of beginnings) {
    for (const middle of middles) {
      for (const each of classes) {
        const patternOf = (count: number) => `${begin}${middle.repeat(count)}z`.replaceAll("C", each);
        let count = 120;
        while (count > 0 && !isSafePattern(patternOf(count))) count--;
        if (count === 0) continue;
        kept++;
        const validate = compileSchema({ pattern: patternOf(count) });
        for (const length of [3000, 1_000_000]) {
          const text = "é".repeat(length);
          await assertLoopIsFree(() => void validate(text));
        }
      }
    }
  }
  assert.ok(kept > 50, String(kept));
});

test.run();
