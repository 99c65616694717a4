/**
 * Faults in scopes and resource indicators (RFC 8707).
 *
 * @module
 */
import {
  AUTHORIZE,
  changeJson,
  changeQueries,
  onPath,
  pathOf,
  readForm,
  RESOURCE,
  TOKEN,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const scope = (...ids: string[]): string[] => ids.map((id) => `oauth/scope/${id}`);
const resource = (...ids: string[]): string[] => ids.map((id) => `oauth/resource_indicators/${id}`);

/** Redirects matching requests to the client with invalid_request. */
const refuseRequests = (isRefused: (query: URLSearchParams) => boolean): Wrap =>
  onPath(AUTHORIZE, (next) => async (request) => {
    const { searchParams } = new URL(request.url);
    const to = searchParams.get("redirect_uri");
    if (request.method !== "GET" || to === null || !isRefused(searchParams)) return await next(request);
    const location = `${to}${to.includes("?") ? "&" : "?"}error=invalid_request`;
    return new Response(null, { status: 302, headers: { location } });
  });

/** Changes token responses of one grant type. */
const changeTokenResponses = (
  grantType: string,
  change: (json: Record<string, unknown>, form: URLSearchParams) => void,
): Wrap =>
  onPath(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    if (form?.get("grant_type") !== grantType) return await next(request);
    return await changeJson(TOKEN, (json) => {
      if ("access_token" in json) change(json, form);
    })(next)(request);
  });

export const SCOPES: readonly Mutant[] = [
  {
    name: "oauth/scope-all-granted",
    fault: "Grants more scopes than were requested",
    wrap: changeQueries((query) => {
      if (query.get("scope") === "profile") query.set("scope", "profile read");
    }),
    killedBy: scope("granted-as-asked"),
    mayFail: { "They request one of two scopes": ["oauth/"] },
  },
  {
    name: "oauth/scope-required",
    fault: "Returns invalid_request when scope is missing",
    wrap: refuseRequests((query) => !query.has("scope")),
    killedBy: scope("left-out"),
    mayFail: {
      "It sends no scope": ["oauth/request_object/redirect-uri-beside-it"],
      "They send no scope": [
        "oauth/scope/",
        "oauth/authorize/client-without-code-grant",
        "oauth/par/redirect-uri-beside-it",
        "oauth/redirect_uri/client-without-any",
      ],
    },
    preventsSetup: "They send no scope",
  },
  {
    name: "oauth/scope-unknown-is-malformed",
    fault: "Returns invalid_request for an unknown scope",
    wrap: refuseRequests((query) => query.get("scope")?.includes("no-such-scope") === true),
    killedBy: scope("unknown-beside-known"),
    mayFail: { "They request an unknown scope": ["oauth/"] },
  },
  {
    name: "oauth/scope-unknown-granted",
    fault: "Reports an unknown scope as granted for client_credentials",
    wrap: changeTokenResponses("client_credentials", (json, form) => {
      if (form.get("scope")?.includes("no-such-scope")) json["scope"] = form.get("scope");
    }),
    killedBy: ["oauth/client_credentials/scope-partly-unknown"],
  },
  {
    name: "oauth/scope-of-token-request",
    fault: "Grants the scope of the token request",
    wrap: changeTokenResponses("authorization_code", (json, form) => {
      if (form.get("scope")) json["scope"] = form.get("scope");
    }),
    killedBy: scope("not-widened-at-redemption"),
  },
  {
    name: "oauth/scope-wrong",
    fault: "Reports another scope than was requested for client_credentials",
    wrap: changeTokenResponses("client_credentials", (json, form) => {
      if (form.get("scope")) json["scope"] = "none";
    }),
    killedBy: ["oauth/client_credentials/scope-asked"],
    mayFail: { "They read which scope was granted": ["oauth/client_credentials/", "oauth/introspection/"] },
  },
  {
    name: "oauth/resource-refused-at-token-endpoint",
    fault: "Refuses resource at the token endpoint",
    wrap: onPath(
      TOKEN,
      (next) => async (request) =>
        (await readForm(request))?.has("resource")
          ? Response.json({ error: "invalid_target" }, { status: 400 })
          : await next(request),
    ),
    killedBy: resource("granted", "accepted-there"),
    mayFail: { "They send resource to the token endpoint": ["oauth/"] },
    preventsSetup: "They send resource to the token endpoint",
  },
  {
    name: "oauth/resource-refuses-own",
    fault: "Refuses tokens that were requested for this resource",
    wrap: refuseOwnTokens,
    killedBy: resource("accepted-there"),
    mayFail: { "Their token is for this resource": ["oauth/"] },
  },
  {
    name: "oauth/resource-with-query-refused",
    fault: "Refuses a resource with a query",
    wrap: refuseRequests((query) => query.get("resource")?.includes("?") === true),
    killedBy: resource("query"),
  },
  {
    name: "oauth/resource-twice-refused",
    fault: "Refuses two resources",
    wrap: refuseRequests((query) => query.getAll("resource").length > 1),
    killedBy: resource("two"),
    mayFail: { "They request two resources": resource("") },
    preventsSetup: "They request two resources",
  },
  {
    name: "oauth/resource-required",
    fault: "Refuses requests without resource",
    wrap: refuseRequests((query) => query.has("code_challenge") && !query.has("resource")),
    killedBy: resource("left-out"),
    mayFail: { "They send no resource": ["oauth/"] },
    preventsSetup: "They send no resource",
  },
];

function refuseOwnTokens(next: Handler): Handler {
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
