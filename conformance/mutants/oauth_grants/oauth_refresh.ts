/**
 * Faults in refresh tokens and revocation.
 *
 * @module
 */
import { acceptFromAnyClient, repeatFirstResponse } from "../grant_faults.ts";
import { changeJson, changeRequests, onPath, readForm, REVOKE, TOKEN, withForm } from "../http_faults.ts";
import { changeCommits, type Mutant, type Wrap } from "../mutant.ts";

const refreshes = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);

/** Refuses a refresh token forever after a request with a wrong scope or resource. */
const consumeOnError: Wrap = onPath(TOKEN, (next) => {
  const consumed = new Set<string>();
  return async (request) => {
    const token = (await readForm(request))?.get("refresh_token") ?? "";
    if (consumed.has(token)) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const answer = await next(request);
    const text = await answer.clone().text();
    if (token !== "" && /"invalid_(scope|target)"/.test(text)) consumed.add(token);
    return answer;
  };
});

export const REFRESH_TOKENS: readonly Mutant[] = [
  {
    name: "oauth/refresh-of-any-client",
    fault: "Accepts a refresh token of another client",
    wrap: acceptFromAnyClient("refresh_token"),
    killedBy: refreshes("of-another-public-client", "of-another-confidential-client"),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/refused-refresh"],
      "The fault retries every refused request as each other client": [
        "oauth/authorization_details/more-at-refresh",
        "oauth/client_management/deleted-secret",
        "oauth/code/twice-then-refresh-token",
        "oauth/refresh/",
        "oauth/resource_indicators/not-granted-at-refresh",
        "oauth/resource_indicators/refused-refresh-spends-nothing",
        "oauth/revocation/",
      ],
    },
  },
  {
    name: "oauth/refresh-rotated-without-check",
    fault: "Rotates a refresh token without an atomic check",
    store: changeCommits(({ check = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "grant"),
    })),
    killedBy: refreshes("eight-at-once", "eight-at-once-of-a-confidential-client"),
  },
  {
    name: "oauth/refresh-not-rotated",
    fault: "Does not issue a new refresh token",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const isRefresh = (await readForm(request))?.get("grant_type") === "refresh_token";
      return await (isRefresh ? changeJson(TOKEN, (json) => delete json["refresh_token"])(next) : next)(
        request,
      );
    }),
    killedBy: refreshes("rotated", "rotated-works"),
    mayFail: {
      "They use the new refresh token": [
        "oauth/refresh/late-reuse",
        "oauth/refresh/less-scope-once",
        "oauth/refresh/reuse-ends-access",
        "oauth/refresh/reuse-ends-the-family",
        "oauth/revocation/refresh-token-ends-later-access",
      ],
    },
  },
  {
    name: "oauth/refresh-response-repeated",
    fault: "Returns the same tokens when a refresh token is sent again",
    wrap: repeatFirstResponse("refresh_token"),
    killedBy: refreshes("reuse-ends-the-family"),
    mayFail: {
      "They use a refresh token twice": ["oauth/refresh/late-reuse", "oauth/refresh/reuse-ends-access"],
    },
  },
  {
    name: "oauth/revocation-does-nothing",
    fault: "Answers revocations with success and keeps the token",
    wrap: onPath(REVOKE, () => () => Promise.resolve(new Response(null, { status: 200 }))),
    killedBy: ["oauth/bearer/revoked", ...refreshes("revoked")],
    mayFail: {
      "They revoke tokens": [
        "oauth/introspection/revoked",
        "oauth/introspection/revoked-refresh-token",
        "oauth/introspection/revoked-says-no-more",
        "oauth/revocation/",
        "oauth/signed_introspection/revoked",
        "oauth/token_exchange/revoked-subject",
      ],
    },
  },
  {
    name: "oauth/refresh-consumed-by-errors",
    fault: "Consumes a refresh token before it checks scope and resource",
    wrap: consumeOnError,
    killedBy: [
      ...refreshes("refused-scope-spends-nothing"),
      "oauth/resource_indicators/refused-refresh-spends-nothing",
    ],
  },
  {
    name: "oauth/refresh-scope-ignored",
    fault: "Ignores the scope of a refresh request",
    wrap: changeRequests(TOKEN, async (request) => {
      const form = await readForm(request);
      if (form?.get("grant_type") !== "refresh_token") return request;
      form.delete("scope");
      return withForm(request, form);
    }),
    killedBy: refreshes("unknown-scope"),
    mayFail: {
      "They send a scope with a refresh token": [
        "oauth/refresh/less-scope",
        "oauth/refresh/refused-scope-spends-nothing",
      ],
    },
  },
];
