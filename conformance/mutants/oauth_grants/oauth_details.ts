/**
 * Faults of rich authorization requests (RFC 9396).
 *
 * @module
 */
import { both, forgivenTokens, forgiving, type Refused } from "../forgiving.ts";
import {
  at,
  AUTHORIZE,
  faultyAnswers,
  faultyForms,
  faultyJson,
  faultyQueries,
  readForm,
  TOKEN,
  withBody,
} from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const METADATA = "/.well-known/oauth-authorization-server";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/authorization_details/${id}`);

/** Asks the user though the details are refused. */
function asked(isForgiven: (problem: string) => boolean): Wrap {
  return both(
    at(AUTHORIZE, (next: Handler) => async (request) => {
      const answer = await next(request);
      const { searchParams } = new URL(answer.headers.get("location") ?? "/", request.url);
      const problem = searchParams.get("error_description") ?? "";
      return /^authorization_details/.test(problem) && isForgiven(problem)
        ? new Response("<h1>May it?</h1>", { headers: { "content-type": "text/html" } })
        : answer;
    }),
    forgiving(
      PAR,
      ({ description }) => /^authorization_details/.test(description) && isForgiven(description),
      () => Response.json({ request_uri: "x", expires_in: 60 }, { status: 201 }),
    ),
  );
}

const beyond = ({ description }: Refused): boolean => /exceeds/.test(description);

export const DETAILS: readonly Mutant[] = [
  {
    name: "oauth/details-untold",
    fault: "Does not tell what was granted",
    wrap: faultyJson(TOKEN, (json) => delete json["authorization_details"]),
    breaks: names("granted", "with-scope", "refreshed", "exchanged", "a-part"),
  },
  {
    name: "oauth/details-not-introspected",
    fault: "Does not tell resources what was granted",
    wrap: faultyJson("/oauth/introspect", (json) => delete json["authorization_details"]),
    breaks: names("introspected"),
  },
  {
    name: "oauth/details-not-in-jwts",
    fault: "Mints JWTs without what was granted",
    wrap: at(AUTHORIZE, (next) => async (request) => {
      const url = new URL(request.url);
      if (url.searchParams.get("client_id") === "jwt") url.searchParams.delete("authorization_details");
      return await next(request.method === "GET" ? new Request(url, request) : request);
    }),
    breaks: names("in-the-jwt"),
  },
  {
    name: "oauth/details-ignored",
    fault: "Does not know details",
    wrap: both(
      faultyQueries((query) => query.delete("authorization_details")),
      faultyForms(PAR, (form) => form.delete("authorization_details")),
    ),
    breaks: names("granted", "unknown-type", "no-json", "pushed"),
    mayBreak: { "they have details": names("") },
  },
  {
    name: "oauth/details-in-place-of-scope",
    fault: "Forgets the scope where there are details",
    wrap: faultyJson(TOKEN, (json) => "authorization_details" in json && (json["scope"] = "")),
    breaks: names("with-scope"),
  },
  {
    name: "oauth/details-any-type",
    fault: "Asks the user about details of unknown types",
    wrap: asked((problem) => /unknown type|type that|type in each/.test(problem)),
    breaks: names(
      "unknown-type",
      "no-type",
      "type-number",
      "prototype-type",
      "one-bad-beside-good",
      "pushed",
    ),
  },
  {
    name: "oauth/details-unchecked",
    fault: "Asks the user about details that do not conform to their type",
    wrap: asked((problem) => /an invalid/.test(problem)),
    breaks: names("not-conforming"),
  },
  {
    name: "oauth/details-any-shape",
    fault: "Asks the user about details that are no array of objects",
    wrap: asked((problem) => /must be JSON|must be an array|must contain only|nested/.test(problem)),
    breaks: names("no-json", "object", "texts", "nested-deep"),
  },
  {
    name: "oauth/details-more-with-the-code",
    fault: "Gives tokens for more than was granted",
    wrap: forgivenTokens(beyond),
    breaks: names("more-at-the-token-endpoint", "more-at-refresh", "at-the-token-endpoint-only"),
  },
  {
    name: "oauth/details-all-or-nothing",
    fault: "Refuses token requests that have details",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("authorization_details")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("a-part", "more-at-the-token-endpoint"),
    mayBreak: { "the error is another": names("more-at-refresh") },
  },
  {
    name: "oauth/details-as-markup",
    fault: "Writes details into its page as they are",
    wrap: faultyAnswers(
      AUTHORIZE,
      async (answer) =>
        withBody(answer, (await answer.clone().text()).replaceAll("&lt;", "<").replaceAll("&gt;", ">")),
    ),
    breaks: names("markup"),
    mayBreak: { "other markup is looked for": ["oauth/"] },
  },
  {
    name: "oauth/details-types-as-text",
    fault: "Writes the types as a text",
    wrap: faultyJson(METADATA, (json) => void (json["authorization_details_types_supported"] = "payment")),
    breaks: names("metadata"),
    mayBreak: { "all values are looked at": ["oauth/metadata/"] },
  },
];
