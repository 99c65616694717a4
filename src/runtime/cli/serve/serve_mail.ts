/**
 * How `trivet serve` sends mail: through a program with the interface of sendmail, else by printing links on the terminal of
 * the operator.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { Mail, SendMail } from "../../../oauth/mail/mail.ts";
import { isEmailAddress } from "../../../oauth/users/email_address.ts";
import { randomId } from "../../../crypto/secret.ts";
import { printError, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";

/** A program that takes longer has failed. */
const TIMEOUT_MS = 60_000;
const MAX_ERROR_CHARACTERS = 500;

/**
 * What sends mail. Without a program it is the terminal. There is none when standard error is no terminal: a log file must
 * not get links that take over accounts.
 * @throws {UsageError} for a program without a sender, one that cannot be run, and a sender that is no address
 */
export function createSendMail(
  { "mail-program": program, "mail-from": from }: {
    readonly "mail-program"?: string | undefined;
    readonly "mail-from"?: string | undefined;
  },
): SendMail | undefined {
  if (program !== undefined) {
    if (from === undefined) throw new UsageError("--mail-program needs --mail-from");
    if (!canRun(program)) throw new UsageError(`--mail-program: "${program}" cannot be run`);
    if (findAddress(from) === undefined) {
      throw new UsageError(`--mail-from must be an e-mail address, but is "${from}"`);
    }
    return (mail) => runProgram(program, writeMessage(mail, from));
  }
  if (from !== undefined) throw new UsageError("--mail-from needs --mail-program");
  if (!process.stderr.isTTY) return undefined;
  return ({ to, subject, text }) => {
    const lines = [`mail to ${to}: ${subject}`, ...text.trimEnd().split("\n").map((line) => `  ${line}`)];
    printError(lines.map((line) => printableText(line)).join("\n"));
    return Promise.resolve();
  };
}

/** Whether it is a program: a path, or a name that is looked up in PATH. */
export function canRun(program: string): boolean {
  const paths = /[/\\]/.test(program)
    ? [program]
    : (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, program));
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

/** The address of a sender, which can have a name: `Name <address>`. `undefined` for what cannot be a sender. */
export function findAddress(from: string): string | undefined {
  const address = /^[\x20-\x7e]*<([^<>]*)>$/.exec(from)?.[1] ?? from;
  return isEmailAddress(address) ? address : undefined;
}

/** The message (RFC 5322) in lines that end with LF, as sendmail takes it. */
export function writeMessage({ to, subject, text }: Mail, from: string): string {
  const address = findAddress(from) ?? from;
  const domain = address.slice(address.lastIndexOf("@") + 1);
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${encodeWords(subject)}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${randomId("")}@${domain}>`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    // RFC 3834: vacation notices do not answer it.
    "Auto-Submitted: auto-generated",
    "",
    Buffer.from(text).toString("base64").replace(/.{76}/g, "$&\n"),
    "",
  ].join("\n");
}

/** RFC 2047: encoded words of at most 75 characters, none of which splits a character. */
function encodeWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes("=?")) return text;
  const words: string[] = [""];
  for (const character of text) {
    const next = words.at(-1)! + character;
    if (Buffer.byteLength(next) > 42) words.push(character);
    else words[words.length - 1] = next;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\n ");
}

/** Without a shell, and the recipient is in the message: nothing that a visitor typed is an argument. */
function runProgram(program: string, message: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["-t", "-i"], {
      stdio: ["pipe", "ignore", "pipe"],
      timeout: TIMEOUT_MS,
    });
    let errors = "";
    child.stderr.on("data", (chunk) => errors = (errors + chunk).slice(0, MAX_ERROR_CHARACTERS));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with code ${code ?? "none"}: ${errors.trim()}`));
    });
    // A program that reads nothing shows in its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(message);
  });
}
