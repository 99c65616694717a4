/**
 * Faults of scopes and of resources (RFC 8707).
 *
 * @module
 */
import { at, AUTHORIZE, faultyJson, faultyQueries, pathOf, readForm, RESOURCE, TOKEN } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const scope = (...ids: string[]): string[] => ids.map((id) => `oauth/scope/${id}`);
const resource = (...ids: string[]): string[] => ids.map((id) => `oauth/resource_indicators/${id}`);

/** Tells the client at once that its request is malformed. */
const malformed = (dislikes: (query: URLSearchParams) => boolean): Wrap =>
  at(AUTHORIZE, (next) => async (request) => {
    const { searchParams } = new URL(request.url);
    const to = searchParams.get("redirect_uri");
    if (request.method !== "GET" || to === null || !dislikes(searchParams)) return await next(request);
    const location = `${to}${to.includes("?") ? "&" : "?"}error=invalid_request`;
    return new Response(null, { status: 302, headers: { location } });
  });

/** Changes what a token request of a grant is answered. */
const granted = (
  grantType: string,
  change: (json: Record<string, unknown>, form: URLSearchParams) => void,
): Wrap =>
  at(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    if (form?.get("grant_type") !== grantType) return await next(request);
    return await faultyJson(TOKEN, (json) => {
      if ("access_token" in json) change(json, form);
    })(next)(request);
  });

export const SCOPES: readonly Mutant[] = [
  {
    name: "oauth/scope-of-all",
    fault: "Grants what there is, whatever was asked",
    wrap: faultyQueries((query) => {
      if (query.get("scope") === "profile") query.set("scope", "profile read");
    }),
    breaks: scope("granted-as-asked"),
    mayBreak: { "They ask for one of two scopes": ["oauth/"] },
  },
  {
    name: "oauth/scope-left-out-is-malformed",
    fault: "Says that a request without scope is malformed",
    wrap: malformed((query) => !query.has("scope")),
    breaks: scope("left-out"),
    mayBreak: {
      "They leave it out": [
        "oauth/scope/",
        "oauth/authorize/client-without-code-grant",
        "oauth/par/redirect-uri-beside-it",
        "oauth/redirect_uri/client-without-any",
      ],
    },
    stops: "They leave it out",
  },
  {
    name: "oauth/scope-unknown-is-malformed",
    fault: "Says that a request with an unknown scope is malformed",
    wrap: malformed((query) => query.get("scope")?.includes("no-such-scope") === true),
    breaks: scope("unknown-beside-known"),
    mayBreak: { "They ask for a scope that there is not": ["oauth/"] },
  },
  {
    name: "oauth/scope-unknown-told-as-granted",
    fault: "Tells clients that act for themselves that they got an unknown scope",
    wrap: granted("client_credentials", (json, form) => {
      if (form.get("scope")?.includes("no-such-scope")) json["scope"] = form.get("scope");
    }),
    breaks: ["oauth/client_credentials/scope-partly-unknown"],
  },
  {
    name: "oauth/scope-of-token-request",
    fault: "Grants the scope that stands beside a code",
    wrap: granted("authorization_code", (json, form) => {
      if (form.get("scope")) json["scope"] = form.get("scope");
    }),
    breaks: scope("not-widened-at-redemption"),
  },
  {
    name: "oauth/scope-of-another-word",
    fault: "Grants clients that act for themselves another scope than they asked for",
    wrap: granted("client_credentials", (json, form) => {
      if (form.get("scope")) json["scope"] = "none";
    }),
    breaks: ["oauth/client_credentials/scope-asked"],
    mayBreak: { "They read which scope was granted": ["oauth/client_credentials/", "oauth/introspection/"] },
  },
  {
    name: "oauth/resource-refused-at-token-endpoint",
    fault: "Knows resources of authorization requests alone",
    wrap: at(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("resource")
          ? Response.json({ error: "invalid_target" }, { status: 400 })
          : await next(request),
    ),
    breaks: resource("granted", "accepted-there"),
    mayBreak: { "They name a resource to the token endpoint": ["oauth/"] },
    stops: "They name a resource to the token endpoint",
  },
  {
    name: "oauth/resource-refuses-own",
    fault: "Refuses the tokens that were asked for with its name",
    wrap: ownRefused,
    breaks: resource("accepted-there"),
    mayBreak: { "Their token is for this resource": ["oauth/"] },
  },
  {
    name: "oauth/resource-with-query-malformed",
    fault: "Says that a resource with a query is malformed",
    wrap: malformed((query) => query.get("resource")?.includes("?") === true),
    breaks: resource("query"),
  },
  {
    name: "oauth/resource-twice-malformed",
    fault: "Says that two resources are one parameter too many",
    wrap: malformed((query) => query.getAll("resource").length > 1),
    breaks: resource("two"),
    mayBreak: { "They ask for two": resource("") },
    stops: "They ask for two",
  },
  {
    name: "oauth/resource-demanded",
    fault: "Says that a request without resource is malformed",
    wrap: malformed((query) => query.has("code_challenge") && !query.has("resource")),
    breaks: resource("left-out"),
    mayBreak: { "They name none": ["oauth/"] },
    stops: "They name none",
  },
];

function ownRefused(next: Handler): Handler {
  const own = new Set<string>();
  return async (request) => {
    const token = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    if (pathOf(request) === RESOURCE && own.has(token)) {
      const headers = { "www-authenticate": 'Bearer error="invalid_token"' };
      return new Response(null, { status: 401, headers });
    }
    const isOwn = (await readForm(request))?.getAll("resource").some((each) => each.endsWith(RESOURCE));
    const answer = await next(request);
    if (isOwn && pathOf(request) === TOKEN && answer.status === 200) {
      own.add(String((await answer.clone().json() as Record<string, unknown>)["access_token"]));
    }
    return answer;
  };
}
