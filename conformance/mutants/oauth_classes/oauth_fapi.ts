/**
 * Faults against the FAPI 2.0 Security Profile, in Trivet with this profile.
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { acceptRefused, issueRefusedTokens, type Refused, tokenResponse } from "../accept_refused.ts";
import { AUTHORIZE, changeJson, changeRedirects, METADATA, PUSH, readForm, TOKEN } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

export const flow = (...ids: string[]): string[] => ids.map((id) => `oauth/fapi_flow/${id}`);
const metadata = (...ids: string[]): string[] => ids.map((id) => `oauth/fapi/${id}`);
/** Vectors of the other suites that run against this target. */
const READERS = { "They read the same metadata": ["oauth/metadata/", "oauth/fapi/", ...flow("discovery")] };

const acceptPushed = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(
    PUSH,
    isAccepted,
    () => Response.json({ request_uri: "urn:accepted", expires_in: 60 }, { status: 201 }),
  );
const pushRule = (rule: RegExp): Wrap => acceptPushed(({ description }) => rule.test(description));
const tokenRule = (rule: RegExp): Wrap =>
  acceptRefused(TOKEN, ({ description }) => rule.test(description), () => tokenResponse("DPoP"));

/** The iat of a JWT. */
const iatOf = (jwt: string | null | undefined): number =>
  JSON.parse(toText(fromBase64url((jwt ?? "..").split(".")[1] ?? "")) || "{}").iat ?? 0;
const isAhead = (jwt: string | null | undefined): boolean => iatOf(jwt) > Date.now() / 1000 + 3;

/** A mutant of Trivet with this profile. */
export function fapi(
  id: string,
  fault: string,
  wrap: Wrap,
  killedBy: readonly string[],
  more: Partial<Mutant> = {},
): Mutant {
  return { name: `oauth/fapi-${id}`, fault, isFapi: true, wrap, killedBy, ...more };
}

/** Changes the metadata. */
function announced(id: string, fault: string, change: object, killedBy: readonly string[]): Mutant {
  const wrap = changeJson(METADATA, (json) => void Object.assign(json, change));
  return fapi(id, fault, wrap, killedBy, { mayFail: READERS });
}

const refusals: readonly Mutant[] = [
  fapi(
    "bearer-tokens",
    "Issues tokens without a proof",
    issueRefusedTokens(({ request, error }) =>
      error === "invalid_dpop_proof" && !request.headers.has("dpop")
    ),
    flow("token-without-proof"),
  ),
  fapi(
    "unauthenticated-push",
    "Accepts pushed requests without client authentication",
    acceptPushed(({ form, error }) => error === "invalid_client" && !form.has("client_assertion")),
    flow("public-client"),
  ),
  fapi(
    "unauthenticated-code",
    "Issues tokens without client authentication",
    issueRefusedTokens(({ error }) => error === "invalid_client"),
    flow("code-by-name-alone"),
    { mayFail: READERS },
  ),
  fapi(
    "any-audience",
    "Accepts assertions for other audiences",
    pushRule(/aud must be/),
    flow("audience-of-the-token-endpoint", "audience-of-the-endpoint", "audience-as-list"),
  ),
  fapi(
    "future-assertions",
    "Accepts assertions of the future",
    pushRule(/must not be in the future/),
    flow("assertion-of-the-future", "assertion-not-yet-valid"),
  ),
  fapi(
    "strict-clock",
    "Refuses assertions and proofs of a clock that is ahead",
    (next) => async (request) => {
      const form = await readForm(request);
      const early = isAhead(form?.get("client_assertion")) || isAhead(request.headers.get("dpop"));
      return early ? Response.json({ error: "invalid_client" }, { status: 401 }) : await next(request);
    },
    flow("assertion-of-a-clock-ahead", "proof-of-a-clock-ahead"),
    {
      preventsSetup: "Requests after a jump of the clock are of the future",
      mayFail: { "So are these": flow("") },
    },
  ),
  fapi("future-proofs", "Accepts proofs of the future", tokenRule(/iat must/), flow("proof-of-the-future")),
  fapi(
    "any-algorithm",
    "Accepts proofs with any algorithm",
    tokenRule(/alg must/),
    flow("proof-with-rs256", "unsigned-proof"),
  ),
  fapi("unsigned", "Accepts unsigned assertions", pushRule(/signature/), flow("unsigned-assertion")),
  fapi(
    "any-code",
    "Issues tokens for refused codes",
    issueRefusedTokens(({ error }) => error === "invalid_grant"),
    flow("code-for-its-key", "code-twice", "code-after-a-minute"),
  ),
  fapi(
    "any-response-type",
    "Accepts other response types",
    pushRule(/response_type/),
    flow("response-type-token", "response-type-hybrid"),
  ),
  fapi(
    "pkce-optional",
    "Does not require PKCE with S256",
    pushRule(/code_challenge/),
    flow("no-challenge", "plain-challenge"),
  ),
  fapi(
    "any-redirect-uri",
    "Accepts requests without redirect_uri, and other ones",
    pushRule(/redirect_uri/),
    flow("no-redirect-uri", "redirect-uri-without-tls"),
  ),
  fapi(
    "unpushed-requests",
    "Answers requests that were not pushed with a code",
    changeRedirects(AUTHORIZE, (location) => {
      if (location.searchParams.has("error")) {
        location.searchParams.delete("error");
        location.searchParams.set("code", "a code that must not be issued");
      }
      return location;
    }),
    flow("request-in-the-url"),
  ),
  fapi(
    "password",
    "Has the password grant",
    issueRefusedTokens(({ error }) => error === "unsupported_grant_type"),
    flow("password-grant"),
    { mayFail: READERS },
  ),
];

export const FAPI: readonly Mutant[] = [
  ...refusals,
  announced("no-push-endpoint", "Does not announce the PAR endpoint", {
    pushed_authorization_request_endpoint: undefined,
  }, [...flow("discovery"), ...metadata("pushing-required")]),
  announced(
    "rs256",
    "Announces RS256",
    { dpop_signing_alg_values_supported: ["RS256"] },
    flow("listed-algorithms"),
  ),
  announced("password-listed", "Announces the password grant", {
    grant_types_supported: ["authorization_code", "password"],
  }, metadata("password-grant-not-listed")),
  announced("secrets-listed", "Announces client secrets", {
    token_endpoint_auth_methods_supported: ["private_key_jwt", "client_secret_basic"],
  }, metadata("client-authentication")),
  announced("no-binding", "Does not announce DPoP and certificates", {
    dpop_signing_alg_values_supported: undefined,
    tls_client_certificate_bound_access_tokens: false,
  }, metadata("sender-constrained")),
  announced("plain-listed", "Announces the PKCE method plain", {
    code_challenge_methods_supported: ["S256", "plain"],
  }, metadata("only-s256")),
  announced("issuer-not-announced", "Does not announce iss", {
    authorization_response_iss_parameter_supported: false,
  }, metadata("issuer-in-responses")),
];
