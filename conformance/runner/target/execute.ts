/**
 * Procedures that are programs: variables go in as JSON on standard input, captures come out as JSON on standard output.
 * One that `stays` is started once and is given a line for each call.
 *
 * @module
 */
import { createInterface } from "node:readline";
import { type Command, finish, finishSoon, start } from "../exchange/children.ts";
import { parseJson } from "../vector/match.ts";
import { Unexpected } from "../outcome.ts";
import { timerDelay } from "../exchange/timer.ts";
import { isMembers, type Members } from "../vector/vector_file.ts";

export interface Program {
  readonly exec: readonly string[];
  readonly cwd?: string;
  /** For one call. */
  readonly seconds?: number;
  readonly stays?: boolean;
}

const SECONDS = 60;
const END_SECONDS = 5;
const SAYS = "says:";
const MAX_OUTPUT_BYTES = 1 << 20;
/** Of standard error, for the reason of a failure. */
const MAX_SHOWN_CHARACTERS = 2000;

/** @throws {Unexpected} that says what the program did */
export async function execute(program: Program, input: Members): Promise<Members> {
  if (program.stays) return await askStaying(program, input);
  return await new Run(program).only(input);
}

type Refuse = (why: string) => void;

/** A program on its way. */
class Run {
  readonly #name: string;
  readonly #seconds: number;
  readonly #child: ReturnType<typeof start>;
  #said = "";
  /** Why it can be asked no more. */
  #over: string | undefined;
  /** Told when it is over. */
  #onOver: ((why: string, code: number | null) => void) | undefined;
  readonly #gone: Promise<void>;

  constructor({ exec, cwd, seconds = SECONDS }: Program) {
    this.#name = exec[0] ?? "";
    this.#seconds = seconds;
    const command: Command = { command: exec, ...(cwd !== undefined && { cwd }) };
    this.#child = start(command, ["pipe", "pipe", "pipe"]);
    this.#child.stdin!.on("error", () => {});
    this.#child.stderr!.on("data", (chunk) => this.#said = (this.#said + chunk).slice(-MAX_SHOWN_CHARACTERS));
    const over = (why: string, code: number | null) => {
      this.#over ??= why;
      this.#onOver?.(this.#over, code);
    };
    this.#gone = new Promise((resolve) => {
      this.#child.once("error", () => resolve());
      this.#child.once("exit", () => resolve());
    });
    this.#child.once("error", (error) => over(`cannot be started: ${error.message}`, -1));
    this.#child.once("close", (code) => over(`ended with exit code ${code ?? "none"}`, code));
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** The whole of its output is the answer. */
  async only(input: Members): Promise<Members> {
    let text = "";
    return await this.#within((resolve, refuse) => {
      this.#child.stdout!.on("data", (chunk) => {
        text += chunk;
        if (text.length > MAX_OUTPUT_BYTES) refuse(`wrote more than ${MAX_OUTPUT_BYTES} bytes`);
      });
      this.#onOver = (why, code) => {
        const captured = parseJson(text);
        if (code !== 0) refuse(why);
        else if (!isMembers(captured)) refuse("wrote no object of JSON");
        else resolve(captured);
      };
      this.#child.stdin!.end(JSON.stringify(input));
    }).finally(() => finish(this.#child));
  }

  /** One line is the answer; the program stays. */
  async line(input: Members): Promise<Members> {
    const reader = createInterface({ input: this.#child.stdout! });
    let size = 0;
    let count = (_: Uint8Array): void => {};
    try {
      return await this.#within((resolve, refuse) => {
        count = (chunk) => {
          size += chunk.length;
          if (size > MAX_OUTPUT_BYTES) refuse(`wrote more than ${MAX_OUTPUT_BYTES} bytes`);
        };
        this.#child.stdout!.on("data", count);
        reader.once("line", (line) => {
          const captured = parseJson(line);
          if (!isMembers(captured)) refuse("wrote no object of JSON");
          else if (typeof captured["error"] === "string") refuse(`${SAYS} ${captured["error"]}`);
          else resolve(captured);
        });
        this.#onOver = refuse;
        if (this.#over !== undefined) refuse(this.#over);
        else this.#child.stdin!.write(JSON.stringify(input) + "\n");
      });
    } finally {
      this.#child.stdout!.off("data", count);
      reader.close();
    }
  }

  /** Asks it to end, and sees to it. */
  async end(): Promise<void> {
    this.#child.stdin!.end();
    const late = setTimeout(() => finish(this.#child), END_SECONDS * 1000);
    await this.#gone;
    clearTimeout(late);
    finish(this.#child);
  }

  #within(act: (resolve: (captured: Members) => void, refuse: Refuse) => void): Promise<Members> {
    return new Promise<Members>((resolve, reject) => {
      const refuse = (why: string) => {
        clearTimeout(late);
        // One that says what went wrong is well.
        if (!why.startsWith(SAYS)) finishSoon(this.#child);
        const said = this.#said.trim();
        reject(new Unexpected(`"${this.#name}" ${why}${said === "" ? "" : `, and says: ${said}`}`));
      };
      const late = setTimeout(
        () => refuse(`did not end within ${this.#seconds} s`),
        timerDelay(this.#seconds),
      );
      act((captured) => {
        clearTimeout(late);
        resolve(captured);
      }, refuse);
    }).finally(() => this.#onOver = undefined);
  }
}

/** Ends the programs that stay, and waits for them: what they have started is theirs to end. */
export async function endStaying(): Promise<void> {
  await Promise.all([...staying.values()].map(({ run }) => run.end()));
  staying.clear();
}

interface Staying {
  run: Run;
  /** Calls go one after another. */
  last: Promise<unknown>;
}

const staying = new Map<string, Staying>();

async function askStaying(program: Program, input: Members): Promise<Members> {
  const key = JSON.stringify([program.exec, program.cwd]);
  const known = staying.get(key) ?? { run: new Run(program), last: Promise.resolve() };
  staying.set(key, known);
  const turn = known.last.then(() => {
    if (known.run.isOver) known.run = new Run(program);
    return known.run.line(input);
  });
  known.last = turn.catch(() => {});
  return await turn;
}
