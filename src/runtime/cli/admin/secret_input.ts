/**
 * Reads passwords and secrets: from standard input, or from a terminal without showing what is typed. Never from the
 * command line, which other users of the machine can read.
 *
 * @module
 */
import process from "node:process";
import { ByteBuffer } from "../../../http/body/byte_buffer.ts";
import { exitOnSignals } from "../interrupt.ts";
import { printError, UsageError } from "../output.ts";

/** Far more than a secret or the arguments of a tool have. */
const MAX_INPUT_BYTES = 16 * 2 ** 20;
const INTERRUPTED = "interrupted, nothing was changed";

/**
 * The text on standard input without the line break at its end. A signal ends the process meanwhile: the input may never
 * end, and nothing was changed yet.
 * @param what it is, for error messages
 */
export async function readSecretFromStdin(what: string): Promise<string> {
  const bytes = await endingOnSignals(() => readStdin(what));
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw new UsageError(`the ${what} must be UTF-8`);
  }
  if (text === "") throw new UsageError(`standard input has no ${what}`);
  return text;
}

async function readStdin(what: string): Promise<Uint8Array> {
  const buffer = new ByteBuffer();
  for await (const chunk of process.stdin) {
    if (buffer.length + chunk.length > MAX_INPUT_BYTES) {
      throw new UsageError(`the ${what} must have at most ${MAX_INPUT_BYTES} bytes`);
    }
    buffer.append(chunk);
  }
  return buffer.view();
}

async function endingOnSignals<Result>(work: () => Promise<Result>): Promise<Result> {
  const stopListening = exitOnSignals(() => printError(INTERRUPTED));
  try {
    return await work();
  } finally {
    stopListening();
  }
}

/**
 * Asks on the terminal.
 * @param what it is, for the question and for error messages
 * @param others the options that give it without a terminal
 */
export async function askForSecret(what: string, others: string): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`standard input is not a terminal: use ${others}`);
  process.stderr.write(`${what[0]!.toUpperCase()}${what.slice(1)}: `);
  process.stdin.setRawMode(true);
  return await endingOnSignals(readTyped);
}

function readTyped(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    // A character may be split over two chunks.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const finish = (settle: () => void) => {
      process.stdin.setRawMode(false);
      process.stdin.pause();
      process.stdin.off("data", read);
      printError("");
      settle();
    };
    const read = (chunk: Uint8Array) => {
      for (const character of decoder.decode(chunk, { stream: true })) {
        if (character === "\r" || character === "\n") return finish(() => resolve(text));
        if (character === "\u0003") {
          return finish(() => reject(new Error(INTERRUPTED)));
        }
        if (character === "\u007f") text = [...text].slice(0, -1).join("");
        else text += character;
      }
    };
    process.stdin.on("data", read);
    process.stdin.resume();
  });
}
