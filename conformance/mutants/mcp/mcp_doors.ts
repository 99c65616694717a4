/**
 * Faults of who is let in to the MCP endpoint: tokens, origins.
 *
 * @module
 */
import { faultyAnswers, faultyRequests, TOKEN, withFields, withRequestFields } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { basic, CLIENTS } from "../registered.ts";

export const MCP = "/mcp";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

/** Gives a token to requests that have none that is good, where `when` says so. */
const letIn = (when: (request: Request) => boolean): Wrap => (next) => async (request) => {
  if (new URL(request.url).pathname !== MCP || !when(request)) return await next(request);
  const again = request.clone();
  const answer = await next(request);
  return answer.status === 401
    ? await next(withRequestFields(again, { authorization: await grant(next, request.url) }))
    : answer;
};

export async function grant(next: Handler, url: string): Promise<string> {
  const form = { grant_type: "client_credentials", scope: "profile", resource: new URL(MCP, url).href };
  const answer = await next(
    new Request(new URL(TOKEN, url), {
      method: "POST",
      headers: { authorization: basic(CLIENTS.find(({ id }) => id === "service")!) },
      body: new URLSearchParams(form),
    }),
  );
  return `Bearer ${(await answer.json()).access_token}`;
}

const scheme = (request: Request): string | undefined =>
  request.headers.get("authorization")?.split(" ")[0]?.toLowerCase();

/** Lets requests of an origin through as if they named none. */
const trust = (isTrusted: (origin: string) => boolean): Wrap =>
  faultyRequests(MCP, (request) => {
    const origin = request.headers.get("origin");
    return origin !== null && isTrusted(origin) ? withRequestFields(request, { origin: undefined }) : request;
  });

export const MCP_DOORS: readonly Mutant[] = [
  {
    name: "mcp/no-token-needed",
    fault: "Lets everybody in who has no token",
    wrap: letIn((request) => !request.headers.has("authorization")),
    breaks: names(
      "authorization/no-token",
      "authorization/notification-without-token",
      "authorization/session-is-no-token",
      "authorization/modern-without-token",
      "http_2025_06_18/challenge",
    ),
    mayBreak: {
      "They have no token in the header field either": names(
        "authorization/challenge-",
        "authorization/token-in-address",
      ),
    },
  },
  {
    name: "mcp/token-for-post-alone",
    fault: "Opens streams and ends sessions without a token",
    wrap: faultyAnswers(MCP, (answer, request) => {
      if (answer.status !== 401 || request.method === "POST") return answer;
      const headers = { "content-type": "text/event-stream" };
      return request.method === "GET"
        ? new Response(": open\n\n", { headers })
        : new Response(null, { status: 204 });
    }),
    breaks: names(
      "authorization/get-without-token",
      "authorization/delete-without-token",
      "authorization/get-token-in-address",
    ),
  },
  {
    name: "mcp/any-token",
    fault: "Takes any bearer token",
    wrap: letIn((request) => scheme(request) === "bearer"),
    breaks: names(
      "authorization/invented-token",
      "authorization/altered-token",
      "authorization/modern-invented-token",
      "authorization/wrong-audience",
      "authorization/expired",
      "authorization/expired-in-session",
      "authorization/modern-wrong-audience",
      "authorization/modern-expired",
    ),
    mayBreak: { "Its token is of the bearer scheme, and empty": names("authorization/empty-token") },
  },
  {
    name: "mcp/any-scheme",
    fault: "Takes tokens under any scheme",
    wrap: letIn((request) => scheme(request) === "basic"),
    breaks: names("authorization/basic"),
  },
  {
    name: "mcp/token-in-address",
    fault: "Takes tokens in addresses",
    wrap: faultyRequests(MCP, (request) => {
      const token = new URL(request.url).searchParams.get("access_token");
      return token === null ? request : withRequestFields(request, { authorization: `Bearer ${token}` });
    }),
    breaks: names("authorization/token-in-address"),
  },
  {
    name: "mcp/session-as-token",
    fault: "Takes a session's id for a token",
    wrap: letIn((request) => !request.headers.has("authorization") && request.headers.has("mcp-session-id")),
    breaks: names("authorization/session-is-no-token"),
  },
  {
    name: "mcp/no-challenge",
    fault: "Refuses without a challenge",
    wrap: faultyAnswers(
      MCP,
      (answer) => answer.status === 401 ? withFields(answer, { "www-authenticate": undefined }) : answer,
    ),
    breaks: names(
      "authorization/no-token",
      "authorization/invented-token",
      "authorization/wrong-audience",
      "http_2025_06_18/challenge",
    ),
    mayBreak: { "They look for the challenge": names("authorization/") },
  },
  {
    name: "mcp/bare-challenge",
    fault: "Has challenges that lead nowhere",
    wrap: faultyAnswers(
      MCP,
      (answer) =>
        answer.headers.has("www-authenticate")
          ? withFields(answer, { "www-authenticate": "Bearer" })
          : answer,
    ),
    breaks: names(
      "authorization/challenge-names-scope",
      "authorization/challenge-leads-to-metadata",
      "authorization/too-little-scope",
      "authorization/modern-too-little-scope",
      "http_2025_06_18/challenge",
    ),
  },
  {
    name: "mcp/scope-as-token",
    fault: "Says of a token with too little scope that it is none",
    wrap: faultyAnswers(MCP, (answer) => answer.status === 403 ? withFields(answer, {}, 401) : answer),
    breaks: names(
      "authorization/too-little-scope",
      "authorization/modern-too-little-scope",
    ),
    mayBreak: { "They are refused with 403, too, for their origin": names("http/origin-", "modern/origin") },
  },
  {
    name: "mcp/origin-unchecked",
    fault: "Lets every origin in",
    wrap: trust(() => true),
    breaks: names(
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
    name: "mcp/origin-by-beginning",
    fault: "Compares the beginning of origins",
    wrap: trust((origin) => origin.startsWith("https://trivet.example")),
    breaks: names("http/origin-prefix"),
  },
  {
    name: "mcp/origin-null",
    fault: "Takes an origin of null for none",
    wrap: trust((origin) => origin === "null"),
    breaks: names("http/origin-null"),
  },
];
