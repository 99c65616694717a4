/**
 * `subscriptions/listen` over HTTP: the response to the POST is the stream
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/subscriptions).
 *
 * @module
 */
import { EventStream } from "../../http/event_stream.ts";
import { RpcError } from "../../jsonrpc/error.ts";
import type { Request as RpcRequest } from "../../jsonrpc/message.ts";
import type { Call } from "../call.ts";
import { NOTHING } from "../call_request.ts";
import { NO_CONNECTION } from "../connection.ts";
import { MODERN_ERA } from "../era.ts";
import type { Answers } from "./http_answer.ts";
import type { HttpOptions } from "./http_options.ts";
import { isCurrent } from "./recheck_token.ts";
import { startListening } from "./listen.ts";

/** Opens the stream; an error response for an invalid filter. */
export async function openListenStream(
  { outlet, stateful, now }: HttpOptions,
  answers: Answers,
  { id, params }: RpcRequest,
  call: Call,
): Promise<Response> {
  const { streams, listen } = await stateful.load();
  let release: () => void;
  try {
    release = streams.openStreams.open(call, undefined);
  } catch (error) {
    return refuse(error);
  }
  const stream = new EventStream({
    keepAlive: outlet.keepAlive,
    onDisconnect: () => end(),
    // While the store is unavailable the stream stays open.
    onKeepAlive: () => void isCurrent(call.principal, now).then((is) => is || end(), () => {}),
  });
  let stop = (): void => {};
  let finish = end;
  function end(): void {
    streams.open.delete(finish);
    release();
    stop();
    stream.close();
  }
  function refuse(error: unknown): Response {
    if (!(error instanceof RpcError)) throw error;
    return answers.write({ id: id ?? undefined, error }, MODERN_ERA, call.principal);
  }
  try {
    const listening = await startListening(listen, call, params, (json) => stream.send(json));
    releaseRequest(call);
    stop = listening.stop;
    finish = () => {
      stream.send(listening.finalResult);
      end();
    };
  } catch (error) {
    release();
    stream.close();
    return refuse(error);
  }
  // The client may have disconnected while tasks were read.
  if (stream.isOpen) streams.open.add(finish);
  else stop();
  return stream.response(answers.fields(MODERN_ERA));
}

/** Releases the content of the request: the stream may stay open for days, and it may be large. */
function releaseRequest(call: Call): void {
  const { request } = call;
  const runtime = { ip: request.runtime?.ip };
  call.request = { ...request, meta: NOTHING, capabilities: NOTHING, headers: undefined, runtime };
  call.connection = NO_CONNECTION;
}
