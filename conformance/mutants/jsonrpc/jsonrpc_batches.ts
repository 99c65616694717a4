/**
 * Faults in how JSON-RPC batches are answered.
 *
 * @module
 */
import { RPC } from "./jsonrpc_requests.ts";
import type { Mutant } from "../mutant.ts";
import { faultyResponses, isObject, readJson } from "./rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `jsonrpc/${id}`);

export const RPC_BATCHES: readonly Mutant[] = [
  {
    name: "jsonrpc/batch-first-only",
    fault: "Answers the first request of a batch alone",
    wrap: faultyResponses(RPC, (value) => Array.isArray(value) ? value.slice(0, 1) : value),
    breaks: names(
      "batch/two-requests",
      "batch/three-numbers",
      "batch/same-id-twice",
      "batch/bad-beside-good",
    ),
    mayBreak: {
      "Several responses are due to their batches": names(
        "examples/batch-mixed",
        "examples/batch-of-numbers",
      ),
    },
  },
  {
    name: "jsonrpc/batch-by-id",
    fault: "Keeps one response for each id of a batch",
    wrap: faultyResponses(
      RPC,
      (value) => Array.isArray(value) ? [...new Map(value.map((each) => [each.id, each])).values()] : value,
    ),
    breaks: names("batch/same-id-twice", "batch/three-numbers"),
    mayBreak: { "The responses to its batch all have null for an id": names("examples/batch-of-numbers") },
  },
  {
    name: "jsonrpc/batch-spoiled",
    fault: "Refuses a whole batch for one value that is no request",
    wrap: faultyResponses(
      RPC,
      (value) =>
        Array.isArray(value)
          ? value.find((each) =>
            isObject(each) && isObject(each["error"]) && each["error"]["code"] === -32600
          ) ??
            value
          : value,
    ),
    breaks: names("batch/bad-beside-good", "batch/one-number", "examples/batch-mixed"),
    mayBreak: {
      "The numbers in their batches are no requests": names(
        "batch/three-numbers",
        "examples/batch-of-numbers",
        "examples/batch-of-one-number",
      ),
    },
  },
  {
    name: "jsonrpc/batch-empty-as-array",
    fault: "Answers an empty batch with an array",
    wrap: faultyResponses(RPC, (value, sent) => Array.isArray(sent) && sent.length === 0 ? [value] : value),
    breaks: names("batch/empty", "examples/batch-empty"),
  },
  {
    name: "jsonrpc/batch-of-nothing-answered",
    fault: "Answers a batch of notifications with an empty array",
    wrap: (next) => async (request) => {
      const sent = request.method === "POST" ? readJson(await request.clone().text()) : undefined;
      const answer = await next(request);
      const isNothing = Array.isArray(sent) && answer.status === 204;
      return isNothing ? Response.json([]) : answer;
    },
    breaks: names("batch/notifications-alone", "examples/batch-of-notifications"),
    mayBreak: {
      "Its batch is of notifications alone, too": names("examples/notifications-that-fail-in-a-batch"),
    },
  },
];
