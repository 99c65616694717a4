/**
 * Faults in what DPoP binds to a key (RFC 9449 sections 5 to 10): access tokens, refresh tokens and codes.
 *
 * @module
 */
import { acceptRefused, combine, type Refused, tokenResponse } from "../accept_refused.ts";
import {
  changeForms,
  changeJson,
  changeQueries,
  changeRequests,
  changeResponses,
  onPath,
  RESOURCE,
  TOKEN,
  withBody,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import { changeReads, type Mutant, type Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const METADATA = "/.well-known/oauth-authorization-server";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/dpop/${id}`);

const acceptAtResource = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(RESOURCE, isAccepted, () => Response.json({}));
const issueTokens = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(TOKEN, isAccepted, () => tokenResponse("DPoP"));

export const DPOP_BINDING: readonly Mutant[] = [
  {
    name: "oauth/dpop-as-bearer",
    fault: "Accepts bound tokens as Bearer tokens",
    wrap: acceptAtResource(({ description }) => /is bound to a key/.test(description)),
    killedBy: names("as-bearer", "as-bearer-with-proof"),
  },
  {
    name: "oauth/dpop-without-proof",
    fault: "Accepts bound tokens without a proof",
    wrap: acceptAtResource(({ description }) => /proof is missing/.test(description)),
    killedBy: names("no-proof"),
  },
  {
    name: "oauth/dpop-any-key",
    fault: "Accepts bound tokens with a proof of any key",
    wrap: acceptAtResource(({ description }) => /bound to another key/.test(description)),
    killedBy: names("proof-of-another-key", "challenge"),
  },
  {
    name: "oauth/dpop-any-token",
    fault: "Does not check ath",
    wrap: acceptAtResource(({ description }) => /^Invalid DPoP proof: ath/.test(description)),
    killedBy: names("ath-missing", "ath-of-another"),
  },
  {
    name: "oauth/dpop-unbound",
    fault: "Accepts Bearer tokens as bound tokens",
    wrap: acceptAtResource(({ description }) => /not bound to a key/.test(description)),
    killedBy: names("unbound-token"),
  },
  {
    name: "oauth/dpop-scheme-case-sensitive",
    fault: "Compares the scheme DPoP case-sensitively",
    wrap: changeRequests(
      RESOURCE,
      (request) =>
        /^dpop/.test(request.headers.get("authorization") ?? "")
          ? withRequestHeaders(request, { authorization: undefined })
          : request,
    ),
    killedBy: names("scheme-in-any-case"),
  },
  {
    name: "oauth/dpop-not-at-the-resource",
    fault: "Does not accept DPoP tokens at the resource",
    wrap: changeRequests(
      RESOURCE,
      (request) =>
        /^dpop/i.test(request.headers.get("authorization") ?? "")
          ? withRequestHeaders(request, { authorization: undefined })
          : request,
    ),
    killedBy: names("used", "scheme-in-any-case", "proof-of-another-key", "no-proof"),
    mayFail: { "They use a bound token": ["oauth/dpop/"] },
  },
  {
    name: "oauth/dpop-bare-challenge",
    fault: "Sends a DPoP challenge without error and algs",
    wrap: changeResponses(
      RESOURCE,
      (answer) =>
        /^DPoP/.test(answer.headers.get("www-authenticate") ?? "")
          ? withHeaders(answer, { "www-authenticate": 'DPoP realm="x"' })
          : answer,
    ),
    killedBy: names("challenge"),
  },
  {
    name: "oauth/dpop-refresh-without-key",
    fault: "Does not bind refresh tokens",
    store: changeReads((entry) => {
      if (entry.key[0] !== "grant") return entry;
      const { cnf: _, ...value } = entry.value as Record<string, unknown>;
      return { ...entry, value };
    }),
    killedBy: names("refresh-without-proof", "refresh-with-another-key", "refresh-refused-then-good"),
  },
  {
    name: "oauth/dpop-refresh-ignores-proof",
    fault: "Ignores proofs that come with refresh tokens",
    wrap: onPath(TOKEN, (next) => async (request) =>
      await next(
        (await request.clone().text()).includes("grant_type=refresh_token")
          ? withRequestHeaders(request, { dpop: undefined })
          : request,
      )),
    killedBy: names("refresh-with-the-key", "refresh-refused-then-good"),
  },
  {
    name: "oauth/dpop-introspected-without-key",
    fault: "Leaves cnf out of introspection responses",
    wrap: changeJson("/oauth/introspect", (json) => delete json["cnf"]),
    killedBy: [...names("introspected"), "oauth/mutual_tls/introspected"],
    mayFailWith: { "They read cnf": /^json\.cnf: .*got no value/ },
  },
  {
    name: "oauth/dpop-registration-ignored",
    fault: "Issues Bearer tokens to a client registered for bound tokens",
    wrap: issueTokens(({ description }) => /must send a DPoP proof/.test(description)),
    killedBy: names("demanded-by-registration"),
  },
  {
    name: "oauth/dpop-registered-refused",
    fault: "Refuses every request of a client registered for bound tokens",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        (await request.clone().text()).includes("client_id=dpop-bound")
          ? Response.json({ error: "unauthorized_client" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("demanded-and-given"),
  },
  {
    name: "oauth/dpop-jkt-ignored",
    fault: "Ignores dpop_jkt",
    wrap: combine(
      changeQueries((query) => query.delete("dpop_jkt")),
      changeForms(PAR, (form) => form.delete("dpop_jkt")),
    ),
    killedBy: names(
      "code-for-another-key",
      "code-without-its-key",
      "pushed-with-jkt",
      "pushed-with-two-keys",
    ),
  },
  {
    name: "oauth/dpop-push-ignored",
    fault: "Ignores proofs of pushed requests",
    wrap: changeRequests(
      PAR,
      (request) => request.headers.has("dpop") ? withRequestHeaders(request, { dpop: undefined }) : request,
    ),
    killedBy: names(
      "pushed-with-proof-of-another-key",
      "pushed-with-proof-then-none",
      "pushed-with-two-keys",
      "pushed-with-wrong-proof",
    ),
  },
  {
    name: "oauth/dpop-code-without-key",
    fault: "Redeems bound codes without their key",
    wrap: issueTokens(({ description }) => /code is bound to a DPoP key/.test(description)),
    killedBy: names(
      "code-for-another-key",
      "code-without-its-key",
      "pushed-with-jkt",
      "pushed-with-proof-then-none",
    ),
    mayFail: { "The code is bound to a key": names("pushed-with-proof-of-another-key") },
  },
  {
    name: "oauth/dpop-code-refused",
    fault: "Refuses to redeem codes with a proof",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 200 && request.headers.has("dpop")
        ? withBody(answer, '{"error":"invalid_grant"}', 400)
        : answer;
    }),
    killedBy: names(
      "bound",
      "code-for-its-key",
      "pushed-with-proof",
      "demanded-and-given",
    ),
    mayFail: {
      "They redeem a code with a proof": ["oauth/dpop/", "oauth/best_practice/sender-constrained"],
    },
  },
  {
    name: "oauth/dpop-weak-algorithms",
    fault: "Lists the algorithm none for proofs",
    wrap: changeJson(
      METADATA,
      (json) => void (json["dpop_signing_alg_values_supported"] = ["ES256", "none"]),
    ),
    killedBy: names("metadata"),
    mayFail: { "They check all values": ["oauth/metadata/"] },
  },
  {
    name: "oauth/dpop-error-without-token",
    fault: "Names an error in challenges to requests without a token",
    wrap: changeResponses(
      RESOURCE,
      (answer, request) =>
        request.headers.has("authorization") || answer.status !== 401
          ? answer
          : withHeaders(answer, { "www-authenticate": 'DPoP error="invalid_token"' }),
    ),
    killedBy: names("challenge-without-token"),
    mayFail: { "They expect no error either": ["oauth/"] },
  },
];
