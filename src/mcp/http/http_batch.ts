/**
 * A batch in a POST (https://modelcontextprotocol.io/specification/2025-03-26/basic#batching). Loads with the first one.
 *
 * @module
 */
import { jsonFields, respond } from "../../http/response.ts";
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import type { Response as RpcResponse } from "../../jsonrpc/message.ts";
import type { BatchOptions } from "../batch.ts";
import { type Sender, toCallRequest } from "../call_request.ts";
import type { Era } from "../era.ts";
import { type Answers, toPlainError } from "./http_answer.ts";
import type { HttpOptions } from "./http_options.ts";

/** Answers a batch. `deliver` passes responses of the client on. */
export async function answerBatch(
  { exchange }: HttpOptions,
  answers: Answers,
  values: readonly unknown[],
  era: Era,
  sender: Sender,
  request: Request,
  deliver: BatchOptions["deliver"],
): Promise<Response> {
  const { principal, session } = sender;
  const outcome = await exchange.answerBatch(values, {
    era,
    revision: era.profile === "plain" ? undefined : era.revision,
    inSeries: session !== undefined,
    deliver,
    createCall: (message) => exchange.createCall(toCallRequest(sender, era, message), { request }),
  });
  if ("sizeError" in outcome) {
    return answers.write({ id: null, error: outcome.sizeError }, era, principal);
  }
  if ("refusal" in outcome) return answers.refuse(400, INVALID_REQUEST, outcome.refusal, era);
  const { responses } = outcome;
  if (responses === undefined) return answers.accepted(era);
  if (!isList(responses)) return answers.write(responses, era, principal);
  const shown = era.profile === "plain" ? responses.map(toPlainError) : responses;
  const text = `[${shown.map((each) => answers.text(each, era, principal)).join(",")}]`;
  return respond(200, text, jsonFields(...answers.fields(era)));
}

function isList(value: readonly RpcResponse[] | RpcResponse): value is readonly RpcResponse[] {
  return Array.isArray(value);
}
