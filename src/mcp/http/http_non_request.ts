/**
 * A notification, a response of the client, an invalid message or a batch in a POST
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server). Loads with the
 * first one.
 *
 * @module
 */
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import type { Message, Request as RpcRequest } from "../../jsonrpc/message.ts";
import type { BatchOptions } from "../batch.ts";
import { type Sender, toCallRequest } from "../call_request.ts";
import type { Era } from "../era.ts";
import type { Answers } from "./http_answer.ts";
import type { HttpOptions } from "./http_options.ts";

/** Passes responses of the client on to the requests of the session. */
function deliverFor(
  { stateful }: HttpOptions,
  { session, principal }: Sender,
): BatchOptions["deliver"] {
  return async (message) =>
    !session || await stateful.value!.acceptClientResponse(session, principal, message);
}

/** Answers a message that is no request, or a batch. */
export async function answerNonRequest(
  options: HttpOptions,
  answers: Answers,
  message: Exclude<Message, RpcRequest> | readonly unknown[],
  era: Era,
  sender: Sender,
  request: Request,
): Promise<Response> {
  const { exchange } = options;
  if (isList(message)) {
    const { answerBatch } = await import("./http_batch.ts");
    return await answerBatch(options, answers, message, era, sender, request, deliverFor(options, sender));
  }
  if (message.kind !== "response") {
    const call = exchange.createCall(toCallRequest(sender, era, message), { request });
    const response = await exchange.accept(message, call);
    return response ? answers.write(response, era, sender.principal) : answers.accepted(era);
  }
  if (era.profile === "modern") {
    const problem = `Invalid Request: revision ${era.revision} has no requests to respond to`;
    return answers.refuse(400, INVALID_REQUEST, problem, era);
  }
  return await deliverFor(options, sender)(message)
    ? answers.accepted(era)
    : answers.refuse(400, INVALID_REQUEST, "Invalid Request: no pending request has this id", era);
}

function isList(value: object): value is readonly unknown[] {
  return Array.isArray(value);
}
