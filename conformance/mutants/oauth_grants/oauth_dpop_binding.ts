/**
 * Faults of what DPoP binds (RFC 9449 sections 5 to 10): tokens, refresh tokens and codes that forget their key.
 *
 * @module
 */
import { both, forgiving, type Refused, tokenGiven } from "../forgiving.ts";
import {
  at,
  faultyAnswers,
  faultyForms,
  faultyJson,
  faultyQueries,
  faultyRequests,
  RESOURCE,
  TOKEN,
  withBody,
  withFields,
  withRequestFields,
} from "../message.ts";
import { faultyReads, type Mutant, type Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const METADATA = "/.well-known/oauth-authorization-server";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/dpop/${id}`);

const used = (isForgiven: (refused: Refused) => boolean): Wrap =>
  forgiving(RESOURCE, isForgiven, () => Response.json({}));
const redeemed = (isForgiven: (refused: Refused) => boolean): Wrap =>
  forgiving(TOKEN, isForgiven, () => tokenGiven("DPoP"));

export const DPOP_BINDING: readonly Mutant[] = [
  {
    name: "oauth/dpop-as-bearer",
    fault: "Takes bound tokens as Bearer tokens",
    wrap: used(({ description }) => /is bound to a key/.test(description)),
    breaks: names("as-bearer", "as-bearer-with-proof"),
  },
  {
    name: "oauth/dpop-without-proof",
    fault: "Takes bound tokens without a proof",
    wrap: used(({ description }) => /proof is missing/.test(description)),
    breaks: names("no-proof"),
  },
  {
    name: "oauth/dpop-any-key",
    fault: "Takes bound tokens with proofs of any key",
    wrap: used(({ description }) => /bound to another key/.test(description)),
    breaks: names("proof-of-another-key", "challenge"),
  },
  {
    name: "oauth/dpop-any-token",
    fault: "Does not look at ath",
    wrap: used(({ description }) => /^Invalid DPoP proof: ath/.test(description)),
    breaks: names("ath-missing", "ath-of-another"),
  },
  {
    name: "oauth/dpop-unbound",
    fault: "Takes Bearer tokens as bound ones",
    wrap: used(({ description }) => /not bound to a key/.test(description)),
    breaks: names("unbound-token"),
  },
  {
    name: "oauth/dpop-scheme-in-one-case",
    fault: "Reads the name of the scheme in one case only",
    wrap: faultyRequests(
      RESOURCE,
      (request) =>
        /^dpop/.test(request.headers.get("authorization") ?? "")
          ? withRequestFields(request, { authorization: undefined })
          : request,
    ),
    breaks: names("scheme-in-any-case"),
  },
  {
    name: "oauth/dpop-not-at-the-resource",
    fault: "Knows no DPoP tokens at the resource",
    wrap: faultyRequests(
      RESOURCE,
      (request) =>
        /^dpop/i.test(request.headers.get("authorization") ?? "")
          ? withRequestFields(request, { authorization: undefined })
          : request,
    ),
    breaks: names("used", "scheme-in-any-case", "resource-proof-twice", "proof-of-another-key", "no-proof"),
    mayBreak: { "they use a bound token": ["oauth/dpop/"] },
  },
  {
    name: "oauth/dpop-bare-challenge",
    fault: "Challenges without error and algs",
    wrap: faultyAnswers(
      RESOURCE,
      (answer) =>
        /^DPoP/.test(answer.headers.get("www-authenticate") ?? "")
          ? withFields(answer, { "www-authenticate": 'DPoP realm="x"' })
          : answer,
    ),
    breaks: names("challenge"),
  },
  {
    name: "oauth/dpop-refresh-without-key",
    fault: "Binds no refresh tokens",
    store: faultyReads((entry) => {
      if (entry.key[0] !== "grant") return entry;
      const { cnf: _, ...value } = entry.value as Record<string, unknown>;
      return { ...entry, value };
    }),
    breaks: names("refresh-without-proof", "refresh-with-another-key", "refresh-refused-then-good"),
  },
  {
    name: "oauth/dpop-refresh-takes-no-proof",
    fault: "Drops proofs that come with refresh tokens",
    wrap: at(TOKEN, (next) => async (request) =>
      await next(
        (await request.clone().text()).includes("grant_type=refresh_token")
          ? withRequestFields(request, { dpop: undefined })
          : request,
      )),
    breaks: names("refresh-with-the-key", "refresh-refused-then-good"),
  },
  {
    name: "oauth/dpop-introspected-without-key",
    fault: "Does not tell the key when it is asked about a token",
    wrap: faultyJson("/oauth/introspect", (json) => delete json["cnf"]),
    breaks: names("introspected"),
  },
  {
    name: "oauth/dpop-registration-ignored",
    fault: "Gives Bearer tokens to a client that is registered for bound ones",
    wrap: redeemed(({ description }) => /must send a DPoP proof/.test(description)),
    breaks: names("demanded-by-registration"),
  },
  {
    name: "oauth/dpop-registered-refused",
    fault: "Gives nothing to a client that is registered for bound tokens",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        (await request.clone().text()).includes("client_id=dpop-bound")
          ? Response.json({ error: "unauthorized_client" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("demanded-and-given"),
  },
  {
    name: "oauth/dpop-jkt-ignored",
    fault: "Does not bind codes to keys",
    wrap: both(
      faultyQueries((query) => query.delete("dpop_jkt")),
      faultyForms(PAR, (form) => form.delete("dpop_jkt")),
    ),
    breaks: names("code-for-another-key", "code-without-its-key", "pushed-with-jkt", "pushed-with-two-keys"),
  },
  {
    name: "oauth/dpop-push-binds-nothing",
    fault: "Does not look at proofs of pushed requests",
    wrap: faultyRequests(
      PAR,
      (request) => request.headers.has("dpop") ? withRequestFields(request, { dpop: undefined }) : request,
    ),
    breaks: names(
      "pushed-with-proof-of-another-key",
      "pushed-with-proof-then-none",
      "pushed-with-two-keys",
      "pushed-with-wrong-proof",
    ),
  },
  {
    name: "oauth/dpop-code-of-no-key",
    fault: "Redeems bound codes with no key at all",
    wrap: redeemed(({ description }) => /code is bound to a DPoP key/.test(description)),
    breaks: names(
      "code-for-another-key",
      "code-without-its-key",
      "pushed-with-jkt",
      "pushed-with-proof-then-none",
    ),
    mayBreak: { "the code is bound": names("pushed-with-proof-of-another-key") },
  },
  {
    name: "oauth/dpop-code-lost",
    fault: "Refuses bound codes to their key",
    wrap: at(TOKEN, (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 200 && request.headers.has("dpop")
        ? withBody(answer, '{"error":"invalid_grant"}', 400)
        : answer;
    }),
    breaks: names(
      "bound",
      "code-for-its-key",
      "pushed-with-proof",
      "refresh-with-the-key",
      "demanded-and-given",
    ),
    mayBreak: {
      "they redeem a code with a proof": ["oauth/dpop/", "oauth/best_practice/sender-constrained"],
    },
  },
  {
    name: "oauth/dpop-weak-algorithms",
    fault: "Says that proofs need no signature",
    wrap: faultyJson(
      METADATA,
      (json) => void (json["dpop_signing_alg_values_supported"] = ["ES256", "none"]),
    ),
    breaks: names("metadata"),
    mayBreak: { "all values are looked at": ["oauth/metadata/"] },
  },
];
