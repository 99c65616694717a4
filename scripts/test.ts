/**
 * `npm test`: the same test files on Node, Deno, Bun and workerd, one summary, and a last line
 * `N passed, N failed, N skipped`. Exit code 1 when anything failed, crashed, hung, or when nothing ran.
 *
 *   node scripts/test.ts [--only TEXT] [--runtime node,deno,bun,workerd]
 *
 * Files that end in `_node_test.ts` need a file system or a process: they are skipped on workerd, by name.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type FileReport, MARK } from "./test/run_files.ts";
import { runOnWorkerd } from "./test/workerd.ts";

/** How long one file may take on one runtime, in milliseconds. */
const FILE_LIMIT = 180_000;

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  node: ["node_modules/.bin/node", "--disable-warning=ExperimentalWarning"],
  deno: ["node_modules/.bin/deno", "run", "-A", "--no-check", "--quiet"],
  bun: ["node_modules/.bin/bun"],
};
const RUNTIMES = [...Object.keys(COMMANDS), "workerd"];

interface Summary {
  readonly runtime: string;
  readonly seconds: number;
  readonly reports: readonly FileReport[];
  readonly skippedFiles: readonly string[];
}

const { values } = parseArgs({ options: { only: { type: "string" }, runtime: { type: "string" } } });
const runtimes = values.runtime?.split(",") ?? RUNTIMES;
const unknown = runtimes.find((runtime) => !RUNTIMES.includes(runtime));
if (unknown) throw new Error(`There is no runtime "${unknown}": choose from ${RUNTIMES.join(", ")}`);
// Servers of others, in conformance/targets/, may be installed beside the tests.
const files = globSync(["src/**/*_test.ts", "scripts/**/*_test.ts", "conformance/**/*_test.ts"], {
  exclude: ["**/node_modules/**"],
})
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !values.only || file.includes(values.only))
  .sort();

const summaries: Summary[] = [];
for (const runtime of runtimes) summaries.push(await runAll(runtime));
printSummary(summaries);

async function runAll(runtime: string): Promise<Summary> {
  const onWorkerd = runtime === "workerd";
  const skippedFiles = onWorkerd ? files.filter((file) => file.endsWith("_node_test.ts")) : [];
  const chosen = files.filter((file) => !skippedFiles.includes(file));
  const reports: FileReport[] = [];
  const started = performance.now();
  const hear = (message: { started: string } | FileReport): void => {
    if ("started" in message) return progress(`${runtime}: ${message.started}`);
    reports.push(message);
    if (message.failed > 0) printFailure(runtime, message);
  };
  if (onWorkerd) {
    if (chosen.length > 0) {
      await runOnWorkerd(chosen, FILE_LIMIT, hear).catch((error) =>
        hear(crash("workerd", `it could not be started: ${error}`))
      );
    }
  } else {
    // A file that hangs or takes the process down is reported, and the rest goes on in a new process.
    for (let left = chosen; left.length > 0;) {
      const before = reports.length;
      const last = await runProcess(COMMANDS[runtime]!, left, hear);
      if (last !== undefined) hear(crash(last.file, last.reason));
      left = left.slice(Math.max(1, reports.length - before));
    }
  }
  progress("");
  return { runtime, seconds: (performance.now() - started) / 1000, reports, skippedFiles };
}

/** Runs files in one process. Resolves to the file in which it broke off, if it did. */
function runProcess(
  [command, ...args]: readonly string[],
  files: readonly string[],
  hear: (message: { started: string } | FileReport) => void,
): Promise<{ file: string; reason: string } | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command!, [...args, "scripts/test/main.ts", ...files], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let current: string | undefined = files[0];
    let late = false;
    let stderr = "";
    let timer: NodeJS.Timeout | undefined;
    const watch = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        late = true;
        child.kill("SIGKILL");
      }, FILE_LIMIT);
    };
    watch();
    child.stderr.on("data", (chunk) => stderr = (stderr + chunk).slice(-4000));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith(MARK)) return;
      const message = JSON.parse(line.slice(MARK.length));
      watch();
      current = "started" in message ? message.started : undefined;
      hear(message);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (current === undefined && code === 0) return resolve(undefined);
      const reason = late
        ? `it took over ${FILE_LIMIT / 1000} s`
        : `the process ended with ${signal ?? code}\n${stderr}`;
      resolve({ file: current ?? files.at(-1)!, reason });
    });
  });
}

function crash(file: string, reason: string): FileReport {
  return { file, passed: 0, failed: 1, skipped: 0, errors: `${file}: ${reason}` };
}

function printFailure(runtime: string, { file, errors }: FileReport): void {
  progress("");
  console.log(`\n✘ ${runtime}: ${file}\n${errors.trimEnd()}\n`);
}

/** One line that is written over, where somebody watches. */
function progress(text: string): void {
  if (process.stdout.isTTY) {
    process.stdout.write(`\r\x1b[K${text.slice(0, (process.stdout.columns ?? 80) - 1)}`);
  }
}

function printSummary(summaries: readonly Summary[]): void {
  const total = { passed: 0, failed: 0, skipped: 0 };
  console.log(
    `\n${"runtime".padEnd(10)}${"files".padStart(7)}${"passed".padStart(9)}${"failed".padStart(9)}${
      "skipped".padStart(9)
    }${"seconds".padStart(9)}`,
  );
  for (const { runtime, seconds, reports, skippedFiles } of summaries) {
    const sum = (name: "passed" | "failed" | "skipped") =>
      reports.reduce((all, report) => all + report[name], 0);
    const skipped = sum("skipped") + skippedFiles.length;
    total.passed += sum("passed");
    total.failed += sum("failed");
    total.skipped += skipped;
    const cells = [reports.length, sum("passed"), sum("failed"), skipped, seconds.toFixed(1)];
    console.log(runtime.padEnd(10) + cells.map((cell, i) => String(cell).padStart(i === 0 ? 7 : 9)).join(""));
  }
  for (const { runtime, skippedFiles, reports } of summaries) {
    for (const file of skippedFiles) {
      console.log(`skipped on ${runtime}: ${file} (needs a file system or a process)`);
    }
    for (const { file, skipped, reasons = [] } of reports) {
      if (skipped > reasons.length) {
        console.log(`skipped on ${runtime}: ${skipped - reasons.length} in ${file}`);
      }
      for (const reason of reasons) console.log(`skipped on ${runtime}: ${file} (${reason})`);
    }
  }
  if (total.passed + total.failed === 0) {
    console.log("No test ran.");
    total.failed = 1;
  }
  process.exitCode = total.failed > 0 ? 1 : 0;
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
}
