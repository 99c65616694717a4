/**
 * Codes and refresh tokens that are good too often, for too long, or for others.
 *
 * @module
 */
import {
  at,
  AUTHORIZE,
  faultyForms,
  faultyJson,
  faultyRedirects,
  faultyRequests,
  readForm,
  TOKEN,
  withForm,
  withRequestFields,
} from "./message.ts";
import { faultyCommits, type Mutant, type Wrap } from "./mutant.ts";
import { basic, CLIENTS, type Known } from "./registered.ts";

const codes = (...ids: string[]): string[] => ids.map((id) => `oauth/code/${id}`);
const refreshes = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);

/** What is refused one client is tried in the name of all the others. */
function forAnyone(grantType: string): Wrap {
  return (next) => async (request) => {
    const form = await readForm(request);
    if (!request.url.endsWith(TOKEN) || form?.get("grant_type") !== grantType) return await next(request);
    let answer = await next(withForm(request, form));
    for (const client of CLIENTS.filter((each) => each.redirect_uri !== undefined)) {
      if (answer.status !== 400) break;
      answer = await next(inTheNameOf(client, request, form));
    }
    return answer;
  };
}

function inTheNameOf(client: Known, request: Request, form: URLSearchParams): Request {
  const other = new URLSearchParams(form);
  other.delete("client_secret");
  other.set("client_id", client.id);
  const authorization = client.secret === undefined ? undefined : basic(client);
  return withRequestFields(withForm(request, other), { authorization });
}

/** Hands out short names of codes, that follow each other. */
function numbered(): Wrap {
  const known = new Map<string, string>();
  const out = faultyRedirects(AUTHORIZE, (location) => {
    const code = location.searchParams.get("code");
    if (!code) return location;
    const name = String(1000 + known.size);
    known.set(name, code);
    location.searchParams.set("code", name);
    return location;
  });
  const back = faultyForms(TOKEN, (form) => {
    const code = known.get(form.get("code") ?? "");
    if (code !== undefined) form.set("code", code);
  });
  return (next) => out(back(next));
}

/** The first answer to a code or token is every answer to it. */
function remembered(parameter: "code" | "refresh_token"): Wrap {
  return (next) => {
    const answers = new Map<string, Response>();
    return async (request) => {
      const secret = request.url.endsWith(TOKEN) ? (await readForm(request))?.get(parameter) : undefined;
      if (!secret) return await next(request);
      const answer = answers.get(secret) ?? await next(request);
      if (answer.status === 200) answers.set(secret, answer.clone() as Response);
      return answer;
    };
  };
}

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

export const CODES: readonly Mutant[] = [
  {
    name: "oauth/code-used-again",
    fault: "Forgets that a code was used",
    store: faultyCommits(({ check = [], set = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "code"),
      // Codes are made without a check, and spent with one.
      set: check.some(({ key }) => key[0] === "code") ? set.filter(({ key }) => key[0] !== "code") : set,
    })),
    breaks: codes("twice", "eight-at-once"),
    mayBreak: ["oauth/code/", "oauth/pkce/"],
  },
  {
    name: "oauth/code-read-then-spent",
    fault: "Reads a code and spends it in two steps: who is quick gets two",
    store: faultyCommits(({ check = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "code"),
    })),
    breaks: codes("eight-at-once", "eight-at-once-of-a-confidential-client"),
    mayBreak: ["oauth/code/", "oauth/pkce/guesses-at-once"],
  },
  {
    name: "oauth/code-answers-again",
    fault: "Gives the same tokens to whoever sends the code again",
    wrap: remembered("code"),
    breaks: codes("twice"),
    mayBreak: ["oauth/"],
  },
  {
    name: "oauth/replay-unpunished",
    fault: "Takes nothing back when a code or refresh token comes again",
    store: faultyCommits((commit) =>
      !commit.set?.length && commit.remove?.some(({ 0: kind }) => kind === "grant") ? undefined : commit
    ),
    breaks: [
      ...codes("twice-then-access-token", "twice-then-refresh-token"),
      ...refreshes("reuse-ends-the-family", "reuse-ends-access"),
    ],
    mayBreak: ["oauth/"],
  },
  {
    name: "oauth/code-of-anyone",
    fault: "Takes a code from whoever has it",
    wrap: forAnyone("authorization_code"),
    breaks: codes(
      "of-another-public-client-with-its-uri",
      "of-another-confidential-client",
      "of-a-public-client-by-a-confidential-one",
    ),
    mayBreak: ["oauth/"],
  },
  {
    name: "oauth/code-redirect-uri-ignored",
    fault: "Does not compare the redirect URI when a code is redeemed",
    wrap: faultyForms(TOKEN, (form) => {
      if (form.getAll("redirect_uri").length === 1) form.delete("redirect_uri");
    }),
    breaks: codes("other-redirect-uri", "redirect-uri-elsewhere", "redirect-uri-with-slash"),
    mayBreak: ["oauth/"],
  },
  {
    name: "oauth/codes-numbered",
    fault: "Counts its codes",
    wrap: numbered(),
    breaks: codes("entropy-of-128-bits", "entropy-of-160-bits"),
    mayBreak: ["oauth/token_endpoint/repeated-"],
  },
  {
    name: "oauth/code-trimmed",
    fault: "Takes blanks out of codes",
    wrap: faultyForms(TOKEN, (form) => {
      if (form.has("code")) form.set("code", form.get("code")!.replaceAll(" ", ""));
    }),
    breaks: codes("with-a-blank"),
    mayBreak: ["oauth/token_endpoint/repeated-", "oauth/token_endpoint/plus-is-a-blank"],
  },
  {
    name: "oauth/code-prolonged",
    fault: "Reads only as much of a code as its codes are long",
    wrap: faultyForms(TOKEN, (form) => {
      if (form.getAll("code").length === 1) form.set("code", form.get("code")!.slice(0, 53));
    }),
    breaks: codes("prolonged"),
    mayBreak: [...codes("with-a-blank"), "oauth/token_endpoint/plus-is-a-blank"],
  },
  {
    name: "oauth/nothing-expires",
    fault: "Has a clock that stands still",
    isTimeless: true,
    breaks: [
      ...codes("after-ten-minutes", "after-its-lifetime"),
      ...refreshes("expired"),
      "oauth/bearer/expired",
      "oauth/bearer/expired-is-told",
    ],
    mayBreak: [...refreshes("late-reuse"), "oauth/introspection/expired"],
  },
  {
    name: "oauth/refresh-of-anyone",
    fault: "Takes a refresh token from whoever has it",
    wrap: forAnyone("refresh_token"),
    breaks: refreshes("of-another-public-client", "of-another-confidential-client"),
    mayBreak: [
      "oauth/refresh/",
      "oauth/client_authentication/",
      "oauth/code/twice-",
      "oauth/revocation/",
      "oauth/resource_indicators/",
    ],
  },
  {
    name: "oauth/refresh-read-then-rotated",
    fault: "Reads a refresh token and replaces it in two steps",
    store: faultyCommits(({ check = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "grant"),
    })),
    breaks: refreshes("eight-at-once", "eight-at-once-of-a-confidential-client"),
    mayBreak: ["oauth/refresh/"],
  },
  {
    name: "oauth/refresh-not-rotated",
    fault: "Gives no new refresh token",
    wrap: (next) => async (request) => {
      const isRefresh = (await readForm(request))?.get("grant_type") === "refresh_token";
      return await (isRefresh ? faultyJson(TOKEN, (json) => delete json["refresh_token"])(next) : next)(
        request,
      );
    },
    breaks: refreshes("rotated", "rotated-works"),
    mayBreak: ["oauth/refresh/", "oauth/revocation/"],
  },
  {
    name: "oauth/refresh-same-access",
    fault: "Answers every use of a refresh token as it did the first",
    wrap: remembered("refresh_token"),
    breaks: refreshes("reuse-ends-the-family"),
    mayBreak: ["oauth/"],
  },
  {
    name: "oauth/revocation-does-nothing",
    fault: "Says that it revoked, and did not",
    wrap: (next) => async (request) =>
      request.url.endsWith("/oauth/revoke") ? new Response(null, { status: 200 }) : await next(request),
    breaks: ["oauth/bearer/revoked", ...refreshes("revoked")],
    mayBreak: ["oauth/revocation/", "oauth/introspection/"],
  },
  {
    name: "oauth/refresh-spent-by-refusals",
    fault: "Spends a refresh token before it looks at what is asked with it",
    wrap: spentByRefusals,
    breaks: [
      ...refreshes("refused-scope-spends-nothing"),
      "oauth/resource_indicators/refused-refresh-spends-nothing",
    ],
    mayBreak: ["oauth/refresh/more-scope"],
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
    breaks: refreshes("more-scope", "unknown-scope"),
    mayBreak: ["oauth/refresh/", "oauth/token_endpoint/repeated-scope"],
  },
];
