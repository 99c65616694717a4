/**
 * Faults in MCP messages over stdio: errors, progress, revisions.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { isObject, readJson } from "../jsonrpc/message_faults.ts";
import {
  answerInput,
  changeInput,
  changeOutput,
  isMethod,
  isModern,
  paramsOf,
  replaceErrors,
} from "./stdio_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

export const MCP_STDIO_MESSAGES: readonly Mutant[] = [
  {
    name: "mcp/stdio-invalid-params-accepted",
    fault: "Returns results for invalid params",
    stdio: replaceErrors(-32602),
    killedBy: names(
      "stdio/cursor",
      "stdio/unknown-tool",
      "stdio/unknown-prompt",
      "stdio/unknown-level",
      "stdio_opening/modern-cursor",
      "stdio_opening/modern-unknown-resource",
      "stdio_opening/modern-without-capabilities",
      "stdio_opening/no-params",
    ),
  },
  {
    name: "mcp/stdio-unknown-resource-accepted",
    fault: "Returns a result for unknown resources",
    stdio: replaceErrors(-32002),
    killedBy: names("stdio/unknown-resource"),
  },
  {
    name: "mcp/stdio-unknown-method-code",
    fault: "Returns its own error code for unknown methods",
    stdio: changeOutput(({ error }) => {
      if (isObject(error) && error["code"] === -32601) error["code"] = -32000;
    }),
    killedBy: names(
      "stdio/unknown-method",
      "stdio_opening/modern-unknown-method",
      "stdio_opening/modern-gone-ping",
    ),
    mayFail: { "They call unknown methods": names("stdio/") },
  },
  {
    name: "mcp/stdio-cancellation-ignored",
    fault: "Ignores cancellations",
    stdio: () => ({ read: (line) => isMethod(readJson(line), "notifications/cancelled") ? [] : [line] }),
    killedBy: names(
      "stdio/cancelled",
      "stdio_opening/modern-cancelled",
      "stdio_opening/modern-listen-cancelled",
    ),
  },
  {
    name: "mcp/stdio-progress-token-as-string",
    fault: "Returns progress tokens as strings",
    stdio: changeOutput(({ params }) => {
      if (isObject(params) && "progressToken" in params) {
        params["progressToken"] = String(params["progressToken"]);
      }
    }),
    killedBy: names("stdio/progress"),
  },
  {
    name: "mcp/stdio-one-at-a-time",
    fault: "Reads nothing while a request runs",
    stdio: () => {
      const held: string[] = [];
      let running: unknown;
      return {
        read(line) {
          const message = readJson(line);
          if (running !== undefined) {
            held.push(line);
            return [];
          }
          if (isObject(message) && "method" in message) running = message["id"];
          return [line];
        },
        write(line) {
          const message = readJson(line);
          if (isObject(message) && message["id"] === running) running = undefined;
          // Answered here and not by the server: their order no longer matters.
          const late = running === undefined ? held.splice(0) : [];
          const answers = late.flatMap((each) => {
            const requested = readJson(each);
            return isObject(requested) && "id" in requested
              ? [`${JSON.stringify({ jsonrpc: "2.0", id: requested["id"], result: {} })}\n`]
              : [];
          });
          return `${line}\n${answers.join("")}`;
        },
      };
    },
    killedBy: names("stdio/two-at-once"),
    mayFail: { "They send several messages at once": names("stdio/", "stdio_opening/") },
    preventsSetup: "They send several messages at once",
  },
  {
    name: "mcp/stdio-ignores-end-of-input",
    fault: "Keeps running when its standard input is closed",
    stdio: () => ({ ignoresEnd: true }),
    killedBy: names("stdio/end", "stdio/end-while-it-works"),
  },
  {
    name: "mcp/stdio-revision-newest",
    fault: "Answers every client with the newest protocol version",
    stdio: changeOutput(({ result }) => {
      if (isObject(result) && "protocolVersion" in result) result["protocolVersion"] = "2025-11-25";
    }),
    killedBy: names(
      "stdio_opening/revision-2024-11-05",
      "stdio_opening/revision-2025-03-26",
      "stdio_opening/revision-2025-06-18",
    ),
  },
  {
    name: "mcp/stdio-revision-echoed",
    fault: "Agrees to every protocol version",
    stdio: () => {
      let requested: unknown;
      const { write } = changeOutput(({ result }) => {
        if (isObject(result) && "protocolVersion" in result) result["protocolVersion"] = requested;
      })();
      return {
        read(line) {
          const message = readJson(line);
          if (isMethod(message, "initialize")) requested = paramsOf(message)["protocolVersion"];
          return [line];
        },
        write: write!,
      };
    },
    killedBy: names("stdio_opening/future"),
  },
  {
    name: "mcp/stdio-revision-previous",
    fault: "Negotiates 2025-06-18 when the client asks for 2025-11-25",
    stdio: changeOutput(({ result }) => {
      const isLast = isObject(result) && result["protocolVersion"] === "2025-11-25";
      if (isLast) result["protocolVersion"] = "2025-06-18";
    }),
    killedBy: names("stdio_opening/revision-2025-11-25"),
    mayFail: { "They expect that revision": names("stdio_opening/future") },
    preventsSetup: "They begin with a handshake of that revision",
  },
  {
    name: "mcp/stdio-ping-after-handshake",
    fault: "Refuses ping before the handshake",
    stdio: () => {
      let isOpen = false;
      const { read: take } = answerInput((message) => {
        isOpen ||= message["method"] !== "ping";
        const error = { code: -32600, message: "Not yet" };
        return isOpen ? undefined : { jsonrpc: "2.0", id: message["id"], error };
      })();
      return { read: take! };
    },
    killedBy: names("stdio_opening/ping"),
    mayFail: { "It pings without a handshake": names("stdio_opening/modern-gone-ping") },
  },
  {
    name: "mcp/stdio-versions-omitted",
    fault: "Refuses an unsupported revision without listing the supported ones",
    stdio: changeOutput(({ error }) => {
      if (isObject(error)) delete error["data"];
    }),
    killedBy: names("stdio_opening/modern-version-unknown"),
  },
  {
    name: "mcp/stdio-result-type-omitted",
    fault: "Leaves resultType out of results",
    stdio: changeOutput(({ result }) => {
      if (isObject(result)) delete result["resultType"];
    }),
    killedBy: names("stdio_opening/modern-discover", "stdio_opening/modern-result-type"),
  },
  {
    name: "mcp/stdio-subscription-id-omitted",
    fault: "Acknowledges subscriptions without their id",
    stdio: changeOutput((message) => {
      if (isModern(message) && message["method"] === "notifications/subscriptions/acknowledged") {
        delete paramsOf(message)["_meta"];
      }
    }),
    killedBy: names("stdio_opening/modern-listen"),
  },
  {
    name: "mcp/stdio-cursors-ignored",
    fault: "Ignores cursors",
    stdio: changeInput((message) => {
      if (!isObject(message) || !("cursor" in paramsOf(message))) return message;
      const { cursor: _, ...params } = paramsOf(message);
      return { ...message, params };
    }),
    killedBy: names("stdio/cursor", "stdio_opening/modern-cursor"),
  },
];
