/**
 * Faults in signed authorization requests (RFC 9101).
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { acceptRefused, combine, type Refused } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeForms,
  changeJson,
  changeQueries,
  changeRequests,
  METADATA,
  onPath,
  PUSH,
  withHeaders,
  withUrl,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/request_object/${id}`);

type Members = Record<string, unknown>;

const consentPage = (): Response =>
  new Response("<h1>Allow access?</h1>", { headers: { "content-type": "text/html;charset=utf-8" } });
const pushedResponse = (): Response => {
  const request_uri = "urn:ietf:params:oauth:request_uri:must-not-be-issued";
  return Response.json({ request_uri, expires_in: 60 }, { status: 201 });
};

function claimsOf(jwt: string): Members {
  try {
    return JSON.parse(toText(fromBase64url(jwt.split(".")[1] ?? "")));
  } catch {
    return {};
  }
}

/** Shows the consent page in place of an error whose text matches, and issues a request_uri at the PAR endpoint. */
function accept(rule: RegExp): Wrap {
  const authorize = onPath(AUTHORIZE, (next) => async (request) => {
    const answer = await next(request);
    const location = new URL(answer.headers.get("location") ?? "", request.url).searchParams;
    const text = location.get("error_description") ?? await answer.clone().text();
    const isRefusal = answer.status >= 400 || location.has("error");
    return isRefusal && rule.test(text) ? consentPage() : answer;
  });
  const push = acceptRefused(PUSH, ({ description }: Refused) => rule.test(description), pushedResponse);
  return combine(authorize, push);
}

/** Lets parameters of the query replace those of the request object, which is not verified then. */
const preferQuery: Wrap = changeRequests(AUTHORIZE, (request) => {
  const url = new URL(request.url);
  const { request: object, ...beside } = Object.fromEntries(url.searchParams);
  if (object === undefined || Object.keys(beside).length < 2) return request;
  const { iss: _, aud: __, exp: ___, iat: ____, jti: _____, ...claims } = claimsOf(object);
  const pairs = Object.entries({ ...claims, ...beside }).map(([name, value]) => [name, String(value)]);
  url.search = String(new URLSearchParams(pairs as [string, string][]));
  return withUrl(request, url);
});

/** Answers a request for a new login as if the user had just signed in. */
const ignoreNumbers: Wrap = onPath(AUTHORIZE, (next) => async (request) => {
  const answer = await next(request);
  const { max_age } = claimsOf(new URL(request.url).searchParams.get("request") ?? "");
  const location = answer.headers.get("location");
  if (typeof max_age !== "number" || location === null) return answer;
  const target = new URL(location);
  target.search = "?code=must-not-be-issued";
  return withHeaders(answer, { location: String(target) });
});

export const REQUEST_OBJECTS: readonly Mutant[] = [
  {
    name: "oauth/request-object-signature-unchecked",
    fault: "Does not verify the signature of request objects",
    wrap: accept(/request object: the signature/),
    killedBy: names(
      "altered",
      "unsigned",
      "of-another-key",
      "brings-its-key",
      "of-a-shared-secret",
      "unknown-kid",
      "required-unsigned",
      "pushed-altered",
      "pushed-unsigned",
    ),
  },
  {
    name: "oauth/request-object-client-unchecked",
    fault: "Does not compare client_id in the request object with the client of the request",
    wrap: accept(/request object: client_id must be/),
    killedBy: names(
      "client-id-of-another",
      "sent-by-another",
      "pushed-client-id-of-another",
      "client-assertion",
    ),
  },
  {
    name: "oauth/request-object-iss-unchecked",
    fault: "Does not check iss",
    wrap: accept(/request object: iss must be/),
    killedBy: names("iss-of-another"),
  },
  {
    name: "oauth/request-object-aud-unchecked",
    fault: "Does not check aud",
    wrap: accept(/request object: aud must be/),
    killedBy: names("aud-of-another"),
  },
  {
    name: "oauth/request-object-times-unchecked",
    fault: "Does not check exp and nbf",
    wrap: accept(/request object: (exp|nbf) must/),
    killedBy: names("expired", "not-yet"),
  },
  {
    name: "oauth/request-object-nested",
    fault: "Accepts request and request_uri in a request object",
    wrap: accept(/must not be in a request object/),
    killedBy: names("request-inside", "request-uri-inside"),
  },
  {
    name: "oauth/request-object-two-sources",
    fault: "Accepts request and request_uri together",
    wrap: accept(/must not be used together/),
    killedBy: names("request-and-request-uri"),
  },
  {
    name: "oauth/request-object-anywhere",
    fault: "Fetches request objects from URLs that are not registered",
    wrap: accept(/Invalid request_uri: it is not registered/),
    killedBy: names("request-uri-not-registered"),
    mayFail: {
      "They send a request_uri": [
        "oauth/encoding/request-uri",
        "oauth/letter_case/request-uri",
        "oauth/par/foreign-name",
      ],
    },
  },
  {
    name: "oauth/request-object-query-first",
    fault: "Parameters of the query replace those of the request object",
    wrap: preferQuery,
    killedBy: names(
      "state-beside-it",
      "redirect-uri-beside-it",
      "challenge-beside-it",
      "response-type-beside-it",
      "client-assertion",
    ),
    mayFail: { "It has both, and the object is not verified": names("request-and-request-uri") },
  },
  {
    name: "oauth/request-object-ignored",
    fault: "Ignores request objects",
    wrap: combine(
      changeQueries((query) => query.delete("request")),
      changeForms(PUSH, (form) => form.delete("request")),
    ),
    killedBy: names(
      "signed",
      "explicitly-typed",
      "pushed",
      "required-signed",
      "client-assertion",
      "response-type-beside-it",
    ),
    mayFail: { "The request object has all parameters": names("") },
    preventsSetup: "The first request gets no code",
  },
  {
    name: "oauth/request-object-numbers-ignored",
    fault: "Ignores parameters that are JSON numbers",
    wrap: ignoreNumbers,
    killedBy: names("max-age-as-number"),
  },
  {
    name: "oauth/request-object-not-required",
    fault: "Accepts plain requests of clients that must sign theirs",
    wrap: accept(/must be a signed request object/),
    killedBy: names("required-plain", "required-pushed-plain"),
  },
  {
    name: "oauth/request-object-other-error",
    fault: "Refuses invalid request objects with invalid_request",
    wrap: changeJson(PUSH, (json) => {
      if (json["error"] === "invalid_request_object") json["error"] = "invalid_request";
    }),
    killedBy: names("pushed-altered", "pushed-unsigned", "pushed-client-id-of-another"),
  },
  {
    name: "oauth/request-object-metadata-text",
    fault: "Writes require_signed_request_object as text",
    wrap: changeJson(METADATA, (json) => json["require_signed_request_object"] = "false"),
    killedBy: names("metadata"),
  },
];
