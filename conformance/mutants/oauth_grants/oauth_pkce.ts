/**
 * Faults in PKCE (RFC 7636).
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Entry } from "../../../src/store/store.ts";
import { changeForms, changeQueries, TOKEN } from "../http_faults.ts";
import { changeCommits, changeReads, type Mutant, type Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/pkce/${id}`);

const s256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** The verifier that replaces missing and wrong ones. */
const FILL = "a verifier that replaces missing ones, with 43 characters".replace(/\W/g, "-");

/** Replaces the challenge of a stored code. */
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

/** Replaces every challenge and verifier with one matching pair. */
function ignoreVerifier(): Pick<Mutant, "wrap" | "store"> {
  const challenged = new Set<string>();
  return {
    wrap: changeForms(TOKEN, (form) => {
      if (form.get("grant_type") !== "authorization_code") return;
      if (challenged.has(s256(form.get("code") ?? ""))) form.set("code_verifier", FILL);
      else form.delete("code_verifier");
    }),
    store: changeCommits(({ set = [], ...rest }) => ({
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

/** Accepts the challenge as its own verifier. */
function acceptPlain(): Pick<Mutant, "wrap" | "store"> {
  const verifiers = new Set<string>();
  return {
    wrap: changeForms(TOKEN, (form) => void verifiers.add(form.get("code_verifier") ?? "")),
    store: changeReads((entry) =>
      withChallenge(entry, (challenge) => verifiers.has(challenge) ? s256(challenge) : challenge)
    ),
  };
}

/** Replaces invalid verifiers and their challenges with valid ones. */
function acceptAnyVerifier(): Pick<Mutant, "wrap" | "store"> {
  const replaced = new Map<string, string>();
  return {
    wrap: changeForms(TOKEN, (form) => {
      const sent = form.get("code_verifier");
      if (!sent || form.getAll("code_verifier").length > 1 || /^[\w.~-]{43,128}$/.test(sent)) return;
      replaced.set(s256(sent), s256(s256(sent)));
      form.set("code_verifier", s256(sent));
    }),
    store: changeReads((entry) => withChallenge(entry, (challenge) => replaced.get(challenge) ?? challenge)),
  };
}

const treatAsS256 = (matches: (method: string | null) => boolean): Wrap =>
  changeQueries((query) => {
    if (query.has("code_challenge") && matches(query.get("code_challenge_method"))) {
      query.set("code_challenge_method", "S256");
    }
  });

export const PKCE: readonly Mutant[] = [
  {
    name: "oauth/pkce-ignored",
    fault: "Does not check code_verifier",
    ...ignoreVerifier(),
    killedBy: names(
      "verifier-wrong",
      "verifier-missing",
      "verifier-is-challenge",
      "verifier-of-another-request",
    ),
    mayFail: {
      "It expects the challenge of the request object": ["oauth/request_object/challenge-beside-it"],
      "It repeats a code with a wrong verifier": ["oauth/oauth_2_1/invalid-replay"],
      "They send values that resemble the right ones": [
        "oauth/encoding/verifier",
        "oauth/letter_case/verifier",
        "oauth/prefix/longer-verifier",
        "oauth/prefix/verifier",
      ],
      "They send a wrong verifier or challenge": [
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
    fault: "Accepts the challenge as its own verifier",
    ...acceptPlain(),
    killedBy: names("verifier-is-challenge"),
    mayFail: {
      "They send a challenge as verifier": [
        "oauth/pkce/guesses-at-once",
        "oauth/pkce/method-in-token-request",
      ],
    },
  },
  {
    name: "oauth/pkce-verifier-optional",
    fault: "Checks code_verifier only when one is sent",
    ...makeVerifierOptional(),
    killedBy: names("verifier-missing", "verifier-empty"),
    mayFail: {
      "They send no verifier": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/pkce/confidential-without",
        "oauth/pkce/verifier-missing-with-secret",
      ],
    },
  },
  {
    name: "oauth/pkce-padded",
    fault: "Removes padding from challenges",
    wrap: changeQueries((query) => {
      const challenge = query.get("code_challenge");
      if (challenge?.endsWith("=")) query.set("code_challenge", challenge.replace(/=+$/, ""));
    }),
    killedBy: names("challenge-padded"),
  },
  {
    name: "oauth/pkce-method-in-any-case",
    fault: "Compares challenge methods case-insensitively",
    wrap: treatAsS256((method) => method?.toUpperCase() === "S256"),
    killedBy: names("method-in-lower-case"),
  },
  {
    name: "oauth/pkce-method-unknown",
    fault: "Treats unknown challenge methods as S256",
    wrap: treatAsS256((method) => method !== null && !["", "plain"].includes(method)),
    killedBy: names("method-unknown", "method-prototype", "method-in-lower-case"),
    mayFail: {
      "They send an unknown challenge method": [
        "oauth/issuer/wrong-challenge-method",
        "oauth/pkce/method-unknown-is-explained",
      ],
    },
  },
  {
    name: "oauth/pkce-method-missing",
    fault: "Treats a missing challenge method as S256",
    wrap: treatAsS256((method) => method === null),
    killedBy: [...names("method-missing-without-plain"), "oauth/oauth_2_1/method-missing"],
  },
  {
    name: "oauth/pkce-plain",
    fault: "Accepts the challenge method plain",
    wrap: changeQueries((query) => {
      const challenge = query.get("code_challenge");
      if (!challenge || query.get("code_challenge_method") !== "plain") return;
      query.set("code_challenge", s256(challenge));
      query.set("code_challenge_method", "S256");
    }),
    killedBy: [...names("plain-refused"), "oauth/oauth_2_1/method-plain"],
  },
  {
    name: "oauth/pkce-not-required",
    fault: "Issues codes to public clients without a challenge",
    wrap: changeQueries((query) => {
      if (query.has("response_type") && !query.get("code_challenge")) {
        query.set("code_challenge", s256("a verifier that no client knows, long enough"));
        query.set("code_challenge_method", "S256");
      }
    }),
    killedBy: [...names("challenge-missing", "challenge-empty"), "oauth/oauth_2_1/challenge-missing"],
    mayFail: {
      "They send no usable challenge": [
        "oauth/pkce/challenge-missing-is-explained",
        "oauth/pkce/challenge-missing-with-method",
        "oauth/pkce/confidential-without",
      ],
    },
  },
  {
    name: "oauth/pkce-verifier-unchecked",
    fault: "Accepts verifiers of any length and characters",
    ...acceptAnyVerifier(),
    killedBy: names(
      "verifier-too-long",
      "verifier-too-short",
      "verifier-with-odd-characters",
      "verifier-with-blank",
    ),
  },
  {
    name: "oauth/pkce-guesses",
    fault: "Does not consume the code at a wrong verifier",
    ...allowGuesses(),
    killedBy: names("guesses-at-once"),
  },
];

function makeVerifierOptional(): Pick<Mutant, "wrap" | "store"> {
  const without = new Set<string>();
  return {
    wrap: changeForms(TOKEN, (form) => {
      if (form.get("grant_type") !== "authorization_code" || form.get("code_verifier")) return;
      form.set("code_verifier", FILL);
      without.add(s256(form.get("code") ?? ""));
    }),
    store: changeReads((entry) =>
      withChallenge(entry, (challenge) => without.has(String(entry.key[1])) ? s256(FILL) : challenge)
    ),
  };
}

function allowGuesses(): Pick<Mutant, "store"> {
  return {
    // A wrong verifier causes a commit that consumes the code and stores nothing else.
    store: changeCommits((commit) => {
      const { set: [first, ...more] = [] } = commit;
      const isGuess = first?.key[0] === "code" && !("unspent" in (first.value as object)) &&
        more.length === 0;
      return isGuess ? undefined : commit;
    }),
  };
}
