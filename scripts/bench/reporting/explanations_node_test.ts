import { test } from "uvu";
import * as assert from "uvu/assert";
import { createInProcessSubjects } from "../in_process.ts";
import { SUBJECTS } from "../mcp_peers/subject.ts";
import { MORE_PEERS } from "../peers/more_peers.ts";
import { PUBLISHED } from "../mcp_peers/stdio/starts.ts";
import { UPLOAD_KINDS } from "../skill_packages.ts";
import { explain } from "./explanations.ts";

test("every row in process is explained", () => {
  for (const { name, baseline } of createInProcessSubjects(1000)) {
    assert.ok(explain(name), name);
    if (baseline !== undefined) assert.ok(explain(baseline), baseline);
  }
});

test("every compared server is explained, and what it lacks", () => {
  for (const { name } of SUBJECTS) assert.ok(explain(name), name);
  const flow = explain("refresh: an unknown server")!.length;
  for (const name of ["floor", "Trivet", ...MORE_PEERS.map(({ name }) => name)]) {
    assert.ok(explain(`refresh: ${name}`)!.length > flow, name);
  }
  assert.match(explain("refresh: workers-oauth-provider")!, "introspection");
});

test("uploads, streams, instances and starts are explained", () => {
  const rows = [
    ...UPLOAD_KINDS.flatMap(({ name }) => [`memory: upload, ${name}`, `memory: hash and write, ${name}`]),
    "idle streams: bare node:http",
    "idle streams: Trivet",
    "instances: request",
    "instances: commit, not watched",
    "memory of an upload: one file",
    "bare Node",
    PUBLISHED,
    "Trivet, trivet/mcp alone",
  ];
  for (const name of rows) assert.ok(explain(name), name);
});

test("a row without a pattern has no explanation", () => {
  assert.is(explain("something else"), undefined);
});

test.run();
