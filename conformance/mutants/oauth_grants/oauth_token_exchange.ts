/**
 * Faults in token exchange (RFC 8693).
 *
 * @module
 */
import { issueRefusedTokens, type Refused } from "../accept_refused.ts";
import { changeForms, changeJson, onPath, readForm, RESOURCE, TOKEN, withForm } from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { resembling } from "../resembling.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/token_exchange/${id}`);
const ALL = { "They exchange a token": ["oauth/token_exchange/"] };

/** Issues tokens for refused exchanges that match. */
const issueTokens = (isAccepted: (refused: Refused) => boolean): Wrap =>
  issueRefusedTokens((refused) => refused.form.get("grant_type") === GRANT && isAccepted(refused));

/** Changes token exchange requests. */
const changeExchanges = (change: (form: URLSearchParams) => void): Wrap =>
  changeForms(TOKEN, (form) => form.get("grant_type") === GRANT && change(form));

/** Changes successful token exchange responses. */
const changeExchangeResponses = (change: (json: Record<string, unknown>) => void): Wrap =>
  changeJson(TOKEN, (json) => "issued_token_type" in json && change(json));

const acceptError = (description: RegExp): Wrap =>
  issueTokens((refused) => description.test(refused.description));

export const TOKEN_EXCHANGE: readonly Mutant[] = [
  {
    name: "oauth/exchange-type-omitted",
    fault: "Leaves issued_token_type out",
    wrap: changeExchangeResponses((json) => delete json["issued_token_type"]),
    killedBy: names("exchanged", "type-asked-for"),
  },
  {
    name: "oauth/exchange-lifetime-omitted",
    fault: "Leaves expires_in out",
    wrap: changeExchangeResponses((json) => delete json["expires_in"]),
    killedBy: names("lifetime-told"),
  },
  {
    name: "oauth/exchange-same-token",
    fault: "Returns the subject token in place of a new one",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const answer = await next(request);
      if (answer.status !== 200 || form?.get("grant_type") !== GRANT) return answer;
      return Response.json({ ...await answer.json(), access_token: form.get("subject_token") });
    }),
    killedBy: names("exchanged"),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/exchanged"],
      "The returned token belongs to another client and has no actor": names("actor"),
    },
  },
  {
    name: "oauth/exchange-unusable-token",
    fault: "Issues unusable tokens",
    wrap: changeExchangeResponses((json) => json["access_token"] = `x${json["access_token"]}`),
    killedBy: names("new-token-works", "actor"),
    mayFail: ALL,
  },
  {
    name: "oauth/exchange-revokes-subject",
    fault: "Revokes the subject token",
    wrap: (next: Handler) => {
      const revoked = new Set<string>();
      return async (request) => {
        const token = /^Bearer (.*)$/.exec(request.headers.get("authorization") ?? "")?.[1];
        if (request.url.endsWith(RESOURCE) && revoked.has(token ?? "")) {
          return new Response(null, { status: 401 });
        }
        const form = await readForm(request);
        const answer = await next(request);
        if (answer.status === 200 && form?.get("grant_type") === GRANT) {
          revoked.add(form.get("subject_token")!);
        }
        return answer;
      };
    },
    killedBy: names("old-token-works-on"),
  },
  {
    name: "oauth/exchange-types-unknown",
    fault: "Ignores requested_token_type",
    wrap: changeExchanges((form) => form.delete("requested_token_type")),
    killedBy: names("unknown-type-asked-for"),
  },
  {
    name: "oauth/exchange-type-refused",
    fault: "Refuses requested_token_type",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("requested_token_type")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("type-asked-for"),
  },
  {
    name: "oauth/exchange-short-grant",
    fault: "Accepts a short name of the grant type",
    wrap: changeForms(
      TOKEN,
      (form) => form.get("grant_type") === "token-exchange" && form.set("grant_type", GRANT),
    ),
    killedBy: names("short-grant-type"),
  },
  {
    name: "oauth/exchange-without-subject",
    fault: "Issues tokens without a subject token",
    wrap: acceptError(/^subject_token is missing/),
    killedBy: names("no-subject", "empty-subject"),
  },
  {
    name: "oauth/exchange-subject-type-ignored",
    fault: "Ignores subject_token_type",
    wrap: changeExchanges((form) =>
      form.set("subject_token_type", "urn:ietf:params:oauth:token-type:access_token")
    ),
    killedBy: names("no-subject-type", "unknown-subject-type", "subject-of-another-type"),
  },
  {
    name: "oauth/exchange-invalid-subject",
    fault: "Exchanges invalid subject tokens",
    wrap: acceptError(/^subject_token is invalid/),
    killedBy: names(
      "unknown-subject",
      "altered-subject",
      "expired-subject",
      "revoked-subject",
      "refresh-token-as-access-token",
      "forged-jwt",
    ),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/refused-exchange"],
      "They send values that resemble the right ones": resembling("exchanged-token"),
    },
  },
  {
    name: "oauth/exchange-repeated",
    fault: "Reads the first of two subject tokens",
    wrap: changeExchanges((form) => form.set("subject_token", form.get("subject_token") ?? "")),
    killedBy: names("repeated-subject"),
  },
  {
    name: "oauth/exchange-actors-ignored",
    fault: "Ignores actor_token and actor_token_type",
    wrap: changeExchanges((form) => ["actor_token", "actor_token_type"].forEach((name) => form.delete(name))),
    killedBy: names("actor-without-type", "actor-type-alone", "unknown-actor"),
  },
  {
    name: "oauth/exchange-no-actors",
    fault: "Refuses actor tokens",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("actor_token")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("actor"),
  },
  {
    name: "oauth/exchange-without-authentication",
    fault: "Does not authenticate clients",
    wrap: issueTokens(({ error }) => error === "invalid_client"),
    killedBy: names("wrong-secret", "no-client"),
  },
  {
    name: "oauth/exchange-by-every-client",
    fault: "Issues tokens to clients that may not use the grant",
    wrap: issueTokens(({ error }) => error === "unauthorized_client"),
    killedBy: names("not-allowed"),
  },
  {
    name: "oauth/exchange-any-target",
    fault: "Ignores resource and audience",
    wrap: changeExchanges((form) => ["resource", "audience"].forEach((name) => form.delete(name))),
    killedBy: names("unknown-target", "unknown-audience", "relative-resource", "resource-with-fragment"),
    mayFail: { "It requests a resource": names("new-token-works") },
  },
  {
    name: "oauth/exchange-any-scope",
    fault: "Reports every requested scope as granted",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const scope = form?.get("grant_type") === GRANT ? form.get("scope") : undefined;
      if (!scope) return await next(request);
      form!.delete("scope");
      return Response.json({ ...await (await next(withForm(request, form!))).json(), scope });
    }),
    killedBy: names("more-scope"),
  },
  {
    name: "oauth/exchange-scope-omitted",
    fault: "Grants another scope than the requested one and leaves it out of the response",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      if (form?.get("grant_type") !== GRANT || !form.has("scope")) return await next(request);
      form.delete("scope");
      return Response.json({ ...await (await next(withForm(request, form))).json(), scope: undefined });
    }),
    killedBy: names("other-scope-told"),
    mayFail: { "It requests a scope": names("more-scope") },
  },
];
