/**
 * Faults of introspection, of revocation, and of the issuer's name in answers.
 *
 * @module
 */
import {
  at,
  AUTHORIZE,
  faultyAnswers,
  faultyForms,
  faultyJson,
  faultyRedirects,
  INTROSPECT,
  readForm,
  REVOKE,
  withBody,
  withFields,
} from "../message.ts";
import type { Mutant } from "../mutant.ts";

const introspection = (...ids: string[]): string[] => ids.map((id) => `oauth/introspection/${id}`);
const revocation = (...ids: string[]): string[] => ids.map((id) => `oauth/revocation/${id}`);

export const INTROSPECTION: readonly Mutant[] = [
  {
    name: "oauth/introspection-always-active",
    fault: "Says of every token that it is active",
    wrap: faultyJson(INTROSPECT, (json) => "active" in json && (json["active"] = true)),
    breaks: introspection("unknown-token", "revoked", "expired", "altered", "code"),
    mayBreak: { "Their token is inactive": ["oauth/introspection/"] },
  },
  {
    name: "oauth/introspection-tells-why",
    fault: "Says of inactive tokens why they are",
    wrap: faultyJson(INTROSPECT, (json) => json["active"] === false && (json["client_id"] = "app")),
    breaks: introspection("unknown-token-says-no-more", "revoked-says-no-more"),
    mayBreak: {
      "Their token is inactive, and nothing is said of it": [
        "oauth/introspection/of-a-stranger",
        "oauth/introspection/refresh-token-of-another",
      ],
    },
  },
  {
    name: "oauth/introspection-for-all",
    fault: "Tells strangers that tokens are inactive, in place of refusing them",
    wrap: faultyAnswers(
      INTROSPECT,
      (answer) => answer.status === 401 ? withBody(answer, '{"active":false}', 200) : answer,
    ),
    breaks: introspection("no-credentials-is-401", "wrong-secret"),
    mayBreak: {
      "They are refused with 401": [
        "oauth/introspection/",
        "oauth/signed_introspection/without-proof",
        "oauth/signed_introspection/wrong-proof",
      ],
    },
  },
  {
    name: "oauth/introspection-unknown-refused",
    fault: "Answers unknown tokens with an error",
    wrap: faultyAnswers(
      INTROSPECT,
      async (answer) =>
        (await answer.clone().text()).includes('"active":false')
          ? Response.json({ error: "invalid_token" }, { status: 400 })
          : answer,
    ),
    breaks: introspection("unknown-token", "malformed-dots"),
    mayBreak: { "Their token is inactive": ["oauth/introspection/"] },
  },
  {
    name: "oauth/introspection-scope-list",
    fault: "Tells the scope of tokens as a list",
    wrap: faultyJson(
      INTROSPECT,
      (json) => "scope" in json && (json["scope"] = String(json["scope"]).split(" ")),
    ),
    breaks: introspection("scope"),
    mayBreak: {
      "They read the scope": ["oauth/introspection/members", "oauth/resource_indicators/scope-is-told"],
    },
  },
  {
    name: "oauth/revocation-unknown-refused",
    fault: "Refuses to revoke tokens that it does not know",
    wrap: at(REVOKE, (next) => async (request) => {
      const text = request.method === "POST" ? await request.clone().text() : "";
      const isUnknown = !/token=trivet_/.test(text) && /token=./.test(text);
      return isUnknown ? Response.json({ error: "invalid_token" }, { status: 400 }) : await next(request);
    }),
    breaks: revocation("unknown-token"),
    mayBreak: {
      "Their token is none": ["oauth/revocation/guessing-secrets", "oauth/revocation/token-empty"],
    },
  },
  {
    name: "oauth/revocation-believes-hints",
    fault: "Looks for a token only where its hint says",
    wrap: at(REVOKE, (next) => async (request) => {
      const form = await readForm(request);
      const isRefresh = form?.get("token")?.startsWith("trivet_rt_") === true;
      const hint = form?.get("token_type_hint");
      const isElsewhere = hint === "access_token" && isRefresh || hint === "refresh_token" && !isRefresh;
      return isElsewhere ? new Response(null, { status: 200 }) : await next(request);
    }),
    breaks: revocation("hint-wrong-for-refresh-token", "hint-wrong-for-access-token"),
  },
  {
    name: "oauth/revocation-unknown-hint",
    fault: "Refuses hints that it does not know",
    wrap: faultyForms(REVOKE, (form) => {
      if (!/^(access|refresh)_token$/.test(form.get("token_type_hint") ?? "access_token")) {
        form.delete("token");
      }
    }),
    breaks: revocation("hint-unknown"),
    mayBreak: { "They send a hint that there is not": ["oauth/revocation/hint-prototype"] },
  },
  {
    name: "oauth/issuer-untold",
    fault: "Leaves its name out of answers",
    wrap: faultyRedirects(AUTHORIZE, (location) => {
      location.searchParams.delete("iss");
      return location;
    }),
    breaks: ["oauth/issuer/unknown-response-type", "oauth/issuer/uri-with-query"],
    mayBreak: { "They read the issuer": ["oauth/issuer/"] },
  },
  {
    name: "oauth/issuer-of-forwarded-host",
    fault: "Takes its name from fields that a client may send",
    wrap: faultyAnswers(AUTHORIZE, (answer, request) => {
      const host = request.headers.get("x-forwarded-host");
      const location = answer.headers.get("location");
      return host && location
        ? withFields(answer, { location: location.replace(/iss=[^&]*/, `iss=https%3A%2F%2F${host}`) })
        : answer;
    }),
    breaks: ["oauth/issuer/not-from-x-forwarded-host"],
  },
];
