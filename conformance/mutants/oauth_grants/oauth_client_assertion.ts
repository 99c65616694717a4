/**
 * Faults of clients that prove themselves with a JWT (RFC 7523).
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { forgivenTokens, type Refused } from "../forgiving.ts";
import { at, faultyForms, readForm, TOKEN } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const assertions = (...ids: string[]): string[] => ids.map((id) => `oauth/client_assertion/${id}`);

type Members = Record<string, unknown>;

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const seconds = (): number => Date.now() / 1000;

/** Assertions that prove something though they are refused. */
const proving = (isForgiven: (refused: Refused) => boolean): Wrap =>
  forgivenTokens((refused) => refused.form.has("client_assertion") && isForgiven(refused));

const claiming = (isForgiven: (claims: Members, header: Members) => boolean): Wrap =>
  proving(({ form }) => {
    const [header = "", claims = ""] = form.get("client_assertion")!.split(".");
    try {
      return isForgiven(decode(claims), decode(header));
    } catch {
      return false;
    }
  });

export const CLIENT_ASSERTIONS: readonly Mutant[] = [
  {
    name: "oauth/assertion-of-anyone",
    fault: "Verifies no signature of assertions",
    wrap: claiming((claims) => claims["iss"] === "assertion" && claims["aud"] === "https://trivet.example"),
    breaks: assertions("altered", "unsigned", "of-another-key", "brings-its-key", "of-a-shared-secret"),
    mayBreak: { "they are refused": assertions("") },
  },
  {
    name: "oauth/assertion-unnamed",
    fault: "Does not look who an assertion is from, and about",
    wrap: claiming((claims) => claims["iss"] !== claims["sub"]),
    breaks: assertions("iss-missing", "sub-missing", "iss-of-another", "sub-of-another"),
  },
  {
    name: "oauth/assertion-for-anyone",
    fault: "Does not look for whom an assertion is",
    wrap: claiming((claims) => claims["aud"] !== "https://trivet.example"),
    breaks: assertions("aud-missing", "aud-of-another", "aud-that-begins-alike"),
    mayBreak: {
      "it is for another address of the server": ["oauth/client_authentication/", "oauth/best_practice/"],
      "it names nobody": assertions("claims-that-are-none"),
    },
  },
  {
    name: "oauth/assertion-for-ever",
    fault: "Does not look at the times of assertions",
    wrap: claiming((claims) => !(Number(claims["exp"]) > seconds()) || "nbf" in claims),
    breaks: assertions("exp-missing", "expired", "exp-as-text", "not-yet"),
    mayBreak: {
      "it has no times": [
        ...assertions("claims-that-are-none"),
        "oauth/client_authentication/basic-and-assertion",
      ],
    },
  },
  {
    name: "oauth/assertion-good-often",
    fault: "Forgets which assertions it has seen",
    wrap: proving(({ description }) => description.includes("jti was used before")),
    breaks: assertions("twice", "eight-at-once"),
    mayBreak: { "an assertion comes again": ["oauth/best_practice/", "oauth/client_authentication/"] },
  },
  {
    name: "oauth/assertion-beside-an-id",
    fault: "Believes client_id, whatever the assertion says",
    wrap: proving(({ form, description }) => form.has("client_id") && /client_id/.test(description)),
    breaks: assertions("client-id-of-another"),
    mayBreak: { "another client is named": ["oauth/client_authentication/", "oauth/client_assertion/"] },
  },
  {
    name: "oauth/assertion-never-with-an-id",
    fault: "Refuses assertions that come with client_id",
    wrap: at(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      return form?.has("client_assertion") && form.has("client_id")
        ? Response.json({ error: "invalid_client" }, { status: 401 })
        : await next(request);
    }),
    breaks: assertions("with-client-id"),
    mayBreak: { "both are sent": ["oauth/"] },
  },
  {
    name: "oauth/assertion-untyped",
    fault: "Does not look at client_assertion_type",
    wrap: faultyForms(
      TOKEN,
      (form) =>
        form.has("client_assertion") &&
        form.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
    ),
    breaks: assertions("type-missing", "type-unknown"),
  },
  {
    name: "oauth/assertion-not-asked-for",
    fault: "Asks a client with a key for no proof",
    wrap: forgivenTokens(({ form, status }) =>
      form.get("client_id") === "assertion" && !form.has("client_assertion") && status >= 400
    ),
    breaks: assertions("missing", "id-alone"),
  },
  {
    name: "oauth/assertion-few-claims",
    fault: "Refuses assertions that say more than they have to",
    wrap: at(TOKEN, (next) => async (request) => {
      const [, claims] = ((await readForm(request))?.get("client_assertion") ?? "").split(".");
      return claims && toText(fromBase64url(claims)).includes("x_more")
        ? Response.json({ error: "invalid_client" }, { status: 401 })
        : await next(request);
    }),
    breaks: assertions("more-claims"),
  },
  {
    name: "oauth/assertion-any-text",
    fault: "Takes for an assertion what is no JWT",
    wrap: proving(({ form }) => !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(form.get("client_assertion")!)),
    breaks: assertions("no-jwt", "two-in-one"),
  },
  {
    name: "oauth/assertion-any-claims",
    fault: "Takes any JSON for claims",
    wrap: claiming((claims) => Array.isArray(claims)),
    breaks: assertions("claims-that-are-none"),
  },
  {
    name: "oauth/assertion-repeated",
    fault: "Takes the first of two assertions",
    wrap: faultyForms(
      TOKEN,
      (form) => form.has("client_assertion") && form.set("client_assertion", form.get("client_assertion")!),
    ),
    breaks: assertions("two"),
  },
  {
    name: "oauth/assertion-unknown",
    fault: "Knows no assertions",
    wrap: faultyForms(TOKEN, (form) => form.delete("client_assertion")),
    breaks: assertions("good", "more-claims", "with-client-id"),
    mayBreak: { "an assertion is sent": ["oauth/"] },
  },
];
