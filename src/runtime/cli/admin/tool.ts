/**
 * `trivet tool`: the tools of a running server, their calls, and the tools of MCP servers that wait for an approval.
 *
 * @module
 */
import { listToolCalls } from "../../../admin/operations/audit.ts";
import {
  approveTool,
  listHeldTools,
  rejectTool,
  showHeldTool,
} from "../../../admin/operations/held_tools.ts";
import { listTools } from "../../../admin/operations/server.ts";
import { formatTime, printError, printPairs, printTable, printText } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { listAction, readPages } from "./list_action.ts";
import { SINCE_OPTION } from "./since_option.ts";

const list: AdminAction = listAction({
  operation: listTools,
  summary: "lists the tools of a server, with the calls of this instance",
  columns: {
    NAME: ({ name }) => name,
    TITLE: ({ title }) => title,
    SCOPES: ({ scopes }) => scopes.join(" "),
    CALLS: ({ calls }) => String(calls),
    FAILED: ({ failed_calls }) => String(failed_calls),
  },
});

const show: AdminAction = adminAction({
  operands: "NAME",
  summary: "shows a tool",
  options: {},
  async run({ call, operands: [name] }) {
    const { data } = await readPages(call, listTools, {});
    const tool = data.find((each) => each.name === name);
    if (tool) return tool;
    throw new Error(`Tool not found: ${JSON.stringify(name)}. "trivet tool list" shows what there is`);
  },
  print: ({ name, title, description, scopes, calls, failed_calls }) =>
    printPairs([
      ["tool", name],
      ["title", title],
      ["description", description],
      ["scopes", scopes.join(" ")],
      ["calls", `${calls} since the start of this instance, ${failed_calls} of them failed`],
    ]),
});

const calls: AdminAction = adminAction({
  operands: "[NAME]",
  summary: "lists the last calls in the audit trail, the newest at the end",
  options: {
    principal: { value: "ID", summary: "only calls of this user, client or API key" },
    since: SINCE_OPTION,
    last: { value: "N", range: [1, 1_000_000], summary: "only the last N of them", default: 100 },
  },
  async run({ call, values: { principal, since, last }, operands: [tool] }) {
    const query = {
      tool: tool || undefined,
      principal,
      since: since === undefined ? undefined : new Date(since).toISOString(),
    };
    const { data, ...page } = await readPages(call, listToolCalls, query, last);
    return { ...page, data: data.toReversed() };
  },
  print({ data, has_more }) {
    printTable(
      ["NUMBER", "TIME", "TOOL", "CALLER", "RESULT", "REQUEST"],
      data.map(({ number, time, tool, principal, failed, request }) => [
        String(number),
        formatTime(time),
        tool,
        principal ?? "-",
        failed ? "failed" : "done",
        request ?? "-",
      ]),
    );
    if (has_more) printError(`There are more than the last ${data.length}: --last`);
  },
});

const held: AdminAction = listAction({
  operation: listHeldTools,
  summary: "lists the tools of MCP servers that wait for an approval, because they are new or changed",
  columns: {
    ID: ({ id }) => id,
    SERVER: ({ upstream }) => upstream,
    TOOL: ({ tool }) => tool,
    CHANGE: ({ change }) => change,
    STATUS: ({ status }) => status,
    WARNINGS: ({ warnings }) => [...new Set(warnings.map(({ code }) => code))].join(" "),
  },
});

const review: AdminAction = adminAction({
  operands: "ID",
  summary: "shows a tool that waits for an approval, with the description that was approved last",
  options: {},
  run: ({ call, operands: [id] }) => call(showHeldTool, { held_tool: id! }),
  print: ({ upstream, tool, change, status, since, warnings, description, approved_description }) =>
    printPairs([
      ["server", upstream],
      ["tool", tool],
      ["change", change],
      ["status", status],
      ["since", formatTime(since)],
      ["warnings", warnings.map(({ code, place, detail }) => `${code} at ${place}: ${detail}`).join("; ")],
      ["description", description],
      ["approved", approved_description],
    ]),
});

const approve: AdminAction = adminAction({
  operands: "ID",
  summary: "offers a tool with the description that was shown",
  options: {},
  async run({ call, operands: [id] }) {
    await call(approveTool, { held_tool: id! });
    return { id, approved: true };
  },
  print: ({ id }) => printText(`Approved ${id}`),
});

const reject: AdminAction = adminAction({
  operands: "ID",
  summary: "keeps a tool from being offered; it can be approved later",
  options: {},
  async run({ call, operands: [id] }) {
    await call(rejectTool, { held_tool: id! });
    return { id, rejected: true };
  },
  print: ({ id }) => printText(`Rejected ${id}`),
});

export const command: AdminCommand = adminCommand({
  name: "tool",
  title: "the tools of a server, their calls, and tools that wait for an approval",
  actions: { list, show, calls, held, review, approve, reject },
  notes:
    `"list" and "show" need a server: --url. Tools are added and removed in its code or its file of tools.`,
  examples: [
    "trivet tool list --url https://agents.example.com",
    "trivet tool calls roll --since 1d",
    "trivet tool held",
  ],
});
