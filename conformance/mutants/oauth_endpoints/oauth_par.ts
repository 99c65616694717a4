/**
 * Faults in the pushed authorization request endpoint (RFC 9126).
 *
 * @module
 */
import { acceptRefused, type Refused } from "../accept_refused.ts";
import {
  changeForms,
  changeJson,
  changeResponses,
  onPath,
  readForm,
  withBody,
  withForm,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { resembling } from "../resembling.ts";

const PAR = "/oauth/par";
const METADATA = "/.well-known/oauth-authorization-server";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/par/${id}`);

const pushedResponse = (): Response =>
  Response.json({ request_uri: "urn:ietf:params:oauth:request_uri:x", expires_in: 60 }, { status: 201 });
const acceptPushes = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(PAR, isAccepted, pushedResponse);

/** Reads the parameters of a pushed request from a wrong place. */
const readFormFrom = (read: (request: Request) => Promise<URLSearchParams | undefined>): Wrap =>
  onPath(PAR, (next) => async (request) => {
    const form = await read(request);
    return await next(form ? withForm(request, form) : request);
  });

export const PUSHED: readonly Mutant[] = [
  {
    name: "oauth/par-with-200",
    fault: "Answers pushed requests with 200",
    wrap: changeResponses(
      PAR,
      (answer) => answer.status === 201 ? withHeaders(answer, {}, 200) : answer,
    ),
    killedBy: names("answer"),
  },
  {
    name: "oauth/par-without-authentication",
    fault: "Accepts pushed requests without authenticating the client",
    wrap: acceptPushes(({ error, description }) =>
      error === "invalid_client" || /^client_id does not match/.test(description)
    ),
    killedBy: names("no-proof", "wrong-secret", "proof-of-another", "assertion-for-another-server"),
    mayFail: {
      "They send values that resemble the right ones": resembling("pushing-client"),
    },
  },
  {
    name: "oauth/par-unchecked",
    fault: "Accepts pushed requests without validating them",
    wrap: acceptPushes(({ error }) => error !== "invalid_client"),
    killedBy: names(
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
    mayFail: {
      "They push a request object": [
        "oauth/request_object/pushed-altered",
        "oauth/request_object/pushed-client-id-of-another",
        "oauth/request_object/pushed-unsigned",
        "oauth/request_object/required-pushed-plain",
      ],
      "They expect a refused push": [
        "oauth/par/",
        "oauth/dpop/pushed-with-",
        "oauth/authorization_details/pushed",
      ],
    },
  },
  {
    name: "oauth/par-request-uri-ignored",
    fault: "Ignores request_uri in a pushed request in place of refusing it",
    wrap: changeForms(PAR, (form) => form.delete("request_uri")),
    killedBy: names("request-uri-inside", "foreign-request-uri-inside"),
  },
  {
    name: "oauth/par-lifetime-as-string",
    fault: "Returns expires_in as a string",
    wrap: changeJson(
      PAR,
      (json) => "expires_in" in json && (json["expires_in"] = String(json["expires_in"])),
    ),
    killedBy: names("answer"),
    mayFail: { "It waits for expires_in": names("expired") },
  },
  {
    name: "oauth/par-one-request-uri",
    fault: "Returns the same request_uri for every request",
    wrap: changeJson(
      PAR,
      (json) => "request_uri" in json && (json["request_uri"] = "urn:request:the-only-one-there-is"),
    ),
    killedBy: names("unguessable", "pushed"),
    mayFail: {
      "They push a request object": ["oauth/request_object/pushed"],
      "They use the request_uri": ["oauth/par/", "oauth/dpop/pushed-"],
    },
  },
  {
    name: "oauth/par-errors-as-text",
    fault: "Returns errors as text/plain",
    wrap: changeResponses(
      PAR,
      (answer) =>
        answer.status === 400
          ? withHeaders(withBody(answer, "no"), { "content-type": "text/plain" })
          : answer,
    ),
    killedBy: names("errors-are-json", "unknown-scope"),
    mayFail: {
      "They push a request object": [
        "oauth/request_object/pushed-altered",
        "oauth/request_object/pushed-client-id-of-another",
        "oauth/request_object/pushed-unsigned",
        "oauth/request_object/required-pushed-plain",
      ],
      "They expect a refused push": [
        "oauth/par/",
        "oauth/dpop/pushed-with-",
        "oauth/authorization_details/pushed",
      ],
    },
  },
  {
    name: "oauth/par-by-get",
    fault: "Accepts pushed requests by GET",
    wrap: readFormFrom((request) =>
      Promise.resolve(request.method === "GET" ? new URL(request.url).searchParams : undefined)
    ),
    killedBy: names("get"),
  },
  {
    name: "oauth/par-in-query",
    fault: "Accepts pushed requests in the query",
    wrap: readFormFrom(async (request) => {
      const { searchParams } = new URL(request.url);
      return searchParams.size > 0 && (await request.clone().text()) === "" ? searchParams : undefined;
    }),
    killedBy: names("parameters-in-the-query", "get"),
  },
  {
    name: "oauth/par-as-json",
    fault: "Accepts pushed requests as JSON",
    wrap: readFormFrom(async (request) =>
      /json/.test(request.headers.get("content-type") ?? "")
        ? new URLSearchParams(await request.clone().json())
        : undefined
    ),
    killedBy: names("json"),
  },
  {
    name: "oauth/par-fails-on-large",
    fault: "Fails on large requests",
    wrap: changeResponses(
      PAR,
      (answer) => answer.status === 413 ? withBody(answer, "", 500) : answer,
    ),
    killedBy: names("oversized"),
  },
  {
    name: "oauth/par-secrets-only",
    fault: "Accepts pushed requests only from clients with a secret",
    wrap: onPath(PAR, (next) => async (request) => {
      const form = await readForm(request);
      const isOpen = !request.headers.has("authorization") && !form?.has("client_secret") &&
        !form?.has("client_assertion");
      return isOpen ? Response.json({ error: "invalid_client" }, { status: 401 }) : await next(request);
    }),
    killedBy: names("public", "pkce-missing", "redirect-uri-not-registered"),
    mayFail: {
      "A client without a secret pushes": [
        "oauth/par/",
        "oauth/dpop/pushed-",
        "oauth/authorization_details/pushed",
      ],
    },
  },
  {
    name: "oauth/par-no-assertions",
    fault: "Refuses client assertions",
    wrap: onPath(
      PAR,
      (next) => async (request) =>
        (await readForm(request))?.has("client_assertion")
          ? Response.json({ error: "invalid_client" }, { status: 401 })
          : await next(request),
    ),
    killedBy: names("assertion-for-the-issuer"),
    mayFail: {
      "They push a request object": [
        "oauth/request_object/pushed",
        "oauth/request_object/required-pushed-plain",
        "oauth/request_object/pushed-altered",
        "oauth/request_object/pushed-client-id-of-another",
        "oauth/request_object/pushed-unsigned",
      ],
    },
  },
  {
    name: "oauth/par-metadata-as-string",
    fault: "Returns require_pushed_authorization_requests as a string",
    wrap: changeJson(METADATA, (json) => void (json["require_pushed_authorization_requests"] = "false")),
    killedBy: names("metadata"),
    mayFail: { "They check all values": ["oauth/metadata/"] },
  },
];
