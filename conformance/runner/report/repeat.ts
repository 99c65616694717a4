/**
 * Writes what a reader needs to repeat a failure: a curl command for each exchange, and the command that runs a
 * vector again. Secrets are already masked; they become shell variables (`$SECRET_1`).
 *
 * @module
 */
import { relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Arguments } from "../arguments.ts";

/** Where a request goes, secrets masked. */
export interface Address {
  readonly base: string;
  /** The command of a server on standard input and output, empty if it has none. */
  readonly command?: readonly string[];
}

/** A request, as the report shows it, as a shell command. Empty if there is no command for it. */
export function toShellCommand(request: string, { base, command }: Address): string {
  if (command) {
    if (command.length === 0) return "";
    return `printf '%s\\n' ${request.split("\n").map(quote).join(" ")} | ${command.map(quote).join(" ")}`;
  }
  const [head = "", ...rest] = request.split("\n\n");
  const [start = "", ...fields] = head.split("\n");
  const [, method, path] = /^(\S+) (.*)$/.exec(start) ?? [];
  const [, host] = /^host: (.+)$/.exec(fields[0] ?? "") ?? [];
  if (method === undefined || path === undefined || host === undefined || request.includes("\r\n")) {
    return toRawCommand(request, base);
  }
  const scheme = URL.canParse(base) ? new URL(base).protocol : "https:";
  const body = rest.join("\n\n");
  const words = [
    ...(method === "GET" ? [] : method === "HEAD" ? ["--head"] : ["--request", method]),
    "--path-as-is",
    quote(`${scheme}//${host}${path}`),
    ...fields.slice(1).filter((field) => field !== "" && !/^(content-length|connection):/.test(field))
      // curl sends a field without a value if it ends with a semicolon.
      .flatMap((field) => ["--header", quote(/: *$/.test(field) ? field.replace(/: *$/, ";") : field)]),
    ...(body === "" ? [] : ["--data-binary", quote(body)]),
  ];
  const note = /… \(\d+ (bytes|characters)\)/.test(request) ? " # shortened: run the vector again" : "";
  return `curl --include ${words.join(" ")}${note}`;
}

/** A request that no HTTP library sends. */
function toRawCommand(request: string, base: string): string {
  if (!URL.canParse(base)) return "";
  const { hostname, port, protocol } = new URL(base);
  const isPlain = protocol === "http:";
  const number = port === "" ? isPlain ? "80" : "443" : port;
  const client = isPlain
    ? `nc ${hostname} ${number}`
    : `openssl s_client -quiet -connect ${hostname}:${number}`;
  const bytes = request.replaceAll("\\", "\\\\").replaceAll("\r", "\\r").replaceAll("\n", "\\n");
  return `printf '%b' ${quote(bytes)} | ${client}`;
}

/** The command that runs one vector again, with the same random values. @param mask hides secrets of the target */
export function toRepeatCommand(
  { suites, target, stdio, module, wait, seconds, slow }: Arguments,
  name: string,
  seed: string,
  mask: (text: string) => string,
): string {
  const isUrl = target !== undefined && /^https?:\/\//.test(target);
  const words = [
    ...suites,
    ...(target === undefined ? [] : isUrl ? [target] : ["--target", target]),
    ...(stdio === undefined ? [] : ["--stdio", stdio]),
    ...(module === undefined ? [] : ["--module", module]),
    "--only",
    name,
    ...(slow ? ["--slow"] : []),
    ...(wait > 0 ? ["--wait", String(wait)] : []),
    ...(seconds === undefined ? [] : ["--timeout", String(seconds)]),
    "--seed",
    seed,
    "--verbose",
  ];
  return [getProgram(), ...words.map((word) => quote(mask(word)))].join(" ");
}

/** How this program is called: by its package, or by its source file. */
function getProgram(): string {
  const cli = fileURLToPath(new URL("../cli.ts", import.meta.url));
  if (/[\\/]node_modules[\\/]/.test(cli)) return "npx trivet-conformance";
  const runtime = "Deno" in globalThis
    ? "deno run -A"
    : process.versions["bun"] === undefined
    ? "node"
    : "bun";
  const path = relative(process.cwd(), cli);
  return `${runtime} ${quote(path.startsWith("..") ? cli : path)}`;
}

/** A word of a shell command. A masked secret becomes a variable. */
function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const parts = word.split(/‹secret (\d+)›/).map((part, at) =>
    at % 2 === 1 ? `"$SECRET_${part}"` : part === "" ? "" : `'${part.replaceAll("'", `'\\''`)}'`
  );
  return parts.join("") || "''";
}
