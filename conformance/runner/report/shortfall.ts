/**
 * Finds out whether a run asked enough to say anything about the target. A run that did not ends with exit code 2.
 *
 * @module
 */
import type { Target } from "../target/target.ts";
import type { Result } from "../vector/vector.ts";

export interface Shortfall {
  /** How much was asked. */
  readonly text: string;
  /** What to do about it. */
  readonly advice: string;
}

/** Without declared features, a run that asks a smaller part of the vectors says little. */
const MIN_ASKED_PART = 0.1;

/** Why the run says little about the target, or `undefined` if it asked enough. */
export function findShortfall(
  results: readonly Result[],
  { base, notes, stdio, refusal }: Pick<Target, "base" | "notes" | "stdio" | "refusal">,
): Shortfall | undefined {
  const asked = results.filter(({ outcome }) => outcome !== "skip");
  const text = `${asked.length} of ${results.length} vectors were asked`;
  const isDead = !stdio && asked.every(isRefusedConnection) && (asked.length > 0 || refusal !== undefined);
  if (isDead) {
    const why = lastAnswer(asked)?.match(/^\(refused: (.*)\)$/s)?.[1] ?? refusal;
    return {
      text: `${base} accepts no connection${why === undefined ? "" : `. ${why}`}`,
      advice: why?.includes("certificate not trusted")
        ? "Put the certificate of its authority into a file, and its name into NODE_EXTRA_CA_CERTS."
        : "Start the server, or correct its address.",
    };
  }
  // With declared features, a server that ends at the first message was tested, and fails.
  const exit = stdio && notes && asked.every(hasEnded)
    ? findExit(lastAnswer(asked) ?? notes.join("\n"))
    : undefined;
  if (exit !== undefined) {
    return {
      text: `The command sends no message. ${exit}`,
      advice: "Correct the command, in which quotes keep blanks.",
    };
  }
  if (asked.length === 0) {
    const text = `None of ${results.length} vectors was asked`;
    // Whose server answers the handshake wrongly needs this, and no description of users and clients.
    const handshake = notes?.find((note) => note.startsWith('"initialize"'));
    return handshake === undefined
      ? { text, advice: ADVICE }
      : { text: `${text}: ${handshake}`, advice: HANDSHAKE_ADVICE };
  }
  if (stdio && asked.every(isNotStarted)) {
    return { text: "The command cannot be started", advice: "Correct the command, or install the program." };
  }
  const isFailing = asked.some(({ outcome }) => outcome === "fail");
  // Most vectors send HTTP requests, which say nothing of a server on stdio.
  const count = stdio ? results.filter(({ lacks = [] }) => !lacks.includes("http")).length : results.length;
  if (notes !== undefined && !isFailing && asked.length < MIN_ASKED_PART * count) {
    return { text: `Only ${text}`, advice: ADVICE };
  }
  return undefined;
}

const ADVICE =
  'Describe the server in a target file (README.md, "Your server in ten lines"): its clients, users, and how a user ' +
  'signs in and allows a client. The report lists what skipped vectors need: a variable is a member of "vars", an ' +
  'endpoint a member of "endpoints".';

const HANDSHAKE_ADVICE =
  "Correct the response to initialize, or the address: every other test begins with it.";

/** Whether the program did not start, or the vector was not run because of this. */
function isNotStarted({ exchanges, isUnreachable }: Result): boolean {
  return isUnreachable && exchanges.every(({ answer }) => answer.startsWith("(Cannot start"));
}

/** Whether the vector got no connection, or was not run because others got none. */
function isRefusedConnection({ exchanges, isUnreachable }: Result): boolean {
  return isUnreachable && exchanges.every(({ answer }) => answer.startsWith("(refused"));
}

const EXIT = /The server (?:exited with code|was ended by a signal).*/;

/** The first line of the reason why a server on stdio ended. */
function findExit(text: string | undefined): string | undefined {
  return text?.match(EXIT)?.[0].replace(/\)?$/, "");
}

/** Whether the program ended before its first message. */
function hasEnded({ exchanges }: Result): boolean {
  return exchanges.every(({ answer }) => answer.startsWith("(") && answer.search(EXIT) === 1);
}

function lastAnswer(results: readonly Result[]): string | undefined {
  return results.findLast(({ exchanges }) => exchanges.length > 0)?.exchanges.at(-1)?.answer;
}
