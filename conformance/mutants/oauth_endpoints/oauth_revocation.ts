/**
 * Faults in who may revoke or introspect a token, and in how both endpoints read requests.
 *
 * @module
 */
import { acceptMediaType, acceptMethods } from "../form_faults.ts";
import {
  INTROSPECT,
  onPath,
  pathOf,
  readForm,
  REVOKE,
  TOKEN,
  withForm,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const revocation = (...ids: string[]): string[] => ids.map((id) => `oauth/revocation/${id}`);
const introspection = (...ids: string[]): string[] => ids.map((id) => `oauth/introspection/${id}`);

/** Issued tokens, and the client that received them. */
interface Issued {
  readonly access: string;
  readonly refresh: string;
  readonly client: string | null;
  readonly authorization: string | undefined;
}

/** Records issued tokens and calls the fault before each request. */
const recordTokens = (
  fault: (request: Request, form: URLSearchParams, issued: readonly Issued[]) => Request | Response,
): Wrap =>
(next): Handler => {
  const issued: Issued[] = [];
  return async (request) => {
    const form = await readForm(request) ?? new URLSearchParams();
    const changed = fault(request, form, issued);
    if (changed instanceof Response) return changed;
    const answer = await next(changed);
    if (pathOf(request) === TOKEN && answer.status === 200) {
      const json = await answer.clone().json() as Record<string, unknown>;
      issued.push({
        access: String(json["access_token"]),
        refresh: String(json["refresh_token"]),
        client: form.get("client_id"),
        authorization: request.headers.get("authorization") ?? undefined,
      });
    }
    return answer;
  };
};

const isOneCharacterOff = (one: string, two: string): boolean =>
  one.length === two.length && [...one].filter((letter, place) => letter !== two[place]).length === 1;

/** Answers introspection with the response that the fault returns, if any. */
const answerIntrospection = (answer: (form: URLSearchParams) => Response | undefined): Wrap =>
  onPath(INTROSPECT, (next) => async (request) => {
    const form = await readForm(request);
    return form && answer(form) || await next(request);
  });

const inactiveResponse = (): Response => Response.json({ active: false });

export const REVOCATION: readonly Mutant[] = [
  {
    name: "oauth/revocation-by-any-client",
    fault: "Revokes tokens of other clients",
    wrap: recordTokens((request, form, issued) => {
      const token = form.get("token");
      const owner = issued.find(({ access, refresh }) => token === access || token === refresh);
      if (pathOf(request) !== REVOKE || !owner) return request;
      form.delete("client_secret");
      if (owner.client === null) form.delete("client_id");
      else form.set("client_id", owner.client);
      return withRequestHeaders(withForm(request, form), { authorization: owner.authorization });
    }),
    killedBy: revocation("of-another-client", "access-token-of-another-client", "by-a-confidential-stranger"),
    mayFail: { "They check which client revokes": revocation("") },
  },
  {
    name: "oauth/revocation-of-similar",
    fault: "Revokes a token that differs in one character from the one sent",
    wrap: recordTokens((request, form, issued) => {
      const sent = form.get("token") ?? "";
      const found = issued.flatMap(({ access, refresh }) => [access, refresh]).find((each) =>
        isOneCharacterOff(each, sent)
      );
      if (pathOf(request) !== REVOKE || found === undefined) return request;
      form.set("token", found);
      return withForm(request, form);
    }),
    killedBy: revocation("altered"),
  },
  {
    name: "oauth/revocation-by-get",
    fault: "Revokes by GET",
    wrap: acceptMethods(REVOKE, "GET"),
    killedBy: revocation("get"),
  },
  {
    name: "oauth/revocation-breaks-refresh",
    fault: "Fails on refresh tokens whose access token was revoked",
    wrap: failAfterRevocation,
    killedBy: revocation("access-token-leaves-refresh-token-known"),
  },
  {
    name: "oauth/introspection-trusts-hints",
    fault: "Searches only the type that token_type_hint names",
    wrap: answerIntrospection((form) => {
      const isRefresh = form.get("token")?.startsWith("trivet_rt_");
      return isRefresh && form.get("token_type_hint") === "access_token" ? inactiveResponse() : undefined;
    }),
    killedBy: introspection("refresh-token-called-access-token"),
  },
  {
    name: "oauth/introspection-without-token",
    fault: "Reports a missing token as inactive",
    wrap: answerIntrospection((form) => form.get("token") ? undefined : inactiveResponse()),
    killedBy: introspection("token-missing", "token-empty"),
    mayFail: { "They send no form or another parameter": introspection("") },
  },
  {
    name: "oauth/introspection-fails-on-get",
    fault: "Fails on GET",
    wrap: onPath(
      INTROSPECT,
      (next) => async (request) =>
        request.method === "GET" ? new Response(null, { status: 500 }) : await next(request),
    ),
    killedBy: introspection("get"),
  },
  {
    name: "oauth/introspection-json",
    fault: "Accepts JSON as well as forms",
    wrap: acceptMediaType(INTROSPECT, /json/),
    killedBy: introspection("json"),
  },
];

/** Fails on refresh tokens whose access token was revoked. */
function failAfterRevocation(next: Handler): Handler {
  const revoked = new Set<string>();
  return recordTokens((request, form, issued) => {
    if (pathOf(request) === REVOKE) revoked.add(form.get("token") ?? "");
    const used = issued.find(({ refresh }) => refresh === form.get("refresh_token"));
    const isStumbling = pathOf(request) === TOKEN && used && revoked.has(used.access);
    return isStumbling ? new Response(null, { status: 500 }) : request;
  })(next);
}
