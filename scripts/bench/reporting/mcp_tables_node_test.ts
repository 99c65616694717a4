import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { addMcpTables } from "./mcp_tables.ts";
import { writeReport } from "./report.ts";

test("starts and memory are compared with Trivet, and a start that is not supported is no call", () => {
  addMcpTables([], [], [
    { operation: "tools/call", subject: "other", unsupported: "no stdio" },
    { operation: "start", subject: "trivet stdio", milliseconds: 100, least: 90, listed: 110, cpu: 5 },
    { operation: "start", subject: "other", milliseconds: 400, least: 300, listed: 500, cpu: 9 },
    { operation: "start", subject: "third", unsupported: "no response" },
  ], [
    { what: "session", subject: "Trivet", tools: 1, count: 9, heap: 1000, resident: 2000 },
    { what: "session", subject: "other", tools: 1, count: 9, heap: 3000, resident: 16_000 },
  ]);
  const folder = mkdtempSync(join(tmpdir(), "trivet-page-"));
  writeReport(join(folder, "bench.json"), {});
  const page = readFileSync(join(folder, "bench.html"), "utf8");
  rmSync(folder, { recursive: true });
  const [calls, starts, memory, ...more] = page.split("<h2>").slice(1);
  assert.equal(more, []);
  assert.match(calls!, /^Over stdio: tools\/call</);
  assert.not.match(calls!, "no response");
  assert.match(starts!, /^Over stdio: start<[^]*compared with trivet stdio/);
  assert.match(
    starts!,
    "<b>0.25</b> · 9.00 µs of processor time · 400 ms · at least 300 ms · 500 ms until the tools are listed",
  );
  assert.match(starts!, "Not supported: no response");
  assert.match(memory!, /^Memory of each: session</);
  assert.match(memory!, "<b>0.13</b> · 16.0 kB resident · 3.0 kB heap · at 9");
  assert.is(memory!.split("<svg").length - 1, 1);
});

test.run();
