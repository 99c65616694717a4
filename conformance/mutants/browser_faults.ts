/**
 * Faults in responses to browsers: framing, redirects, header injection.
 *
 * @module
 */
import { changeResponses, withHeaders } from "./http_faults.ts";
import type { Wrap } from "./mutant.ts";

/** Lets other sites frame the pages of a path. */
export const withoutFrameProtection = (path: string): Wrap =>
  changeResponses(
    path,
    (answer) => withHeaders(answer, { "x-frame-options": undefined, "content-security-policy": undefined }),
  );

/** Redirects with another status. */
export const redirectWith = (path: string, status: number): Wrap =>
  changeResponses(
    path,
    (answer, request) =>
      request.method === "POST" && answer.status < 400
        ? withHeaders(answer, { location: answer.headers.get("location") ?? "/" }, status)
        : answer,
  );

/** Writes a parameter with line breaks into a header, so that the lines become headers. */
export function injectHeaders(path: string, parameter: string): Wrap {
  return changeResponses(path, (answer, request) => {
    const [, ...lines] = (new URL(request.url).searchParams.get(parameter) ?? "").split("\r\n");
    const headers = new Headers(answer.headers);
    for (const line of lines) {
      const [name = "", ...value] = line.split(": ");
      if (name === "" || value.length === 0) break;
      headers.append(name, value.join(": "));
    }
    return new Response(answer.body, { status: answer.status, headers });
  });
}
