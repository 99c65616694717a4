/**
 * Faults of the endpoint for pushed authorization requests (RFC 9126).
 *
 * @module
 */
import { forgiving, type Refused } from "../forgiving.ts";
import {
  at,
  faultyAnswers,
  faultyForms,
  faultyJson,
  readForm,
  withBody,
  withFields,
  withForm,
} from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const METADATA = "/.well-known/oauth-authorization-server";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/par/${id}`);

const pushed = (): Response =>
  Response.json({ request_uri: "urn:ietf:params:oauth:request_uri:x", expires_in: 60 }, { status: 201 });
const taken = (isForgiven: (refused: Refused) => boolean): Wrap => forgiving(PAR, isForgiven, pushed);

/** Parameters of requests to the endpoint, from where they should not be. */
const readingFrom = (read: (request: Request) => Promise<URLSearchParams | undefined>): Wrap =>
  at(PAR, (next) => async (request) => {
    const form = await read(request);
    return await next(form ? withForm(request, form) : request);
  });

export const PUSHED: readonly Mutant[] = [
  {
    name: "oauth/par-of-anyone",
    fault: "Takes pushed requests without looking who pushes",
    wrap: taken(({ error, description }) =>
      error === "invalid_client" || /^client_id does not match/.test(description)
    ),
    breaks: names("no-proof", "wrong-secret", "proof-of-another", "assertion-for-another-server"),
  },
  {
    name: "oauth/par-unchecked",
    fault: "Takes what is pushed without checking it",
    wrap: taken(({ error }) => error !== "invalid_client"),
    breaks: names(
      "unknown-response-type",
      "no-response-type",
      "unknown-scope",
      "pkce-plain",
      "challenge-malformed",
      "pkce-missing",
      "repeated-parameter",
      "redirect-uri-not-registered",
      "redirect-uri-of-another",
      "redirect-uri-with-more",
      "new-redirect-uri-of-a-client-with-a-secret",
      "request-uri-inside",
      "foreign-request-uri-inside",
      "errors-are-json",
    ),
    mayBreak: {
      "they push what is refused": [
        "oauth/par/",
        "oauth/dpop/pushed-with-",
        "oauth/authorization_details/pushed",
      ],
    },
  },
  {
    name: "oauth/par-request-uri-ignored",
    fault: "Leaves request_uri out of what is pushed, in place of refusing it",
    wrap: faultyForms(PAR, (form) => form.delete("request_uri")),
    breaks: names("request-uri-inside", "foreign-request-uri-inside"),
  },
  {
    name: "oauth/par-ok",
    fault: "Answers pushes with 200",
    wrap: faultyAnswers(PAR, (answer) => answer.status === 201 ? withFields(answer, {}, 200) : answer),
    breaks: names(
      "pushed",
      "answer",
      "public",
      "unguessable",
      "proof-that-is-not-repeated",
      "assertion-for-the-issuer",
    ),
    mayBreak: { "they push first": ["oauth/par/", "oauth/dpop/pushed-"] },
  },
  {
    name: "oauth/par-lifetime-as-text",
    fault: "Tells the lifetime of a name as text",
    wrap: faultyJson(
      PAR,
      (json) => "expires_in" in json && (json["expires_in"] = String(json["expires_in"])),
    ),
    breaks: names("answer"),
    mayBreak: { "it waits so long": names("expired") },
  },
  {
    name: "oauth/par-one-name",
    fault: "Gives every request the same name",
    wrap: faultyJson(
      PAR,
      (json) => "request_uri" in json && (json["request_uri"] = "urn:request:the-only-one-there-is"),
    ),
    breaks: names("unguessable", "pushed"),
    mayBreak: { "the name is none that is known": ["oauth/par/", "oauth/dpop/pushed-"] },
  },
  {
    name: "oauth/par-errors-as-text",
    fault: "Answers wrong pushes with text",
    wrap: faultyAnswers(
      PAR,
      (answer) =>
        answer.status === 400 ? withFields(withBody(answer, "no"), { "content-type": "text/plain" }) : answer,
    ),
    breaks: names("errors-are-json", "unknown-scope"),
    mayBreak: {
      "they push what is refused": [
        "oauth/par/",
        "oauth/dpop/pushed-with-",
        "oauth/authorization_details/pushed",
      ],
    },
  },
  {
    name: "oauth/par-by-get",
    fault: "Takes pushed requests by GET",
    wrap: readingFrom((request) =>
      Promise.resolve(request.method === "GET" ? new URL(request.url).searchParams : undefined)
    ),
    breaks: names("get"),
  },
  {
    name: "oauth/par-in-query",
    fault: "Takes pushed requests in the query",
    wrap: readingFrom(async (request) => {
      const { searchParams } = new URL(request.url);
      return searchParams.size > 0 && (await request.clone().text()) === "" ? searchParams : undefined;
    }),
    breaks: names("parameters-in-the-query", "get"),
  },
  {
    name: "oauth/par-as-json",
    fault: "Takes pushed requests as JSON",
    wrap: readingFrom(async (request) =>
      /json/.test(request.headers.get("content-type") ?? "")
        ? new URLSearchParams(await request.clone().json())
        : undefined
    ),
    breaks: names("json"),
  },
  {
    name: "oauth/par-breaks-on-much",
    fault: "Breaks on large requests",
    wrap: faultyAnswers(
      PAR,
      (answer) => answer.status === 413 ? withBody(answer, "", 500) : answer,
    ),
    breaks: names("oversized"),
  },
  {
    name: "oauth/par-secrets-only",
    fault: "Lets only clients with a secret push",
    wrap: at(PAR, (next) => async (request) => {
      const form = await readForm(request);
      const isOpen = !request.headers.has("authorization") && !form?.has("client_secret") &&
        !form?.has("client_assertion");
      return isOpen ? Response.json({ error: "invalid_client" }, { status: 401 }) : await next(request);
    }),
    breaks: names("public", "pkce-missing", "redirect-uri-not-registered"),
    mayBreak: {
      "a client without a secret pushes": [
        "oauth/par/",
        "oauth/dpop/pushed-",
        "oauth/authorization_details/pushed",
      ],
    },
  },
  {
    name: "oauth/par-no-assertions",
    fault: "Takes no assertions where requests are pushed",
    wrap: at(
      PAR,
      (next) => async (request) =>
        (await readForm(request))?.has("client_assertion")
          ? Response.json({ error: "invalid_client" }, { status: 401 })
          : await next(request),
    ),
    breaks: names("assertion-for-the-issuer"),
  },
  {
    name: "oauth/par-metadata-as-text",
    fault: "Says by a text whether requests must be pushed",
    wrap: faultyJson(METADATA, (json) => void (json["require_pushed_authorization_requests"] = "false")),
    breaks: names("metadata"),
    mayBreak: { "all values are looked at": ["oauth/metadata/"] },
  },
];
