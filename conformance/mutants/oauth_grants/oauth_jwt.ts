/**
 * Faults in JWT access tokens (RFC 9068): missing claims and missing checks.
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { acceptRefused, combine } from "../accept_refused.ts";
import { changeJson, changeRequests, METADATA, RESOURCE, TOKEN, withRequestHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const tokens = (...ids: string[]): string[] => ids.map((id) => `oauth/jwt_access_token/${id}`);

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Changes the header or claims of issued JWTs and keeps their signature. */
function changeTokens(change: (header: Members, claims: Members) => void): Wrap {
  return changeJson(TOKEN, (json) => {
    const parts = String(json["access_token"]).split(".");
    if (parts.length !== 3) return;
    const [header, claims] = [decode(parts[0]!), decode(parts[1]!)];
    change(header, claims);
    json["access_token"] = `${encode(header)}.${encode(claims)}.${parts[2]}`;
  });
}

const OTHERS = { "The signature does not match the changed bytes": tokens("") };

/** Accepts refused JWTs that match at the resource. */
function acceptJwts(
  isAccepted: (header: Members, claims: Members, parts: readonly string[]) => boolean,
): Wrap {
  return acceptRefused(RESOURCE, ({ status, request }) => {
    const parts = (request.headers.get("authorization") ?? "").replace(/^Bearer /, "").split(".");
    if (status !== 401 || parts.length !== 3) return false;
    try {
      return isAccepted(decode(parts[0]!), decode(parts[1]!), parts);
    } catch {
      return isAccepted({}, {}, parts);
    }
  }, () => Response.json({}));
}

const withoutClaim = (claim: string, id: string, others: readonly string[] = []): Mutant => ({
  name: `oauth/jwt-without-${id}`,
  fault: `Leaves ${claim} out of access tokens`,
  wrap: changeTokens((_, claims) => delete claims[claim]),
  killedBy: tokens(id, ...others),
  mayFail: OTHERS,
});

export const JWTS: readonly Mutant[] = [
  withoutClaim("iss", "issuer"),
  withoutClaim("exp", "exp"),
  withoutClaim("aud", "aud", ["audience"]),
  withoutClaim("sub", "sub", ["subject-of-a-client"]),
  withoutClaim("client_id", "client-id", ["subject-of-a-client"]),
  withoutClaim("iat", "iat"),
  withoutClaim("jti", "jti"),
  withoutClaim("scope", "scope"),
  {
    name: "oauth/jwt-wrong-typ",
    fault: "Issues access tokens with the typ JWT",
    wrap: changeTokens((header) => header["typ"] = "JWT"),
    killedBy: tokens("type", "short-type"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jwt-long-typ",
    fault: "Issues access tokens with the whole media type as typ",
    wrap: changeTokens((header) => header["typ"] = "application/at+jwt"),
    killedBy: tokens("short-type"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jwt-symmetric",
    fault: "Issues access tokens with a symmetric algorithm",
    wrap: changeTokens((header) => header["alg"] = "HS256"),
    killedBy: tokens("asymmetric", "signed"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jwt-reused",
    fault: "Issues the same token to every client",
    wrap: (next) => {
      let first: string | undefined;
      return changeJson(TOKEN, (json) => {
        if (String(json["access_token"]).includes(".")) {
          json["access_token"] = first ??= String(json["access_token"]);
        }
      })(next);
    },
    killedBy: tokens("jti-differs"),
    mayFail: { "The token belongs to another vector": ["oauth/"] },
  },
  {
    name: "oauth/jwt-refused",
    fault: "Refuses JWTs at the resource",
    wrap: changeRequests(
      RESOURCE,
      (request) =>
        /\./.test(request.headers.get("authorization") ?? "")
          ? withRequestHeaders(request, { authorization: undefined })
          : request,
    ),
    killedBy: tokens("works", "altered", "unsigned"),
    mayFail: { "They use a JWT": tokens("") },
  },
  {
    name: "oauth/jwt-unsigned-accepted",
    fault: "Accepts unsigned access tokens",
    wrap: acceptJwts((header) => header["alg"] === "none"),
    killedBy: [...tokens("unsigned"), "oauth/bearer/self-made-unsigned"],
  },
  {
    name: "oauth/jwt-any-key",
    fault: "Accepts access tokens signed with any key",
    wrap: acceptJwts((header) => header["alg"] === "ES256" && !("jwk" in header)),
    killedBy: tokens("of-another-key"),
    mayFail: {
      "They expect a refusal": [
        ...tokens("expired", "for-another-resource", "more"),
        "oauth/signed_introspection/opens-nothing",
      ],
    },
  },
  {
    name: "oauth/jwt-embedded-key",
    fault: "Trusts the jwk that a token contains",
    wrap: acceptJwts((header) => "jwk" in header),
    killedBy: tokens("brings-its-key"),
    mayFail: { "It contains its key": ["oauth/bearer/self-made"] },
  },
  {
    name: "oauth/jwt-public-key-as-secret",
    fault: "Accepts tokens signed with the public key as a secret",
    wrap: acceptJwts((header) => header["alg"] === "HS256"),
    killedBy: tokens("of-a-shared-secret"),
  },
  {
    name: "oauth/jwt-signature-unchecked",
    fault: "Does not verify the signature of access tokens",
    wrap: acceptJwts((_, __, parts) => parts[2] !== "" && !["ES256", "HS256"].includes(String(_["alg"]))),
    killedBy: tokens("altered"),
  },
  {
    name: "oauth/jwt-signature-longer",
    fault: "Ignores bytes after the length of a signature",
    wrap: acceptJwts((_, __, parts) => parts[2]!.length > 86),
    killedBy: tokens("more"),
  },
  {
    name: "oauth/jwt-never-expires",
    fault: "Accepts expired access tokens",
    wrap: (next) => {
      const issued = new Set<string>();
      return combine(
        changeJson(TOKEN, (json) => issued.add(String(json["access_token"]).split(".")[2] ?? "")),
        acceptJwts((_, claims, parts) => issued.has(parts[2]!) && !String(claims["aud"]).endsWith("/mcp")),
      )(next);
    },
    killedBy: tokens("expired"),
    mayFail: { "The server issued them": [...tokens("altered"), "oauth/"] },
  },
  {
    name: "oauth/jwt-any-audience",
    fault: "Accepts tokens for another resource",
    wrap: acceptJwts((_, claims) => String(claims["aud"]).endsWith("/mcp")),
    killedBy: tokens("for-another-resource"),
  },
  {
    name: "oauth/jwt-other-discovery",
    fault: "Names other keys in OpenID Connect discovery",
    wrap: changeJson(
      "/.well-known/openid-configuration",
      (json) => json["jwks_uri"] = "https://other.example/jwks.json",
    ),
    killedBy: tokens("both-documents-agree"),
  },
  {
    name: "oauth/jwt-keys-not-in-metadata",
    fault: "Leaves jwks_uri out of the metadata",
    wrap: changeJson(METADATA, (json) => delete json["jwks_uri"]),
    killedBy: tokens("metadata-for-resources"),
    mayFail: { "They read the metadata": ["oauth/"] },
  },
];
