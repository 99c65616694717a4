/**
 * Faults of MCP on standard input and output: what a line is, which lines are answered, and when it ends.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { isNotification, isObject, readJson } from "../jsonrpc/rpc_message.ts";
import { answered, diesOf, renumbered, unreadable } from "./stdio_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

export const MCP_STDIO: readonly Mutant[] = [
  {
    name: "mcp/stdio-greets",
    fault: "Writes what it is doing to its output",
    lines: () => ({ write: (line) => `[server] answered\n${line}\n` }),
    breaks: names("stdio/ping"),
    mayBreak: { "They look at all that is written": names("stdio/", "stdio_opening/") },
  },
  {
    name: "mcp/stdio-two-requests",
    fault: "Holds two requests, and drops what comes while it does",
    lines: () => {
      const open = new Set<unknown>();
      return {
        read(line) {
          const message = readJson(line);
          if (!isObject(message) || !("id" in message)) return [line];
          if (open.size === 2) return [];
          open.add(message["id"]);
          return [line];
        },
        write(line) {
          const message = readJson(line);
          if (isObject(message)) open.delete(message["id"]);
          return `${line}\n`;
        },
      };
    },
    breaks: names("stdio/three-at-once"),
    mayBreak: { "Their messages have no id that comes back": names("stdio/no-message") },
  },
  {
    name: "mcp/stdio-raw-line-breaks",
    fault: "Writes line breaks as they are",
    lines: () => ({ write: (line) => `${line.replaceAll("\\n", "\n")}\n` }),
    breaks: names("stdio/id-with-line-break", "stdio/line-break-in-answer"),
  },
  {
    name: "mcp/stdio-separators-end-lines",
    fault: "Ends lines at U+2028 and U+2029 too",
    lines: () => ({ read: (line) => line.split(/[\u2028\u2029]/) }),
    breaks: names("stdio/separators"),
  },
  {
    name: "mcp/stdio-latin-1",
    fault: "Loses what is beyond ASCII",
    lines: () => ({ write: (line) => `${line.replace(/[^ -~]/g, "?")}\n` }),
    breaks: names("stdio/utf-8", "stdio/separators"),
  },
  {
    name: "mcp/stdio-no-carriage-return",
    fault: "Does not read lines that end as on Windows",
    lines: unreadable((line) => line.endsWith("\r")),
    breaks: names("stdio/carriage-return"),
  },
  {
    name: "mcp/stdio-no-blanks",
    fault: "Does not read lines that begin with a blank",
    lines: unreadable((line) => line.startsWith(" ")),
    breaks: names("stdio/blanks"),
  },
  {
    name: "mcp/stdio-short-lines",
    fault: "Holds 64 KiB of a line",
    lines: () => ({ read: (line) => [line.slice(0, 65_536)] }),
    breaks: names("stdio/long"),
  },
  {
    name: "mcp/stdio-id-lost-where-falsy",
    fault: "Takes 0 for no id",
    lines: renumbered((id) => id || null),
    breaks: names("stdio/id-zero"),
  },
  {
    name: "mcp/stdio-id-as-number",
    fault: "Gives digits in ids back as numbers",
    lines: renumbered((id) => /^\d+$/.test(String(id)) ? Number(id) : id),
    breaks: names("stdio/id-digits"),
  },
  {
    name: "mcp/stdio-id-of-32-bits",
    fault: "Holds ids in 32 bits",
    lines: renumbered((id) => typeof id === "number" ? id | 0 : id),
    breaks: names("stdio/id-large"),
  },
  {
    name: "mcp/stdio-dies-of-not-json",
    fault: "Ends at a line that is not JSON",
    lines: diesOf((message) => message === undefined),
    breaks: names("stdio/not-json", "stdio/words"),
  },
  {
    name: "mcp/stdio-dies-of-no-message",
    fault: "Ends at JSON that is no message",
    lines: diesOf((message) => !isObject(message) || !("method" in message || "result" in message)),
    breaks: names("stdio/no-message", "stdio/number"),
    mayBreak: {
      "They send what is no message": names(
        "stdio/not-json",
        "stdio/words",
        "stdio/batch",
        "stdio_opening/batch",
      ),
    },
  },
  {
    name: "mcp/stdio-notifications-answered",
    fault: "Answers notifications",
    lines: answered((message) =>
      isNotification(message) && message["method"] !== "notifications/initialized"
        ? { jsonrpc: "2.0", id: null, result: {} }
        : undefined
    ),
    breaks: names("stdio/notification", "stdio/cancel-unknown", "stdio/cancel-malformed"),
    mayBreak: {
      "They send notifications": names(
        "stdio/cancelled",
        "stdio_opening/modern-cancelled",
        "stdio_opening/modern-listen-cancelled",
      ),
    },
  },
  {
    name: "mcp/stdio-responses-answered",
    fault: "Answers responses",
    lines: answered((message) =>
      "result" in message
        ? { jsonrpc: "2.0", id: message["id"], error: { code: -32600, message: "Not asked" } }
        : undefined
    ),
    breaks: names("stdio/response-unknown"),
  },
  {
    name: "mcp/stdio-batches-still",
    fault: "Takes batches in revisions that have none",
    lines: () => ({
      read(line) {
        const message = readJson(line);
        return Array.isArray(message) ? message.map((each) => JSON.stringify(each)) : [line];
      },
    }),
    breaks: names("stdio/batch", "stdio_opening/batch-2025-03-26"),
  },
];
