import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runBatch } from "./run_batch.ts";
import type { FileReport } from "./run_files.ts";

const test = suite("scripts/test/run_batch");

for (const runtime of ["node", "deno", "bun"] as const) {
  test(`${runtime}: a failure with megabytes of text is reported, and so is a process that exits while it writes`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "trivet-run-batch-"));
    try {
      const uvu = pathToFileURL("node_modules/uvu/dist/index.mjs").href;
      const long = write(
        folder,
        "long_test.ts",
        `import { test } from "${uvu}";
         test("fails", () => { throw new Error("x".repeat(4_000_000)) });
         test("passes", () => {});
         test.run();`,
      );
      const torn = write(
        folder,
        "torn_test.ts",
        `import { writeSync } from "node:fs";
         import process from "node:process";
         writeSync(1, '\\n\\u0001trivet-test {"file":"x');
         process.exit(0);`,
      );
      const reports: FileReport[] = [];
      await runBatch({ runtime, files: [torn, long], seconds: 0 }, {}, (report) => reports.push(report));
      assert.equal(
        reports.map(({ file, passed, failed }) => [file, passed, failed]),
        [[torn, 0, 1], [long, 1, 1]],
      );
      assert.match(reports[0]!.errors, "exited with 0");
      assert.ok(reports[1]!.errors.length < 25_000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test.run();
