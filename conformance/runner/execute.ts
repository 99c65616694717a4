/**
 * Procedures that are programs: variables go in as JSON on standard input, captures come out as JSON on standard output.
 * One that `stays` is started once and is given a line for each call.
 *
 * @module
 */
import { createInterface } from "node:readline";
import { type Command, finish, start } from "./children.ts";
import { parseJson } from "./match.ts";
import { Unexpected } from "./outcome.ts";
import { isMembers, type Members } from "./vector_file.ts";

export interface Program {
  readonly exec: readonly string[];
  readonly cwd?: string;
  /** For one call. */
  readonly seconds?: number;
  readonly stays?: boolean;
}

const SECONDS = 60;
const MOST = 1 << 20;
/** Of standard error, for the reason of a failure. */
const MOST_SAID = 2000;

/** @throws {Unexpected} that says what the program did */
export async function execute(program: Program, input: Members): Promise<Members> {
  if (program.stays) return await askStaying(program, input);
  return await new Run(program).only(input);
}

/** A program on its way. */
class Run {
  readonly #name: string;
  readonly #seconds: number;
  readonly #child: ReturnType<typeof start>;
  #said = "";
  #isOver = false;

  constructor({ exec, cwd, seconds = SECONDS }: Program) {
    this.#name = exec[0] ?? "";
    this.#seconds = seconds;
    const command: Command = { command: exec, ...(cwd !== undefined && { cwd }) };
    this.#child = start(command, ["pipe", "pipe", "pipe"]);
    this.#child.stdin!.on("error", () => {});
    this.#child.stderr!.on("data", (chunk) => this.#said = (this.#said + chunk).slice(-MOST_SAID));
    this.#child.once("exit", () => this.#isOver = true);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The whole of its output is the answer. */
  async only(input: Members): Promise<Members> {
    let text = "";
    return await this.#within((resolve, refuse) => {
      this.#child.stdout!.on("data", (chunk) => {
        text += chunk;
        if (text.length > MOST) refuse(`wrote more than ${MOST} bytes`);
      });
      this.#child.once("close", (code) => {
        const captured = parseJson(text);
        if (code !== 0) refuse(`ended with exit code ${code ?? "none"}`);
        else if (!isMembers(captured)) refuse("wrote no object of JSON");
        else resolve(captured);
      });
      this.#child.stdin!.end(JSON.stringify(input));
    }).finally(() => finish(this.#child));
  }

  /** One line is the answer; the program stays. */
  async line(input: Members): Promise<Members> {
    const reader = createInterface({ input: this.#child.stdout! });
    let size = 0;
    const count = (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > MOST) finish(this.#child);
    };
    this.#child.stdout!.on("data", count);
    try {
      return await this.#within((resolve, refuse) => {
        reader.once("line", (line) => {
          const captured = parseJson(line);
          if (!isMembers(captured)) refuse("wrote no object of JSON");
          else if (typeof captured["error"] === "string") refuse(`says: ${captured["error"]}`);
          else resolve(captured);
        });
        this.#child.once(
          "close",
          (code) =>
            refuse(size > MOST ? `wrote more than ${MOST} bytes` : `ended with exit code ${code ?? "none"}`),
        );
        this.#child.stdin!.write(JSON.stringify(input) + "\n");
      });
    } finally {
      this.#child.stdout!.off("data", count);
      reader.close();
    }
  }

  #within(
    act: (resolve: (captured: Members) => void, refuse: (why: string) => void) => void,
  ): Promise<Members> {
    return new Promise((resolve, reject) => {
      let late: ReturnType<typeof setTimeout> | undefined = undefined;
      const refuse = (why: string) => {
        clearTimeout(late);
        if (!why.startsWith("says")) finish(this.#child);
        const said = this.#said.trim();
        reject(new Unexpected(`"${this.#name}" ${why}${said === "" ? "" : `, and says: ${said}`}`));
      };
      late = setTimeout(() => refuse(`did not end within ${this.#seconds} s`), this.#seconds * 1000);
      this.#child.once("error", (error) => refuse(`cannot be started: ${error.message}`));
      act((captured) => {
        clearTimeout(late);
        resolve(captured);
      }, refuse);
    });
  }
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
