import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { OUTCOMES } from "./test_package_outcomes.ts";

const test = suite("skills/RULES.md");
const SKILLS = fileURLToPath(new URL("../", import.meta.url));

/** The rows of the tables in RULES.md, by code. */
const ROWS = new Map(
  [
    ...readFileSync(SKILLS + "RULES.md", "utf8").matchAll(
      /^\| `([a-z0-9-]+)` +\| (\S+) +\| (\S+) +\| (.+?) +\|$/gm,
    ),
  ]
    .map(([, code, upload, local]) => [code!, { upload, local }]),
);

/** Words with hyphens that name fields, encodings and options rather than rules. */
const NO_CODES =
  /^(content|x|anthropic|skills|code|files|www|cache|request|retry|utf|deflate|allowed-tools$|pdf-forms|second-name)(-|$)/;

/** Every code in a source: words with hyphens in quotes, and the first argument of functions that take a code. */
function codesIn(source: string): string[] {
  const words = [...source.matchAll(/(?<!\[|\.get\(|\.has\(|\.set\()"([a-z]+(?:-[a-z0-9]+)+)"/g)]
    .map(([, word]) => word!).filter((word) => !NO_CODES.test(word));
  const named = [
    ...source.matchAll(/(?:\brule: |YamlProblem\(|refuse\(|toProblem\(|report\()\s*"([a-z-]+)"/g),
  ]
    .map(([, code]) => code!);
  const archives = [...source.matchAll(/refuse\(\s*header,\s*"([a-z-]+)"/g)].map(([, kind]) =>
    `archive-${kind}`
  );
  return [...words, ...named, ...archives];
}

/** Sources that report problems of packages. */
const SOURCES = globSync("**/*.ts", { cwd: SKILLS }).filter((file) => !/_test\.ts$|(^|[\\/])test_/.test(file))
  .filter((file) => /\bProblem\b|\bproblems:|refuseArchive/.test(readFileSync(SKILLS + file, "utf8")))
  .filter((file) =>
    !/(^|[\\/])(shape|dialect|answer|service|query|call|authorize|skill_endpoints)[^\\/]*$/.test(file)
  );

test("the codes of the sources and of the tables are the same", () => {
  const used = new Set(SOURCES.flatMap((file) => codesIn(readFileSync(SKILLS + file, "utf8"))));
  assert.equal([...used].filter((code) => !ROWS.has(code)).sort(), [], "not in RULES.md");
  assert.equal([...ROWS.keys()].filter((code) => !used.has(code)).sort(), [], "in no source");
});

test("the tables state the outcome of each variant", () => {
  const outcomes = {
    refused: "refused",
    accepted: /^(warning|advice)$/,
    skipped: "skipped",
    served: /^(warning|advice)$/,
  };
  for (const [what, upload, local] of OUTCOMES) {
    for (const [outcome, side] of [[upload, "upload"], [local, "local"]] as const) {
      const [head, ...codes] = outcome.split(" ");
      for (const code of codes) {
        // A file with a bare colon and another error is skipped because of the other error.
        if (head === "skipped" && code === "yaml-bare-colon") continue;
        assert.match(
          ROWS.get(code)?.[side] ?? "",
          outcomes[head as keyof typeof outcomes],
          `${what}: ${code}`,
        );
      }
    }
  }
});

test("a variant breaks each rule of packages", () => {
  const broken = new Set(OUTCOMES.flatMap(([, upload]) => upload.split(" ").slice(1)));
  const elsewhere = ["folder-required", "skill-md-case", "name-changed", "more-problems"];
  const packages = [...ROWS].filter(([code, { upload }]) =>
    upload !== "–" && !/^(upload|archive)-/.test(code) && !elsewhere.includes(code)
  );
  assert.equal(packages.map(([code]) => code).filter((code) => !broken.has(code)), []);
});

test.run();
