/**
 * Faults in client authentication with a JWT (RFC 7523).
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { issueRefusedTokens, type Refused } from "../accept_refused.ts";
import { changeForms, onPath, readForm, TOKEN } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const assertions = (...ids: string[]): string[] => ids.map((id) => `oauth/client_assertion/${id}`);

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const seconds = (): number => Date.now() / 1000;

/** Accepts refused assertions that match. */
const acceptAssertions = (isAccepted: (refused: Refused) => boolean): Wrap =>
  issueRefusedTokens((refused) => refused.form.has("client_assertion") && isAccepted(refused));

const acceptClaims = (isAccepted: (claims: Members, header: Members) => boolean): Wrap =>
  acceptAssertions(({ form }) => {
    const [header = "", claims = ""] = form.get("client_assertion")!.split(".");
    try {
      return isAccepted(decode(claims), decode(header));
    } catch {
      return false;
    }
  });

export const CLIENT_ASSERTIONS: readonly Mutant[] = [
  {
    name: "oauth/assertion-signature-unchecked",
    fault: "Does not verify the signature of assertions",
    wrap: acceptClaims((claims) =>
      claims["iss"] === "assertion" && claims["aud"] === "https://trivet.example"
    ),
    killedBy: assertions("altered", "unsigned", "of-another-key", "brings-its-key", "of-a-shared-secret"),
    mayFail: {
      "It sends a request object with another signature": ["oauth/request_object/challenge-beside-it"],
      "They expect a refusal": assertions(""),
    },
  },
  {
    name: "oauth/assertion-iss-sub-unchecked",
    fault: "Does not compare iss and sub with the client",
    wrap: acceptClaims((claims) => claims["iss"] !== claims["sub"]),
    killedBy: assertions("iss-missing", "sub-missing", "iss-of-another", "sub-of-another"),
  },
  {
    name: "oauth/assertion-aud-unchecked",
    fault: "Does not check aud",
    wrap: acceptClaims((claims) => claims["aud"] !== "https://trivet.example"),
    killedBy: assertions("aud-missing", "aud-of-another", "aud-that-begins-alike", "aud-in-other-case"),
    mayFail: {
      "Its aud is another URL of the server": ["oauth/client_authentication/", "oauth/best_practice/"],
      "It has no aud": assertions("claims-that-are-none"),
    },
  },
  {
    name: "oauth/assertion-aud-in-any-case",
    fault: "Compares aud without case",
    wrap: acceptClaims(({ aud }) => String(aud).toLowerCase() === "https://trivet.example"),
    killedBy: assertions("aud-in-other-case"),
    mayFail: {
      "It sends a request object for another audience": ["oauth/request_object/challenge-beside-it"],
      "Their aud is right": assertions(""),
    },
  },
  {
    name: "oauth/assertion-times-unchecked",
    fault: "Does not check exp and nbf",
    wrap: acceptClaims((claims) => !(Number(claims["exp"]) > seconds()) || "nbf" in claims),
    killedBy: assertions("exp-missing", "expired", "exp-as-text", "not-yet"),
    mayFail: {
      "They have no exp": [
        ...assertions("claims-that-are-none"),
        "oauth/client_authentication/basic-and-assertion",
      ],
    },
  },
  {
    name: "oauth/assertion-replayed",
    fault: "Accepts an assertion twice",
    wrap: acceptAssertions(({ description }) => description.includes("jti was used before")),
    killedBy: assertions("twice", "eight-at-once"),
    mayFail: { "They send an assertion twice": ["oauth/best_practice/", "oauth/client_authentication/"] },
  },
  {
    name: "oauth/assertion-client-id-unchecked",
    fault: "Does not compare client_id with the assertion",
    wrap: acceptAssertions(({ form, description }) => form.has("client_id") && /client_id/.test(description)),
    killedBy: assertions("client-id-of-another"),
    mayFail: { "They send another client_id": ["oauth/client_authentication/", "oauth/client_assertion/"] },
  },
  {
    name: "oauth/assertion-client-id-refused",
    fault: "Refuses assertions that come with client_id",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      return form?.has("client_assertion") && form.has("client_id")
        ? Response.json({ error: "invalid_client" }, { status: 401 })
        : await next(request);
    }),
    killedBy: assertions("with-client-id"),
    mayFail: { "They send both": ["oauth/"] },
  },
  {
    name: "oauth/assertion-type-unchecked",
    fault: "Does not check client_assertion_type",
    wrap: changeForms(
      TOKEN,
      (form) =>
        form.has("client_assertion") &&
        form.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
    ),
    killedBy: assertions("type-missing", "type-unknown"),
  },
  {
    name: "oauth/assertion-optional",
    fault: "Does not authenticate a client that is registered with a key",
    wrap: issueRefusedTokens(({ form, status }) =>
      form.get("client_id") === "assertion" && !form.has("client_assertion") && status >= 400
    ),
    killedBy: assertions("missing", "id-alone"),
  },
  {
    name: "oauth/assertion-unknown-claims-refused",
    fault: "Refuses assertions with unknown claims",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const [, claims] = ((await readForm(request))?.get("client_assertion") ?? "").split(".");
      return claims && toText(fromBase64url(claims)).includes("x_more")
        ? Response.json({ error: "invalid_client" }, { status: 401 })
        : await next(request);
    }),
    killedBy: assertions("more-claims"),
  },
  {
    name: "oauth/assertion-any-text",
    fault: "Accepts assertions that are not JWTs",
    wrap: acceptAssertions(({ form }) => !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(form.get("client_assertion")!)),
    killedBy: assertions("no-jwt", "two-in-one"),
  },
  {
    name: "oauth/assertion-any-claims",
    fault: "Accepts claims that are not an object",
    wrap: acceptClaims((claims) => Array.isArray(claims)),
    killedBy: assertions("claims-that-are-none"),
  },
  {
    name: "oauth/assertion-repeated",
    fault: "Reads the first of two assertions",
    wrap: changeForms(
      TOKEN,
      (form) => form.has("client_assertion") && form.set("client_assertion", form.get("client_assertion")!),
    ),
    killedBy: assertions("two"),
  },
  {
    name: "oauth/assertion-ignored",
    fault: "Ignores assertions",
    wrap: changeForms(TOKEN, (form) => form.delete("client_assertion")),
    killedBy: assertions("good", "more-claims", "with-client-id"),
    mayFail: { "They send an assertion": ["oauth/"] },
  },
];
