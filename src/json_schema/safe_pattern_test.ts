import { suite } from "uvu";
import * as assert from "uvu/assert";
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
    ]
  ) assert.not.ok(isSafePattern(unsafe), unsafe);
});

test.run();
