/**
 * Refresh tokens that are good too often or for others, and tokens that do not end.
 *
 * @module
 */
import { forAnyone, remembered } from "../grant.ts";
import { at, faultyJson, faultyRequests, readForm, REVOKE, TOKEN, withForm } from "../message.ts";
import { faultyCommits, type Mutant, type Wrap } from "../mutant.ts";

const refreshes = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);

/** A refresh token that was refused for what was asked with it is refused ever after. */
const spentByRefusals: Wrap = at(TOKEN, (next) => {
  const spent = new Set<string>();
  return async (request) => {
    const token = (await readForm(request))?.get("refresh_token") ?? "";
    if (spent.has(token)) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const answer = await next(request);
    const text = await answer.clone().text();
    if (token !== "" && /"invalid_(scope|target)"/.test(text)) spent.add(token);
    return answer;
  };
});

export const REFRESH_TOKENS: readonly Mutant[] = [
  {
    name: "oauth/refresh-of-anyone",
    fault: "Takes a refresh token from whoever has it",
    wrap: forAnyone("refresh_token"),
    breaks: refreshes("of-another-public-client", "of-another-confidential-client"),
    mayBreak: {
      "What is refused one client is given to the next, whatever was wrong": [
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
    name: "oauth/refresh-read-then-rotated",
    fault: "Reads a refresh token and replaces it in two steps",
    store: faultyCommits(({ check = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "grant"),
    })),
    breaks: refreshes("eight-at-once", "eight-at-once-of-a-confidential-client"),
  },
  {
    name: "oauth/refresh-not-rotated",
    fault: "Gives no new refresh token",
    wrap: at(TOKEN, (next) => async (request) => {
      const isRefresh = (await readForm(request))?.get("grant_type") === "refresh_token";
      return await (isRefresh ? faultyJson(TOKEN, (json) => delete json["refresh_token"])(next) : next)(
        request,
      );
    }),
    breaks: refreshes("rotated", "rotated-works"),
    mayBreak: {
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
    name: "oauth/refresh-same-access",
    fault: "Answers every use of a refresh token as it did the first",
    wrap: remembered("refresh_token"),
    breaks: refreshes("reuse-ends-the-family"),
    mayBreak: {
      "They use a refresh token again": ["oauth/refresh/late-reuse", "oauth/refresh/reuse-ends-access"],
    },
  },
  {
    name: "oauth/revocation-does-nothing",
    fault: "Says that it revoked, and did not",
    wrap: at(REVOKE, () => () => Promise.resolve(new Response(null, { status: 200 }))),
    breaks: ["oauth/bearer/revoked", ...refreshes("revoked")],
    mayBreak: {
      "They revoke, or are refused it": [
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
    name: "oauth/refresh-spent-by-refusals",
    fault: "Spends a refresh token before it looks at what is asked with it",
    wrap: spentByRefusals,
    breaks: [
      ...refreshes("refused-scope-spends-nothing"),
      "oauth/resource_indicators/refused-refresh-spends-nothing",
    ],
  },
  {
    name: "oauth/refresh-scope-grows",
    fault: "Overlooks the scope that a refresh asks for",
    wrap: faultyRequests(TOKEN, async (request) => {
      const form = await readForm(request);
      if (form?.get("grant_type") !== "refresh_token") return request;
      form.delete("scope");
      return withForm(request, form);
    }),
    breaks: refreshes("unknown-scope"),
    mayBreak: {
      "They send a scope with a refresh token": [
        "oauth/refresh/less-scope",
        "oauth/refresh/refused-scope-spends-nothing",
      ],
    },
  },
];
