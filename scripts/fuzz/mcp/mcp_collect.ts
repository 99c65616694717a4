/**
 * Collects values of responses of the fuzzed tool server: sessions, cursors, states, tasks and event ids.
 *
 * @module
 */
import type { Observed } from "./mcp_client.ts";
import type { Corpus } from "./mcp_corpus.ts";
import type { Prediction } from "./mcp_oracle.ts";
import type { Exchange } from "./mcp_requests.ts";
import type { Message } from "./mcp_shape.ts";
import { getKind, isObject } from "./mcp_wire.ts";

const LISTS = ["tools", "prompts", "resources", "resourceTemplates"];

/** Adds the values of a response to the corpus. */
export function collectValues(
  corpus: Corpus,
  exchange: Exchange,
  prediction: Prediction,
  observed: Observed,
): void {
  const { session, token, value } = prediction;
  if (exchange.method === "DELETE" && observed.status === 204 && session) session.live = false;
  if (session && observed.isStream) {
    for (const { id } of observed.events) if (id !== undefined) corpus.events.push({ session, id });
  }
  const isAccepted = session && (observed.status === 200 || observed.status === 202);
  for (const each of isAccepted ? [value].flat() : []) {
    if (!isObject(each) || getKind(each) !== "answer") continue;
    const answered = corpus.questions.findIndex((one) => one.session === session && one.id === each.id);
    if (answered >= 0) corpus.questions.splice(answered, 1);
  }
  const started = observed.headers.get("mcp-session-id");
  for (const message of observed.messages) {
    const results = Array.isArray(message) ? message : [message];
    for (const each of results) if (isObject(each) && isObject(each.result)) collectResult(each.result);
  }

  function collectResult(result: Message): void {
    if (started !== null && typeof result.protocolVersion === "string") {
      corpus.sessions.push({ id: started, revision: result.protocolVersion, token, live: true });
    }
    const member = LISTS.find((each) => Array.isArray(result[each]));
    if (member !== undefined && typeof result.nextCursor === "string") {
      corpus.addCursor(member, result.nextCursor);
    }
    if (typeof result.taskId === "string" && result.resultType === "task") {
      corpus.tasks.push({ id: result.taskId, token });
    }
    if (result.resultType === "input_required" && isObject(value) && isObject(value.params)) {
      const { _meta: _, requestState: _state, inputResponses: _responses, ...params } = value.params;
      corpus.inputRequired.push({
        method: String(value.method),
        params,
        state: String(result.requestState),
        requests: result.inputRequests as Record<string, { method: string }>,
        token,
      });
    }
  }
}
