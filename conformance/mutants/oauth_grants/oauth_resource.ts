/**
 * Faults in protected resource metadata (RFC 9728).
 *
 * @module
 */
import { changeJson, withHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const DOCUMENT = "/.well-known/oauth-protected-resource/mcp";
const resources = (...ids: string[]): string[] => ids.map((id) => `oauth/protected_resource/${id}`);
const changeDocument = (change: (json: Record<string, unknown>) => void): Wrap =>
  changeJson(DOCUMENT, change);

export const PROTECTED_RESOURCE: readonly Mutant[] = [
  {
    name: "oauth/resource-not-json",
    fault: "Serves protected resource metadata as text/plain",
    wrap: (next) => async (request) => {
      const answer = await next(request);
      return request.url.endsWith(DOCUMENT) ? withHeaders(answer, { "content-type": "text/plain" }) : answer;
    },
    killedBy: resources("found"),
  },
  {
    name: "oauth/resource-of-the-origin",
    fault: "Returns the origin in place of the resource",
    wrap: changeDocument((json) => json["resource"] = "https://trivet.example"),
    killedBy: resources("names-itself", "never-by-post", "challenge-leads-to-the-resource"),
  },
  {
    name: "oauth/resource-with-fragment",
    fault: "Returns a resource with a fragment",
    wrap: changeDocument((json) => json["resource"] += "#mcp"),
    killedBy: resources("no-fragment", "names-itself"),
    mayFail: {
      "They compare the resource": resources("never-by-post", "challenge-leads-to-the-resource"),
    },
  },
  {
    name: "oauth/resource-of-another-issuer",
    fault: "Lists another authorization server",
    wrap: changeDocument((json) => json["authorization_servers"] = ["https://other.example"]),
    killedBy: resources("authorization-servers"),
  },
  {
    name: "oauth/resource-scopes-as-string",
    fault: "Returns scopes_supported as a string",
    wrap: changeDocument((json) => json["scopes_supported"] = "profile read"),
    killedBy: resources("lists", "nothing-empty"),
    mayFail: { "It expects a list": resources("scopes") },
  },
  {
    name: "oauth/resource-empty-lists",
    fault: "Returns an empty list in place of leaving it out",
    wrap: changeDocument((json) => json["scopes_supported"] = []),
    killedBy: resources("nothing-empty"),
  },
  {
    name: "oauth/resource-by-cookie",
    fault: "Lists cookie as a bearer method",
    wrap: changeDocument((json) => json["bearer_methods_supported"] = ["header", "cookie"]),
    killedBy: resources("bearer-methods"),
  },
  {
    name: "oauth/resource-unsigned",
    fault: "Lists the algorithm none",
    wrap: changeDocument((json) => json["resource_signing_alg_values_supported"] = ["none"]),
    killedBy: resources("never-unsigned"),
  },
  {
    name: "oauth/resource-metadata-omitted",
    fault: "Leaves resource_metadata out of challenges",
    wrap: (next) => async (request) => {
      const answer = await next(request);
      const challenge = answer.headers.get("www-authenticate")?.replace(/, resource_metadata="[^"]*"/, "")
        .replace(/resource_metadata="[^"]*"(, )?/, "");
      return challenge === undefined ? answer : withHeaders(answer, { "www-authenticate": challenge });
    },
    killedBy: resources("challenge", "challenge-of-a-wrong-token"),
    preventsSetup: "The challenge is read first",
  },
  {
    name: "oauth/resource-of-everything",
    fault: "Serves the metadata of a resource at addresses of others",
    wrap: (next) => async (request) => {
      const { origin, pathname } = new URL(request.url);
      return await next(pathname.startsWith(`${DOCUMENT}/`) ? new Request(origin + DOCUMENT) : request);
    },
    killedBy: resources("of-no-resource"),
  },
  {
    name: "oauth/resource-by-post",
    fault: "Replaces the resource by that of a POST",
    wrap: (next) => {
      let resource: string | undefined;
      return async (request) => {
        if (!request.url.endsWith(DOCUMENT)) return await next(request);
        if (request.method === "POST") ({ resource } = await request.json());
        const answer = await next(new Request(request.url));
        return resource === undefined ? answer : Response.json({ ...await answer.json(), resource });
      };
    },
    killedBy: resources("never-by-post"),
    mayFail: { "They are asked after it": resources("") },
  },
  {
    name: "oauth/resource-keys-in-the-clear",
    fault: "Names keys at an http URL",
    wrap: changeDocument((json) => json["jwks_uri"] = "http://keys.example/jwks.json"),
    killedBy: resources("keys-over-tls"),
  },
  {
    name: "oauth/resource-without-scopes",
    fault: "Leaves scopes_supported out",
    wrap: changeDocument((json) => delete json["scopes_supported"]),
    killedBy: resources("scopes"),
  },
];
