/**
 * A server that takes a value for the right one because it resembles it: in the other case, percent-encoded, or by its
 * beginning.
 *
 * @module
 */
import { pathOf, readForm, withForm, withRequestHeaders, withUrl } from "../http_faults.ts";
import type { Handler, Wrap } from "../mutant.ts";
import { CLIENTS, parseBasic, toBasic } from "../registered_clients.ts";

export type Resembles = (sent: string, right: string) => boolean;

/** Parameters whose values are compared with values that the server knows. */
const PARAMETERS = [
  "client_id",
  "client_secret",
  "code",
  "device_code",
  "redirect_uri",
  "refresh_token",
  "request_uri",
  "subject_token",
  "token",
];
/** Members of JSON responses, and parameters of redirects, that hold a value which the client sends back. */
const ISSUED = ["access_token", "code", "device_code", "refresh_token", "request_uri"];

/**
 * Replaces values in requests to a path with the right ones that they resemble: those of the registered clients, and
 * those that the server issued.
 */
export function acceptSimilarValues(path: string, resembles: Resembles): Wrap {
  const wrap = (next: Handler): Handler => {
    const issued = new Set<string>();
    const correct = (sent: string): string => {
      // The longest first, because the id of a client may be the beginning of its secret.
      const known = [...registeredValues(), ...issued].sort((one, other) => other.length - one.length);
      return known.includes(sent) ? sent : known.find((right) => resembles(sent, right)) ?? sent;
    };
    return async (request) => {
      const answer = await next(pathOf(request) === path ? await correctRequest(request, correct) : request);
      for (const value of await readIssued(answer, request.url)) issued.add(value);
      return answer;
    };
  };
  return Object.assign(wrap, { path });
}

const registeredValues = (): string[] =>
  CLIENTS.flatMap(({ id, secret, redirect_uri }) => [id, secret, redirect_uri]).filter((each) =>
    each !== undefined
  );

async function correctRequest(request: Request, correct: (sent: string) => string): Promise<Request> {
  let corrected = request;
  const url = new URL(request.url);
  if (correctParameters(url.searchParams, correct)) corrected = withUrl(corrected, url);
  const form = await readForm(corrected);
  if (form && correctParameters(form, correct)) corrected = withForm(corrected, form);
  const field = request.headers.get("authorization");
  const basic = parseBasic(field);
  const bearer = /^Bearer (.+)$/i.exec(field ?? "")?.[1];
  const credentials = basic && { id: correct(basic.id), secret: correct(basic.secret) };
  if (basic && credentials && (credentials.id !== basic.id || credentials.secret !== basic.secret)) {
    return withRequestHeaders(corrected, { authorization: toBasic(credentials) });
  }
  return bearer === undefined || correct(bearer) === bearer
    ? corrected
    : withRequestHeaders(corrected, { authorization: `Bearer ${correct(bearer)}` });
}

function correctParameters(parameters: URLSearchParams, correct: (sent: string) => string): boolean {
  let isChanged = false;
  for (const name of PARAMETERS) {
    const [sent, ...more] = parameters.getAll(name);
    if (sent === undefined || more.length > 0 || correct(sent) === sent) continue;
    parameters.set(name, correct(sent));
    isChanged = true;
  }
  return isChanged;
}

/** The values that a response gives to the client. */
async function readIssued(answer: Response, base: string): Promise<string[]> {
  const location = answer.headers.get("location");
  if (location !== null) {
    const code = URL.parse(location, base)?.searchParams.get("code");
    return code ? [code] : [];
  }
  if (!/^application\/json\b/.test(answer.headers.get("content-type") ?? "")) return [];
  const json: unknown = await answer.clone().json().catch(() => undefined);
  if (typeof json !== "object" || json === null) return [];
  return ISSUED.flatMap((name) => {
    const value = (json as Record<string, unknown>)[name];
    return typeof value === "string" ? [value] : [];
  });
}
