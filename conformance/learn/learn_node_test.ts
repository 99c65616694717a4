/**
 * `npm run learn`: every flow runs to its end, a failure ends with exit code 1, and the output fits its
 * columns.
 *
 * @module
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type LoadedVector,
  loadRequirements,
  loadVectors,
  type Requirements,
} from "../runner/vector/load.ts";
import { openTarget } from "../runner/target/open_target.ts";
import { type Target } from "../runner/target/target.ts";
import { testTarget, vectorOf } from "../runner/test_run.ts";
import { toColumns, wrap } from "./columns.ts";
import { exchangeLines } from "./exchange_text.ts";
import { fits, type Flow } from "./flow.ts";
import { FLOWS } from "./flows.ts";
import { type Block, type FlowContext, showFlow } from "./show_flow.ts";

const test = suite("learn");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
let requirements: Requirements;
let vectors: ReadonlyMap<string, LoadedVector>;
let trivet: Target;

test.before(async () => {
  requirements = loadRequirements(ROOT);
  vectors = new Map(loadVectors(ROOT, ["all"], requirements).map((each) => [each.name, each]));
  trivet = await openTarget({ target: `${ROOT}targets/trivet.json` });
});
test.after(async () => await trivet.close());

async function blocksOf(flow: Flow, lesson: Partial<FlowContext>): Promise<Block[]> {
  const whole = {
    target: trivet,
    seed: "test",
    isMasked: false,
    requirements,
    vectors,
    width: 120,
    ...lesson,
  };
  return await Array.fromAsync(showFlow(flow, whole));
}

/** A flow of one vector whose one step asks `/`, and expects 200. */
function small(fetch: (request: Request) => Response): [Flow, Partial<FlowContext>] {
  const steps = [{ title: "ask", request: { url: "/?secret=1" }, expect: { status: 200 } }];
  const loaded = vectorOf(steps, { covers: ["rfc6749#5.1/1"] });
  const parts = [{ text: "Ask.", vector: loaded.name }];
  const flow = { name: "small", title: "Small", summary: "One question.", explanations: [], parts };
  return [flow, { target: testTarget(fetch), vectors: new Map([[loaded.name, loaded]]) }];
}

for (const flow of FLOWS) {
  test(`${flow.name}: every part passes, and every row is shown`, async () => {
    const blocks = await blocksOf(flow, {});
    const ends = blocks.filter(({ kind }) => ["passed", "failed", "skipped"].includes(kind));
    assert.equal(ends.map(({ kind }) => kind), flow.parts.map(() => "passed"));
    const text = blocks.flatMap(({ lines }) => lines).join("\n");
    const asked = flow.parts.flatMap(({ vector }) => vectors.get(vector)!.vector.covers);
    const rows = [...asked, ...flow.explanations.flatMap((point) => point.rows)];
    assert.equal(rows.filter((id) => !text.includes(id)), []);
    assert.equal(flow.explanations.filter(({ text: says }) => !text.includes(says.slice(0, 30))), []);
    assert.equal(text.includes("Archive entries:"), flow.name === "skill");
    for (const { lines } of blocks) {
      for (const line of lines) assert.ok(line.length <= 120, line);
    }
  });
}

test("an exchange is beside its requirements", async () => {
  const [flow, lesson] = small(() =>
    new Response('{"a":[1,2]}', { headers: { "content-type": "application/json" } })
  );
  assert.equal(await blocksOf(flow, { ...lesson, width: 100 }), [
    { kind: "flow", lines: ["Small", "═════", "One question."] },
    { kind: "part", lines: ["1. Ask.", "   oauth/test/it: It is so"] },
    {
      kind: "exchange",
      lines: toColumns(
        [
          "> GET /",
          "    ?secret=1",
          "  host: target.example",
          "",
          "< 200",
          "  content-type: application/json",
          "",
          '  {"a":[1,2]}',
        ],
        [
          "[ask]",
          "",
          "rfc6749#5.1/1 IMPLIED",
          "  Success is HTTP 200.",
          "",
          "The vector expects:",
          "  status 200",
        ],
        100,
      ),
    },
    { kind: "passed", lines: ["   passed"] },
  ]);
});

test("a failure is shown with the response", async () => {
  const [flow, lesson] = small(() => new Response("no", { status: 500 }));
  const blocks = await blocksOf(flow, lesson);
  assert.is(blocks.at(-1)!.kind, "failed");
  assert.match(blocks.at(-1)!.lines.join(), /status.*500/);
  assert.match(blocks.at(-2)!.lines.join("\n"), /< 500/);
});

test("a vector that the target does not support is skipped, with the reason", async () => {
  const flow = FLOWS.find(({ name }) => name === "client-credentials")!;
  const blocks = await blocksOf(flow, { target: testTarget(() => new Response()) });
  const kinds = blocks.map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind !== "part"), ["flow", ...flow.parts.map(() => "skipped")]);
  assert.match(blocks.at(-1)!.lines[0]!, /"client_credentials"/);
});

test("secrets of another server are masked", async () => {
  const token = "very-secret-token";
  const [flow, lesson] = small(() => Response.json({ access_token: token }));
  const textOf = async (isMasked: boolean) => JSON.stringify(await blocksOf(flow, { ...lesson, isMasked }));
  assert.match(await textOf(false), token);
  assert.not.match(await textOf(true), token);
  assert.match(await textOf(true), "‹secret 1›");
});

test("no part is slow", () => {
  const parts = FLOWS.flatMap((flow) => flow.parts);
  assert.equal(parts.filter(({ vector }) => vectors.get(vector)!.vector.slow), []);
});

test("an unknown vector in a flow is an error", async () => {
  const [flow] = small(() => new Response());
  try {
    await blocksOf(flow, {});
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, '"oauth/test/it"');
  }
});

test("an explanation matches by method, endpoint, text, status and procedure", () => {
  const exchange = { step: "", request: "POST /token?a=b\nhost: x\n\ngrant_type=code", answer: "302\n" };
  const isFit = (fit: Parameters<typeof fits>[0], called?: string) =>
    fits(fit, exchange, { token: "/token", other: "https://x/tokens" }, "https://x", called);
  assert.ok(isFit({}));
  assert.ok(isFit({ method: "POST", endpoint: "token", request: "grant_type", status: [200, 302] }));
  assert.ok(isFit({ call: "login" }, "login"));
  assert.not(isFit({ method: "GET" }));
  assert.not(isFit({ endpoint: "other" }));
  assert.not(isFit({ endpoint: "unknown" }));
  assert.not(isFit({ request: "grant_type=password" }));
  assert.not(isFit({ status: [200] }));
  assert.not(isFit({ call: "login" }));
});

test("forms, pages, archives and long texts are formatted for reading", () => {
  const shown = (request: string, answer = "202\n") => exchangeLines({ step: "", request, answer });
  assert.equal(
    shown("POST /a\ncontent-type: application/x-www-form-urlencoded\n\na=1&b=2"),
    ["> POST /a", "  content-type: application/x-www-form-urlencoded", "", "  a=1", "  &b=2", "", "< 202"],
  );
  assert.equal(
    shown("GET /a", '200\ncontent-type: text/html\n\n<title>Ask</title><p>long</p><form action="/b">').slice(
      -3,
    ),
    ["  (a page of 47 characters, with:)", "  <title>Ask</title>", '  <form action="/b">'],
  );
  assert.equal(
    shown("POST /a\ncontent-type: multipart/form-data; boundary=x\n\n--x\r\nname: a\r\n\r\nPK\ufffd\n--x--")
      .slice(3, -2),
    ["  --x", "  name: a", "", "  (bytes)", "  --x--"],
  );
  assert.equal(shown("GET /a", "200\ncontent-type: application/zip\n\nPK\ufffd").slice(-1), ["  (bytes)"]);
  assert.match(shown("GET /a", `200\n\n${"a".repeat(500)}`).at(-1)!, /^ {2}a{400}… \(500 characters\)$/);
  assert.is(shown("GET /a", `200\n\n${"a\n".repeat(30)}b`).at(-1), "  … (7 more lines)");
  assert.equal(shown('{"id":1}\n{"id":2}', "").slice(0, 2), ['> {"id":1}', '  {"id":2}']);
});

test("columns are side by side if the width allows, and no text is lost", () => {
  assert.equal(wrap("one two three", 8), ["one two", "three"]);
  assert.equal(wrap("  abcdefghij", 6), ["  abcd", "  efgh", "  ij"]);
  assert.equal(wrap("", 6), [""]);
  assert.equal(toColumns(["left"], ["right", "more"], 40), ["left", "", "right", "more"]);
  const [first, second] = toColumns(["left"], ["right", "more"], 100);
  assert.match(first!, /^left {49} │ right$/);
  assert.match(second!, /^ {53} │ more$/);
});

test("the command lists flows, shows one, and refuses an unknown one", async () => {
  const [usage, walked, unknown, narrow] = await Promise.all([
    run([]),
    run(["client-credentials"]),
    run(["nonsense"]),
    run(["code", "--width", "3"]),
  ]);
  assert.is(usage.code, 0);
  for (const { name } of FLOWS) assert.match(usage.output, name);
  assert.is(walked.code, 0, walked.errors);
  assert.match(walked.output, /^Client credentials\n═+\n/);
  assert.match(walked.output, "grant_type=client_credentials");
  assert.equal([unknown.code, unknown.output], [2, ""]);
  assert.match(unknown.errors, /"nonsense".*code, /);
  assert.equal([narrow.code, narrow.output], [2, ""]);
});

test("closing the output early is not an error", async () => {
  const { code, errors } = await run(["--all"], (child) => child.stdout.destroy());
  assert.equal([code, errors], [0, ""]);
});

function run(
  args: readonly string[],
  onFirst: (child: ChildProcessByStdio<null, Readable, Readable>) => void = () => {},
): Promise<{ code: number | null; output: string; errors: string }> {
  const main = `${ROOT}learn/main.ts`;
  assert.ok(existsSync(main));
  const own = "Deno" in globalThis ? ["run", "-A", main] : [main];
  const child = spawn(process.execPath, [...own, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => output += chunk);
  child.stdout.once("data", () => onFirst(child));
  child.stderr.on("data", (chunk) => errors += chunk);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output, errors })));
}

test.run();
