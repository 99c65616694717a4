/**
 * Faults of DPoP's proofs (RFC 9449 section 4): those that should not count, and do.
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { both, forgiving, type Refused, tokenGiven } from "../forgiving.ts";
import { at, faultyJson, faultyRequests, RESOURCE, TOKEN, withRequestFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const PAR = "/oauth/par";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/dpop/${id}`);

type Members = Readonly<Record<string, unknown>>;

/** Header and claims of the proof of a request, as far as there are any. */
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
  /** What the refusal says of the rule that the proof breaks. */
  readonly rule: string;
}

/** A proof that should not count counts, where tokens are given and where they are used. */
function counting(isForgiven: (proof: Proof) => boolean): Wrap {
  const forgives = (refused: Refused): boolean => {
    const rule = /^Invalid DPoP proof: (.*)$/.exec(refused.description)?.[1];
    return rule !== undefined && isForgiven({ ...refused, ...readProof(refused.request), rule });
  };
  return both(
    forgiving(TOKEN, forgives, () => tokenGiven("DPoP")),
    forgiving(RESOURCE, forgives, () => Response.json({})),
    forgiving(PAR, forgives, () => Response.json({ request_uri: "x", expires_in: 60 }, { status: 201 })),
  );
}

const broken = (rule: RegExp): Wrap => counting((proof) => rule.test(proof.rule));
export const DPOP: readonly Mutant[] = [
  {
    name: "oauth/dpop-any-type",
    fault: "Takes JWTs of every type for proofs",
    wrap: counting(({ rule, header }) => rule.startsWith("typ") && header["typ"] !== "dpop+jwt"),
    breaks: names("typ-missing", "typ-of-another", "typ-of-an-access-token"),
  },
  {
    name: "oauth/dpop-any-signature",
    fault: "Does not verify the signature of proofs",
    wrap: counting(({ rule, header }) => rule.startsWith("typ") && header["typ"] === "dpop+jwt"),
    breaks: names("jwk-of-another"),
  },
  {
    name: "oauth/dpop-any-algorithm",
    fault: "Takes proofs without a signature, and with one of a shared secret",
    wrap: broken(/^alg /),
    breaks: names("alg-none", "alg-of-a-shared-secret"),
  },
  {
    name: "oauth/dpop-private-keys",
    fault: "Takes proofs that bring their private key, or none",
    wrap: broken(/^jwk: /),
    breaks: names("jwk-private", "jwk-missing"),
  },
  {
    name: "oauth/dpop-no-jwt",
    fault: "Takes any text for a proof",
    wrap: broken(/^not a JWT/),
    breaks: names("no-jwt", "two-parts", "altered", "resource-proof-altered"),
  },
  {
    name: "oauth/dpop-two-proofs",
    fault: "Takes the first of two proofs",
    wrap: faultyRequests(TOKEN, (request) => {
      const proof = request.headers.get("dpop");
      return proof?.includes(",") ? withRequestFields(request, { dpop: proof.split(",")[0]! }) : request;
    }),
    breaks: names("two-proofs"),
  },
  {
    name: "oauth/dpop-any-method",
    fault: "Does not look at htm",
    wrap: broken(/^htm/),
    breaks: [
      ...names("htm-missing", "htm-of-another", "resource-htm-of-another"),
      "oauth/best_practice/sender-constraint-not-dropped",
    ],
  },
  {
    name: "oauth/dpop-any-address",
    fault: "Does not look at htu",
    wrap: broken(/^htu/),
    breaks: names(
      "htu-missing",
      "htu-of-another-path",
      "htu-of-another-server",
      "htu-that-only-begins-alike",
      "resource-htu-of-another",
      "pushed-with-wrong-proof",
    ),
  },
  {
    name: "oauth/dpop-address-with-query",
    fault: "Compares htu with its query",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        /[?#]/.test(String(readProof(request).claims["htu"]))
          ? Response.json({ error: "invalid_dpop_proof" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("htu-with-query"),
  },
  {
    name: "oauth/dpop-any-time",
    fault: "Does not look at iat",
    wrap: broken(/^iat/),
    breaks: names(
      "iat-missing",
      "iat-of-yesterday",
      "iat-of-tomorrow",
      "iat-as-text",
      "resource-iat-of-yesterday",
    ),
  },
  {
    name: "oauth/dpop-without-jti",
    fault: "Does not ask proofs for a jti",
    wrap: broken(/^jti is required/),
    breaks: names("jti-missing"),
  },
  {
    name: "oauth/dpop-good-often",
    fault: "Forgets which proofs it has seen",
    wrap: broken(/^jti was used before/),
    breaks: names("proof-twice", "resource-proof-twice"),
  },
  {
    name: "oauth/dpop-few-claims",
    fault: "Refuses proofs that say more than they have to",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        "x_more" in readProof(request).claims
          ? Response.json({ error: "invalid_dpop_proof" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("more-claims"),
  },
  {
    name: "oauth/dpop-es256-only",
    fault: "Takes proofs of ES256 only, whatever its metadata says",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        ["ES256", undefined].includes(readProof(request).header["alg"] as string | undefined)
          ? await next(request)
          : Response.json({ error: "invalid_dpop_proof" }, { status: 400 }),
    ),
    breaks: names("key-of-rs256", "key-of-eddsa"),
  },
  {
    name: "oauth/dpop-ignored",
    fault: "Does not know proofs",
    wrap: faultyRequests(
      TOKEN,
      (request) => request.headers.has("dpop") ? withRequestFields(request, { dpop: undefined }) : request,
    ),
    breaks: names("bound", "more-claims", "introspected", "typ-missing", "altered", "code-for-its-key"),
    mayBreak: { "a proof is sent": ["oauth/dpop/", "oauth/best_practice/sender-constrain"] },
  },
  {
    name: "oauth/dpop-every-token",
    fault: "Calls every token bound",
    wrap: faultyJson(TOKEN, (json) => "token_type" in json && (json["token_type"] = "DPoP")),
    breaks: names("bearer-without-proof"),
    mayBreak: { "the type is looked at": ["oauth/"] },
  },
];
