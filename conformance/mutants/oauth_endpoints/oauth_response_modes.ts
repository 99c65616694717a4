/**
 * Faults in signed authorization responses (JARM) and in those that a form posts.
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { acceptRefused } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeJson,
  changeQueries,
  changeResponses,
  METADATA,
  onPath,
  REGISTER,
  withBody,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/jarm/${id}`);
const forms = (...ids: string[]): string[] => ids.map((id) => `oauth/form_post/${id}`);

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Changes the JWT of a response in a redirect. The result is the new JWT, or the text that replaces `response=…`. */
const changeLocation = (change: (header: Members, claims: Members, signature: string) => string): Wrap =>
  changeResponses(AUTHORIZE, (answer) => {
    const location = answer.headers.get("location");
    const [found, jwt] = /response=([^&#]+)/.exec(location ?? "") ?? [];
    if (!location || !found || !jwt) return answer;
    const [header = "", claims = "", signature = ""] = jwt.split(".");
    const changed = change(decode(header), decode(claims), signature);
    return withHeaders(answer, { location: location.replace(found, () => changed) });
  });

/** Changes header or claims and keeps the signature. */
const changeJwt = (change: (claims: Members, header: Members) => unknown): Wrap =>
  changeLocation((header, claims, signature) => {
    change(claims, header);
    return `response=${encode(header)}.${encode(claims)}.${signature}`;
  });

const OTHERS = {
  "The signature does not match the changed bytes": names(
    "query",
    "jwt-is-query",
    "fragment",
    "error-query",
    "error-fragment",
    "denied",
  ),
};

/** Changes pages of the authorization endpoint. */
const changePage = (change: (page: string, request: Request) => string): Wrap =>
  changeResponses(AUTHORIZE, async (answer, request) => {
    const text = await answer.clone().text();
    return text.includes("form_post.js") ? withBody(answer, change(text, request)) : answer;
  });

export const RESPONSE_MODES: readonly Mutant[] = [
  {
    name: "oauth/jarm-ignored",
    fault: "Ignores response_mode",
    wrap: changeQueries((query) => query.delete("response_mode")),
    killedBy: [
      ...names("query", "jwt-is-query", "fragment", "error-query", "error-fragment", "denied", "form"),
      ...forms("page", "not-stored", "error", "state-is-no-markup"),
    ],
    mayFail: { "They read the JWT": names("") },
  },
  {
    name: "oauth/jarm-other-issuer",
    fault: "Names another issuer in the JWT",
    wrap: changeJwt((claims) => claims["iss"] = "https://other.example"),
    killedBy: names("issuer"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jarm-other-audience",
    fault: "Names another client in the JWT",
    wrap: changeJwt((claims) => claims["aud"] = "another"),
    killedBy: names("audience", "registered-algorithm"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jarm-without-expiry",
    fault: "Leaves exp out of the JWT",
    wrap: changeJwt((claims) => delete claims["exp"]),
    killedBy: names("expiry"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jarm-numbers",
    fault: "Writes the code as a number",
    wrap: changeJwt((claims) => claims["code"] &&= 5),
    killedBy: names("strings"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jarm-unsigned",
    fault: "Does not sign the JWT",
    wrap: changeLocation((header, claims) =>
      `response=${encode({ ...header, alg: "none" })}.${encode(claims)}.`
    ),
    killedBy: names(
      "query",
      "jwt-is-query",
      "fragment",
      "algorithm",
      "error-query",
      "error-fragment",
      "denied",
    ),
    mayFail: { "It reads the algorithm": names("registered-algorithm", "rs256") },
  },
  {
    name: "oauth/jarm-other-algorithm",
    fault: "Signs with another algorithm than the client registered",
    wrap: changeJwt((_, header) => header["alg"] = "RS256"),
    killedBy: names("registered-algorithm"),
    mayFail: OTHERS,
  },
  {
    name: "oauth/jarm-code-beside-it",
    fault: "Sends the parameters beside the JWT as well",
    wrap: changeLocation((header, claims, signature) => {
      const jwt = `response=${encode(header)}.${encode(claims)}.${signature}`;
      const { code, error } = claims;
      return code === undefined ? `${jwt}&error=${error}` : `${jwt}&code=${code}`;
    }),
    killedBy: names("query", "jwt-is-query", "fragment", "error-query", "error-fragment", "denied"),
  },
  {
    name: "oauth/jarm-fragment-in-query",
    fault: "Sends fragment.jwt in the query",
    wrap: changeResponses(AUTHORIZE, (answer) => {
      const location = answer.headers.get("location");
      return location === null
        ? answer
        : withHeaders(answer, { location: location.replace("#response", "?response") });
    }),
    killedBy: names("fragment", "error-fragment"),
  },
  {
    name: "oauth/jarm-plain-errors",
    fault: "Does not sign error responses",
    wrap: changeLocation((header, claims, signature) =>
      claims["error"] === undefined
        ? `response=${encode(header)}.${encode(claims)}.${signature}`
        : `error=${claims["error"]}&state=${claims["state"]}`
    ),
    killedBy: names("error-query", "error-fragment", "denied", "registered-algorithm"),
  },
  {
    name: "oauth/jarm-none-registered",
    fault: "Registers none as the algorithm of signed responses",
    wrap: acceptRefused(
      REGISTER,
      ({ description }) => description.includes("authorization_signed_response_alg"),
      () => Response.json({ client_id: "x", authorization_signed_response_alg: "none" }, { status: 201 }),
    ),
    killedBy: names("none-is-not-registered"),
  },
  {
    name: "oauth/jarm-metadata-without-modes",
    fault: "Does not list the response modes in the metadata",
    wrap: changeJson(METADATA, (json) => delete json["response_modes_supported"]),
    killedBy: names("metadata"),
    mayFail: { "They read the response modes": ["oauth/metadata/"] },
  },
  {
    name: "oauth/jarm-form-of-parameters",
    fault: "Posts the parameters in place of the JWT",
    wrap: changePage((page) => page.replace('name="response"', 'name="code"')),
    killedBy: names("form"),
  },
  {
    name: "oauth/form-post-elsewhere",
    fault: "Posts the form to another URL",
    wrap: changePage((page) => page.replace(/action="[^"]*"/, 'action="https://elsewhere.example/callback"')),
    killedBy: [...forms("page", "error"), ...names("form")],
  },
  {
    name: "oauth/form-post-stored",
    fault: "Lets browsers store the page with the code",
    wrap: changeResponses(
      AUTHORIZE,
      async (answer) =>
        (await answer.clone().text()).includes("form_post.js")
          ? withHeaders(answer, { "cache-control": "private, max-age=60" })
          : answer,
    ),
    killedBy: forms("not-stored"),
  },
  {
    name: "oauth/form-post-unescaped",
    fault: "Does not escape values in the form",
    wrap: changePage((page) =>
      page.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
    ),
    killedBy: forms("state-is-no-markup"),
  },
  {
    name: "oauth/form-post-to-strangers",
    fault: "Posts error responses to redirect URIs that are not registered",
    wrap: onPath(AUTHORIZE, (next) => async (request) => {
      const answer = await next(request);
      const query = new URL(request.url).searchParams;
      if (answer.status < 400 || query.get("response_mode") !== "form_post") return answer;
      return new Response(`<form method="post" action="${query.get("redirect_uri")}"></form>`, {
        status: 400,
        headers: { "content-type": "text/html" },
      });
    }),
    killedBy: forms("redirect-uri-unknown"),
  },
];
