import { existsSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("the attack table of src/oauth/README.md");
const urlOf = (file: string) => new URL(`../${file}`, import.meta.url);
const read = (file: string) => readFileSync(urlOf(file), "utf8");
const ATTACK_FILES = ["browser", "redirect", "guessing", "input", "token"].map((name) =>
  `attacks/${name}_test.ts`
);

/** The rows: number and test files. */
const ROWS = [...read("README.md").matchAll(/^\| *(\d+) *\|[^|]*\|([^|\n]*)\|$/gm)].map((row) => ({
  number: Number(row[1]),
  files: [...row[2]!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
}));

/** The numbers at the start of the titles in a file. */
function numbersIn(file: string): Set<number> {
  const titles = read(file).matchAll(/\btest\(\s*["`](\d+(?:, \d+)*)\. /g);
  return new Set([...titles].flatMap(([, numbers]) => numbers!.split(", ").map(Number)));
}

test("the rows are numbered from 1 and name test files that exist", () => {
  assert.ok(ROWS.length >= 68, `${ROWS.length} rows`);
  assert.equal(ROWS.map(({ number }) => number), ROWS.map((_, i) => i + 1));
  for (const { number, files } of ROWS) {
    assert.ok(files.length > 0, `row ${number}`);
    for (const file of files) assert.ok(/_test\.ts$/.test(file) && existsSync(urlOf(file)), file);
  }
});

for (const file of ATTACK_FILES) {
  test(`the rows that name ${file} have the numbers of its titles`, () => {
    const rows = ROWS.filter(({ files }) => files.includes(file)).map(({ number }) => number);
    assert.equal(rows, [...numbersIn(file)].sort((a, b) => a - b));
  });
}

test.run();
