/**
 * Measures what the option `telemetry` costs `tools/call` in this process: without the option, compared with the same source
 * from which the hook was cut out; and with OpenTelemetry, without an SDK and with one that keeps everything.
 *
 * @module
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createTrivet, memoryStore, type Trivet } from "../../src/mod.ts";
import { openTelemetry } from "../../src/observability/opentelemetry/open_telemetry.ts";
import { createTestTelemetry } from "../../src/observability/opentelemetry/test_telemetry.ts";
import { measure, printResults, type Result, type Subject } from "./harness.ts";
import { add, CALL } from "./in_process.ts";

const ROOT = new URL("../../", import.meta.url);
const BASELINE = "tools/call: built without the hook";
/** Of the rate without the hook: the rest is noise of the measurement. */
const TARGET = 0.97;
/** Spans that are kept before they are thrown away. */
const MAX_SPANS = 10_000;

/** The parts of the source that make the hook, and what stands there without it. */
const HOOK: readonly (readonly [file: string, hook: RegExp, without: string])[] = [
  ["mount.ts", /^ {6}if \(telemetry\) \{\n[^]*?^ {6}\}\n/m, ""],
  [
    "jsonrpc/dispatch.ts",
    /^ {2}const \{ trace, methods \} = dispatcher;\n[^]*?^ {4}: dispatch\(/m,
    "  return dispatch(",
  ],
];

type Create = (options: Parameters<typeof createTrivet>[0]) => Trivet;
type Telemetry = ReturnType<typeof openTelemetry>;

export async function measureTelemetry(
  rounds: number,
  slice: number,
): Promise<Result[]> {
  const { create, remove } = await buildWithoutHook();
  try {
    const kept = createTestTelemetry();
    let spans = 0;
    const subject = (
      name: string,
      own: Create,
      telemetry?: Telemetry,
      target?: number,
    ): Subject => ({
      name,
      ...(name !== BASELINE && { baseline: BASELINE }),
      ...(target !== undefined && { target }),
      prepare: () =>
        Promise.resolve(
          toCall(own, telemetry, () => ++spans % MAX_SPANS === 0 && kept.takeSpans()),
        ),
    });
    const results = await measure(
      [
        subject(BASELINE, create),
        subject("tools/call: telemetry off", createTrivet, undefined, TARGET),
        subject(
          "tools/call: OpenTelemetry without an SDK",
          createTrivet,
          openTelemetry(),
        ),
        subject(
          "tools/call: OpenTelemetry, all spans and metrics kept",
          createTrivet,
          kept.telemetry,
        ),
      ],
      rounds,
      slice,
    );
    printResults("In process", results);
    return results;
  } finally {
    remove();
  }
}

function toCall(
  create: Create,
  telemetry: Telemetry | undefined,
  after: () => void,
): () => Promise<void> {
  const issuer = "http://127.0.0.1:8787";
  const trivet = create({
    issuer,
    store: memoryStore(),
    telemetry,
    mcp: { auth: "off", tools: [add("add")] },
  });
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "content-length": String(CALL.length),
  };
  return async () => {
    const { status } = await trivet.fetch(
      new Request(`${issuer}/mcp`, { method: "POST", body: CALL, headers }),
    );
    if (status !== 200) throw new Error(`The handler responded with ${status}`);
    after();
  };
}

/** A copy of the source without the hook. @throws {Error} when the source has changed, so that the copy still has it */
async function buildWithoutHook(): Promise<
  { readonly create: Create; readonly remove: () => void }
> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
  cpSync(fileURLToPath(new URL("src", ROOT)), join(folder, "src"), {
    recursive: true,
  });
  symlinkSync(
    fileURLToPath(new URL("node_modules", ROOT)),
    join(folder, "node_modules"),
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [file, hook, without] of HOOK) {
    const path = join(folder, "src", file);
    const source = readFileSync(path, "utf8");
    if (!hook.test(source)) {
      throw new Error(
        `The hook was not found in src/${file}: change scripts/bench/telemetry.ts`,
      );
    }
    writeFileSync(path, source.replace(hook, without));
  }
  const { createTrivet: create } = await import(
    pathToFileURL(join(folder, "src/mod.ts")).href
  );
  return {
    create,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
