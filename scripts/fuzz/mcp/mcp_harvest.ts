/**
 * What a client learns from answers of the fuzzed tool server: sessions, cursors, states, tasks, places in streams.
 *
 * @module
 */
import type { Observed } from "./mcp_client.ts";
import type { Loot } from "./mcp_loot.ts";
import type { Verdict } from "./mcp_oracle.ts";
import type { Exchange } from "./mcp_requests.ts";
import type { Message } from "./mcp_shape.ts";
import { isObject, kindOf } from "./mcp_wire.ts";

const LISTS = ["tools", "prompts", "resources", "resourceTemplates"];

/** Adds to the loot. */
export function harvest(loot: Loot, exchange: Exchange, verdict: Verdict, observed: Observed): void {
  const { session, token, value } = verdict;
  if (exchange.method === "DELETE" && observed.status === 204 && session) session.live = false;
  if (session && observed.isStream) {
    for (const { id } of observed.events) if (id !== undefined) loot.events.push({ session, id });
  }
  const isTaken = session && (observed.status === 200 || observed.status === 202);
  for (const each of isTaken ? [value].flat() : []) {
    if (!isObject(each) || kindOf(each) !== "answer") continue;
    const answered = loot.questions.findIndex((one) => one.session === session && one.id === each.id);
    if (answered >= 0) loot.questions.splice(answered, 1);
  }
  const started = observed.headers.get("mcp-session-id");
  for (const message of observed.messages) {
    const results = Array.isArray(message) ? message : [message];
    for (const each of results) if (isObject(each) && isObject(each.result)) take(each.result);
  }

  function take(result: Message): void {
    if (started !== null && typeof result.protocolVersion === "string") {
      loot.sessions.push({ id: started, revision: result.protocolVersion, token, live: true });
    }
    const member = LISTS.find((each) => Array.isArray(result[each]));
    if (member !== undefined && typeof result.nextCursor === "string") {
      loot.addCursor(member, result.nextCursor);
    }
    if (typeof result.taskId === "string" && result.resultType === "task") {
      loot.tasks.push({ id: result.taskId, token });
    }
    if (result.resultType === "input_required" && isObject(value) && isObject(value.params)) {
      const { _meta: _, requestState: _state, inputResponses: _responses, ...params } = value.params;
      loot.asked.push({
        method: String(value.method),
        params,
        state: String(result.requestState),
        requests: result.inputRequests as Record<string, { method: string }>,
        token,
      });
    }
  }
}
