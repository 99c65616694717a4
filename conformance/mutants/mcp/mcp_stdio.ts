/**
 * Faults in MCP over stdio: framing of lines, which messages get a response, and shutdown.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { isNotification, isObject, readJson } from "../jsonrpc/message_faults.ts";
import { answerInput, changeResponseIds, rejectLines, stopAfter } from "./stdio_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

export const MCP_STDIO: readonly Mutant[] = [
  {
    name: "mcp/stdio-logs-to-stdout",
    fault: "Writes log lines to standard output",
    stdio: () => ({ write: (line) => `[server] answered\n${line}\n` }),
    killedBy: names("stdio/ping"),
    mayFail: { "They check everything that the server writes": names("stdio/", "stdio_opening/") },
  },
  {
    name: "mcp/stdio-two-requests",
    fault: "Drops messages while two requests are pending",
    stdio: () => {
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
    killedBy: names("stdio/three-at-once"),
    mayFail: { "Their messages have no id that a response returns": names("stdio/no-message") },
  },
  {
    name: "mcp/stdio-raw-line-breaks",
    fault: "Does not escape line breaks within messages",
    stdio: () => ({ write: (line) => `${line.replaceAll("\\n", "\n")}\n` }),
    killedBy: names("stdio/id-with-line-break", "stdio/line-break-in-answer"),
  },
  {
    name: "mcp/stdio-separators-end-lines",
    fault: "Ends lines at U+2028 and U+2029 too",
    stdio: () => ({ read: (line) => line.split(/[\u2028\u2029]/) }),
    killedBy: names("stdio/separators"),
  },
  {
    name: "mcp/stdio-ascii",
    fault: "Replaces characters beyond ASCII",
    stdio: () => ({ write: (line) => `${line.replace(/[^ -~]/g, "?")}\n` }),
    killedBy: names("stdio/utf-8", "stdio/separators"),
  },
  {
    name: "mcp/stdio-no-carriage-return",
    fault: "Does not read lines that end with CRLF",
    stdio: rejectLines((line) => line.endsWith("\r")),
    killedBy: names("stdio/carriage-return"),
  },
  {
    name: "mcp/stdio-no-leading-space",
    fault: "Does not read lines that begin with a space",
    stdio: rejectLines((line) => line.startsWith(" ")),
    killedBy: names("stdio/blanks"),
  },
  {
    name: "mcp/stdio-short-lines",
    fault: "Truncates lines to 64 KiB",
    stdio: () => ({ read: (line) => [line.slice(0, 65_536)] }),
    killedBy: names("stdio/long"),
  },
  {
    name: "mcp/stdio-id-falsy-lost",
    fault: "Treats the id 0 as missing",
    stdio: changeResponseIds((id) => id || null),
    killedBy: names("stdio/id-zero"),
  },
  {
    name: "mcp/stdio-id-as-number",
    fault: "Returns ids made of digits as numbers",
    stdio: changeResponseIds((id) => /^\d+$/.test(String(id)) ? Number(id) : id),
    killedBy: names("stdio/id-digits"),
  },
  {
    name: "mcp/stdio-id-32-bits",
    fault: "Truncates ids to 32 bits",
    stdio: changeResponseIds((id) => typeof id === "number" ? id | 0 : id),
    killedBy: names("stdio/id-large"),
  },
  {
    name: "mcp/stdio-stops-at-invalid-json",
    fault: "Stops reading after a line that is not JSON",
    stdio: stopAfter((message) => message === undefined),
    killedBy: names("stdio/not-json", "stdio/words"),
  },
  {
    name: "mcp/stdio-stops-at-invalid-message",
    fault: "Stops reading after JSON that is not a message",
    stdio: stopAfter((message) => !isObject(message) || !("method" in message || "result" in message)),
    killedBy: names("stdio/no-message", "stdio/number"),
    mayFail: {
      "They send JSON that is not a message": names(
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
    stdio: answerInput((message) =>
      isNotification(message) && message["method"] !== "notifications/initialized"
        ? { jsonrpc: "2.0", id: null, result: {} }
        : undefined
    ),
    killedBy: names("stdio/notification", "stdio/cancel-unknown", "stdio/cancel-malformed"),
    mayFail: {
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
    stdio: answerInput((message) =>
      "result" in message
        ? { jsonrpc: "2.0", id: message["id"], error: { code: -32600, message: "Not asked" } }
        : undefined
    ),
    killedBy: names("stdio/response-unknown"),
  },
  {
    name: "mcp/stdio-batches-accepted",
    fault: "Accepts batches in revisions that do not have them",
    stdio: () => ({
      read(line) {
        const message = readJson(line);
        return Array.isArray(message) ? message.map((each) => JSON.stringify(each)) : [line];
      },
    }),
    killedBy: names("stdio/batch", "stdio_opening/batch-2025-03-26"),
  },
];
