/**
 * Faults in access checks of the MCP endpoint: tokens and origins.
 *
 * @module
 */
import {
  changeRequests,
  changeResponses,
  onPath,
  TOKEN,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { CLIENTS, toBasic } from "../registered_clients.ts";

export const MCP = "/mcp";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

/** Repeats refused requests that match `when` with a valid token. */
export const retryWithToken = (when: (request: Request) => boolean): Wrap => (next) => async (request) => {
  if (new URL(request.url).pathname !== MCP || !when(request)) return await next(request);
  const retry = request.clone();
  const answer = await next(request);
  return answer.status === 401
    ? await next(withRequestHeaders(retry, { authorization: await fetchToken(next, request.url) }))
    : answer;
};

export async function fetchToken(next: Handler, url: string): Promise<string> {
  const form = { grant_type: "client_credentials", scope: "profile", resource: new URL(MCP, url).href };
  const answer = await next(
    new Request(new URL(TOKEN, url), {
      method: "POST",
      headers: { authorization: toBasic(CLIENTS.find(({ id }) => id === "service")!) },
      body: new URLSearchParams(form),
    }),
  );
  return `Bearer ${(await answer.json()).access_token}`;
}

const findScheme = (request: Request): string | undefined =>
  request.headers.get("authorization")?.split(" ")[0]?.toLowerCase();

/** Removes the Origin header of trusted origins. */
const trustOrigins = (isTrusted: (origin: string) => boolean): Wrap =>
  changeRequests(MCP, (request) => {
    const origin = request.headers.get("origin");
    return origin !== null && isTrusted(origin)
      ? withRequestHeaders(request, { origin: undefined })
      : request;
  });

export const MCP_ACCESS: readonly Mutant[] = [
  {
    name: "mcp/token-optional",
    fault: "Accepts requests without a token",
    wrap: retryWithToken((request) => !request.headers.has("authorization")),
    killedBy: names(
      "authorization/no-token",
      "authorization/notification-without-token",
      "authorization/session-is-no-token",
      "authorization/modern-without-token",
      "http_2025_06_18/challenge",
    ),
    mayFail: {
      "They send no token": ["mcp/skills/", "mcp/tasks/"],
      "They send no Authorization header": names(
        "authorization/challenge-",
        "authorization/token-in-address",
      ),
    },
  },
  {
    name: "mcp/token-only-for-post",
    fault: "Opens streams and ends sessions without a token",
    wrap: changeResponses(MCP, (answer, request) => {
      if (answer.status !== 401 || request.method === "POST") return answer;
      const headers = { "content-type": "text/event-stream" };
      return request.method === "GET"
        ? new Response(": open\n\n", { headers })
        : new Response(null, { status: 204 });
    }),
    killedBy: names(
      "authorization/get-without-token",
      "authorization/delete-without-token",
      "authorization/get-token-in-address",
    ),
  },
  {
    name: "mcp/any-token",
    fault: "Accepts any bearer token",
    wrap: retryWithToken((request) => findScheme(request) === "bearer"),
    killedBy: names(
      "authorization/invented-token",
      "authorization/altered-token",
      "authorization/modern-invented-token",
      "authorization/wrong-audience",
      "authorization/expired",
      "authorization/expired-in-session",
      "authorization/modern-wrong-audience",
      "authorization/modern-expired",
    ),
    mayFail: {
      "Its bearer token is empty": names("authorization/empty-token"),
      "They send a token for something else": names("enterprise/"),
    },
  },
  {
    name: "mcp/any-scheme",
    fault: "Accepts tokens under any authentication scheme",
    wrap: retryWithToken((request) => findScheme(request) === "basic"),
    killedBy: names("authorization/basic"),
  },
  {
    name: "mcp/token-in-query",
    fault: "Accepts tokens in the query",
    wrap: changeRequests(MCP, (request) => {
      const token = new URL(request.url).searchParams.get("access_token");
      return token === null ? request : withRequestHeaders(request, { authorization: `Bearer ${token}` });
    }),
    killedBy: names("authorization/token-in-address"),
  },
  {
    name: "mcp/session-as-token",
    fault: "Accepts a session id in place of a token",
    wrap: retryWithToken((request) =>
      !request.headers.has("authorization") && request.headers.has("mcp-session-id")
    ),
    killedBy: names("authorization/session-is-no-token"),
  },
  {
    name: "mcp/no-challenge",
    fault: "Refuses without WWW-Authenticate",
    wrap: changeResponses(
      MCP,
      (answer) => answer.status === 401 ? withHeaders(answer, { "www-authenticate": undefined }) : answer,
    ),
    killedBy: names(
      "authorization/no-token",
      "authorization/invented-token",
      "authorization/wrong-audience",
      "http_2025_06_18/challenge",
    ),
    mayFail: { "They check the challenge": names("authorization/") },
  },
  {
    name: "mcp/bare-challenge",
    fault: "Sends challenges without scope and resource_metadata",
    wrap: changeResponses(
      MCP,
      (answer) =>
        answer.headers.has("www-authenticate")
          ? withHeaders(answer, { "www-authenticate": "Bearer" })
          : answer,
    ),
    killedBy: names(
      "authorization/challenge-names-scope",
      "authorization/too-little-scope",
      "authorization/modern-too-little-scope",
      "http_2025_06_18/challenge",
    ),
  },
  {
    name: "mcp/no-resource-metadata",
    fault: "Has no resource metadata",
    wrap: onPath(
      "/.well-known/oauth-protected-resource/mcp",
      () => () => Promise.resolve(new Response(null, { status: 404 })),
    ),
    killedBy: names("authorization/challenge-leads-to-metadata"),
  },
  {
    name: "mcp/scope-as-token",
    fault: "Returns 401 in place of 403 for insufficient scope",
    wrap: changeResponses(MCP, (answer) => answer.status === 403 ? withHeaders(answer, {}, 401) : answer),
    killedBy: names(
      "authorization/too-little-scope",
      "authorization/modern-too-little-scope",
    ),
    mayFail: { "They expect 403 for their origin": names("http/origin-", "modern/origin") },
  },
  {
    name: "mcp/origin-unchecked",
    fault: "Accepts every Origin",
    wrap: trustOrigins(() => true),
    killedBy: names(
      "http/origin-foreign",
      "http/origin-null",
      "http/origin-prefix",
      "http/origin-initialize",
      "modern/origin",
      "http_2025_03_26/origin-foreign",
      "http_2025_06_18/origin-foreign",
    ),
  },
  {
    name: "mcp/origin-by-prefix",
    fault: "Compares only the beginning of Origin",
    wrap: trustOrigins((origin) => origin.startsWith("https://trivet.example")),
    killedBy: names("http/origin-prefix"),
  },
  {
    name: "mcp/origin-null",
    fault: "Treats Origin: null as no Origin",
    wrap: trustOrigins((origin) => origin === "null"),
    killedBy: names("http/origin-null"),
  },
];
