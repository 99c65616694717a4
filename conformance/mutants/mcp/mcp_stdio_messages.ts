/**
 * Faults in what MCP servers on standard input and output say: errors, progress, revisions.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { isObject, readJson } from "../jsonrpc/rpc_message.ts";
import { answered, forgiven, isMethod, isModern, paramsOf, read, said } from "./stdio_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

export const MCP_STDIO_MESSAGES: readonly Mutant[] = [
  {
    name: "mcp/stdio-params-forgiven",
    fault: "Has results where parameters are wrong",
    lines: forgiven(-32602),
    breaks: names(
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
    name: "mcp/stdio-resources-forgiven",
    fault: "Has a result for resources that there are not",
    lines: forgiven(-32002),
    breaks: names("stdio/unknown-resource"),
  },
  {
    name: "mcp/stdio-unknown-method-code",
    fault: "Has a code of its own for methods that there are not",
    lines: said(({ error }) => {
      if (isObject(error) && error["code"] === -32601) error["code"] = -32000;
    }),
    breaks: names(
      "stdio/unknown-method",
      "stdio_opening/modern-unknown-method",
      "stdio_opening/modern-gone-ping",
    ),
    mayBreak: { "They call what there is not": names("stdio/") },
  },
  {
    name: "mcp/stdio-cancellation-unread",
    fault: "Does not read cancellations",
    lines: () => ({ read: (line) => isMethod(readJson(line), "notifications/cancelled") ? [] : [line] }),
    breaks: names(
      "stdio/cancelled",
      "stdio_opening/modern-cancelled",
      "stdio_opening/modern-listen-cancelled",
    ),
  },
  {
    name: "mcp/stdio-token-as-text",
    fault: "Gives tokens of progress back as texts",
    lines: said(({ params }) => {
      if (isObject(params) && "progressToken" in params) {
        params["progressToken"] = String(params["progressToken"]);
      }
    }),
    breaks: names("stdio/progress"),
  },
  {
    name: "mcp/stdio-one-at-a-time",
    fault: "Reads nothing while a request runs",
    lines: () => {
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
          // What was held is answered by hand: by then nobody waits for the order.
          const late = running === undefined ? held.splice(0) : [];
          const answers = late.flatMap((each) => {
            const asked = readJson(each);
            return isObject(asked) && "id" in asked
              ? [`${JSON.stringify({ jsonrpc: "2.0", id: asked["id"], result: {} })}\n`]
              : [];
          });
          return `${line}\n${answers.join("")}`;
        },
      };
    },
    breaks: names("stdio/two-at-once"),
    mayBreak: { "They send several messages at once": names("stdio/", "stdio_opening/") },
    stops: "They send several messages at once",
  },
  {
    name: "mcp/stdio-stays",
    fault: "Goes on when its input is closed",
    lines: () => ({ staysOpen: true }),
    breaks: names("stdio/end", "stdio/end-while-it-works"),
  },
  {
    name: "mcp/stdio-revision-newest",
    fault: "Has the newest revision for every client",
    lines: said(({ result }) => {
      if (isObject(result) && "protocolVersion" in result) result["protocolVersion"] = "2025-11-25";
    }),
    breaks: names(
      "stdio_opening/revision-2024-11-05",
      "stdio_opening/revision-2025-03-26",
      "stdio_opening/revision-2025-06-18",
    ),
  },
  {
    name: "mcp/stdio-revision-echoed",
    fault: "Agrees to every revision",
    lines: () => {
      let asked: unknown;
      const { write } = said(({ result }) => {
        if (isObject(result) && "protocolVersion" in result) result["protocolVersion"] = asked;
      })();
      return {
        read(line) {
          const message = readJson(line);
          if (isMethod(message, "initialize")) asked = paramsOf(message)["protocolVersion"];
          return [line];
        },
        write: write!,
      };
    },
    breaks: names("stdio_opening/future"),
  },
  {
    name: "mcp/stdio-revision-before-the-last",
    fault: "Agrees to the revision before the one of 2025-11-25",
    lines: said(({ result }) => {
      const isLast = isObject(result) && result["protocolVersion"] === "2025-11-25";
      if (isLast) result["protocolVersion"] = "2025-06-18";
    }),
    breaks: names("stdio_opening/revision-2025-11-25"),
    mayBreak: { "They agree to it": names("stdio_opening/future") },
    stops: "They begin with a handshake of it",
  },
  {
    name: "mcp/stdio-ping-after-handshake",
    fault: "Refuses ping before the handshake",
    lines: () => {
      let isOpen = false;
      const { read: take } = answered((message) => {
        isOpen ||= message["method"] !== "ping";
        const error = { code: -32600, message: "Not yet" };
        return isOpen ? undefined : { jsonrpc: "2.0", id: message["id"], error };
      })();
      return { read: take! };
    },
    breaks: names("stdio_opening/ping"),
    mayBreak: { "It is asked without a handshake, too": names("stdio_opening/modern-gone-ping") },
  },
  {
    name: "mcp/stdio-versions-untold",
    fault: "Refuses a revision without saying which there are",
    lines: said(({ error }) => {
      if (isObject(error)) delete error["data"];
    }),
    breaks: names("stdio_opening/modern-version-unknown"),
  },
  {
    name: "mcp/stdio-result-type-untold",
    fault: "Does not say whether results are complete",
    lines: said(({ result }) => {
      if (isObject(result)) delete result["resultType"];
    }),
    breaks: names("stdio_opening/modern-discover", "stdio_opening/modern-result-type"),
  },
  {
    name: "mcp/stdio-unacknowledged",
    fault: "Acknowledges subscriptions without their id",
    lines: said((message) => {
      if (isModern(message) && message["method"] === "notifications/subscriptions/acknowledged") {
        delete paramsOf(message)["_meta"];
      }
    }),
    breaks: names("stdio_opening/modern-listen"),
  },
  {
    name: "mcp/stdio-cursor-unread",
    fault: "Does not read cursors",
    lines: read((message) => {
      if (!isObject(message) || !("cursor" in paramsOf(message))) return message;
      const { cursor: _, ...params } = paramsOf(message);
      return { ...message, params };
    }),
    breaks: names("stdio/cursor", "stdio_opening/modern-cursor"),
  },
];
