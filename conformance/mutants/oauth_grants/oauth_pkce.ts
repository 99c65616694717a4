/**
 * Faults of PKCE.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Entry } from "../../../src/store/store.ts";
import { faultyForms, faultyQueries, TOKEN } from "../message.ts";
import { faultyCommits, faultyReads, type Mutant, type Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/pkce/${id}`);

const s256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** A verifier for those who have none, and in the place of those that are wrong. */
const FILL = "a verifier for those who have none, 43 letters at the least".replace(/\W/g, "-");

/** A code with another challenge than it was asked for with. */
function withChallenge<Kept extends Pick<Entry, "key" | "value">>(
  entry: Kept,
  change: (challenge: string) => string,
): Kept {
  const value = entry.value as { unspent?: { request: { code_challenge?: string } } };
  const challenge = value.unspent?.request.code_challenge;
  if (entry.key[0] !== "code" || !value.unspent || challenge === undefined) return entry;
  const request = { ...value.unspent.request, code_challenge: change(challenge) };
  return { ...entry, value: { ...value, unspent: { ...value.unspent, request } } };
}

/** Puts one verifier and its challenge in the place of all, where there is a challenge. */
function ignored(): Pick<Mutant, "wrap" | "store"> {
  const challenged = new Set<string>();
  return {
    wrap: faultyForms(TOKEN, (form) => {
      if (form.get("grant_type") !== "authorization_code") return;
      if (challenged.has(s256(form.get("code") ?? ""))) form.set("code_verifier", FILL);
      else form.delete("code_verifier");
    }),
    store: faultyCommits(({ set = [], ...rest }) => ({
      ...rest,
      set: set.map((put) =>
        withChallenge(put, () => {
          challenged.add(String(put.key[1]));
          return s256(FILL);
        })
      ),
    })),
  };
}

/** Takes the challenge itself for its verifier. */
function plainToo(): Pick<Mutant, "wrap" | "store"> {
  const verifiers = new Set<string>();
  return {
    wrap: faultyForms(TOKEN, (form) => void verifiers.add(form.get("code_verifier") ?? "")),
    store: faultyReads((entry) =>
      withChallenge(entry, (challenge) => verifiers.has(challenge) ? s256(challenge) : challenge)
    ),
  };
}

/** Puts good ones in the place of verifiers that are none, and of their challenges. */
function unchecked(): Pick<Mutant, "wrap" | "store"> {
  const replaced = new Map<string, string>();
  return {
    wrap: faultyForms(TOKEN, (form) => {
      const sent = form.get("code_verifier");
      if (!sent || form.getAll("code_verifier").length > 1 || /^[\w.~-]{43,128}$/.test(sent)) return;
      replaced.set(s256(sent), s256(s256(sent)));
      form.set("code_verifier", s256(sent));
    }),
    store: faultyReads((entry) => withChallenge(entry, (challenge) => replaced.get(challenge) ?? challenge)),
  };
}

const asS256 = (isMeant: (method: string | null) => boolean): Wrap =>
  faultyQueries((query) => {
    if (query.has("code_challenge") && isMeant(query.get("code_challenge_method"))) {
      query.set("code_challenge_method", "S256");
    }
  });

export const PKCE: readonly Mutant[] = [
  {
    name: "oauth/pkce-ignored",
    fault: "Compares no verifier",
    ...ignored(),
    breaks: names(
      "verifier-wrong",
      "verifier-missing",
      "verifier-is-challenge",
      "verifier-of-another-request",
    ),
    mayBreak: {
      "Their verifier is wrong, or their challenge": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/best_practice/verifier-without-challenge",
        "oauth/par/challenge-beside-it",
        "oauth/pkce/",
        "oauth/token_endpoint/error-characters",
        "oauth/token_endpoint/repeated-code-verifier",
      ],
    },
  },
  {
    name: "oauth/pkce-s256-is-plain",
    fault: "Takes the challenge for its verifier",
    ...plainToo(),
    breaks: names("verifier-is-challenge"),
    mayBreak: {
      "They send a challenge as verifier, too": [
        "oauth/pkce/guesses-at-once",
        "oauth/pkce/method-in-token-request",
      ],
    },
  },
  {
    name: "oauth/pkce-verifier-optional",
    fault: "Compares a verifier only where one is sent",
    ...optional(),
    breaks: names("verifier-missing", "verifier-empty"),
    mayBreak: {
      "They send no verifier, too": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/pkce/confidential-without",
        "oauth/pkce/verifier-missing-with-secret",
      ],
    },
  },
  {
    name: "oauth/pkce-padded",
    fault: "Cuts padding off challenges",
    wrap: faultyQueries((query) => {
      const challenge = query.get("code_challenge");
      if (challenge?.endsWith("=")) query.set("code_challenge", challenge.replace(/=+$/, ""));
    }),
    breaks: names("challenge-padded"),
  },
  {
    name: "oauth/pkce-method-in-any-case",
    fault: "Reads methods in any case",
    wrap: asS256((method) => method?.toUpperCase() === "S256"),
    breaks: names("method-in-lower-case"),
  },
  {
    name: "oauth/pkce-method-unknown",
    fault: "Takes methods that it does not know for S256",
    wrap: asS256((method) => method !== null && !["", "plain"].includes(method)),
    breaks: names("method-unknown", "method-prototype", "method-in-lower-case"),
    mayBreak: {
      "They name a method that there is not, too": [
        "oauth/issuer/wrong-challenge-method",
        "oauth/pkce/method-unknown-is-explained",
      ],
    },
  },
  {
    name: "oauth/pkce-method-left-out",
    fault: "Takes a challenge without method for S256",
    wrap: asS256((method) => method === null),
    breaks: names("method-missing-without-plain"),
  },
  {
    name: "oauth/pkce-plain",
    fault: "Takes the method plain",
    wrap: faultyQueries((query) => {
      const challenge = query.get("code_challenge");
      if (!challenge || query.get("code_challenge_method") !== "plain") return;
      query.set("code_challenge", s256(challenge));
      query.set("code_challenge_method", "S256");
    }),
    breaks: names("plain-refused"),
  },
  {
    name: "oauth/pkce-not-demanded",
    fault: "Gives public clients codes without a challenge",
    wrap: faultyQueries((query) => {
      if (query.has("response_type") && !query.get("code_challenge")) {
        query.set("code_challenge", s256("nobody knows this one, and it is long enough"));
        query.set("code_challenge_method", "S256");
      }
    }),
    breaks: names("challenge-missing", "challenge-empty"),
    mayBreak: {
      "They send no challenge, or none of use": [
        "oauth/pkce/challenge-missing-is-explained",
        "oauth/pkce/challenge-missing-with-method",
        "oauth/pkce/confidential-without",
      ],
    },
  },
  {
    name: "oauth/pkce-verifier-unchecked",
    fault: "Takes verifiers of any length and characters",
    ...unchecked(),
    breaks: names(
      "verifier-too-long",
      "verifier-too-short",
      "verifier-with-odd-characters",
      "verifier-with-blank",
    ),
  },
  {
    name: "oauth/pkce-guesses",
    fault: "Lets one guess verifiers until one fits",
    ...guesses(),
    breaks: names("guesses-at-once"),
  },
];

function optional(): Pick<Mutant, "wrap" | "store"> {
  const without = new Set<string>();
  return {
    wrap: faultyForms(TOKEN, (form) => {
      if (form.get("grant_type") !== "authorization_code" || form.get("code_verifier")) return;
      form.set("code_verifier", FILL);
      without.add(s256(form.get("code") ?? ""));
    }),
    store: faultyReads((entry) =>
      withChallenge(entry, (challenge) => without.has(String(entry.key[1])) ? s256(FILL) : challenge)
    ),
  };
}

function guesses(): Pick<Mutant, "store"> {
  return {
    // A commit that spends a code and stores nothing else is that of a wrong guess.
    store: faultyCommits((commit) => {
      const { set: [first, ...more] = [] } = commit;
      const isGuess = first?.key[0] === "code" && !("unspent" in (first.value as object)) &&
        more.length === 0;
      return isGuess ? undefined : commit;
    }),
  };
}
