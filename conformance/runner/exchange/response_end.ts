/**
 * When JSON-RPC messages have their responses: the end of a step that sends them, although the server may keep
 * the event stream open (`FORMAT.md` section 6).
 *
 * @module
 */
import { toText } from "./bytes.ts";
import { EventReader } from "./event_reader.ts";
import type { OpenResponse, Sender } from "./exchange.ts";
import { findMismatch, parseJson } from "../vector/match.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { isEventStream, isResponse } from "../vector/view.ts";
import type { VectorContext } from "../context.ts";

export type IsEnough = (messages: readonly unknown[]) => Promise<boolean>;

/** Creates a check for the end of the step: every request has its response, or a message matches `until`. */
export function createEndCheck(
  lines: readonly string[],
  until: unknown,
  { variables }: Pick<VectorContext, "variables">,
): IsEnough {
  let seen = 0;
  if (until !== undefined) {
    return async (messages) => {
      for (; seen < messages.length; seen++) {
        if (!await findMismatch(until, messages[seen], variables)) return true;
      }
      return false;
    };
  }
  const sent = lines.map(parseJson);
  const open = new Set(sent.filter(isRequest).map((request) => (request as JsonObject)["id"]));
  let batches = sent.filter((each) => Array.isArray(each) && each.some(isRequest)).length;
  return (messages) => {
    for (; seen < messages.length; seen++) {
      const message = messages[seen];
      if (Array.isArray(message)) batches--;
      else if (isResponse(message)) open.delete((message as JsonObject)["id"]);
    }
    return Promise.resolve(batches <= 0 && open.size === 0);
  };
}

function isRequest(value: unknown): boolean {
  return isJsonObject(value) && typeof value["method"] === "string" &&
    (typeof value["id"] === "string" || typeof value["id"] === "number");
}

/**
 * A sender for which the body of an event stream ends with the chunk that completes the response to the JSON-RPC
 * message of the request, or with the stream. Other bodies are complete.
 */
export function endWithResponse(sender: Sender, context: Pick<VectorContext, "variables">): Sender {
  return {
    async open(outgoing, limits, signal) {
      const opened = await sender.open(outgoing, limits, signal);
      const text = outgoing.body && isEventStream(opened.fields) ? toText(outgoing.body) : "";
      return isMessage(parseJson(text))
        ? endEvents(opened, createEndCheck([text], undefined, context))
        : opened;
    },
    close: () => sender.close(),
  };
}

function endEvents(opened: OpenResponse, isEnough: IsEnough): OpenResponse {
  const reader = new EventReader();
  const messages: unknown[] = [];
  let ended = false;
  return {
    ...opened,
    async next() {
      if (ended) {
        opened.cancel();
        return undefined;
      }
      const chunk = await opened.next();
      if (chunk) { for (const { json } of reader.push(chunk)) messages.push(json); }
      ended = messages.length > 0 && await isEnough(messages);
      return chunk;
    },
  };
}

/** Whether this is a JSON-RPC message or a batch. */
function isMessage(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isMessage) : isJsonObject(value) && "jsonrpc" in value;
}
