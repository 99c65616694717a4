/**
 * Faults of token exchange (RFC 8693).
 *
 * @module
 */
import { forgivenTokens, type Refused } from "../forgiving.ts";
import { at, faultyForms, faultyJson, readForm, RESOURCE, TOKEN, withForm } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/token_exchange/${id}`);
const ALL = { "they exchange a token": ["oauth/token_exchange/"] };

/** Exchanges that are refused. */
const forgiven = (isForgiven: (refused: Refused) => boolean): Wrap =>
  forgivenTokens((refused) => refused.form.get("grant_type") === GRANT && isForgiven(refused));

/** Changes requests for an exchange. */
const asking = (change: (form: URLSearchParams) => void): Wrap =>
  faultyForms(TOKEN, (form) => form.get("grant_type") === GRANT && change(form));

/** Changes the answers to exchanges that succeed. */
const saying = (change: (json: Record<string, unknown>) => void): Wrap =>
  faultyJson(TOKEN, (json) => "issued_token_type" in json && change(json));

const drops = (description: RegExp): Wrap => forgiven((refused) => description.test(refused.description));

export const TOKEN_EXCHANGE: readonly Mutant[] = [
  {
    name: "oauth/exchange-untyped",
    fault: "Does not say what it issued",
    wrap: saying((json) => delete json["issued_token_type"]),
    breaks: names("exchanged", "type-asked-for"),
  },
  {
    name: "oauth/exchange-lifetime-left-out",
    fault: "Does not say how long what it issued lives",
    wrap: saying((json) => delete json["expires_in"]),
    breaks: names("lifetime-told"),
  },
  {
    name: "oauth/exchange-same-token",
    fault: "Gives the token back that it was sent, as if it were another",
    wrap: at(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const answer = await next(request);
      if (answer.status !== 200 || form?.get("grant_type") !== GRANT) return answer;
      return Response.json({ ...await answer.json(), access_token: form.get("subject_token") });
    }),
    breaks: names("exchanged"),
    mayBreak: { "What it gives is not the client's own, and shows no actor": names("actor") },
  },
  {
    name: "oauth/exchange-useless",
    fault: "Issues tokens that nobody takes",
    wrap: saying((json) => json["access_token"] = `x${json["access_token"]}`),
    breaks: names("new-token-works", "actor"),
    mayBreak: ALL,
  },
  {
    name: "oauth/exchange-spends",
    fault: "Ends the token that it exchanges",
    wrap: (next: Handler) => {
      const spent = new Set<string>();
      return async (request) => {
        const token = /^Bearer (.*)$/.exec(request.headers.get("authorization") ?? "")?.[1];
        if (request.url.endsWith(RESOURCE) && spent.has(token ?? "")) {
          return new Response(null, { status: 401 });
        }
        const form = await readForm(request);
        const answer = await next(request);
        if (answer.status === 200 && form?.get("grant_type") === GRANT) spent.add(form.get("subject_token")!);
        return answer;
      };
    },
    breaks: names("old-token-works-on"),
  },
  {
    name: "oauth/exchange-types-unknown",
    fault: "Issues any type that is asked for",
    wrap: asking((form) => form.delete("requested_token_type")),
    breaks: names("unknown-type-asked-for"),
  },
  {
    name: "oauth/exchange-type-refused",
    fault: "Refuses requests that say what they want",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("requested_token_type")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("type-asked-for"),
  },
  {
    name: "oauth/exchange-short-grant",
    fault: "Takes a short name for the grant",
    wrap: faultyForms(
      TOKEN,
      (form) => form.get("grant_type") === "token-exchange" && form.set("grant_type", GRANT),
    ),
    breaks: names("short-grant-type"),
  },
  {
    name: "oauth/exchange-of-nothing",
    fault: "Exchanges nothing for a token",
    wrap: drops(/^subject_token is missing/),
    breaks: names("no-subject", "empty-subject"),
  },
  {
    name: "oauth/exchange-untyped-subject",
    fault: "Does not look at the type of what it exchanges",
    wrap: asking((form) => form.set("subject_token_type", "urn:ietf:params:oauth:token-type:access_token")),
    breaks: names("no-subject-type", "unknown-subject-type", "subject-of-another-type"),
  },
  {
    name: "oauth/exchange-of-anything",
    fault: "Exchanges tokens that are not good",
    wrap: drops(/^subject_token is invalid/),
    breaks: names(
      "unknown-subject",
      "altered-subject",
      "expired-subject",
      "revoked-subject",
      "refresh-token-as-access-token",
      "forged-jwt",
    ),
  },
  {
    name: "oauth/exchange-repeated",
    fault: "Takes the first of two subject tokens",
    wrap: asking((form) => form.set("subject_token", form.get("subject_token") ?? "")),
    breaks: names("repeated-subject"),
  },
  {
    name: "oauth/exchange-actors-ignored",
    fault: "Does not look at who acts",
    wrap: asking((form) => ["actor_token", "actor_token_type"].forEach((name) => form.delete(name))),
    breaks: names("actor-without-type", "actor-type-alone", "unknown-actor"),
  },
  {
    name: "oauth/exchange-no-actors",
    fault: "Takes no actors, though it says that it does",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("actor_token")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("actor"),
  },
  {
    name: "oauth/exchange-by-anyone",
    fault: "Exchanges for clients that did not show who they are",
    wrap: forgiven(({ error }) => error === "invalid_client"),
    breaks: names("wrong-secret", "no-client"),
  },
  {
    name: "oauth/exchange-by-every-client",
    fault: "Exchanges for clients that may not use the grant",
    wrap: forgiven(({ error }) => error === "unauthorized_client"),
    breaks: names("not-allowed"),
  },
  {
    name: "oauth/exchange-any-target",
    fault: "Does not look at resource and audience",
    wrap: asking((form) => ["resource", "audience"].forEach((name) => form.delete(name))),
    breaks: names("unknown-target", "unknown-audience", "relative-resource", "resource-with-fragment"),
    mayBreak: { "it asks for a resource": names("new-token-works") },
  },
  {
    name: "oauth/exchange-any-scope",
    fault: "Gives every scope that is asked for",
    wrap: at(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const scope = form?.get("grant_type") === GRANT ? form.get("scope") : undefined;
      if (!scope) return await next(request);
      form!.delete("scope");
      return Response.json({ ...await (await next(withForm(request, form!))).json(), scope });
    }),
    breaks: names("more-scope"),
  },
];
