/**
 * Runs the steps of a guide in an empty folder, as its reader would, and fails at the first command that fails and the
 * first output that does not appear.
 *
 * Ports of 127.0.0.1 and localhost in a guide are replaced by free ones, and the address of PostgreSQL by a new database.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { freePort } from "../../conformance/runner/target/free_port.ts";
import { type Guide, matchesOutput, type Step } from "./parse_guide.ts";

const STEP_TIMEOUT_MS = 40_000;
const POLL_MS = 20;
/** The exit code of a program that does not handle Ctrl+C. */
const CODE_OF_INTERRUPTION = 130;
/** Databases run at their own ports. */
const FIXED_PORTS = new Set(["5432", "6379"]);

/** Where a guide runs. */
export interface Place {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** Texts of the guide, and what stands for them here. */
  readonly replacements?: ReadonlyMap<string, string>;
}

/** @throws {Error} with the line of the guide, the command and what it printed */
export async function runGuide(guide: Guide, place: Place): Promise<void> {
  const replace = await replacer(guide, place.replacements ?? new Map());
  const terminal = new Terminal(place);
  const background: Background[] = [];
  try {
    for (const step of guide.steps) {
      if (step.kind === "stop") await background.pop()!.stop(step.line);
      else if (step.kind === "file") {
        const file = join(place.path, step.name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, replace(step.text));
      } else if (step.kind === "background") {
        background.push(new Background(replaceIn(step, replace), place));
        await background.at(-1)!.start();
      } else {
        try {
          await terminal.run(replaceIn(step, replace));
        } catch (error) {
          // A server often says why.
          const servers = background.map(({ printed }) => printed()).join("");
          throw new Error(`${(error as Error).message}\nin the background:\n${servers}`);
        }
      }
    }
  } finally {
    terminal.end();
    for (const each of background) each.end();
  }
}

function replaceIn<S extends Step & { kind: "run" | "background" }>(
  step: S,
  replace: (text: string) => string,
): S {
  return {
    ...step,
    text: replace(step.text),
    output: step.output === undefined ? undefined : replace(step.output),
  };
}

/** The commands of a guide, which share variables. */
class Terminal {
  readonly #shell: ChildProcess;
  readonly #place: Place;
  #ended = false;

  constructor(place: Place) {
    this.#place = place;
    this.#shell = spawn("bash", ["--noprofile", "--norc"], {
      cwd: place.path,
      env: { ...place.env },
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    this.#shell.once("close", () => this.#ended = true);
    this.#shell.stdin!.on("error", () => {});
  }

  async run({ text, output, fails, line }: Step & { kind: "run" }): Promise<void> {
    const script = `${this.#place.env.TMPDIR}/step-${line}`;
    writeFileSync(script, fails ? text : `set -e -o pipefail\n${text}\nset +e\n`);
    const answer = Promise.withResolvers<number>();
    const receive = (chunk: unknown) => answer.resolve(Number(/done (\d+)/.exec(String(chunk))?.[1] ?? 1));
    const close = () => answer.resolve(1);
    this.#shell.stdout!.once("data", receive);
    this.#shell.once("close", close);
    if (this.#ended) close();
    const timer = setTimeout(() => answer.resolve(124), STEP_TIMEOUT_MS);
    this.#shell.stdin!.write(`. ${script} > ${script}.out 2>&1 < /dev/null; echo "done $?"\n`);
    const code = await answer.promise;
    clearTimeout(timer);
    this.#shell.stdout!.off("data", receive);
    this.#shell.off("close", close);
    const printed = readFileSync(`${script}.out`, "utf8");
    if ((code !== 0) !== fails) {
      throw stepError(line, fails ? "did not fail" : `failed (${code})`, text, printed);
    }
    if (output !== undefined && !matchesOutput(output, printed)) {
      throw stepError(line, "did not print what the guide shows", text, printed, output);
    }
  }

  end(): void {
    killGroup(this.#shell, "SIGKILL");
  }
}

/** A command that keeps running in a terminal of its own. */
class Background {
  readonly #step: Step & { kind: "background" };
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | null>;
  #printed = "";
  #code: number | null | undefined;

  constructor(step: Step & { kind: "background" }, { path, env }: Place) {
    this.#step = step;
    this.#process = spawn("bash", ["--noprofile", "--norc", "-c", step.text], {
      cwd: path,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#process.stdout!.on("data", (chunk) => this.#printed += chunk);
    this.#process.stderr!.on("data", (chunk) => this.#printed += chunk);
    this.#ended = new Promise((resolve) =>
      this.#process.once(
        "close",
        (code, signal) => resolve(this.#code = code ?? (signal === "SIGINT" ? CODE_OF_INTERRUPTION : 137)),
      )
    );
  }

  /** Waits until it prints what the guide shows. */
  async start(): Promise<void> {
    const { output, line, text } = this.#step;
    if (output === undefined) throw new Error(`line ${line}: show what the command prints when it is ready`);
    const deadline = performance.now() + STEP_TIMEOUT_MS;
    while (!matchesOutput(output, this.#printed)) {
      if (this.#code !== undefined || performance.now() > deadline) {
        const what = this.#code === undefined
          ? "did not print what the guide shows"
          : `ended (${this.#code})`;
        throw stepError(line, what, text, this.#printed, output);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  printed = (): string => this.#printed;

  /** Ctrl+C: it must end without a failure. */
  async stop(line: number): Promise<void> {
    killGroup(this.#process, "SIGINT");
    const timer = setTimeout(() => killGroup(this.#process, "SIGKILL"), STEP_TIMEOUT_MS);
    const code = await this.#ended;
    clearTimeout(timer);
    if (code !== 0 && code !== CODE_OF_INTERRUPTION) {
      throw stepError(line, `ended with ${code}`, this.#step.text, this.#printed);
    }
  }

  end(): void {
    if (this.#code === undefined) killGroup(this.#process, "SIGKILL");
  }
}

function stepError(line: number, what: string, text: string, printed: string, expected?: string): Error {
  const shown = expected === undefined ? "" : `expected:\n${expected}`;
  return new Error(`line ${line}: ${what}\n${text.trimEnd()}\n${shown}printed:\n${printed.trimEnd()}`);
}

/** The process and all that it started. */
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal);
  } catch {
    // It has ended.
  }
}

/** Replaces the ports of a guide by free ones, and the given texts. */
async function replacer(
  guide: Guide,
  given: ReadonlyMap<string, string>,
): Promise<(text: string) => string> {
  const all = guide.steps.map((step) => "text" in step ? step.text : "").join("\n");
  const ports = new Set(
    [...all.matchAll(/(?:127\.0\.0\.1|localhost):(\d{4,5})\b/g)].map(([, port]) => port!)
      .filter((port) => !FIXED_PORTS.has(port)),
  );
  const byPort = new Map<string, string>();
  for (const port of ports) byPort.set(port, String(await freePort()));
  return (text) => {
    let replaced = text.replace(/\b\d{4,5}\b/g, (number) => byPort.get(number) ?? number);
    for (const [from, to] of given) replaced = replaced.replaceAll(from, to);
    return replaced;
  };
}
