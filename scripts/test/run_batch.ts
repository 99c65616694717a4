/**
 * Runs one batch of files on one runtime. A file that times out or crashes its process is reported as failed, and a new
 * process runs the remaining files.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Batch } from "./batches.ts";
import { type FileReport, MARK } from "./run_files.ts";
import { runsAlone, type Times } from "./selection.ts";
import { runOnWorkerd } from "./workerd.ts";

/**
 * Where Node keeps compiled code, which it finds by the content of a file: a command of Trivet then starts in a third of
 * the time.
 */
const CACHE_FOLDER = resolve("node_modules/.cache/node_compile_cache");
/**
 * Makes the allocators of Node, Deno and Bun keep freed memory. Otherwise the kernel gives, clears and takes back the pages of
 * large buffers each time: where that is slow, tests of uploads take two to three times as long. Not where memory is measured.
 */
const KEEP_MEMORY = {
  GLIBC_TUNABLES: "glibc.malloc.trim_threshold=268435456",
  MIMALLOC_PURGE_DELAY: "-1",
};
/** Timeout of one file on one runtime: ten times what it is known to take, but at least five minutes. */
const MIN_TIMEOUT_SECONDS = 300;
const TIMEOUT_FACTOR = 10;

const COMMANDS = {
  node: ["node_modules/.bin/node", "--disable-warning=ExperimentalWarning"],
  deno: ["node_modules/.bin/deno", "run", "-A", "--no-check", "--quiet"],
  bun: ["node_modules/.bin/bun"],
} as const;

type Message = { readonly started: string } | FileReport;

/** Runs the files, and reports each when it is done. @param times seconds of each file that takes a second or more */
export async function runBatch(
  { runtime, files }: Batch,
  times: Times,
  report: (report: FileReport) => void,
): Promise<void> {
  let reported = 0;
  const onMessage = (message: Message): void => {
    if ("started" in message) return;
    reported++;
    report(message);
  };
  if (runtime === "workerd") {
    await runOnWorkerd(files, MIN_TIMEOUT_SECONDS * 1000, onMessage).catch((error) =>
      onMessage(toCrashReport("workerd", `cannot start: ${error}`))
    );
    return;
  }
  for (let remaining = files; remaining.length > 0;) {
    reported = 0;
    const broken = await runProcess(COMMANDS[runtime], remaining, times, onMessage);
    if (broken !== undefined) onMessage(toCrashReport(broken.file, broken.reason));
    remaining = remaining.slice(Math.max(1, reported));
  }
}

/** Runs files in one process. Resolves to the file in which the process crashed or timed out, if it did. */
function runProcess(
  [command, ...args]: readonly string[],
  files: readonly string[],
  times: Times,
  onMessage: (message: Message) => void,
): Promise<{ file: string; reason: string } | undefined> {
  return new Promise((finish) => {
    const child = spawn(command!, [...args, "scripts/test/main.ts", ...files], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        NODE_COMPILE_CACHE: CACHE_FOLDER,
        ...(!files.some(runsAlone) && KEEP_MEMORY),
        ...process.env,
      },
    });
    let current: string | undefined = files[0];
    let seconds = 0;
    let isTimedOut = false;
    let stderr = "";
    let timer: NodeJS.Timeout | undefined;
    const restartTimer = (): void => {
      clearTimeout(timer);
      seconds = Math.max(MIN_TIMEOUT_SECONDS, TIMEOUT_FACTOR * (times[current!] ?? 0));
      timer = setTimeout(() => {
        isTimedOut = true;
        child.kill("SIGKILL");
      }, seconds * 1000);
    };
    restartTimer();
    child.stderr.on("data", (chunk) => stderr = (stderr + chunk).slice(-4000));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith(MARK)) return;
      const message = parseMessage(line);
      if (message === undefined) return;
      current = "started" in message ? message.started : undefined;
      restartTimer();
      onMessage(message);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (current === undefined && code === 0) return finish(undefined);
      const reason = isTimedOut
        ? `timed out after ${seconds} s`
        : `the process exited with ${signal ?? code}\n${stderr}`;
      finish({ file: current ?? files.at(-1)!, reason });
    });
  });
}

/** A line of a process that was killed while it wrote is no message: the file is then reported as crashed. */
function parseMessage(line: string): Message | undefined {
  try {
    return JSON.parse(line.slice(MARK.length));
  } catch {
    return undefined;
  }
}

function toCrashReport(file: string, reason: string): FileReport {
  return { file, passed: 0, failed: 1, skipped: 0, errors: `${file}: ${reason}` };
}
