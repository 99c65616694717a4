/**
 * Faults of what protected resources say of themselves (RFC 9728).
 *
 * @module
 */
import { faultyJson, withFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const DOCUMENT = "/.well-known/oauth-protected-resource/mcp";
const resources = (...ids: string[]): string[] => ids.map((id) => `oauth/protected_resource/${id}`);
const document = (change: (json: Record<string, unknown>) => void): Wrap => faultyJson(DOCUMENT, change);

export const PROTECTED_RESOURCE: readonly Mutant[] = [
  {
    name: "oauth/resource-not-json",
    fault: "Serves the document of a resource as text",
    wrap: (next) => async (request) => {
      const answer = await next(request);
      return request.url.endsWith(DOCUMENT) ? withFields(answer, { "content-type": "text/plain" }) : answer;
    },
    breaks: resources("found"),
  },
  {
    name: "oauth/resource-of-the-origin",
    fault: "Describes the origin in place of the resource",
    wrap: document((json) => json["resource"] = "https://trivet.example"),
    breaks: resources("names-itself", "never-by-post"),
  },
  {
    name: "oauth/resource-with-fragment",
    fault: "Gives the resource a fragment",
    wrap: document((json) => json["resource"] += "#mcp"),
    breaks: resources("no-fragment", "names-itself"),
    mayBreak: { "the resource is compared": resources("never-by-post") },
  },
  {
    name: "oauth/resource-of-another-issuer",
    fault: "Names another issuer for a resource",
    wrap: document((json) => json["authorization_servers"] = ["https://other.example"]),
    breaks: resources("authorization-servers"),
  },
  {
    name: "oauth/resource-scopes-as-text",
    fault: "Writes lists of a resource as texts",
    wrap: document((json) => json["scopes_supported"] = "profile read"),
    breaks: resources("lists", "nothing-empty"),
  },
  {
    name: "oauth/resource-empty-lists",
    fault: "Says of a resource what there is none of",
    wrap: document((json) => json["scopes_supported"] = []),
    breaks: resources("nothing-empty"),
  },
  {
    name: "oauth/resource-by-cookie",
    fault: "Takes tokens in cookies, and says so",
    wrap: document((json) => json["bearer_methods_supported"] = ["header", "cookie"]),
    breaks: resources("bearer-methods"),
  },
  {
    name: "oauth/resource-unsigned",
    fault: "Says that a resource signs by none",
    wrap: document((json) => json["resource_signing_alg_values_supported"] = ["none"]),
    breaks: resources("never-unsigned"),
  },
  {
    name: "oauth/resource-not-found",
    fault: "Challenges without saying where the resource is described",
    wrap: (next) => async (request) => {
      const answer = await next(request);
      const challenge = answer.headers.get("www-authenticate")?.replace(/, resource_metadata="[^"]*"/, "")
        .replace(/resource_metadata="[^"]*"(, )?/, "");
      return challenge === undefined ? answer : withFields(answer, { "www-authenticate": challenge });
    },
    breaks: resources("challenge", "challenge-of-a-wrong-token"),
  },
  {
    name: "oauth/resource-of-everything",
    fault: "Describes resources that there are not",
    wrap: (next) => async (request) => {
      const url = new URL(request.url);
      if (!url.pathname.startsWith(`${DOCUMENT}/`)) return await next(request);
      return Response.json({ resource: `${url.origin}${url.pathname.slice(DOCUMENT.length - 4)}` });
    },
    breaks: resources("of-no-resource"),
  },
  {
    name: "oauth/resource-by-post",
    fault: "Lets everybody describe a resource",
    wrap: (next) => async (request) =>
      await next(
        request.method === "POST" && request.url.endsWith(DOCUMENT) ? new Request(request.url) : request,
      ),
    breaks: resources("never-by-post"),
  },
];
