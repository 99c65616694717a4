/**
 * A batch in a POST (https://modelcontextprotocol.io/specification/2025-03-26/basic#batching). Loads with the first one.
 *
 * @module
 */
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import type { BatchOptions } from "../batch.ts";
import { type Sender, toCallRequest } from "../call_request.ts";
import type { Era } from "../era.ts";
import type { Answers } from "./http_answer.ts";
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
  return responses === undefined ? answers.accepted(era) : answers.writeBatch(responses, era, principal);
}
