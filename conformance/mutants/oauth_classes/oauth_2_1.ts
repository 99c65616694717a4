/**
 * Faults of servers that claim OAuth 2.1 (draft-ietf-oauth-v2-1).
 *
 * @module
 */
import { acceptRefused, combine, issueRefusedTokens } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeJson,
  changeResponses,
  METADATA,
  onPath,
  readForm,
  REGISTER,
  RESOURCE,
  TOKEN,
  withBody,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/oauth_2_1/${id}`);

/** Ends the access token of a code when the code is replayed, even if the request is refused for another reason. */
const endTokensAtAnyReplay: Wrap = (next) => {
  const tokens = new Map<string, string>();
  const ended = new Set<string>();
  return combine(
    onPath(TOKEN, (inner) => async (request) => {
      const code = (await readForm(request))?.get("code");
      const answer = await inner(request);
      if (!code) return answer;
      const known = tokens.get(code);
      if (known !== undefined) ended.add(`Bearer ${known}`);
      else if (answer.status === 200) tokens.set(code, (await answer.clone().json()).access_token);
      return answer;
    }),
    onPath(
      RESOURCE,
      (inner) => async (request) =>
        ended.has(request.headers.get("authorization") ?? "")
          ? new Response(null, {
            status: 401,
            headers: { "www-authenticate": 'Bearer error="invalid_token"' },
          })
          : await inner(request),
    ),
  )(next);
};

export const OAUTH_2_1: readonly Mutant[] = [
  {
    name: "oauth/2-1-implicit",
    fault: "Issues an access token for response_type=token",
    wrap: onPath(AUTHORIZE, (next) => async (request) => {
      const query = new URL(request.url).searchParams;
      if (query.get("response_type") !== "token") return await next(request);
      const location = `${query.get("redirect_uri")}#access_token=secret&token_type=Bearer`;
      return new Response(null, { status: 303, headers: { location } });
    }),
    killedBy: names("implicit"),
    mayFail: { "It requests response_type=token": ["oauth/authorize/response-type-token-without-implicit"] },
  },
  {
    name: "oauth/2-1-password",
    fault: "Issues tokens for passwords",
    wrap: issueRefusedTokens(({ form }) => form.get("grant_type") === "password"),
    killedBy: names("password"),
    mayFail: { "They send a password": ["oauth/password/", "oauth/token_endpoint/"] },
  },
  {
    name: "oauth/2-1-unknown-client-404",
    fault: "Answers an unknown client at the authorization endpoint with 404",
    wrap: changeResponses(
      AUTHORIZE,
      async (answer, { url }) =>
        new URL(url).searchParams.get("client_id") === "no-such-client-5fd1"
          ? withBody(answer, await answer.text(), 404)
          : answer,
    ),
    killedBy: names("unknown-client-is-400"),
  },
  {
    name: "oauth/2-1-post-not-listed",
    fault: "Does not list client_secret_post",
    wrap: changeJson(METADATA, (json) => {
      const list = json["token_endpoint_auth_methods_supported"] as string[];
      json["token_endpoint_auth_methods_supported"] = list.filter((each) => each !== "client_secret_post");
    }),
    killedBy: [...names("secret-in-body"), "oauth/metadata/client-authentication-post"],
  },
  {
    name: "oauth/2-1-redirect-uri-required",
    fault: "Requires redirect_uri in the token request",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      return form?.get("grant_type") === "authorization_code" && form.has("code_verifier") &&
          !form.has("redirect_uri")
        ? Response.json({ error: "invalid_request" }, { status: 400 })
        : await next(request);
    }),
    killedBy: names("redirect-uri-left-out"),
    mayFail: { "It leaves redirect_uri out": ["oauth/code/redirect-uri-never-sent"] },
  },
  {
    name: "oauth/2-1-any-replay-revokes",
    fault: "Revokes the tokens of a code that is replayed with a wrong code_verifier",
    wrap: endTokensAtAnyReplay,
    killedBy: names("invalid-replay"),
  },
  {
    name: "oauth/2-1-any-scheme",
    fault: "Registers redirect URIs with a scheme without a period",
    wrap: acceptRefused(
      REGISTER,
      ({ description }) => /scheme/.test(description),
      () => Response.json({ client_id: "x", redirect_uris: ["myapp:/cb"] }, { status: 201 }),
    ),
    killedBy: names("scheme-without-period"),
    mayFail: { "They register a redirect URI with another scheme": ["oauth/registration/uri-"] },
  },
];
