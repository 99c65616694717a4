/**
 * The HTTP endpoints: routes each HTTP method to its handler, after the check of Host and Origin and CORS preflights.
 *
 * @module
 */
import { allowEveryOrigin, answerPreflight } from "../../http/cors.ts";
import { respond } from "../../http/response.ts";
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import { eraOfHeaders } from "../era.ts";
import { createAnswers } from "./http_answer.ts";
import { createAdmit, type Handler, type HttpOptions, type SseFactory } from "./http_options.ts";
import { createPostHandler } from "./http_post.ts";
import { lazy } from "../lazy.ts";

export interface HttpHandlers {
  /** The MCP endpoint, `/mcp`. */
  readonly endpoint: Handler;
  /** The response to a request that failed. */
  refuse(request: Request, error: unknown): Response;
  /** The two endpoints of HTTP+SSE (2024-11-05), when they are enabled. */
  readonly sse: ReturnType<SseFactory> | undefined;
}

/** Creates the handlers. `createSse` enables HTTP+SSE (2024-11-05), whose messages are posted to `postPath`. */
export function createHttpHandlers(
  options: HttpOptions,
  createSse: SseFactory | undefined,
  postPath: string,
): HttpHandlers {
  const answers = createAnswers(options);
  const admit = createAdmit(options, answers);
  const post = createPostHandler(options, answers, admit);
  const session = lazy(async () => {
    const { createSessionHandler } = await import("./http_session.ts");
    return { handle: createSessionHandler(options, answers, admit) };
  });
  const onSession: Handler = async (request, context) =>
    await (await session.load()).handle(request, context);
  const sse = createSse?.(options, answers, admit, postPath);

  const refuse = (request: Request, error: unknown): Response =>
    allowEveryOrigin(request, answers.refuseFault(error, eraOfHeaders(request.headers)));

  /** Checks Host and Origin, answers preflights, and routes by HTTP method. */
  function route(methods: ReadonlyMap<string, Handler>): Handler {
    const allow = [...methods.keys(), "OPTIONS"].join(", ");
    return async (request, context) => {
      const problem = options.checkSender(request);
      if (problem !== undefined) return answers.refuse(403, INVALID_REQUEST, problem);
      const handle = methods.get(request.method);
      if (handle) {
        try {
          const preparing = options.prepare();
          if (preparing) await preparing;
          return allowEveryOrigin(request, await handle(request, context));
        } catch (error) {
          return refuse(request, error);
        }
      }
      const preflight = answerPreflight(request, allow);
      if (preflight) return preflight;
      return request.method === "OPTIONS"
        ? respond(204, null, [["allow", allow]])
        : answers.methodNotAllowed(allow);
    };
  }

  return {
    refuse,
    endpoint: route(new Map([["POST", post], ["GET", onSession], ["DELETE", onSession]])),
    sse: sse && { open: route(new Map([["GET", sse.open]])), post: route(new Map([["POST", sse.post]])) },
  };
}
