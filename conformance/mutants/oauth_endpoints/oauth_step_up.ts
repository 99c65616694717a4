/**
 * Faults in step-up authentication (RFC 9470).
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import {
  changeJson,
  changeQueries,
  changeResponses,
  INTROSPECT,
  METADATA,
  TOKEN,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/step_up/${id}`);

/** Changes the challenge of a resource that requires a login. */
const changeChallenge = (path: string, from: RegExp, to: string): Wrap =>
  changeResponses(path, (answer) => {
    const challenge = answer.headers.get("www-authenticate");
    return challenge === null
      ? answer
      : withHeaders(answer, { "www-authenticate": challenge.replace(from, to) });
  });

/** Removes claims of JWT access tokens. */
const removeClaims = (...removed: readonly string[]): Wrap =>
  changeJson(TOKEN, (json) => {
    const [header, claims, signature] = String(json["access_token"]).split(".");
    if (!claims || !signature) return;
    const members = JSON.parse(toText(fromBase64url(claims)));
    for (const name of removed) delete members[name];
    json["access_token"] = `${header}.${toBase64url(utf8(JSON.stringify(members)))}.${signature}`;
  });

let logins = 0;

export const STEP_UP: readonly Mutant[] = [
  {
    name: "oauth/step-up-max-age-ignored",
    fault: "Ignores max_age",
    wrap: changeQueries((query) => query.delete("max_age")),
    killedBy: names("old-login", "max-age-zero"),
    mayFail: { "It sends max_age": ["oauth/openid_request/max-age"] },
  },
  {
    name: "oauth/step-up-always-new-login",
    fault: "Requires a new login for every max_age",
    wrap: changeQueries((query) => query.has("max_age") && query.set("max_age", "0")),
    killedBy: names("new-enough-login"),
    mayFail: {
      // Which of them depends on whether a second begins between the login and the next request.
      "They ask with max_age": [
        ...names("introspection", "jwt"),
        "oauth/openid_logout/",
        "oauth/openid_request/",
      ],
    },
    preventsSetup: "The first request leads to the login page",
  },
  {
    name: "oauth/step-up-acr-ignored",
    fault: "Ignores acr_values",
    wrap: changeQueries((query) => query.delete("acr_values")),
    killedBy: names("acr-not-met"),
    mayFail: { "It expects the login page": names("acr-not-met-by-new-login") },
    preventsSetup: "No login page is shown",
  },
  {
    name: "oauth/step-up-unmet-other-error",
    fault: "Returns access_denied for an acr that a new login does not meet",
    wrap: changeResponses("/oauth/authorize", (answer) => {
      const location = answer.headers.get("location");
      return location === null ? answer : withHeaders(answer, {
        location: location.replace("unmet_authentication_requirements", "access_denied"),
      });
    }),
    killedBy: names("acr-not-met-by-new-login"),
  },
  {
    name: "oauth/step-up-first-acr-only",
    fault: "Accepts only the first of several acr_values",
    wrap: changeQueries((query) =>
      query.has("acr_values") && query.set("acr_values", query.get("acr_values")!.split(" ")[0]!)
    ),
    killedBy: names("acr-met"),
  },
  {
    name: "oauth/step-up-not-introspected",
    fault: "Leaves acr and auth_time out of introspection responses",
    wrap: changeJson(INTROSPECT, (json) => {
      delete json["acr"];
      delete json["auth_time"];
    }),
    killedBy: names("introspection"),
    mayFail: { "It reads auth_time": names("refresh-keeps-them") },
    preventsSetup: "The values before the refresh are missing",
  },
  {
    name: "oauth/step-up-not-in-jwt",
    fault: "Leaves acr and auth_time out of JWT access tokens",
    wrap: removeClaims("acr", "auth_time"),
    killedBy: names("jwt"),
    mayFail: { "The signature does not match the changed bytes": ["oauth/"] },
    preventsSetup: "The signature does not match the changed bytes",
  },
  {
    name: "oauth/step-up-renewed-by-refresh",
    fault: "Sets auth_time anew with each refresh",
    wrap: changeJson(INTROSPECT, (json) => {
      if (json["auth_time"] !== undefined) json["auth_time"] = 1_700_000_000 + logins++;
    }),
    killedBy: names("refresh-keeps-them"),
  },
  {
    name: "oauth/step-up-challenge-without-max-age",
    fault: "Leaves max_age out of the challenge",
    wrap: changeChallenge("/recent-login", / max_age="\d+",?/, ""),
    killedBy: names("challenge-max-age"),
  },
  {
    name: "oauth/step-up-challenge-without-acr",
    fault: "Leaves acr_values out of the challenge",
    wrap: changeChallenge("/strong-login", / acr_values="[^"]*",?/, ""),
    killedBy: names("challenge-acr"),
  },
  {
    name: "oauth/step-up-challenge-other-error",
    fault: "Says invalid_token in the challenge",
    wrap: changeChallenge("/strong-login", /insufficient_user_authentication/, "invalid_token"),
    killedBy: names("challenge-acr"),
  },
  {
    name: "oauth/step-up-metadata-text",
    fault: "Writes acr_values_supported as text",
    wrap: changeJson(METADATA, (json) => json["acr_values_supported"] = "password"),
    killedBy: names("metadata"),
  },
];
