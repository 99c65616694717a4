/**
 * Faults in authorization codes: used twice, too late, or by another client.
 *
 * @module
 */
import { acceptFromAnyClient, repeatFirstResponse } from "../grant_faults.ts";
import { AUTHORIZE, changeForms, changeRedirects, TOKEN } from "../http_faults.ts";
import { changeCommits, type Handler, type Mutant, type Wrap } from "../mutant.ts";
import { resembling } from "../resembling.ts";

const codes = (...ids: string[]): string[] => ids.map((id) => `oauth/code/${id}`);
const refreshes = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);

/** Replaces codes with sequential numbers. */
function numberCodes(): Wrap {
  const known = new Map<string, string>();
  const out = changeRedirects(AUTHORIZE, (location) => {
    const code = location.searchParams.get("code");
    if (!code) return location;
    const name = String(1000 + known.size);
    known.set(name, code);
    location.searchParams.set("code", name);
    return location;
  });
  const back = changeForms(TOKEN, (form) => {
    const code = known.get(form.get("code") ?? "");
    if (code !== undefined) form.set("code", code);
  });
  return (next) => out(back(next));
}

/** Calls back with each code in a redirect of the authorization endpoint. */
const onCode = (next: Handler, remember: (code: string, location: URL) => void): Handler =>
  changeRedirects(AUTHORIZE, (location) => {
    const code = location.searchParams.get("code");
    if (code) remember(code, location);
    return location;
  })(next);

/** Reads longer codes as the code that they begin with. */
const truncateCodes: Wrap = (next) => {
  const codes = new Set<string>();
  const cut = changeForms(TOKEN, (form) => {
    const [sent, another] = form.getAll("code");
    const code = [...codes].find((each) => sent?.startsWith(each));
    if (code !== undefined && another === undefined) form.set("code", code);
  })(next);
  return onCode(cut, (code) => codes.add(code));
};

/** Replaces the redirect_uri of a token request with that of the authorization request, which some servers require. */
const replaceRedirectUri: Wrap = (next) => {
  const uris = new Map<string, string>();
  const replace = changeForms(TOKEN, (form) => {
    const uri = uris.get(form.get("code") ?? "");
    if (form.getAll("redirect_uri").length === 1 && uri !== undefined) form.set("redirect_uri", uri);
  })(next);
  return onCode(replace, (code, { href }) => uris.set(code, href.split(/[?&](?:code|state|iss)=/, 1)[0]!));
};

export const CODES: readonly Mutant[] = [
  {
    name: "oauth/code-used-again",
    fault: "Accepts a code twice",
    store: changeCommits(({ check = [], set = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "code"),
      // A commit creates a code without a check and consumes it with one.
      set: check.some(({ key }) => key[0] === "code") ? set.filter(({ key }) => key[0] !== "code") : set,
    })),
    killedBy: codes("twice", "eight-at-once"),
    mayFail: {
      "They use a code twice": ["oauth/code/", "oauth/pkce/guesses-at-once"],
    },
  },
  {
    name: "oauth/code-consumed-without-check",
    fault: "Consumes a code without an atomic check",
    store: changeCommits(({ check = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "code"),
    })),
    killedBy: codes("eight-at-once", "eight-at-once-of-a-confidential-client"),
    mayFail: {
      "They use a code several times at once": [
        "oauth/code/eight-at-once-are-answered",
        "oauth/code/two-clients-at-once",
      ],
    },
  },
  {
    name: "oauth/code-response-repeated",
    fault: "Returns the same tokens when a code is sent again",
    wrap: repeatFirstResponse("code"),
    killedBy: codes("twice"),
    mayFail: {
      "It repeats a code": ["oauth/oauth_2_1/invalid-replay"],
      "They use a code twice": [
        "oauth/code/eight-at-once-then-again",
        "oauth/code/twice-then-access-token",
        "oauth/code/twice-then-refresh-token",
      ],
    },
  },
  {
    name: "oauth/replay-without-revocation",
    fault: "Does not revoke the grant when a code or refresh token is replayed",
    store: changeCommits((commit) =>
      !commit.set?.length && commit.remove?.some(({ 0: kind }) => kind === "grant") ? undefined : commit
    ),
    killedBy: [
      ...codes("twice-then-access-token", "twice-then-refresh-token"),
      ...refreshes("reuse-ends-the-family", "reuse-ends-access"),
    ],
    mayFail: {
      "A revoked or replayed token ends its grant": [
        "oauth/introspection/revoked-refresh-token",
        "oauth/refresh/late-reuse",
        "oauth/refresh/revoked",
        "oauth/revocation/",
      ],
    },
  },
  {
    name: "oauth/code-of-any-client",
    fault: "Redeems a code for a client that did not request it",
    wrap: acceptFromAnyClient("authorization_code"),
    killedBy: codes(
      "of-another-public-client-with-its-uri",
      "of-another-confidential-client",
      "of-a-public-client-by-a-confidential-one",
    ),
    mayFail: {
      "It redeems the code of a client with a key": ["oauth/request_object/challenge-beside-it"],
      "It repeats a code": ["oauth/oauth_2_1/invalid-replay"],
      "The fault retries every refused request as each other client": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/best_practice/verifier-without-challenge",
        "oauth/client_authentication/two-",
        "oauth/client_credentials/other-grants",
        "oauth/code/",
        "oauth/device/code-by-the-code-grant",
        "oauth/dpop/",
        "oauth/par/challenge-beside-it",
        "oauth/pkce/",
        "oauth/resource_indicators/",
        "oauth/token_endpoint/",
        "oauth/authorization_details/more-at-the-token-endpoint",
        "oauth/authorization_details/at-the-token-endpoint-only",
      ],
    },
  },
  {
    name: "oauth/code-redirect-uri-ignored",
    fault: "Does not compare redirect_uri when a code is redeemed",
    wrap: replaceRedirectUri,
    killedBy: codes("other-redirect-uri", "redirect-uri-elsewhere", "redirect-uri-with-slash"),
    mayFail: {
      "They send values that resemble the right ones": resembling("redirect-uri-with-code"),
      "They send a wrong redirect URI": [
        "oauth/code/redirect-uri-with-fragment",
        "oauth/code/redirect-uri-with-query",
        "oauth/code/scheme-in-capitals",
        "oauth/pkce/confidential-without",
        "oauth/token_endpoint/error-characters",
      ],
    },
  },
  {
    name: "oauth/codes-sequential",
    fault: "Numbers codes in place of random values",
    wrap: numberCodes(),
    killedBy: codes("entropy-of-128-bits", "entropy-of-160-bits"),
    mayFail: {
      "They send values that resemble the right ones": ["oauth/letter_case/code"],
      "They send an unknown code beside the right one": [
        "oauth/token_endpoint/repeated-code",
        "oauth/token_endpoint/repeated-unlike",
      ],
    },
  },
  {
    name: "oauth/code-trimmed",
    fault: "Removes spaces from codes",
    wrap: changeForms(TOKEN, (form) => {
      if (form.has("code")) form.set("code", form.get("code")!.replaceAll(" ", ""));
    }),
    killedBy: codes("with-a-blank"),
    mayFail: {
      "They send a code with extra characters": [
        "oauth/token_endpoint/plus-is-a-blank",
        "oauth/token_endpoint/repeated-code",
        "oauth/token_endpoint/repeated-unlike",
      ],
    },
  },
  {
    name: "oauth/code-truncated",
    fault: "Ignores characters after the length of its codes",
    wrap: truncateCodes,
    killedBy: codes("prolonged"),
    mayFail: {
      "They send a code with extra characters": [
        "oauth/code/with-a-blank",
        "oauth/token_endpoint/plus-is-a-blank",
      ],
    },
  },
  {
    name: "oauth/nothing-expires",
    fault: "Has a clock that does not advance",
    isClockStopped: true,
    killedBy: [
      ...codes("after-ten-minutes", "after-its-lifetime"),
      ...refreshes("expired"),
      "oauth/bearer/expired",
      "oauth/bearer/expired-is-told",
    ],
    mayFail: {
      "They advance the clock": [
        "oauth/openid_request/max-age",
        "oauth/request_object/max-age-as-number",
        "oauth/step_up/challenge-max-age",
        "oauth/step_up/old-login",
      ],
      "They wait until something expires": [
        "oauth/device/expired",
        "oauth/device/expired-though-allowed",
        "oauth/introspection/expired",
        "oauth/jwt_access_token/expired",
        "oauth/par/expired",
        "oauth/refresh/late-reuse",
        "oauth/token_exchange/expired-subject",
      ],
    },
  },
];
