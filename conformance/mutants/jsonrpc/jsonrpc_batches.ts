/**
 * Faults in responses to JSON-RPC batches.
 *
 * @module
 */
import { RPC } from "./jsonrpc_requests.ts";
import type { Mutant } from "../mutant.ts";
import { changeMessages, changeRpcResponses, isObject, readJson } from "./message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `jsonrpc/${id}`);

export const RPC_BATCHES: readonly Mutant[] = [
  {
    name: "jsonrpc/batch-first-only",
    fault: "Answers only the first request of a batch",
    wrap: changeRpcResponses(RPC, (value) => Array.isArray(value) ? value.slice(0, 1) : value),
    killedBy: names(
      "batch/two-requests",
      "batch/three-numbers",
      "batch/same-id-twice",
      "batch/bad-beside-good",
    ),
    mayFail: {
      "They send long batches": ["jsonrpc/batch/of-40"],

      "Their batches have several responses": names(
        "examples/batch-mixed",
        "examples/batch-of-numbers",
      ),
    },
  },
  ...[20, 100].map((length): Mutant => ({
    name: `jsonrpc/batch-cut-at-${length}`,
    fault: `Reads only the first ${length} requests of a batch`,
    wrap: changeMessages(RPC, (value) => Array.isArray(value) ? value.slice(0, length) : value),
    killedBy: names("batch/of-150", "batch/of-600", ...(length < 40 ? ["batch/of-40"] : [])),
  })),
  {
    name: "jsonrpc/batch-by-id",
    fault: "Keeps one response for each id of a batch",
    wrap: changeRpcResponses(
      RPC,
      (value) => Array.isArray(value) ? [...new Map(value.map((each) => [each.id, each])).values()] : value,
    ),
    killedBy: names("batch/same-id-twice", "batch/three-numbers"),
    mayFail: {
      "They send long batches": ["jsonrpc/batch/of-40"],
      "All responses to its batch have a null id": names("examples/batch-of-numbers"),
    },
  },
  {
    name: "jsonrpc/batch-refused-whole",
    fault: "Refuses a whole batch for one invalid request",
    wrap: changeRpcResponses(
      RPC,
      (value) =>
        Array.isArray(value)
          ? value.find((each) =>
            isObject(each) && isObject(each["error"]) && each["error"]["code"] === -32600
          ) ??
            value
          : value,
    ),
    killedBy: names("batch/bad-beside-good", "batch/one-number", "examples/batch-mixed"),
    mayFail: {
      "Their batches contain numbers": names(
        "batch/three-numbers",
        "examples/batch-of-numbers",
        "examples/batch-of-one-number",
      ),
    },
  },
  {
    name: "jsonrpc/batch-empty-as-array",
    fault: "Answers an empty batch with an array",
    wrap: changeRpcResponses(
      RPC,
      (value, sent) => Array.isArray(sent) && sent.length === 0 ? [value] : value,
    ),
    killedBy: names("batch/empty", "examples/batch-empty"),
  },
  {
    name: "jsonrpc/batch-of-notifications-answered",
    fault: "Answers a batch of notifications with an empty array",
    wrap: (next) => async (request) => {
      const sent = request.method === "POST" ? readJson(await request.clone().text()) : undefined;
      const answer = await next(request);
      const isNothing = Array.isArray(sent) && answer.status === 204;
      return isNothing ? Response.json([]) : answer;
    },
    killedBy: names("batch/notifications-alone", "examples/batch-of-notifications"),
    mayFail: {
      "Its batch contains only notifications": names("examples/notifications-that-fail-in-a-batch"),
    },
  },
];
