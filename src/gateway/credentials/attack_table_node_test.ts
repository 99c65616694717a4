import { existsSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("the attack table of src/gateway/credentials/README.md");
const urlOf = (file: string) => new URL(file, import.meta.url);

test("each row names test files that exist", () => {
  const table = readFileSync(urlOf("README.md"), "utf8").split("## Attacks")[1]!;
  const rows = [...table.matchAll(/^\|[^|]*\|([^|\n]*)\|$/gm)].slice(2);
  assert.ok(rows.length >= 20, `${rows.length} rows`);
  for (const [row, cell] of rows) {
    const files = [...cell!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
    assert.ok(files.length > 0, row);
    for (const file of files) assert.ok(/_test\.ts$/.test(file) && existsSync(urlOf(file)), file);
  }
});

test.run();
