/**
 * Codes that are good too often, for too long, or for others.
 *
 * @module
 */
import { forAnyone, remembered } from "../grant.ts";
import { AUTHORIZE, faultyForms, faultyRedirects, TOKEN } from "../message.ts";
import { faultyCommits, type Mutant, type Wrap } from "../mutant.ts";

const codes = (...ids: string[]): string[] => ids.map((id) => `oauth/code/${id}`);
const refreshes = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);

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
    mayBreak: {
      "They use a code again, after something else": ["oauth/code/", "oauth/pkce/guesses-at-once"],
    },
  },
  {
    name: "oauth/code-read-then-spent",
    fault: "Reads a code and spends it in two steps: who is quick gets two",
    store: faultyCommits(({ check = [], ...rest }) => ({
      ...rest,
      check: check.filter(({ key }) => key[0] !== "code"),
    })),
    breaks: codes("eight-at-once", "eight-at-once-of-a-confidential-client"),
    mayBreak: {
      "They use a code several times at once, or again": [
        "oauth/code/eight-at-once-are-answered",
        "oauth/code/two-clients-at-once",
      ],
    },
  },
  {
    name: "oauth/code-answers-again",
    fault: "Gives the same tokens to whoever sends the code again",
    wrap: remembered("code"),
    breaks: codes("twice"),
    mayBreak: {
      "They use a code again, after something else": [
        "oauth/code/eight-at-once-then-again",
        "oauth/code/twice-then-access-token",
        "oauth/code/twice-then-refresh-token",
      ],
    },
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
    mayBreak: {
      "A revoked or replayed token ends its grant": [
        "oauth/introspection/revoked-refresh-token",
        "oauth/refresh/late-reuse",
        "oauth/refresh/revoked",
        "oauth/revocation/",
      ],
    },
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
    mayBreak: {
      "What is refused one client is given to the next, whatever was wrong": [
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
    fault: "Does not compare the redirect URI when a code is redeemed",
    wrap: faultyForms(TOKEN, (form) => {
      if (form.getAll("redirect_uri").length === 1) form.delete("redirect_uri");
    }),
    breaks: codes("other-redirect-uri", "redirect-uri-elsewhere", "redirect-uri-with-slash"),
    mayBreak: {
      "Their redirect URI is wrong, too": [
        "oauth/code/redirect-uri-with-fragment",
        "oauth/code/redirect-uri-with-query",
        "oauth/code/scheme-in-capitals",
        "oauth/pkce/confidential-without",
        "oauth/token_endpoint/error-characters",
      ],
    },
  },
  {
    name: "oauth/codes-numbered",
    fault: "Counts its codes",
    wrap: numbered(),
    breaks: codes("entropy-of-128-bits", "entropy-of-160-bits"),
    mayBreak: {
      "The code that is sent beside the right one is none": [
        "oauth/token_endpoint/repeated-code",
        "oauth/token_endpoint/repeated-unlike",
      ],
    },
  },
  {
    name: "oauth/code-trimmed",
    fault: "Takes blanks out of codes",
    wrap: faultyForms(TOKEN, (form) => {
      if (form.has("code")) form.set("code", form.get("code")!.replaceAll(" ", ""));
    }),
    breaks: codes("with-a-blank"),
    mayBreak: {
      "They send a code with something more": [
        "oauth/token_endpoint/plus-is-a-blank",
        "oauth/token_endpoint/repeated-code",
        "oauth/token_endpoint/repeated-unlike",
      ],
    },
  },
  {
    name: "oauth/code-prolonged",
    fault: "Reads only as much of a code as its codes are long",
    wrap: faultyForms(TOKEN, (form) => {
      if (form.getAll("code").length === 1) form.set("code", form.get("code")!.slice(0, 53));
    }),
    breaks: codes("prolonged"),
    mayBreak: {
      "They send a code with something more": [
        "oauth/code/with-a-blank",
        "oauth/token_endpoint/plus-is-a-blank",
      ],
    },
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
    mayBreak: {
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
