/**
 * Files with `mcpServers`, as MCP clients have them (VS Code: `servers`): finds them, reads them, and changes one server in
 * them.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import type { McpServer } from "../../../gateway/upstream/configuration/configuration.ts";
import { isObject } from "../../../json_schema/value.ts";
import { replaceFile } from "../atomic_write.ts";
import { suggest } from "../nearest.ts";
import { UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { describeFileError } from "../file_error.ts";

/** Where files of servers are, in this order. */
const DEFAULT_FILES: readonly string[] = ["mcp.json", ".mcp.json", ".vscode/mcp.json"];
/** The members that can contain servers. */
const MEMBERS = ["mcpServers", "servers"] as const;

/** A file with servers. */
export interface ServerFile {
  readonly path: string;
  /** Which member of the file has them. */
  readonly member: (typeof MEMBERS)[number];
  /** Servers by name, not checked. */
  readonly servers: Readonly<Record<string, unknown>>;
  /** Writes other servers; all else stays. */
  write(servers: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>;
}

/** The file that is read when none is named. @throws {UsageError} when there is none */
export function findServerFile(named: string | undefined): string {
  const path = named ?? process.env.TRIVET_MCP_SERVERS ?? DEFAULT_FILES.find((each) => existsSync(each));
  if (path) return path;
  throw new UsageError(
    `no file with MCP servers: use --file FILE, a URL, or -- COMMAND. Looked for ${DEFAULT_FILES.join(", ")}`,
  );
}

/**
 * Reads a file.
 * @param isNew whether a file that does not exist counts as one without servers
 * @throws {Error} for one that cannot be read or has no servers
 */
export function readServerFile(
  path: string,
  { isNew = false }: { readonly isNew?: boolean } = {},
): ServerFile {
  const text = readText(path, isNew);
  const content = text === undefined ? {} : parseText(path, text);
  const member = MEMBERS.find((each) => content[each] !== undefined) ?? "mcpServers";
  const servers = content[member] ?? (isNew ? {} : undefined);
  if (!isObject(servers)) throw new Error(`"${path}" has no object "mcpServers"`);
  return {
    path,
    member,
    servers,
    async write(servers, signal) {
      const indent = /^\{\r?\n([ \t]+)"/.exec(text ?? "")?.[1] ?? "  ";
      const end = text === undefined || text.endsWith("\n") ? "\n" : "";
      await replaceFile(
        path,
        JSON.stringify({ ...content, [member]: servers }, undefined, indent) + end,
        signal,
      );
    },
  };
}

/** All that a file has. @throws {Error} for one that cannot be read or is no JSON object */
export function readServerContent(path: string): Record<string, unknown> {
  return parseText(path, readText(path, false)!);
}

/** The server with a name, not checked. @throws {Error} with the nearest name */
export function getServer({ path, servers }: ServerFile, name: string): McpServer {
  if (Object.hasOwn(servers, name)) return servers[name] as McpServer;
  const names = Object.keys(servers);
  const near = suggest(name, names) || `. It has ${names.join(", ") || "none"}`;
  throw new Error(printableText(`"${path}" has no server "${name}"${near}`));
}

/** The URL without its query, or the command without its arguments, which can contain secrets. */
export function describeServer(server: unknown): string {
  const { url, command } = Object(server) as Record<string, unknown>;
  if (typeof url === "string") return url.replace(/[?#].*$/s, "");
  return typeof command === "string" ? command : "?";
}

function readText(path: string, isNew: boolean): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/, "");
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (isNew && code === "ENOENT") return undefined;
    throw new Error(`cannot read "${path}": ${describeFileError(cause)}`, { cause });
  }
}

function parseText(path: string, text: string): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(`"${path}" is not JSON. Comments and commas at the end of a list are not supported`);
  }
  if (!isObject(content)) throw new Error(`"${path}" must contain an object`);
  return content;
}
