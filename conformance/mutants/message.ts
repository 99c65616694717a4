/**
 * Requests and answers with one thing changed: what most faults are made of.
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

/** A fault of one path: what goes elsewhere does not meet it. */
export function at(path: string, wrap: (next: Handler) => Handler): Wrap {
  const limited = (next: Handler): Handler => {
    const faulty = wrap(next);
    return async (request) => await (pathOf(request) === path ? faulty : next)(request);
  };
  return Object.assign(limited, { path });
}

/** Changes requests to one path, and leaves the others alone. */
export function faultyRequests(
  path: string,
  change: (request: Request) => Request | Promise<Request>,
): Wrap {
  return at(path, (next) => async (request) => await next(await change(request)));
}

/** Changes answers of one path (of all: `undefined`). */
export function faultyAnswers(
  path: string | undefined,
  change: (answer: Response, request: Request) => Response | Promise<Response>,
): Wrap {
  const wrap = (next: Handler): Handler => async (request) => await change(await next(request), request);
  return path === undefined ? wrap : at(path, wrap);
}

/** Changes the parameters of forms. */
export function faultyForms(
  path: string,
  change: (form: URLSearchParams, request: Request) => void,
): Wrap {
  return faultyRequests(path, async (request) => {
    const form = await readForm(request);
    if (!form) return request;
    change(form, request);
    return withForm(request, form);
  });
}

/** Changes the parameters of authorization requests. */
export function faultyQueries(change: (query: URLSearchParams) => void): Wrap {
  return faultyRequests(AUTHORIZE, (request) => {
    if (request.method === "POST") return request;
    const url = new URL(request.url);
    const before = url.searchParams.toString();
    change(url.searchParams);
    return url.searchParams.toString() === before ? request : withUrl(request, url);
  });
}

/** Changes JSON objects of one path. */
export function faultyJson(
  path: string,
  change: (json: Record<string, unknown>, answer: Response, request: Request) => unknown,
): Wrap {
  return faultyAnswers(path, async (answer, request) => {
    const text = await answer.clone().text();
    if (!text.startsWith("{")) return answer;
    const json = JSON.parse(text);
    change(json, answer, request);
    return withBody(answer, JSON.stringify(json));
  });
}

/** Changes where browsers are sent. */
export function faultyRedirects(
  path: string,
  change: (location: URL, request: Request) => URL | string,
): Wrap {
  return faultyAnswers(path, (answer, request) => {
    const location = answer.headers.get("location");
    if (location === null) return answer;
    return withFields(answer, { location: String(change(new URL(location, request.url), request)) });
  });
}

/** The form that a request posts; `undefined` when it sends none. The request can still be read. */
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

/** The same request with fields set, or (`undefined`) left out. */
export function withRequestFields(
  request: Request,
  fields: Readonly<Record<string, string | undefined>>,
): Request {
  const headers = new Headers(request.headers);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  // Bun takes empty fields for none given, and would keep the old ones.
  return request.body
    ? new Request(request, { headers })
    : new Request(request.url, { method: request.method, headers });
}

/** The same answer with fields set, or (`undefined`) left out. */
export function withFields(
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
