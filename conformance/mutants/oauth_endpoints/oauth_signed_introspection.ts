/**
 * Faults in JWT responses of introspection (RFC 9701).
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { acceptRefused } from "../accept_refused.ts";
import {
  changeJson,
  changeRequests,
  changeResponses,
  RESOURCE,
  withBody,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { resembling } from "../resembling.ts";

const INTROSPECT = "/oauth/introspect";
const METADATA = "/.well-known/oauth-authorization-server";
const SIGNED = "application/token-introspection+jwt";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/signed_introspection/${id}`);
const OTHERS = { "The signature does not match the changed bytes": names("signed", "unknown") };

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Changes the header or claims of a JWT response and keeps its signature. */
const changeJwt = (change: (claims: Members, header: Members) => unknown): Wrap =>
  changeResponses(INTROSPECT, async (answer) => {
    const parts = (await answer.clone().text()).split(".");
    if (answer.headers.get("content-type") !== SIGNED) return answer;
    const [header, claims] = [decode(parts[0]!), decode(parts[1]!)];
    change(claims, header);
    return withBody(answer, `${encode(header)}.${encode(claims)}.${parts[2]}`);
  });

export const SIGNED_INTROSPECTION: readonly Mutant[] = [
  {
    name: "oauth/signed-introspection-wrong-typ",
    fault: "Has the typ JWT",
    wrap: changeJwt((_, header) => header["typ"] = "JWT"),
    killedBy: names("signed"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/signed-introspection-without-claims",
    fault: "Leaves iss, aud and iat out",
    wrap: changeJwt((claims) => ["iss", "aud", "iat"].forEach((name) => delete claims[name])),
    killedBy: names("issuer", "audience", "time"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/signed-introspection-as-a-token",
    fault: "Adds claims of the token at the top level",
    wrap: changeJwt((claims) => Object.assign(claims, { sub: "alice", exp: 4_000_000_000 })),
    killedBy: names("no-access-token-claims"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/signed-introspection-flat",
    fault: "Writes the response at the top level of the claims",
    wrap: changeJwt((claims) => {
      Object.assign(claims, claims["token_introspection"]);
      delete claims["token_introspection"];
    }),
    killedBy: names("answer", "unknown", "altered", "revoked"),
    mayFail: {
      ...OTHERS,
      "The response contains sub, exp and aud": names("no-access-token-claims", "audience"),
    },
  },
  {
    name: "oauth/signed-introspection-inactive-details",
    fault: "Returns more than active for inactive tokens",
    wrap: changeJwt((claims) => {
      const answer = claims["token_introspection"] as Members;
      if (answer["active"] === false) answer["client_id"] = "app";
    }),
    killedBy: names("unknown", "altered", "revoked"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/signed-introspection-never",
    fault: "Returns JSON, whatever Accept says",
    wrap: changeRequests(
      INTROSPECT,
      (request) => withRequestHeaders(request, { accept: "application/json" }),
    ),
    killedBy: names("signed", "issuer", "answer"),
    mayFail: { "They accept a JWT": names("") },
  },
  {
    name: "oauth/signed-introspection-always",
    fault: "Returns a JWT, whatever Accept says",
    wrap: changeRequests(INTROSPECT, (request) => withRequestHeaders(request, { accept: SIGNED })),
    killedBy: names("json-as-before"),
    mayFail: { "They introspect a token": ["oauth/"] },
  },
  {
    name: "oauth/signed-introspection-without-authentication",
    fault: "Answers unauthenticated requests",
    wrap: acceptRefused(
      INTROSPECT,
      ({ error }) => error === "invalid_client",
      () => new Response("e30.e30.AA", { headers: { "content-type": SIGNED } }),
    ),
    killedBy: names("without-proof", "wrong-proof", "without-proof-is-400"),
    mayFail: {
      "They send values that resemble the right ones": resembling("introspecting-client"),
      "They send no client authentication": ["oauth/introspection/"],
    },
  },
  {
    name: "oauth/signed-introspection-as-access-token",
    fault: "Accepts its own introspection responses as access tokens",
    wrap: acceptRefused(
      RESOURCE,
      ({ request }) =>
        /^Bearer eyJ[^.]*\./.test(request.headers.get("authorization") ?? "") &&
        toText(fromBase64url(request.headers.get("authorization")!.slice(7).split(".")[0]!)).includes(
          "introspection",
        ),
      () => Response.json({}),
    ),
    killedBy: names("opens-nothing"),
  },
  {
    name: "oauth/signed-introspection-unsigned",
    fault: "Lists the algorithm none for introspection responses",
    wrap: changeJson(
      METADATA,
      (json) => void (json["introspection_signing_alg_values_supported"] = ["none"]),
    ),
    killedBy: names("metadata"),
    mayFail: { "They check all values": ["oauth/metadata/"] },
  },
  {
    name: "oauth/signed-introspection-as-text",
    fault: "Returns the JWT as text/plain",
    wrap: changeResponses(
      INTROSPECT,
      (answer) =>
        answer.headers.get("content-type") === SIGNED
          ? withHeaders(answer, { "content-type": "text/plain" })
          : answer,
    ),
    killedBy: names("signed"),
  },
  {
    name: "oauth/signed-introspection-refused-with-401",
    fault: "Refuses requests without credentials with 401",
    wrap: changeResponses(
      INTROSPECT,
      (answer) => answer.status === 400 ? withHeaders(answer, {}, 401) : answer,
    ),
    killedBy: names("without-proof-is-400"),
    mayFail: { "They expect 400 for other reasons": ["oauth/"] },
  },
  {
    name: "oauth/signed-introspection-algorithms-left-out",
    fault: "Leaves the algorithms of introspection responses out of the metadata",
    wrap: changeJson(METADATA, (json) => delete json["introspection_signing_alg_values_supported"]),
    killedBy: names("algorithms-in-metadata"),
  },
];
