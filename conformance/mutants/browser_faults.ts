/**
 * Faults in responses to browsers: framing, redirects, header injection.
 *
 * @module
 */
import { AUTHORIZE, changeResponses, onPath, readForm, withHeaders } from "./http_faults.ts";
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

/** The transaction in the form of a consent page. */
export const findTransaction = (page: string): string | undefined =>
  /name="transaction" value="([^"]+)"/.exec(page)?.[1];

/**
 * Changes responses of the authorization endpoint.
 *
 * @param change receives the query of the authorization request too, also when the browser submits its consent page
 */
export function changeAuthorizations(
  change: (answer: Response, query: URLSearchParams) => Response,
): Wrap {
  return onPath(AUTHORIZE, (next) => {
    const queries = new Map<string, URLSearchParams>();
    // Another server's form may have no transaction.
    let last = new URLSearchParams();
    return async (request) => {
      if (request.method !== "GET") {
        const transaction = (await readForm(request))?.get("transaction") ?? "";
        return change(await next(request), queries.get(transaction) ?? last);
      }
      const query = last = new URL(request.url).searchParams;
      const answer = await next(request);
      const transaction = findTransaction(await answer.clone().text());
      if (transaction !== undefined) queries.set(transaction, query);
      return change(answer, query);
    };
  });
}

/** Changes the Location of a redirect. */
export function changeLocation(answer: Response, change: (location: URL) => URL): Response {
  const location = URL.parse(answer.headers.get("location") ?? "");
  return location ? withHeaders(answer, { location: change(location).href }) : answer;
}
