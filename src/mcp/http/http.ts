/**
 * The endpoints over HTTP, and what all of them share: the guard against other origins, preflights, and which methods
 * there are. `http_post.ts` is the ladder from a request to a message, `http_answer.ts` leads back.
 *
 * @module
 */
import { allowEveryOrigin, answerPreflight } from "../../http/cors.ts";
import { respond } from "../../http/response.ts";
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import { createAnswers } from "./http_answer.ts";
import { createAdmit, type Handler, type HttpOptions, type SseFactory } from "./http_options.ts";
import { createPostHandler } from "./http_post.ts";
import { createSessionHandler } from "./http_session.ts";

export interface HttpHandlers {
  /** The one endpoint. */
  readonly endpoint: Handler;
  /** The two of 2024-11-05, where they are served. */
  readonly sse: ReturnType<SseFactory> | undefined;
}

/** Handlers for the one endpoint, and, with `createSse`, those of 2024-11-05, whose messages go to `postPath`. */
export function createHttpHandlers(
  options: HttpOptions,
  createSse: SseFactory | undefined,
  postPath: string,
): HttpHandlers {
  const answers = createAnswers(options);
  const admit = createAdmit(options, answers);
  const post = createPostHandler(options, answers, admit);
  const onSession = createSessionHandler(options, answers, admit);
  const sse = createSse?.(options, answers, admit, postPath);

  /** What all endpoints share: the guard, preflights, and which methods there are. */
  function guard(methods: ReadonlyMap<string, Handler>): Handler {
    const allow = [...methods.keys(), "OPTIONS"].join(", ");
    return async (request, context) => {
      const problem = options.checkSender(request);
      if (problem !== undefined) return answers.refuse(403, INVALID_REQUEST, problem);
      const handle = methods.get(request.method);
      if (handle) {
        try {
          return allowEveryOrigin(request, await handle(request, context));
        } catch (error) {
          return allowEveryOrigin(request, answers.refuseFault(error));
        }
      }
      const preflight = answerPreflight(request, allow);
      if (preflight) return preflight;
      return request.method === "OPTIONS"
        ? respond(204, null, [["allow", allow]])
        : answers.useAnotherMethod(allow);
    };
  }

  return {
    endpoint: guard(new Map([["POST", post], ["GET", onSession], ["DELETE", onSession]])),
    sse: sse && { open: guard(new Map([["GET", sse.open]])), post: guard(new Map([["POST", sse.post]])) },
  };
}
