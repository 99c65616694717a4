/**
 * Faults in the validation of DPoP proofs (RFC 9449 section 4).
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { acceptRefused, combine, type Refused, tokenResponse } from "../accept_refused.ts";
import { changeJson, changeRequests, onPath, RESOURCE, TOKEN, withRequestHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/dpop/${id}`);

type Members = Readonly<Record<string, unknown>>;

/** Reads the header and claims of a request's proof; empty where they cannot be parsed. */
function readProof({ headers }: Request): { readonly header: Members; readonly claims: Members } {
  const [header, claims] = (headers.get("dpop") ?? "").split(".").map((part): Members => {
    try {
      return JSON.parse(toText(fromBase64url(part)));
    } catch {
      return {};
    }
  });
  return { header: header ?? {}, claims: claims ?? {} };
}

interface Proof extends Refused {
  readonly header: Members;
  readonly claims: Members;
  /** The rule that the proof breaks, from the error description. */
  readonly rule: string;
}

/** Accepts invalid proofs that match, at the token endpoint, the resource and the PAR endpoint. */
function acceptProofs(isAccepted: (proof: Proof) => boolean): Wrap {
  const forgives = (refused: Refused): boolean => {
    const rule = /^Invalid DPoP proof: (.*)$/.exec(refused.description)?.[1];
    return rule !== undefined && isAccepted({ ...refused, ...readProof(refused.request), rule });
  };
  return combine(
    acceptRefused(TOKEN, forgives, () => tokenResponse("DPoP")),
    acceptRefused(RESOURCE, forgives, () => Response.json({})),
    acceptRefused(PAR, forgives, () => Response.json({ request_uri: "x", expires_in: 60 }, { status: 201 })),
  );
}

const acceptRule = (rule: RegExp): Wrap => acceptProofs((proof) => rule.test(proof.rule));
export const DPOP: readonly Mutant[] = [
  {
    name: "oauth/dpop-any-type",
    fault: "Accepts proofs with any typ",
    wrap: acceptProofs(({ rule, header }) => rule.startsWith("typ") && header["typ"] !== "dpop+jwt"),
    killedBy: names("typ-missing", "typ-of-another", "typ-of-an-access-token"),
  },
  {
    name: "oauth/dpop-any-signature",
    fault: "Does not verify the signature of proofs",
    wrap: acceptProofs(({ rule, header }) => rule.startsWith("typ") && header["typ"] === "dpop+jwt"),
    killedBy: names("jwk-of-another"),
  },
  {
    name: "oauth/dpop-any-algorithm",
    fault: "Accepts unsigned proofs and symmetric algorithms",
    wrap: acceptRule(/^alg /),
    killedBy: names("alg-none", "alg-of-a-shared-secret"),
  },
  {
    name: "oauth/dpop-private-keys",
    fault: "Accepts proofs with a private jwk, or none",
    wrap: acceptRule(/^jwk: /),
    killedBy: names("jwk-private", "jwk-missing"),
  },
  {
    name: "oauth/dpop-no-jwt",
    fault: "Accepts proofs that are not JWTs",
    wrap: acceptRule(/^not a JWT/),
    killedBy: names("no-jwt", "two-parts", "altered", "resource-proof-altered"),
  },
  {
    name: "oauth/dpop-two-proofs",
    fault: "Reads the first of two proofs",
    wrap: changeRequests(TOKEN, (request) => {
      const proof = request.headers.get("dpop");
      return proof?.includes(",") ? withRequestHeaders(request, { dpop: proof.split(",")[0]! }) : request;
    }),
    killedBy: names("two-proofs"),
  },
  {
    name: "oauth/dpop-any-method",
    fault: "Does not check htm",
    wrap: acceptRule(/^htm/),
    killedBy: [
      ...names("htm-missing", "htm-of-another", "resource-htm-of-another"),
      "oauth/best_practice/sender-constraint-not-dropped",
    ],
  },
  {
    name: "oauth/dpop-any-uri",
    fault: "Does not check htu",
    wrap: acceptRule(/^htu/),
    killedBy: names(
      "htu-missing",
      "htu-of-another-path",
      "htu-of-another-server",
      "htu-that-only-begins-alike",
      "resource-htu-of-another",
      "pushed-with-wrong-proof",
    ),
    mayFail: { "Its proof is for another address": ["oauth/jwt_bearer/identity-with-a-wrong-proof"] },
  },
  {
    name: "oauth/dpop-uri-with-query",
    fault: "Compares htu including its query",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        /[?#]/.test(String(readProof(request).claims["htu"]))
          ? Response.json({ error: "invalid_dpop_proof" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("htu-with-query"),
  },
  {
    name: "oauth/dpop-any-time",
    fault: "Does not check iat",
    wrap: acceptRule(/^iat/),
    killedBy: names(
      "iat-missing",
      "iat-of-yesterday",
      "iat-of-tomorrow",
      "iat-as-text",
      "resource-iat-of-yesterday",
    ),
  },
  {
    name: "oauth/dpop-without-jti",
    fault: "Does not require jti",
    wrap: acceptRule(/^jti is required/),
    killedBy: names("jti-missing"),
  },
  {
    name: "oauth/dpop-replayed",
    fault: "Accepts a proof twice",
    wrap: acceptRule(/^jti was used before/),
    killedBy: names("proof-twice", "resource-proof-twice"),
  },
  {
    name: "oauth/dpop-unknown-claims-refused",
    fault: "Refuses proofs with unknown claims",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        "x_more" in readProof(request).claims
          ? Response.json({ error: "invalid_dpop_proof" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("more-claims"),
  },
  {
    name: "oauth/dpop-es256-only",
    fault: "Accepts only ES256 although its metadata lists more",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        ["ES256", undefined].includes(readProof(request).header["alg"] as string | undefined)
          ? await next(request)
          : Response.json({ error: "invalid_dpop_proof" }, { status: 400 }),
    ),
    killedBy: names("key-of-rs256", "key-of-eddsa"),
  },
  {
    name: "oauth/dpop-ignored",
    fault: "Ignores proofs at the token endpoint",
    wrap: changeRequests(
      TOKEN,
      (request) => request.headers.has("dpop") ? withRequestHeaders(request, { dpop: undefined }) : request,
    ),
    killedBy: names("bound", "more-claims", "typ-missing", "altered", "code-for-its-key"),
    mayFail: {
      "They send a proof": ["oauth/dpop/", "oauth/best_practice/sender-constrain", "oauth/jwt_bearer/"],
    },
  },
  {
    name: "oauth/dpop-every-token",
    fault: "Returns the token_type DPoP for every token",
    wrap: changeJson(TOKEN, (json) => "token_type" in json && (json["token_type"] = "DPoP")),
    killedBy: names("bearer-without-proof"),
    mayFail: { "They check the type": ["oauth/"] },
  },
];
