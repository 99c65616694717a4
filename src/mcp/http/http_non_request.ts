/**
 * A notification, a response of the client or an invalid message in a POST
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

/** Answers a message that is no request. `deliver` passes responses of the client on. */
export async function answerNonRequest(
  { exchange }: HttpOptions,
  answers: Answers,
  message: Exclude<Message, RpcRequest>,
  era: Era,
  sender: Sender,
  request: Request,
  deliver: BatchOptions["deliver"],
): Promise<Response> {
  if (message.kind !== "response") {
    const call = exchange.createCall(toCallRequest(sender, era, message), { request });
    const response = await exchange.accept(message, call);
    return response ? answers.write(response, era, sender.principal) : answers.accepted(era);
  }
  if (era.profile === "modern") {
    const problem = `Invalid Request: revision ${era.revision} has no requests to respond to`;
    return answers.refuse(400, INVALID_REQUEST, problem, era);
  }
  return await deliver(message)
    ? answers.accepted(era)
    : answers.refuse(400, INVALID_REQUEST, "Invalid Request: no pending request has this id", era);
}
