/**
 * Faults in introspection, revocation, and iss in authorization responses.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeForms,
  changeJson,
  changeRedirects,
  changeResponses,
  INTROSPECT,
  onPath,
  readForm,
  REVOKE,
  withBody,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant } from "../mutant.ts";
import { resembling } from "../resembling.ts";

const introspection = (...ids: string[]): string[] => ids.map((id) => `oauth/introspection/${id}`);
const revocation = (...ids: string[]): string[] => ids.map((id) => `oauth/revocation/${id}`);

export const INTROSPECTION: readonly Mutant[] = [
  {
    name: "oauth/introspection-always-active",
    fault: "Reports every token as active",
    wrap: changeJson(INTROSPECT, (json) => "active" in json && (json["active"] = true)),
    killedBy: introspection("unknown-token", "revoked", "expired", "altered", "code"),
    mayFail: {
      "They send values that resemble the right ones": resembling("introspected-token"),
      "Their token is inactive": ["oauth/introspection/"],
    },
  },
  {
    name: "oauth/introspection-inactive-details",
    fault: "Returns more than active for inactive tokens",
    wrap: changeJson(INTROSPECT, (json) => json["active"] === false && (json["client_id"] = "app")),
    killedBy: introspection("unknown-token-says-no-more", "revoked-says-no-more"),
    mayFail: {
      "They send values that resemble the right ones": resembling("introspected-token"),
      "They expect only active for inactive tokens": [
        "oauth/introspection/of-a-stranger",
        "oauth/introspection/refresh-token-of-another",
      ],
    },
  },
  {
    name: "oauth/introspection-without-authentication",
    fault: "Reports tokens as inactive to unauthenticated callers",
    wrap: changeResponses(
      INTROSPECT,
      (answer) => answer.status === 401 ? withBody(answer, '{"active":false}', 200) : answer,
    ),
    killedBy: introspection("no-credentials-is-401", "wrong-secret"),
    mayFail: {
      "They send values that resemble the right ones": resembling("introspecting-client"),
      "They expect 401": [
        "oauth/introspection/",
        "oauth/signed_introspection/without-proof",
        "oauth/signed_introspection/wrong-proof",
      ],
    },
  },
  {
    name: "oauth/introspection-unknown-refused",
    fault: "Returns an error for unknown tokens",
    wrap: changeResponses(
      INTROSPECT,
      async (answer) =>
        (await answer.clone().text()).includes('"active":false')
          ? Response.json({ error: "invalid_token" }, { status: 400 })
          : answer,
    ),
    killedBy: introspection("unknown-token", "malformed-dots"),
    mayFail: {
      "They send values that resemble the right ones": resembling("introspected-token"),
      "Their token is inactive": ["oauth/introspection/"],
    },
  },
  {
    name: "oauth/introspection-scope-list",
    fault: "Returns scope as an array",
    wrap: changeJson(
      INTROSPECT,
      (json) => "scope" in json && (json["scope"] = String(json["scope"]).split(" ")),
    ),
    killedBy: introspection("scope"),
    mayFail: {
      "They read the scope": ["oauth/introspection/members", "oauth/resource_indicators/scope-is-told"],
    },
  },
  {
    name: "oauth/introspection-milliseconds",
    fault: "Returns exp and iat in milliseconds",
    wrap: changeJson(INTROSPECT, (json) => {
      for (const name of ["exp", "iat"]) if (name in json) json[name] = Number(json[name]) * 1000;
    }),
    killedBy: introspection("times-in-seconds"),
  },
  {
    name: "oauth/revocation-unknown-refused",
    fault: "Returns an error for unknown tokens",
    wrap: onPath(REVOKE, (next) => async (request) => {
      const text = request.method === "POST" ? await request.clone().text() : "";
      const isUnknown = !/token=trivet_/.test(text) && /token=./.test(text);
      return isUnknown ? Response.json({ error: "invalid_token" }, { status: 400 }) : await next(request);
    }),
    killedBy: revocation("unknown-token"),
    mayFail: {
      "They send an invalid token": ["oauth/revocation/guessing-secrets", "oauth/revocation/token-empty"],
    },
  },
  {
    name: "oauth/revocation-trusts-hints",
    fault: "Searches only the type that token_type_hint names",
    wrap: onPath(REVOKE, (next) => async (request) => {
      const form = await readForm(request);
      const isRefresh = form?.get("token")?.startsWith("trivet_rt_") === true;
      const hint = form?.get("token_type_hint");
      const isElsewhere = hint === "access_token" && isRefresh || hint === "refresh_token" && !isRefresh;
      return isElsewhere ? new Response(null, { status: 200 }) : await next(request);
    }),
    killedBy: revocation("hint-wrong-for-refresh-token", "hint-wrong-for-access-token"),
  },
  {
    name: "oauth/revocation-unknown-hint",
    fault: "Refuses unknown values of token_type_hint",
    wrap: changeForms(REVOKE, (form) => {
      if (!/^(access|refresh)_token$/.test(form.get("token_type_hint") ?? "access_token")) {
        form.delete("token");
      }
    }),
    killedBy: revocation("hint-unknown"),
    mayFail: { "They send an unknown hint": ["oauth/revocation/hint-prototype"] },
  },
  {
    name: "oauth/issuer-omitted",
    fault: "Leaves iss out of authorization responses",
    wrap: changeRedirects(AUTHORIZE, (location) => {
      location.searchParams.delete("iss");
      return location;
    }),
    killedBy: [
      "oauth/issuer/unknown-response-type",
      "oauth/issuer/uri-with-query",
      "oauth/oauth_2_1/code-with-iss",
      "oauth/oauth_2_1/error-with-iss",
    ],
    mayFail: { "They read the issuer": ["oauth/issuer/"] },
  },
  {
    name: "oauth/issuer-of-forwarded-host",
    fault: "Derives iss from X-Forwarded-Host",
    wrap: changeResponses(AUTHORIZE, (answer, request) => {
      const host = request.headers.get("x-forwarded-host");
      const location = answer.headers.get("location");
      return host && location
        ? withHeaders(answer, { location: location.replace(/iss=[^&]*/, `iss=https%3A%2F%2F${host}`) })
        : answer;
    }),
    killedBy: ["oauth/issuer/not-from-x-forwarded-host"],
  },
];
