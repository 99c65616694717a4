/**
 * Faults of access tokens that are JWTs (RFC 9068): they say too little, or are not checked.
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { both, forgiving } from "../forgiving.ts";
import { faultyJson, faultyRequests, RESOURCE, TOKEN, withRequestFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const tokens = (...ids: string[]): string[] => ids.map((id) => `oauth/jwt_access_token/${id}`);

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Tokens whose header or claims are changed, and whose signature is what it was. */
function minting(change: (header: Members, claims: Members) => void): Wrap {
  return faultyJson(TOKEN, (json) => {
    const parts = String(json["access_token"]).split(".");
    if (parts.length !== 3) return;
    const [header, claims] = [decode(parts[0]!), decode(parts[1]!)];
    change(header, claims);
    json["access_token"] = `${encode(header)}.${encode(claims)}.${parts[2]}`;
  });
}

const OTHERS = { "the signature is of other bytes": tokens("") };

/** A JWT that opens what it should not, by what it says. */
function opening(isForgiven: (header: Members, claims: Members, parts: readonly string[]) => boolean): Wrap {
  return forgiving(RESOURCE, ({ status, request }) => {
    const parts = (request.headers.get("authorization") ?? "").replace(/^Bearer /, "").split(".");
    if (status !== 401 || parts.length !== 3) return false;
    try {
      return isForgiven(decode(parts[0]!), decode(parts[1]!), parts);
    } catch {
      return isForgiven({}, {}, parts);
    }
  }, () => Response.json({}));
}

const without = (claim: string, id: string, others: readonly string[] = []): Mutant => ({
  name: `oauth/jwt-without-${id}`,
  fault: `Leaves ${claim} out of access tokens`,
  wrap: minting((_, claims) => delete claims[claim]),
  breaks: tokens(id, ...others),
  mayBreak: OTHERS,
});

export const JWTS: readonly Mutant[] = [
  without("iss", "issuer"),
  without("exp", "exp"),
  without("aud", "aud", ["audience"]),
  without("sub", "sub", ["subject-of-a-client"]),
  without("client_id", "client-id", ["subject-of-a-client"]),
  without("iat", "iat"),
  without("jti", "jti"),
  without("scope", "scope"),
  {
    name: "oauth/jwt-typeless",
    fault: "Calls access tokens JWT",
    wrap: minting((header) => header["typ"] = "JWT"),
    breaks: tokens("type", "short-type"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/jwt-long-type",
    fault: "Writes the whole media type into access tokens",
    wrap: minting((header) => header["typ"] = "application/at+jwt"),
    breaks: tokens("short-type"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/jwt-shared-secret",
    fault: "Signs access tokens with a secret",
    wrap: minting((header) => header["alg"] = "HS256"),
    breaks: tokens("asymmetric", "signed"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/jwt-given-twice",
    fault: "Gives every client the same token",
    wrap: (next) => {
      let first: string | undefined;
      return faultyJson(TOKEN, (json) => {
        if (String(json["access_token"]).includes(".")) {
          json["access_token"] = first ??= String(json["access_token"]);
        }
      })(next);
    },
    breaks: tokens("jti-differs"),
    mayBreak: { "the token is another one's": ["oauth/"] },
  },
  {
    name: "oauth/jwt-never-taken",
    fault: "Takes no JWTs at the resource",
    wrap: faultyRequests(
      RESOURCE,
      (request) =>
        /\./.test(request.headers.get("authorization") ?? "")
          ? withRequestFields(request, { authorization: undefined })
          : request,
    ),
    breaks: tokens("works", "altered", "unsigned"),
    mayBreak: { "they use a JWT": tokens("") },
  },
  {
    name: "oauth/jwt-unsigned-taken",
    fault: "Takes access tokens without a signature",
    wrap: opening((header) => header["alg"] === "none"),
    breaks: [...tokens("unsigned"), "oauth/bearer/self-made-unsigned"],
  },
  {
    name: "oauth/jwt-any-key",
    fault: "Takes access tokens of any key",
    wrap: opening((header) => header["alg"] === "ES256" && !("jwk" in header)),
    breaks: tokens("of-another-key"),
    mayBreak: {
      "they are refused": [
        ...tokens("expired", "for-another-resource", "more"),
        "oauth/signed_introspection/opens-nothing",
      ],
    },
  },
  {
    name: "oauth/jwt-own-key",
    fault: "Believes the key that a token brings",
    wrap: opening((header) => "jwk" in header),
    breaks: tokens("brings-its-key"),
    mayBreak: { "it brings its key": ["oauth/bearer/self-made"] },
  },
  {
    name: "oauth/jwt-key-as-secret",
    fault: "Believes tokens that are signed with what is public",
    wrap: opening((header) => header["alg"] === "HS256"),
    breaks: tokens("of-a-shared-secret"),
  },
  {
    name: "oauth/jwt-signature-unread",
    fault: "Does not verify the signature of access tokens",
    wrap: opening((_, __, parts) => parts[2] !== "" && !["ES256", "HS256"].includes(String(_["alg"]))),
    breaks: tokens("altered"),
  },
  {
    name: "oauth/jwt-signature-longer",
    fault: "Reads as much of a signature as it needs",
    wrap: opening((_, __, parts) => parts[2]!.length > 86),
    breaks: tokens("more"),
  },
  {
    name: "oauth/jwt-for-ever",
    fault: "Takes access tokens after their time",
    wrap: (next) => {
      const issued = new Set<string>();
      return both(
        faultyJson(TOKEN, (json) => issued.add(String(json["access_token"]).split(".")[2] ?? "")),
        opening((_, claims, parts) => issued.has(parts[2]!) && !String(claims["aud"]).endsWith("/mcp")),
      )(next);
    },
    breaks: tokens("expired"),
    mayBreak: { "the server gave them": [...tokens("altered"), "oauth/"] },
  },
  {
    name: "oauth/jwt-for-anything",
    fault: "Does not look for which resource a token is",
    wrap: opening((_, claims) => String(claims["aud"]).endsWith("/mcp")),
    breaks: tokens("for-another-resource"),
  },
];
