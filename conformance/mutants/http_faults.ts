/**
 * Changes requests and responses: the parts that most faults consist of.
 *
 * @module
 */
import type { Handler, Wrap } from "./mutant.ts";

export const TOKEN = "/oauth/token";
export const AUTHORIZE = "/oauth/authorize";
export const LOGIN = "/login";
export const RESOURCE = "/api/user";
export const REGISTER = "/oauth/register";
export const INTROSPECT = "/oauth/introspect";
export const REVOKE = "/oauth/revoke";
export const PUSH = "/oauth/par";
export const DEVICE = "/oauth/device_authorization";
export const METADATA = "/.well-known/oauth-authorization-server";
export const KEYS = "/.well-known/jwks.json";

export const pathOf = (request: Request): string => new URL(request.url).pathname;

/** Limits a fault to one path. */
export function onPath(path: string, wrap: (next: Handler) => Handler): Wrap {
  const limited = (next: Handler): Handler => {
    const faulty = wrap(next);
    return async (request) => await (pathOf(request) === path ? faulty : next)(request);
  };
  return Object.assign(limited, { path });
}

/** Changes requests to one path. */
export function changeRequests(
  path: string,
  change: (request: Request) => Request | Promise<Request>,
): Wrap {
  return onPath(path, (next) => async (request) => await next(await change(request)));
}

/** Changes responses of one path, or of all (`undefined`). */
export function changeResponses(
  path: string | undefined,
  change: (answer: Response, request: Request) => Response | Promise<Response>,
): Wrap {
  const wrap = (next: Handler): Handler => async (request) => await change(await next(request), request);
  return path === undefined ? wrap : onPath(path, wrap);
}

/** Changes the parameters of posted forms. */
export function changeForms(
  path: string,
  change: (form: URLSearchParams, request: Request) => void,
): Wrap {
  return changeRequests(path, async (request) => {
    const form = await readForm(request);
    if (!form) return request;
    change(form, request);
    return withForm(request, form);
  });
}

/** Changes the parameters of authorization requests. */
export function changeQueries(change: (query: URLSearchParams) => void): Wrap {
  return changeRequests(AUTHORIZE, (request) => {
    if (request.method === "POST") return request;
    const url = new URL(request.url);
    const before = url.searchParams.toString();
    change(url.searchParams);
    return url.searchParams.toString() === before ? request : withUrl(request, url);
  });
}

/** Changes JSON objects in responses of one path. */
export function changeJson(
  path: string,
  change: (json: Record<string, unknown>, answer: Response, request: Request) => unknown,
): Wrap {
  return changeResponses(path, async (answer, request) => {
    const text = await answer.clone().text();
    if (!text.startsWith("{")) return answer;
    const json = JSON.parse(text);
    change(json, answer, request);
    return withBody(answer, JSON.stringify(json));
  });
}

/** Changes the Location of redirects. */
export function changeRedirects(
  path: string,
  change: (location: URL, request: Request) => URL | string,
): Wrap {
  return changeResponses(path, (answer, request) => {
    const location = answer.headers.get("location");
    if (location === null) return answer;
    return withHeaders(answer, { location: String(change(new URL(location, request.url), request)) });
  });
}

/** Reads the form of a POST; `undefined` if it is not one. The request can still be read. */
export async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  const isForm = request.method === "POST" &&
    /^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get("content-type") ?? "");
  return isForm ? new URLSearchParams(await request.clone().text()) : undefined;
}

export function withForm(request: Request, form: URLSearchParams): Request {
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/x-www-form-urlencoded");
  headers.delete("content-length");
  return new Request(request.url, { method: "POST", headers, body: form.toString() });
}

export function withUrl(request: Request, url: URL): Request {
  return new Request(url, { method: request.method, headers: request.headers });
}

/** Sets headers of a request; `undefined` removes one. */
export function withRequestHeaders(
  request: Request,
  fields: Readonly<Record<string, string | undefined>>,
): Request {
  const headers = new Headers(request.headers);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  // Bun treats an empty Headers as absent and would keep the old ones.
  return request.body
    ? new Request(request, { headers })
    : new Request(request.url, { method: request.method, headers });
}

/** Sets headers of a response; `undefined` removes one. */
export function withHeaders(
  answer: Response,
  fields: Readonly<Record<string, string | undefined>>,
  status: number = answer.status,
): Response {
  const headers = new Headers(answer.headers);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  return new Response(answer.body, { status, headers });
}

export function withBody(answer: Response, body: string, status: number = answer.status): Response {
  const headers = new Headers(answer.headers);
  headers.delete("content-length");
  return new Response(body, { status, headers });
}
