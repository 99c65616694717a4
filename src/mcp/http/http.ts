/**
 * The HTTP endpoints: routes each HTTP method to its handler, after the checks of Host and Origin.
 *
 * @module
 */
import { allowOrigin } from "../../http/cors/cors.ts";
import { createHostGuard } from "../../http/network/origin.ts";
import { respondText } from "../../http/response.ts";
import { pathOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import { eraOfHeaders } from "../era.ts";
import { createAnswers } from "./http_answer.ts";
import { createAdmit, type Handler, type HttpOptions, type SseFactory } from "./http_options.ts";
import { createPostHandler } from "./http_post.ts";
import { lazy } from "../lazy.ts";

export interface HttpHandlers {
  /** Answers a request to any path of the server. */
  serve(request: Request, context: RequestContext): Response | Promise<Response>;
  /** The response to a request that failed. */
  refuse(request: Request, error: unknown): Response;
}

/**
 * Creates the handlers of the endpoint at `path`. `createSse` enables HTTP+SSE (2024-11-05), and `card` is the server card,
 * below it.
 */
export function createHttpHandlers(
  options: HttpOptions,
  path: string,
  createSse: SseFactory | undefined,
  card: Handler | undefined,
): HttpHandlers {
  const { isLocal, checkHost, checkOrigin } = createHostGuard(options);
  const answers = createAnswers(options);
  const admit = createAdmit(options, answers);
  const post = createPostHandler(options, answers, admit);
  const session = lazy(async () =>
    (await import("./http_session.ts")).createSessionHandler(options, answers, admit)
  );
  const onSession: Handler = async (request, context) => await (await session.load())(request, context);
  const sse = createSse?.(options, answers, admit, `${path}/messages`);

  /** Lets scripts of an allowed origin read the response: on loopback that origin only, else every origin. */
  const allow = (origin: string | null, response: Response): Response =>
    origin === null ? response : allowOrigin(response, isLocal ? origin : "*");

  const refuse = (request: Request, error: unknown): Response =>
    allow(request.headers.get("origin"), answers.refuseFault(error, eraOfHeaders(request.headers)));

  const forbid = (problem: string | undefined): Response | undefined =>
    problem === undefined ? undefined : answers.refuse(403, INVALID_REQUEST, problem);

  /** Checks Origin, and routes by HTTP method. */
  function route(...entries: readonly (readonly [method: string, Handler])[]): Handler {
    const methods = new Map(entries);
    const allowed = [...methods.keys(), "OPTIONS"].join(", ");
    const answerOther: Handler = async (request) =>
      (await import("./http_other_method.ts")).answerOtherMethod(request, answers, allowed);
    return async (request, context) => {
      const origin = request.headers.get("origin");
      const refused = forbid(checkOrigin(origin));
      if (refused) return refused;
      const handle = methods.get(request.method);
      try {
        const preparing = handle && options.prepare();
        if (preparing) await preparing;
        return allow(origin, await (handle ?? answerOther)(request, context));
      } catch (error) {
        return refuse(request, error);
      }
    };
  }

  const handlers = new Map([[path, route(["POST", post], ["GET", onSession], ["DELETE", onSession])]]);
  if (card) handlers.set(`${path}/server-card`, card);
  if (sse) {
    handlers.set(`${path}/sse`, route(["GET", sse.open])).set(`${path}/messages`, route(["POST", sse.post]));
  }

  return {
    serve: (request, context) =>
      forbid(checkHost(request)) ?? handlers.get(pathOf(request.url))?.(request, context) ??
        respondText(404, `Not found. The MCP endpoint is ${path}`),
    refuse,
  };
}
