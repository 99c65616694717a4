/**
 * What a check of `trivet doctor` found, and how checks run: none takes long, and none ends the others.
 *
 * @module
 */
import { printableText } from "../printable_text.ts";

/** One line of the report. */
export interface Finding {
  readonly level: "ok" | "warn" | "FAIL";
  /** What was checked, in one word. */
  readonly check: string;
  readonly what: string;
  /** What to do; absent where all is well. */
  readonly advice?: string;
}

/** A named check. */
export interface Check {
  readonly name: string;
  run(): Promise<readonly Finding[]> | readonly Finding[];
}

const CHECK_TIMEOUT_MS = 20_000;
const MAX_ERROR_CHARACTERS = 300;

export const ok = (check: string, what: string): Finding => ({ level: "ok", check, what });
export const warn = (check: string, what: string, advice: string): Finding => ({
  level: "warn",
  check,
  what,
  advice,
});
export const fail = (check: string, what: string, advice: string): Finding => ({
  level: "FAIL",
  check,
  what,
  advice,
});

/**
 * Runs a check. One that throws, or takes longer than 20 seconds, has failed.
 * @param secrets texts that no finding may contain, such as the password of the store
 */
export async function runCheck(
  { name, run }: Check,
  secrets: readonly string[] = [],
): Promise<readonly Finding[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    const finding = fail(
      name,
      `no answer in ${CHECK_TIMEOUT_MS / 1000} seconds`,
      "find out what is overloaded",
    );
    timer = setTimeout(() => resolve([finding]), CHECK_TIMEOUT_MS);
  });
  const work = Promise.resolve().then(run).catch((error) => [
    fail(name, `cannot be checked: ${describe(error, secrets)}`, "correct this, and run doctor again"),
  ]);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The message of an error, without secrets. */
function describe(error: unknown, secrets: readonly string[]): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  let text = cause instanceof Error && !message.includes(cause.message)
    ? `${message}: ${cause.message}`
    : message;
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "…");
  return printableText(text, MAX_ERROR_CHARACTERS);
}
