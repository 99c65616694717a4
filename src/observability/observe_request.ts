/**
 * Answers a request for a server with the option `onRequest`. Loads with the first one.
 *
 * @module
 */
import { pathOf } from "../http/router.ts";
import type { RequestContext } from "../http/service.ts";
import { createRequestIds, type ObserveRequest, shortPath } from "./request_outcome.ts";

const nextId = createRequestIds();

/**
 * The response, with the id of its request, which `onRequest` gets.
 * @param trace the trace id. @default that of the request
 */
export async function answerObserved(
  { onRequest, requestId = nextId }: {
    readonly onRequest: ObserveRequest;
    readonly requestId: (() => string) | undefined;
  },
  request: Request,
  context: RequestContext,
  answer: (request: Request, context: RequestContext) => Promise<Response>,
  trace: string | undefined,
): Promise<Response> {
  const began = performance.now();
  const id = requestId();
  const { method, url, headers } = request;
  trace ??= readTraceId(headers.get("traceparent"));
  const response = await answer(request, context);
  response.headers.set("x-request-id", id);
  onRequest({
    id,
    method,
    path: shortPath(pathOf(url)),
    status: response.status,
    milliseconds: performance.now() - began,
    ip: context.ip,
    ...(trace !== undefined && { trace }),
  });
  return response;
}

/** The trace id; `undefined` for an absent or invalid field. */
function readTraceId(traceparent: string | null): string | undefined {
  const match = traceparent === null
    ? null
    : /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/.exec(traceparent);
  return match?.[1];
}
