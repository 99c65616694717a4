/**
 * `trivet mcp test`: connects to a server, and prints what it is or what is wrong.
 *
 * @module
 */
import type { ConnectionInfo } from "../../../mcp_client/client.ts";
import { printLine, printPairs } from "../output.ts";
import { printableJson } from "../printable_text.ts";
import { findRequiredAuthorization, type RequiredAuthorization } from "./authorization.ts";
import { CONNECT_OPTIONS, toPlainError, withServer } from "./connect.ts";
import { type McpAction, mcpAction } from "./mcp_action.ts";
import { readOperands } from "./read_operands.ts";
import { describeServerInfo, readLists, type ServerLists } from "./server_lists.ts";

export const test: McpAction = mcpAction({
  operands: "[SERVER]",
  summary: "connects, and prints the revision, transport, lists and times, or what authorization it asks for",
  takesCommand: true,
  options: CONNECT_OPTIONS,
  async run(call) {
    const [server] = readOperands(call, ["SERVER"]);
    const { json, timeout } = call.values;
    await withServer(call, server!, {}, async ({ client, url }) => {
      const exchange = { signal: call.signal, timeout: timeout * 1000 };
      const began = performance.now();
      let connectMs = 0;
      try {
        const info = await client.connect(exchange);
        connectMs = performance.now() - began;
        const lists = await readLists(client, exchange);
        const listMs = performance.now() - began - connectMs;
        print(info, lists, { connect_ms: Math.round(connectMs), lists_ms: Math.round(listMs) }, json);
      } catch (error) {
        if (call.signal.aborted) throw error;
        const authorization = await findRequiredAuthorization(error, url);
        const plain = toPlainError(error);
        const problem = plain instanceof Error ? plain.message : String(plain);
        if (json) printLine(printableJson({ works: false, problem, authorization: authorization ?? null }));
        else if (authorization) printAuthorization(authorization);
        throw error;
      }
    });
  },
});

function print(
  info: ConnectionInfo,
  lists: ServerLists,
  times: { readonly connect_ms: number; readonly lists_ms: number },
  json: boolean,
): void {
  const counts = {
    tools: lists.tools.length,
    resources: lists.resources.length,
    resource_templates: lists.resourceTemplates.length,
    prompts: lists.prompts.length,
  };
  if (json) {
    const { revision, transport, serverInfo, capabilities } = info;
    const known = { revision, transport, server_info: serverInfo, capabilities };
    return printLine(printableJson({ works: true, ...known, counts, ...times }));
  }
  printPairs([
    ["server", describeServerInfo(info)],
    ["transport", info.transport],
    ["revision", info.revision],
    ["capabilities", Object.keys(info.capabilities).join(" ")],
    [
      "offers",
      Object.entries(counts).map(([name, count]) => formatCount(count, name.replace("_", " "))).join(", "),
    ],
    ["connected", `in ${times.connect_ms} ms; lists in ${times.lists_ms} ms`],
  ]);
}

function printAuthorization(required: RequiredAuthorization): void {
  printPairs([
    ["status", `${required.status}${required.error === null ? "" : ` ${required.error}`}`],
    ["scopes", required.scopes.join(" ")],
    ["resource metadata", required.resource_metadata],
    ["resource", required.resource],
    ["authorization servers", required.authorization_servers.join(" ")],
    ["problem", required.problem],
  ]);
  if (required.authorization_servers.length > 0) {
    printLine(`Get a token there, and pass it with --token-env or --token-stdin`);
  } else printLine("The server does not say where tokens come from");
}

/** @param plural such as "resource templates" */
function formatCount(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.slice(0, -1) : plural}`;
}
