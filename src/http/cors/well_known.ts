/**
 * CORS of well-known URIs (RFC 8615), whichever service answers them.
 *
 * @module
 */
import { pathOf } from "../router.ts";
import { allowEveryOrigin } from "./cors.ts";

/** Whether the path is a well-known URI (RFC 8615), which every origin may read. */
export function isWellKnown(path: string): boolean {
  return path.includes("/.well-known/");
}

/** Allows scripts of every origin to read the response, if the request is for a well-known URI. */
export function allowWellKnown(request: Request, response: Response): Response {
  return isWellKnown(pathOf(request.url)) ? allowEveryOrigin(request, response) : response;
}
