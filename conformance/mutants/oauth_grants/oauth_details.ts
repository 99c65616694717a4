/**
 * Faults in rich authorization requests (RFC 9396).
 *
 * @module
 */
import { acceptRefused, combine, issueRefusedTokens, type Refused } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeForms,
  changeJson,
  changeQueries,
  changeResponses,
  onPath,
  readForm,
  TOKEN,
  withBody,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const METADATA = "/.well-known/oauth-authorization-server";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/authorization_details/${id}`);

/** Shows the consent page for refused details that match. */
function showConsentFor(isAccepted: (problem: string) => boolean): Wrap {
  return combine(
    onPath(AUTHORIZE, (next: Handler) => async (request) => {
      const answer = await next(request);
      const { searchParams } = new URL(answer.headers.get("location") ?? "/", request.url);
      const problem = searchParams.get("error_description") ?? "";
      return /^authorization_details/.test(problem) && isAccepted(problem)
        ? new Response("<h1>May it?</h1>", { headers: { "content-type": "text/html" } })
        : answer;
    }),
    acceptRefused(
      PAR,
      ({ description }) => /^authorization_details/.test(description) && isAccepted(description),
      () => Response.json({ request_uri: "x", expires_in: 60 }, { status: 201 }),
    ),
  );
}

const exceedsGrant = ({ error, description }: Refused): boolean =>
  error === "invalid_authorization_details" && /exceeds/.test(description);

export const DETAILS: readonly Mutant[] = [
  {
    name: "oauth/details-omitted",
    fault: "Leaves authorization_details out of token responses",
    wrap: changeJson(TOKEN, (json) => delete json["authorization_details"]),
    killedBy: names("granted", "with-scope", "refreshed", "exchanged", "a-part"),
  },
  {
    name: "oauth/details-not-introspected",
    fault: "Leaves authorization_details out of introspection responses",
    wrap: changeJson("/oauth/introspect", (json) => delete json["authorization_details"]),
    killedBy: names("introspected"),
  },
  {
    name: "oauth/details-not-in-jwts",
    fault: "Leaves authorization_details out of JWT access tokens",
    wrap: onPath(AUTHORIZE, (next) => async (request) => {
      const url = new URL(request.url);
      if (url.searchParams.get("client_id") === "jwt") url.searchParams.delete("authorization_details");
      return await next(request.method === "GET" ? new Request(url, request) : request);
    }),
    killedBy: names("in-the-jwt"),
  },
  {
    name: "oauth/details-ignored",
    fault: "Ignores authorization_details",
    wrap: combine(
      changeQueries((query) => query.delete("authorization_details")),
      changeForms(PAR, (form) => form.delete("authorization_details")),
    ),
    killedBy: names("granted", "unknown-type", "no-json", "pushed"),
    mayFail: { "They send authorization_details": names("") },
  },
  {
    name: "oauth/details-in-place-of-scope",
    fault: "Drops scope when there are authorization_details",
    wrap: changeJson(TOKEN, (json) => "authorization_details" in json && (json["scope"] = "")),
    killedBy: names("with-scope"),
  },
  {
    name: "oauth/details-any-type",
    fault: "Accepts unknown types",
    wrap: showConsentFor((problem) => /unknown type|type that|type in each/.test(problem)),
    killedBy: names(
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
    fault: "Accepts details that do not conform to their type",
    wrap: showConsentFor((problem) => /an invalid/.test(problem)),
    killedBy: names("not-conforming"),
  },
  {
    name: "oauth/details-any-shape",
    fault: "Accepts details that are not an array of objects",
    wrap: showConsentFor((problem) => /must be JSON|must be an array|must contain only|nested/.test(problem)),
    killedBy: names("no-json", "object", "texts", "nested-deep"),
  },
  {
    name: "oauth/details-exceed-the-grant",
    fault: "Issues tokens for more than was granted",
    wrap: issueRefusedTokens(exceedsGrant),
    killedBy: names("more-at-the-token-endpoint", "more-at-refresh", "at-the-token-endpoint-only"),
  },
  {
    name: "oauth/details-refused-at-token-endpoint",
    fault: "Refuses token requests with authorization_details",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("authorization_details")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("a-part", "more-at-the-token-endpoint"),
    mayFail: { "It expects another error": names("more-at-refresh") },
  },
  {
    name: "oauth/details-as-markup",
    fault: "Writes details unescaped into the consent page",
    wrap: changeResponses(
      AUTHORIZE,
      async (answer) =>
        withBody(answer, (await answer.clone().text()).replaceAll("&lt;", "<").replaceAll("&gt;", ">")),
    ),
    killedBy: names("markup"),
    mayFail: { "They search for other markup": ["oauth/"] },
  },
  {
    name: "oauth/details-types-as-string",
    fault: "Returns authorization_details_types_supported as a string",
    wrap: changeJson(METADATA, (json) => void (json["authorization_details_types_supported"] = "payment")),
    killedBy: names("metadata"),
    mayFail: { "They check all values": ["oauth/metadata/"] },
  },
];
