/**
 * The answers at paths of no service: the page at the base path, and 404. Loads with the first such request.
 *
 * @module
 */
import { acceptNames } from "./body/media_type.ts";
import { answerPreflight } from "./cors/preflight.ts";
import { allowWellKnown, isWellKnown } from "./cors/well_known.ts";
import { respondText } from "./response.ts";

/** What answers at these paths. */
export interface OtherPaths {
  /** The path of the server, `""` or `/tenant`. */
  readonly base: string;
  /** The page at the base path. @default not found */
  readonly home?: ((request: Request) => Promise<Response>) | undefined;
  /** 404 for a browser. @default plain text */
  readonly notFound?: ((request: Request) => Promise<Response>) | undefined;
}

/** The response. @param path of the request */
export async function answerOtherPath(
  request: Request,
  path: string,
  { base, home, notFound }: OtherPaths,
): Promise<Response> {
  const { method } = request;
  if (home && (path === base + "/" || path === base && base !== "")) {
    if (method === "GET" || method === "HEAD") return await home(request);
    return respondText(405, "Method not allowed. Allowed: GET, HEAD.", [["allow", "GET, HEAD"]]);
  }
  const preflight = isWellKnown(path) ? answerPreflight(request, "GET, HEAD") : undefined;
  const isNavigation = method === "GET" && acceptNames(request.headers.get("accept"), "text/html");
  if (notFound && isNavigation && !isWellKnown(path)) return await notFound(request);
  const text = home ? `Not found. See ${base}/ for the available endpoints.` : "Not found.";
  return allowWellKnown(request, preflight ?? respondText(404, text));
}
