/**
 * Faults of introspection answers that are JWTs (RFC 9701).
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { forgiving } from "../forgiving.ts";
import {
  faultyAnswers,
  faultyJson,
  faultyRequests,
  RESOURCE,
  withBody,
  withFields,
  withRequestFields,
} from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const INTROSPECT = "/oauth/introspect";
const METADATA = "/.well-known/oauth-authorization-server";
const SIGNED = "application/token-introspection+jwt";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/signed_introspection/${id}`);
const OTHERS = { "the signature is of other bytes": names("signed", "unknown") };

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Answers whose header or claims are changed, and whose signature is what it was. */
const saying = (change: (claims: Members, header: Members) => unknown): Wrap =>
  faultyAnswers(INTROSPECT, async (answer) => {
    const parts = (await answer.clone().text()).split(".");
    if (answer.headers.get("content-type") !== SIGNED) return answer;
    const [header, claims] = [decode(parts[0]!), decode(parts[1]!)];
    change(claims, header);
    return withBody(answer, `${encode(header)}.${encode(claims)}.${parts[2]}`);
  });

export const SIGNED_INTROSPECTION: readonly Mutant[] = [
  {
    name: "oauth/signed-introspection-untyped",
    fault: "Signs answers as any other JWT",
    wrap: saying((_, header) => header["typ"] = "JWT"),
    breaks: names("signed"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/signed-introspection-of-nobody",
    fault: "Says neither who answered, nor whom, nor when",
    wrap: saying((claims) => ["iss", "aud", "iat"].forEach((name) => delete claims[name])),
    breaks: names("issuer", "audience", "time"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/signed-introspection-as-a-token",
    fault: "Writes claims of the token beside the answer",
    wrap: saying((claims) => Object.assign(claims, { sub: "alice", exp: 4_000_000_000 })),
    breaks: names("no-access-token-claims"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/signed-introspection-flat",
    fault: "Writes the answer among the claims",
    wrap: saying((claims) => {
      Object.assign(claims, claims["token_introspection"]);
      delete claims["token_introspection"];
    }),
    breaks: names("answer", "unknown", "altered", "revoked"),
    mayBreak: { ...OTHERS, "sub, exp and aud are among them": names("no-access-token-claims", "audience") },
  },
  {
    name: "oauth/signed-introspection-tells-more",
    fault: "Says of inactive tokens why they are",
    wrap: saying((claims) => {
      const answer = claims["token_introspection"] as Members;
      if (answer["active"] === false) answer["client_id"] = "app";
    }),
    breaks: names("unknown", "altered", "revoked"),
    mayBreak: OTHERS,
  },
  {
    name: "oauth/signed-introspection-never",
    fault: "Answers with JSON, whatever is accepted",
    wrap: faultyRequests(INTROSPECT, (request) => withRequestFields(request, { accept: "application/json" })),
    breaks: names("signed", "issuer", "answer"),
    mayBreak: { "they accept a JWT": names("") },
  },
  {
    name: "oauth/signed-introspection-always",
    fault: "Answers with a JWT, whatever is accepted",
    wrap: faultyRequests(INTROSPECT, (request) => withRequestFields(request, { accept: SIGNED })),
    breaks: names("json-as-before"),
    mayBreak: { "they ask about a token": ["oauth/"] },
  },
  {
    name: "oauth/signed-introspection-for-all",
    fault: "Answers whoever asks",
    wrap: forgiving(
      INTROSPECT,
      ({ error }) => error === "invalid_client",
      () => new Response("e30.e30.AA", { headers: { "content-type": SIGNED } }),
    ),
    breaks: names("without-proof", "wrong-proof"),
    mayBreak: { "they ask without a proof": ["oauth/introspection/"] },
  },
  {
    name: "oauth/signed-introspection-opens",
    fault: "Takes its own answers for access tokens",
    wrap: forgiving(
      RESOURCE,
      ({ request }) =>
        /^Bearer eyJ[^.]*\./.test(request.headers.get("authorization") ?? "") &&
        toText(fromBase64url(request.headers.get("authorization")!.slice(7).split(".")[0]!)).includes(
          "introspection",
        ),
      () => Response.json({}),
    ),
    breaks: names("opens-nothing"),
  },
  {
    name: "oauth/signed-introspection-unsigned",
    fault: "Says that it answers unsigned",
    wrap: faultyJson(
      METADATA,
      (json) => void (json["introspection_signing_alg_values_supported"] = ["none"]),
    ),
    breaks: names("metadata"),
    mayBreak: { "all values are looked at": ["oauth/metadata/"] },
  },
  {
    name: "oauth/signed-introspection-as-text",
    fault: "Does not say of which type its answer is",
    wrap: faultyAnswers(
      INTROSPECT,
      (answer) =>
        answer.headers.get("content-type") === SIGNED
          ? withFields(answer, { "content-type": "text/plain" })
          : answer,
    ),
    breaks: names("signed"),
  },
];
