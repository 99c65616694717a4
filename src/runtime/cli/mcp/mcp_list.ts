/**
 * `trivet mcp list`, `show` and `remove`: the servers of the gateway.
 *
 * @module
 */
import { formatTime, printJson, printLine, printPairs, printTable } from "../output.ts";
import { printableJson, printableText } from "../printable_text.ts";
import { type McpAction, mcpAction } from "./mcp_action.ts";
import { PLACE_OPTIONS, withServerPlace } from "./server_place.ts";

export const list: McpAction = mcpAction({
  operands: "",
  summary: "lists the servers",
  options: PLACE_OPTIONS,
  async run(call) {
    const servers = await withServerPlace(call, (place) => place.list());
    if (call.values.json) {
      return printJson({ data: servers, has_more: false, next_page: null });
    }
    if (call.values.file !== undefined) {
      return printTable(["NAME", "SERVER"], servers.map(({ name, server }) => [name, server]));
    }
    printTable(
      ["NAME", "SERVER", "SOURCE", "STATE", "TOOLS", "LAST ERROR"],
      servers.map(({ name, server, source, state, tools, last_error }) => [
        name,
        server,
        source ?? "-",
        state ?? "-",
        state ? String(tools) : "-",
        last_error || "-",
      ]),
    );
  },
});

export const show: McpAction = mcpAction({
  operands: "NAME",
  summary: "shows a server, with its state where a gateway runs; header fields and variables stay sealed",
  options: PLACE_OPTIONS,
  async run(call) {
    const shown = await withServerPlace(call, (place) => place.show(call.operands[0]!));
    if (call.values.json) return printJson(shown);
    const { name, server, source, added, state, revision, tools, sessions, running, left_out, last_error } =
      shown;
    printPairs([
      ["name", name],
      ["server", server],
      ["source", source],
      ["added", added && formatTime(added)],
      ["state", state],
      ["revision", revision],
      ["tools", state && String(tools)],
      ["sessions", state && String(sessions)],
      ["calls", state && `${running} running`],
      ["left out", left_out?.join("; ")],
      ["last error", last_error],
    ]);
  },
});

export const remove: McpAction = mcpAction({
  operands: "NAME",
  summary: "removes a server, and ends its users' connections",
  options: PLACE_OPTIONS,
  async run(call) {
    const name = call.operands[0]!;
    await withServerPlace(call, (place) => place.remove(name));
    printLine(
      call.values.json ? printableJson({ id: name, removed: true }) : `Removed ${printableText(name)}`,
    );
  },
});
